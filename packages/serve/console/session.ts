/** A session: what waits for the person on top, the conversation, a place to write, and what is lent. */
import { type ComponentChildren, h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ToolInfo } from "../src/wire/messages.ts";
import type { ModelsView } from "../src/wire/runs.ts";
import { at, type Link, type Me, ServerRefusal, request } from "./api.ts";
import { Asks } from "./asks.ts";
import { useKeys } from "./keys.ts";
import { type Live, useSession } from "./live.ts";
import { Empty, Fact, line, Loading, Told, Trouble, When } from "./parts.ts";
import { to, useData, useTitle } from "./place.ts";
import { Turn } from "./turn.ts";
import { Value } from "./value.ts";

export function Session({ id, me }: { readonly id: string; readonly me: Me }): ComponentChildren {
    const live = useSession(id);
    const { info, refused, link } = live;
    const asks = info?.asks ?? [];
    useTitle(`${asks.length === 0 ? "" : `(${asks.length}) `}${info === null || info.title === "" ? "Session" : line(info.title)}`);
    const [failed, setFailed] = useState<ServerRefusal | null>(null);
    if (info === null)
        return h(
            "div",
            { class: "page" },
            h("h1", { tabIndex: -1 }, "Session"),
            h(Trouble, { refused }),
            refused === null ? h(Loading, null) : null,
        );
    const doing = async (what: Promise<unknown>): Promise<void> => {
        try {
            await what;
            setFailed(null);
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            setFailed(error);
        }
        live.reload();
    };
    const cancel = (turn: string): void => void doing(request("POST", at("sessions", id, "turns", turn, "cancel"), {}));
    const close = (): void => {
        if (confirm("Close the session for ever? A turn that runs is cancelled."))
            void doing(request("DELETE", at("sessions", id))).then(() => (location.hash = to("sessions")));
    };
    const maySubmit = me.scopes.includes("submit") && !info.closed;
    return h(
        "div",
        { class: "page session" },
        h(
            "div",
            { class: "pagehead" },
            h("h1", { tabIndex: -1, dir: "auto" }, info.title === "" ? "Untitled session" : line(info.title)),
            h(Connection, { link: info.closed ? "over" : link }),
        ),
        h(Told, { text: announced(live) }),
        h(Trouble, { refused: failed ?? refused }),
        h(
            "div",
            { class: "split" },
            h(
                "div",
                { class: "talk" },
                h(Asks, { session: id, asks, me, onDone: live.reload }),
                h(Talk, { live, onCancel: maySubmit ? cancel : null }),
                maySubmit ? h(Composer, { id, onSent: live.reload }) : null,
            ),
            h(
                "aside",
                { "aria-label": "About the session" },
                h("dl", { class: "facts" }, [
                    h(Fact, { name: "id", children: h("code", null, line(id)) }),
                    h(Fact, { name: "opened", children: [h(When, { at: info.created }), ` by ${line(info.by)}`] }),
                    info.model === undefined ? null : h(Fact, { name: "model", children: h("code", null, line(info.model)) }),
                ]),
                h(Tools, { tools: info.tools }),
                maySubmit ? h("button", { type: "button", class: "plain stop", onClick: close }, "Close the session") : null,
            ),
        ),
    );
}

/** For what reads the page out: the last thing that matters. */
function announced({ info }: Live): string {
    const ask = info?.asks[0];
    if (ask !== undefined) return `Waits for you: ${line(ask.question)}`;
    const last = info?.turns.at(-1);
    return last === undefined ? "" : `Turn ${last.id}: ${last.status}`;
}

const LINKS: { readonly [link in Link]: string } = { live: "live", lost: "reconnecting…", over: "closed" };

function Connection({ link }: { readonly link: Link }): ComponentChildren {
    return h("span", { class: `link ${link}`, role: "status" }, h("i", { "aria-hidden": "true" }), LINKS[link]);
}

function Talk({ live, onCancel }: { readonly live: Live; readonly onCancel: ((turn: string) => void) | null }): ComponentChildren {
    const { info, doing, calls } = live;
    const turns = info?.turns ?? [];
    const end = useRef<HTMLLIElement>(null);
    const last = turns.at(-1);
    const grows = `${turns.length} ${last?.status} ${doing.get(last?.id ?? "")?.text.at(-1)?.text.length ?? 0}`;
    useEffect(() => {
        const room = document.documentElement;
        // Who has scrolled up to read is left there.
        if (room.scrollHeight - room.scrollTop - room.clientHeight < 240) end.current?.scrollIntoView({ block: "nearest" });
    }, [grows]);
    if (turns.length === 0) return h(Empty, null, "Nothing has been asked yet.");
    return h(
        "ol",
        { class: "turns", "aria-label": "Conversation" },
        turns.map((turn) =>
            h(Turn, {
                key: turn.id,
                turn,
                doing: doing.get(turn.id),
                waits: (info?.asks ?? []).some((ask) => ask.turn === turn.id),
                calls: [...calls.values()].filter((one) => one.turn === turn.id).map(({ tool }) => tool),
                onCancel: onCancel === null ? null : () => onCancel(turn.id),
            }),
        ),
        h("li", { ref: end, class: "end", "aria-hidden": "true" }),
    );
}

function Composer({ id, onSent }: { readonly id: string; readonly onSent: () => void }): ComponentChildren {
    const [text, set] = useState("");
    const [model, setModel] = useState("");
    const [refused, setRefused] = useState<ServerRefusal | null>(null);
    const field = useRef<HTMLTextAreaElement>(null);
    const { data: models } = useData<ModelsView>(at("models"));
    useKeys([{ key: "c", does: "write a turn", run: () => field.current?.focus() }]);
    const send = async (): Promise<void> => {
        if (text.trim() === "") return;
        try {
            await request("POST", at("sessions", id, "turns"), { text, ...(model === "" ? {} : { model }) });
            set("");
            setRefused(null);
            onSent();
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            setRefused(error);
        }
    };
    return h(
        "form",
        {
            class: "composer card",
            onSubmit: (event: Event) => {
                event.preventDefault();
                void send();
            },
        },
        h("textarea", {
            ref: field,
            "aria-label": "What to do",
            placeholder: "What should be done?",
            rows: Math.min(10, Math.max(2, text.split("\n").length)),
            value: text,
            onInput: (event: Event) => set((event.target as HTMLTextAreaElement).value),
            onKeyDown: (event: KeyboardEvent) => {
                if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
                event.preventDefault();
                void send();
            },
        }),
        h(Trouble, { refused }),
        h(
            "div",
            { class: "under" },
            h("input", {
                "aria-label": "Model",
                placeholder: "the program's model",
                list: "models",
                value: model,
                onInput: (event: Event) => setModel((event.target as HTMLInputElement).value.trim()),
            }),
            h(
                "datalist",
                { id: "models" },
                offered(models).map((uri) => h("option", { key: uri, value: uri })),
            ),
            h("button", { class: "primary", disabled: text.trim() === "" }, "Submit"),
        ),
    );
}

/** Of those that are ready; where any of a provider's models can be named, up to the place of the name. */
function offered(models: ModelsView | null): string[] {
    return (models?.models ?? []).filter(({ ok }) => ok).map(({ uri }) => uri.replace(/MODEL$/, ""));
}

function Tools({ tools }: { readonly tools: readonly ToolInfo[] }): ComponentChildren {
    return h(
        "section",
        { "aria-labelledby": "lent" },
        h("h2", { id: "lent" }, "Lent tools"),
        tools.length === 0
            ? h("p", { class: "soft" }, "None. A browser, an editor or a page can lend some.")
            : h(
                  "ul",
                  { class: "tools" },
                  tools.map((tool) =>
                      h(
                          "li",
                          { key: tool.registration },
                          h(
                              "details",
                              null,
                              h(
                                  "summary",
                                  null,
                                  h("code", null, line(tool.tool)),
                                  h("span", { class: "soft" }, ` ${line(tool.client)}`),
                                  tool.readOnly ? h("span", { class: "tag" }, "reads") : h("span", { class: "tag warn" }, "acts"),
                              ),
                              h("p", null, line(tool.description)),
                              h(Value, { value: tool.input, depth: 1 }),
                          ),
                      ),
                  ),
              ),
    );
}
