/** The list of sessions, and a new one. */
import { type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import type { SessionInfo } from "../src/wire/messages.ts";
import { at, type Me, ServerRefusal, request } from "./api.ts";
import { Empty, line, Loading, Trouble, When } from "./parts.ts";
import { to, useData, useNow, useTitle } from "./place.ts";

type Listed = Omit<SessionInfo, "turns"> & { readonly turns: number };

export function Sessions({ me, search }: { readonly me: Me; readonly search: string }): ComponentChildren {
    useTitle("Sessions");
    const now = useNow(true, 5000);
    const { data, refused } = useData<{ readonly sessions: readonly Listed[] }>(at("sessions"), now);
    const wanted = search.trim().toLowerCase();
    // What waits for the person comes first.
    const found = (data?.sessions ?? [])
        .filter(({ title, id, by }) => `${title}\n${id}\n${by}`.toLowerCase().includes(wanted))
        .sort((a, b) => Number(b.asks.length > 0) - Number(a.asks.length > 0));
    return h(
        "div",
        { class: "page" },
        h("div", { class: "pagehead" }, h("h1", { tabIndex: -1 }, "Sessions"), me.scopes.includes("submit") ? h(NewSession, null) : null),
        h(Trouble, { refused }),
        data === null
            ? refused === null
                ? h(Loading, null)
                : null
            : found.length === 0
              ? h(None, { search })
              : h(
                    "ul",
                    { class: "rows" },
                    found.map((one) => h(Row, { key: one.id, one })),
                ),
    );
}

function None({ search }: { readonly search: string }): ComponentChildren {
    if (search !== "") return h(Empty, null, "No session has this in its title or id.");
    return h(Empty, null, "No session is open. Open one here, or with ", h("code", null, 'remit drive "…"'), ".");
}

function Row({ one }: { readonly one: Listed }): ComponentChildren {
    const waits = one.asks.length;
    return h(
        "li",
        null,
        h(
            "a",
            { class: "row", href: to("sessions", one.id) },
            h("span", { class: "title", dir: "auto" }, one.title === "" ? h("span", { class: "soft" }, "untitled") : line(one.title)),
            waits === 0
                ? null
                : h(
                      "span",
                      { class: "state waiting" },
                      h("i", { "aria-hidden": "true" }),
                      `${waits} ${waits === 1 ? "waits" : "wait"} for you`,
                  ),
            h(
                "span",
                { class: "soft facts" },
                `${one.turns} ${one.turns === 1 ? "turn" : "turns"} · ${one.tools.length} lent · ${line(one.by)}`,
            ),
            h("span", { class: "soft mono id" }, line(one.id)),
            h("span", { class: "soft end" }, h(When, { at: one.created })),
        ),
    );
}

function NewSession(): ComponentChildren {
    const [title, set] = useState("");
    const [refused, setRefused] = useState<ServerRefusal | null>(null);
    const open = async (event: Event): Promise<void> => {
        event.preventDefault();
        try {
            const { id } = await request<SessionInfo>("POST", at("sessions"), title.trim() === "" ? {} : { title: title.trim() });
            location.hash = to("sessions", id);
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            setRefused(error);
        }
    };
    return h(
        "form",
        { class: "inline", onSubmit: open },
        h("input", {
            "aria-label": "Title of a new session",
            placeholder: "Title (optional)",
            value: title,
            maxLength: 200,
            onInput: (event: Event) => set((event.target as HTMLInputElement).value),
        }),
        h("button", { class: "primary" }, "New session"),
        h(Trouble, { refused }),
    );
}
