/**
 * The panel: pairing, the sites that the person chose, what is being done in them, and the session as the console shows it.
 *
 * Boundary: puts the views together. Sessions, approvals and turns are the console's own views, over the panel's connection.
 *
 * PNL1: a site is chosen by the person's click alone, and the panel shows which.
 */
import { type ComponentChildren, h, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionInfo } from "../src/wire/messages.ts";
import { listenForKeys } from "../console/keys.ts";
import { line, Trouble } from "../console/parts.ts";
import { Session } from "../console/session.ts";
import { at, begin, leave, type Me, ServerRefusal, request, type State, watch } from "./api.ts";
import { browser } from "./browser.ts";
import { type Action, useLending, useNamed } from "./lending.ts";
import { pair, unpair } from "./server.ts";
import { askToPicture, choose, chosenSites, mayPicture, siteOf, unchoose } from "./sites.ts";

type Listed = Pick<SessionInfo, "id" | "title">;

function Panel(): ComponentChildren {
    const [state, setState] = useState<{ readonly state: State; readonly url: string }>({ state: "looking", url: "" });
    const [me, setMe] = useState<Me | null>(null);
    const [sessions, setSessions] = useState<readonly Listed[]>([]);
    const [id, setId] = useState<string | null>(null);
    const [refused, setRefused] = useState<ServerRefusal | null>(null);
    const load = async (): Promise<void> => {
        try {
            setMe(await request<Me>("GET", "/v1/me"));
            const { sessions: all } = await request<{ sessions: Listed[] }>("GET", at("sessions"));
            const open = all.length > 0 ? all : [await request<Listed>("POST", at("sessions"), { title: "Browser" })];
            setSessions(open);
            setId((before) => (open.some((one) => one.id === before) ? before : (open[0]?.id ?? null)));
            setRefused(null);
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            if (error.status !== 0) setRefused(error);
        }
    };
    useEffect(
        () =>
            watch((now, url) => {
                setState({ state: now, url });
                if (now === "live") void load();
            }),
        [],
    );
    const actions = useLending(state.state === "live" || me !== null ? id : null);
    const named = useNamed(id);
    if (state.state === "unpaired" || state.state === "unknown") return h(Pairing, { unknown: state.state === "unknown" });
    const opened = async (): Promise<void> => {
        const made = await request<Listed>("POST", at("sessions"), { title: "Browser" });
        setSessions((before) => [made, ...before]);
        setId(made.id);
    };
    return h(
        "main",
        { id: "main" },
        h(
            "header",
            { class: "bar" },
            h("strong", null, "Remit"),
            h(
                "select",
                { "aria-label": "Session", value: id ?? "", onChange: (event: Event) => setId((event.target as HTMLSelectElement).value) },
                sessions.map((one) => h("option", { key: one.id, value: one.id }, line(one.title === "" ? one.id : one.title))),
            ),
            h(
                "button",
                { type: "button", class: "plain", onClick: () => void opened(), title: "New session", "aria-label": "New session" },
                "+",
            ),
            h(
                "span",
                { class: `link ${state.state === "live" ? "live" : "lost"}`, role: "status", title: line(state.url) },
                h("i", { "aria-hidden": "true" }),
                state.state === "live" ? line(new URL(state.url).host) : "looking for the server…",
            ),
        ),
        h(Trouble, { refused }),
        h(Sites, null),
        h(Actions, { actions }),
        named.map(({ ask, ref, names }) =>
            h(
                "p",
                { key: ask, class: "named", role: "status" },
                h("code", null, line(ref)),
                " in the question is ",
                h("strong", null, line(names).slice(0, 400)),
            ),
        ),
        id === null || me === null ? null : h(Session, { key: id, id, me }),
        h("footer", null, h("button", { type: "button", class: "plain", onClick: () => void forget() }, "Unpair this panel")),
    );
}

async function forget(): Promise<void> {
    if (!confirm("Unpair this panel? A new code is needed to pair it again.")) return;
    await unpair();
    leave();
    location.reload();
}

function Pairing({ unknown }: { readonly unknown: boolean }): ComponentChildren {
    const [url, setUrl] = useState("http://127.0.0.1:41730");
    const [code, setCode] = useState("");
    const [wrong, setWrong] = useState<string | null>(null);
    const submit = async (event: Event): Promise<void> => {
        event.preventDefault();
        try {
            await pair(url.trim(), code.trim());
            setWrong(null);
            void begin();
        } catch (error) {
            setWrong((error as Error).message);
        }
    };
    const field = (name: string, label: string, value: string, set: (text: string) => void): ComponentChildren =>
        h(
            "label",
            null,
            label,
            h("input", {
                name,
                value,
                autocomplete: "off",
                spellcheck: false,
                onInput: (event: Event) => set((event.target as HTMLInputElement).value),
            }),
        );
    return h(
        "main",
        { class: "login", id: "main" },
        h("h1", null, "Remit"),
        h(
            "p",
            null,
            unknown ? "The server does not know this panel any more. Pair it again: " : "Pair this panel with your server: ",
            h("code", null, "remit clients pair"),
            " prints the address and a code.",
        ),
        h(
            "form",
            { class: "pairing", onSubmit: (event: Event) => void submit(event) },
            field("url", "Address", url, setUrl),
            field("code", "Code", code, setCode),
            wrong === null ? null : h("div", { class: "trouble", role: "alert" }, line(wrong)),
            h("button", { class: "primary", disabled: code.trim() === "" }, "Pair"),
        ),
    );
}

function Sites(): ComponentChildren {
    const [sites, setSites] = useState<readonly string[]>([]);
    const [here, setHere] = useState<string | null>(null);
    const [pictures, setPictures] = useState(false);
    const [open, setOpen] = useState<boolean | null>(null);
    const load = async (): Promise<void> => {
        const chosen = await chosenSites();
        setSites(chosen);
        setOpen((before) => before ?? chosen.length === 0);
        setPictures(await mayPicture());
        const [tab] = await browser.tabs.query({ active: true, lastFocusedWindow: true });
        setHere(siteOf(tab?.url));
    };
    useEffect(() => {
        void load();
        browser.tabs.onActivated.addListener(() => void load());
        browser.tabs.onUpdated.addListener(() => void load());
    }, []);
    const [typed, setTyped] = useState("");
    const wanted = siteOf(typed.trim());
    // The browser's question has to follow the click at once: nothing is waited for before it.
    const doing = (what: Promise<unknown>): void => void what.then(() => load());
    return h(
        "details",
        { class: "sites card", open: open ?? false, onToggle: (event: Event) => setOpen((event.target as HTMLDetailsElement).open) },
        h(
            "summary",
            null,
            sites.length === 0
                ? "No site is chosen: the agent sees no page"
                : `${sites.length === 1 ? "1 site is" : `${sites.length} sites are`} chosen`,
        ),
        here !== null && !sites.includes(here)
            ? h("button", { type: "button", class: "primary here", onClick: () => doing(choose(here)) }, `Choose ${line(here)}`)
            : null,
        h(
            "ul",
            null,
            sites.map((site) =>
                h(
                    "li",
                    { key: site },
                    h("code", null, line(site)),
                    h(
                        "button",
                        { type: "button", class: "plain stop", onClick: () => doing(unchoose(site)), "aria-label": `Remove ${line(site)}` },
                        "Remove",
                    ),
                ),
            ),
        ),
        h(
            "form",
            {
                class: "inline",
                onSubmit: (event: Event) => {
                    event.preventDefault();
                    if (wanted !== null) doing(choose(wanted).then(() => setTyped("")));
                },
            },
            h("input", {
                "aria-label": "Site to choose",
                placeholder: "https://shop.example",
                value: typed,
                onInput: (event: Event) => setTyped((event.target as HTMLInputElement).value),
            }),
            h("button", { disabled: wanted === null }, "Choose"),
        ),
        pictures
            ? h("p", { class: "soft" }, "Pictures of chosen sites are allowed.")
            : h("button", { type: "button", class: "plain", onClick: () => doing(askToPicture()) }, "Allow pictures of chosen sites"),
    );
}

function Actions({ actions }: { readonly actions: readonly Action[] | null }): ComponentChildren {
    if (actions === null) return h("p", { class: "soft" }, "Another panel lends this browser's tools.");
    if (actions.length === 0) return null;
    return h(
        "details",
        { class: "actions card", open: true },
        h("summary", null, "In your pages"),
        h(
            "ol",
            { tabIndex: 0, "aria-label": "What was done in your pages, the newest first" },
            actions.map(({ id, tool, about, state, said }) =>
                h(
                    "li",
                    { key: id, class: state },
                    h("strong", null, line(tool)),
                    " ",
                    h("code", null, line(about).slice(0, 300)),
                    h("div", { class: state === "failed" ? "bad" : "soft" }, state === "doing" ? "…" : line(said).slice(0, 400)),
                ),
            ),
        ),
    );
}

listenForKeys();
void begin();
const root = document.getElementById("app");
if (root !== null) render(h(Panel, null), root);
