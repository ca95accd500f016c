/**
 * For every `generate` of a run exactly what the model saw: items with budgets and clipping, the messages piece by piece with why each is there and
 * where it came from, and what the model answered.
 *
 * Boundary: the explanation is the machine's (EP1); here it is drawn.
 */
import { type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import type { PromptView, Replied, RunView } from "../src/wire/runs.ts";
import { at } from "./api.ts";
import { count, Empty, line, Loading, Long, Origins, Place, said, Table, Trouble } from "./parts.ts";
import { useData } from "./place.ts";
import { Value } from "./value.ts";

export function Prompts({ run, version }: { readonly run: RunView; readonly version: number }): ComponentChildren {
    const { data, refused } = useData<readonly PromptView[]>(at("runs", run.id, "explain"), version);
    if (data === null) return h("div", null, h(Trouble, { refused }), refused === null ? h(Loading, null) : null);
    if (data.length === 0) return h(Empty, null, "This run called no model.");
    return h(
        "div",
        { class: "prompts" },
        h(Legend, null),
        data.map((one, i) => h(Prompt, { key: one.path, one, isOpen: i === 0 || data.length < 4 })),
    );
}

const LAYERS: readonly (readonly [string, string])[] = [
    ["identity", "who it is"],
    ["context", "context"],
    ["instruction", "instruction"],
    ["contract", "contract"],
    ["feedback", "what was wrong"],
    ["reply", "its own words"],
    ["result", "result of a call"],
    ["layout", "layout"],
];

function Legend(): ComponentChildren {
    return h(
        "p",
        { class: "legend", "aria-label": "Layers" },
        LAYERS.map(([layer, name]) => h("span", { key: layer, class: `piece l-${layer}` }, name)),
    );
}

function Prompt({ one, isOpen }: { readonly one: PromptView; readonly isOpen: boolean }): ComponentChildren {
    const ok = one.ended.ok;
    return h(
        "details",
        { class: "prompt card", open: isOpen },
        h(
            "summary",
            null,
            h("strong", null, line(one.label)),
            h("span", { class: "soft mono" }, line(one.model)),
            h("span", { class: "soft" }, `${one.turns.length} ${one.turns.length === 1 ? "turn" : "turns"}`),
            ok === null ? h("span", { class: "tag" }, "going on") : ok === true ? null : h("span", { class: "tag warn" }, "failed"),
        ),
        h(Items, { one }),
        one.tools.length === 0 ? null : h(Offered, { one }),
        one.turns.map((turn, i) => h(Turn, { key: turn.path, one, turn, replied: one.replies[i] })),
        one.turns.length === 0 ? h(Empty, null, "Nothing was sent.") : null,
        ok === true ? h("div", { class: "result" }, h("h4", null, "Value"), h(Value, { value: one.ended.result })) : null,
        one.unused === null || one.unused.length === 0
            ? null
            : h(
                  "p",
                  { class: "soft" },
                  "In scope and not used: ",
                  one.unused.map((name) => h("code", { key: name }, `${line(name)} `)),
              ),
    );
}

function Items({ one }: { readonly one: PromptView }): ComponentChildren {
    if (one.items.length === 0) return h("p", { class: "soft" }, "No context: identity, instruction and contract only.");
    return h(
        Table,
        {
            name: `Items of ${line(one.label)}`,
            head: ["as", "from the program", "what the budgets did, and its origins"],
            rows: one.items.map((item) =>
                h(
                    "tr",
                    { key: item.index, class: item.shown ? "" : "hidden" },
                    h("td", null, item.label === null ? `[${item.index}]` : line(item.label)),
                    h(
                        "td",
                        { class: "mono" },
                        line(item.source),
                        item.variant === null ? null : h("div", { class: "soft" }, `variant ${line(item.variant)}`),
                        h("div", null, h(Place, { site: item.declared })),
                    ),
                    h(
                        "td",
                        null,
                        item.shown ? "" : h("span", { class: "tag warn" }, "not shown"),
                        line(item.clip),
                        h("div", null, h(Origins, { origins: item.origins, none: "the program itself" })),
                    ),
                ),
            ),
        },
        one.total === null ? null : h("p", { class: "soft" }, "All items together: ", h("code", null, line(JSON.stringify(one.total)))),
    );
}

function Offered({ one }: { readonly one: PromptView }): ComponentChildren {
    return h(
        "details",
        { class: "offered" },
        h("summary", null, `${one.tools.length} ${one.tools.length === 1 ? "tool" : "tools"} offered`),
        h(
            "ul",
            null,
            one.tools.map((tool) =>
                h(
                    "li",
                    { key: tool.name },
                    tool.shown === null ? null : h("strong", null, line(tool.shown), " "),
                    h("code", null, line(tool.name)),
                    h("span", { class: "soft" }, ` ${line(tool.uri)}`),
                    tool.description === null ? null : h("p", null, line(tool.description)),
                    tool.input === null ? null : h(Value, { value: tool.input, depth: 2 }),
                ),
            ),
        ),
    );
}

type ShownTurn = PromptView["turns"][number];

function Turn({
    one,
    turn,
    replied,
}: {
    readonly one: PromptView;
    readonly turn: ShownTurn;
    readonly replied: Replied | undefined;
}): ComponentChildren {
    return h(
        "section",
        { class: "sent", "aria-label": `attempt ${turn.attempt + 1}, turn ${turn.turn + 1}` },
        h("h3", null, turn.turn === 0 ? `Attempt ${turn.attempt + 1}` : `Attempt ${turn.attempt + 1}, turn ${turn.turn + 1}`),
        turn.because === null ? null : h("p", { class: "bad" }, `because ${line(turn.because)}`),
        turn.carried === 0
            ? null
            : h("p", { class: "soft" }, `${count(turn.carried)} earlier ${turn.carried === 1 ? "message" : "messages"} again, then`),
        turn.exact
            ? null
            : h("p", { class: "bad" }, "What was sent is shown whole: it was built by another version, or parts of it were removed."),
        turn.bound
            ? h(
                  "p",
                  { class: "soft" },
                  "The schema of the contract is not in it: the model could write nothing that the contract does not allow.",
              )
            : null,
        turn.messages.map((message, i) => h(Message, { key: i, one, message })),
        replied === undefined ? null : h(Reply, { one, replied }),
    );
}

function Message({ one, message }: { readonly one: PromptView; readonly message: ShownTurn["messages"][number] }): ComponentChildren {
    const [chosen, set] = useState<number | null>(null);
    const piece = chosen === null ? undefined : message.pieces[chosen];
    return h(
        "div",
        { class: "message" },
        h("h4", null, message.role),
        h(
            "div",
            { class: "pieces" },
            message.pieces.map(({ from, to, layer, why, origins }, i) => {
                const text = message.text.slice(from, to);
                const isOther = origins.some((origin) => origin !== "user");
                if (layer === "layout") return h("span", { key: i, class: "piece l-layout" }, said(text));
                return h(
                    "span",
                    {
                        key: i,
                        class: `piece l-${layer} ${isOther ? "other" : ""}`,
                        role: "button",
                        tabIndex: 0,
                        "aria-pressed": chosen === i,
                        title: line(why),
                        onClick: () => set(chosen === i ? null : i),
                        onKeyDown: (event: KeyboardEvent) => {
                            if (event.key !== "Enter" && event.key !== " ") return;
                            event.preventDefault();
                            set(chosen === i ? null : i);
                        },
                    },
                    said(text),
                );
            }),
        ),
        piece === undefined
            ? null
            : h(
                  "p",
                  { class: "because", role: "status" },
                  h("strong", null, piece.layer),
                  `: ${line(piece.why)}, ${count(piece.to - piece.from)} characters, from `,
                  h(Origins, { origins: piece.origins }),
                  piece.item === undefined ? null : h("span", { class: "soft" }, ` ${line(one.items[piece.item]?.clip ?? "")}`),
              ),
    );
}

function Reply({ one, replied }: { readonly one: PromptView; readonly replied: Replied }): ComponentChildren {
    const reply = (replied.reply ?? {}) as {
        readonly text?: unknown;
        readonly calls?: readonly { readonly name?: unknown }[];
        readonly notes?: unknown;
    };
    const usage = (replied.usage ?? {}) as { readonly input?: number; readonly output?: number };
    const lent = (reply.calls ?? []).flatMap(({ name }) => one.tools.find((tool) => tool.name === name)?.shown ?? []);
    return h(
        "div",
        { class: "message model" },
        h(
            "h4",
            null,
            "the model",
            h(
                "span",
                { class: "soft" },
                ` ${line(String(replied.answeredBy ?? ""))}${usage.input === undefined ? "" : ` · ${count(usage.input)} in, ${count(usage.output ?? 0)} out`}`,
            ),
        ),
        typeof reply.text === "string" && reply.text !== "" ? h(Long, { text: reply.text }) : null,
        lent.length === 0 ? null : h("p", null, "calls ", h("strong", null, line(lent.join(", ")))),
        (reply.calls ?? []).length === 0 ? null : h(Value, { value: reply.calls, depth: 0 }),
        (Array.isArray(reply.notes) ? reply.notes : []).map((note, i) => h("p", { key: i, class: "soft" }, line(String(note)))),
        typeof replied.error === "string" ? h("p", { class: "bad" }, line(replied.error)) : null,
    );
}
