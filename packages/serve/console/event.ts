/**
 * One event of a run, whole: a call with its arguments, what came of it and where each came from; what an agent did with its own hands; else its data.
 *
 * Boundary: shows what the ledger holds; a part that it does not know is shown as JSON.
 */
import { type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import { Fact, line, Long, Origins, Place, said } from "./parts.ts";
import { Value, Why } from "./value.ts";

export interface LedgerEvent {
    readonly seq: number;
    readonly time: string;
    readonly kind: string;
    readonly path: string;
    readonly principal: string;
    readonly site: { readonly file: string; readonly line: number; readonly column: number } | null;
    readonly labels: readonly string[];
    readonly data: unknown;
}

type Fields = { readonly [key: string]: unknown };

export function Event({ run, event }: { readonly run: string; readonly event: LedgerEvent }): ComponentChildren {
    const data = fields(event.data);
    return h(
        "article",
        { class: "event" },
        h("h3", null, line(event.kind), h("span", { class: "soft" }, ` #${event.seq} · ${line(event.time.slice(11, 23))}`)),
        h("dl", { class: "facts" }, [
            event.site === null ? null : h(Fact, { name: "where", children: h(Place, { site: event.site }) }),
            h(Fact, { name: "as", children: line(event.principal) }),
            h(Fact, { name: "carries", children: h(Origins, { origins: event.labels }) }),
        ]),
        h(Data, { run, event, data }),
    );
}

/** Where a value of a call can be asked about. */
const ASKED = new Set(["tool.started", "memory.started", "agent.started"]);

function Data({ run, event, data }: { readonly run: string; readonly event: LedgerEvent; readonly data: Fields }): ComponentChildren {
    const [where, setWhere] = useState<string | null>(null);
    const reply = fields(data["reply"]);
    const entries = list(reply["entries"]);
    const notes = list(data["notes"]).map((one) => fields(fields(one)["entry"]));
    const hands = [...entries.map(fields), ...notes].filter(({ kind }) => typeof kind === "string");
    const args = data["args"];
    const isAsked = ASKED.has(event.kind) && Array.isArray(args);
    const rest = Object.fromEntries(Object.entries(data).filter(([key]) => !(isAsked && key === "args")));
    return h(
        "div",
        null,
        isAsked
            ? h(
                  "div",
                  null,
                  h("h4", null, "arguments"),
                  h("p", { class: "soft" }, "Choose a part to see where it came from."),
                  h(Value, { value: args, chosen: where, onWhy: setWhere }),
                  where === null ? null : h(Why, { key: where, run, where: `${event.path}:${where}`, onClose: () => setWhere(null) }),
              )
            : null,
        hands.length === 0 ? null : h(Hands, { hands }),
        h(Value, {
            value: hands.length === 0 ? rest : { ...rest, ...(data["reply"] === undefined ? {} : { reply: "see above" }) },
            depth: 0,
        }),
    );
}

/** What an agent did in a turn, in order. */
function Hands({ hands }: { readonly hands: readonly Fields[] }): ComponentChildren {
    return h(
        "ol",
        { class: "hands" },
        hands.map((one, i) => h("li", { key: i, class: `hand ${String(one["kind"])}` }, h(Hand, { one }))),
    );
}

function Hand({ one }: { readonly one: Fields }): ComponentChildren {
    const kind = String(one["kind"]);
    if (kind === "plan")
        return h(
            "div",
            null,
            h("strong", null, "plan"),
            h(
                "ul",
                { class: "todo" },
                list(one["items"]).map((item, i) =>
                    h(
                        "li",
                        { key: i, class: String(fields(item)["status"]).replace(/[^a-z_]/g, "") },
                        line(String(fields(item)["content"])),
                        h("span", { class: "soft" }, ` ${line(String(fields(item)["status"]))}`),
                    ),
                ),
            ),
        );
    if (kind !== "call")
        return h("div", null, h("strong", null, line(kind)), h(Long, { text: String(one["text"] ?? one["summary"] ?? ""), most: 600 }));
    const { name, title, status, input, output } = one;
    const permission = fields(one["permission"]);
    const changes = [...diffsIn(output), ...diffsIn(input)];
    return h(
        "details",
        null,
        h(
            "summary",
            null,
            h("code", null, line(String(title ?? name))),
            h("span", { class: `soft ${status === "failed" ? "bad" : ""}` }, ` ${line(String(status))}`),
            permission["allowed"] === undefined
                ? null
                : h(
                      "span",
                      { class: permission["allowed"] === true ? "tag" : "tag warn" },
                      permission["allowed"] === true ? "allowed" : "refused",
                      ` by ${line(String(permission["by"]))}`,
                  ),
        ),
        changes.map((change, i) => h(Diff, { key: i, ...change })),
        input === undefined ? null : h("div", null, h("h4", null, "input"), h(Value, { value: input })),
        output === undefined ? null : h("div", null, h("h4", null, "output"), h(Value, { value: output })),
    );
}

interface Change {
    readonly path: string;
    readonly before: string;
    readonly after: string;
}

/** Changes of files, however deep they stand. */
function diffsIn(json: unknown, depth = 0): Change[] {
    if (depth > 4 || json === null || typeof json !== "object") return [];
    if (Array.isArray(json)) return json.flatMap((one) => diffsIn(one, depth + 1));
    const { path, oldText, newText } = json as Fields;
    if (typeof newText === "string")
        return [{ path: String(path ?? ""), before: typeof oldText === "string" ? oldText : "", after: newText }];
    return Object.values(json).flatMap((one) => diffsIn(one, depth + 1));
}

/** What both have at the beginning and at the end is left out but for two lines. */
function Diff({ path, before, after }: Change): ComponentChildren {
    const [old, now] = [before === "" ? [] : before.split("\n"), after.split("\n")];
    let head = 0;
    while (head < old.length && head < now.length && old[head] === now[head]) head++;
    let tail = 0;
    while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
    const around = (lines: readonly string[], kind: string): ComponentChildren =>
        lines.map((text, i) => h("div", { key: `${kind}${i}`, class: kind }, said(text) || " "));
    return h(
        "figure",
        { class: "diff" },
        h("figcaption", null, h("code", null, line(path))),
        h(
            "pre",
            null,
            around(now.slice(Math.max(0, head - 2), head), "same"),
            around(old.slice(head, old.length - tail), "gone"),
            around(now.slice(head, now.length - tail), "new"),
            around(now.slice(now.length - tail, now.length - tail + 2), "same end"),
        ),
    );
}

function fields(json: unknown): Fields {
    return json !== null && typeof json === "object" && !Array.isArray(json) ? (json as Fields) : {};
}

function list(json: unknown): readonly unknown[] {
    return Array.isArray(json) ? json : [];
}
