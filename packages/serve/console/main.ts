/**
 * The console of `remit serve`: who the page is, where the person is, and the frame around every view.
 *
 * Boundary: puts the views together; what each shows is its file's.
 */
import { type ComponentChildren, h, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { begin, LOGGED_OUT, type Me, type ServerRefusal } from "./api.ts";
import { KeyList, listenForKeys, useKeys } from "./keys.ts";
import { Empty, Trouble } from "./parts.ts";
import { here, to, usePlace } from "./place.ts";
import { Program } from "./program.ts";
import { Run } from "./run.ts";
import { Runs } from "./runs.ts";
import { Session } from "./session.ts";
import { Sessions } from "./sessions.ts";

const ROOMS = [
    { name: "sessions", title: "Sessions", key: "1" },
    { name: "runs", title: "Runs", key: "2" },
    { name: "program", title: "Program", key: "3" },
] as const;

/** A page that only looks has no sessions. */
function roomsOf(me: Me): (typeof ROOMS)[number][] {
    return ROOMS.filter(({ name }) => name === "runs" || me.scopes.includes("submit") || me.id !== "viewer");
}

function App({ me }: { readonly me: Me }): ComponentChildren {
    const place = usePlace();
    const rooms = roomsOf(me);
    const [room = rooms[0]?.name ?? "runs", id, view = "overview"] = place;
    const [search, setSearch] = useState("");
    const [help, setHelp] = useState(false);
    const field = useRef<HTMLInputElement>(null);
    const moved = useRef(false);
    const [theme, turn] = useTheme();
    useEffect(() => {
        // What reads the page out, and the keyboard, go on at the heading of the new place.
        if (moved.current) document.querySelector<HTMLElement>("main h1")?.focus();
        moved.current = true;
        setSearch("");
    }, [room, id]);
    useKeys([
        { key: "?", does: "this list", run: () => setHelp(true) },
        { key: "/", does: "search", run: () => field.current?.focus() },
        { key: "t", does: "light, dark, or as the system has it", run: turn },
        ...rooms.map(({ name, title, key }) => ({ key, does: title, run: () => (location.hash = to(name)) })),
    ]);
    const isList = id === undefined && room !== "program";
    return h(
        "div",
        { class: "frame" },
        h("a", { class: "skip", href: "#main", onClick: skip }, "Skip to the content"),
        h(
            "header",
            { class: "bar" },
            h("a", { class: "brand", href: "#/" }, h("img", { src: "/console/icon.svg", alt: "", width: 20, height: 20 }), "Remit"),
            h(
                "nav",
                { "aria-label": "Main" },
                rooms.map(({ name, title }) =>
                    h("a", { key: name, href: to(name), "aria-current": room === name ? "page" : undefined }, title),
                ),
            ),
            h(
                "div",
                { class: "tools" },
                isList
                    ? h("input", {
                          ref: field,
                          type: "search",
                          "aria-label": `Search ${room}`,
                          placeholder: "Search  /",
                          value: search,
                          onInput: (event: InputEvent) => setSearch((event.target as HTMLInputElement).value),
                      })
                    : null,
                h(
                    "button",
                    { type: "button", class: "plain", onClick: turn, "aria-label": `Theme: ${theme}`, title: `Theme: ${theme}` },
                    THEMES[theme],
                ),
                h("button", { type: "button", class: "plain", onClick: () => setHelp(true), "aria-label": "Keys", title: "Keys" }, "?"),
            ),
        ),
        h("main", { id: "main", tabIndex: -1 }, h(Room, { room, id, view, me, search })),
        h(KeyList, { open: help, onClose: () => setHelp(false) }),
    );
}

function skip(event: MouseEvent): void {
    event.preventDefault();
    document.getElementById("main")?.focus();
}

interface RoomProps {
    readonly room: string;
    readonly id: string | undefined;
    readonly view: string;
    readonly me: Me;
    readonly search: string;
}

function Room({ room, id, view, me, search }: RoomProps): ComponentChildren {
    if (room === "sessions") return id === undefined ? h(Sessions, { me, search }) : h(Session, { key: id, id, me });
    if (room === "runs") return id === undefined ? h(Runs, { search, me }) : h(Run, { key: id, id, view });
    if (room === "program") return h(Program, null);
    return h("div", { class: "page" }, h("h1", { tabIndex: -1 }, "Nothing here"), h(Empty, null, "There is nothing at this address."));
}

type Theme = "auto" | "light" | "dark";
const THEMES: { readonly [theme in Theme]: string } = { auto: "◐", light: "☀", dark: "☾" };

function useTheme(): [Theme, () => void] {
    const [theme, set] = useState<Theme>(() => (document.documentElement.dataset["theme"] as Theme | undefined) ?? "auto");
    const turn = (): void => {
        const next: Theme = theme === "auto" ? "light" : theme === "light" ? "dark" : "auto";
        if (next === "auto") delete document.documentElement.dataset["theme"];
        else document.documentElement.dataset["theme"] = next;
        localStorage.setItem("theme", next);
        set(next);
    };
    return [theme, turn];
}

function Login({ refused }: { readonly refused: ServerRefusal | null }): ComponentChildren {
    return h(
        "main",
        { class: "login" },
        h("img", { src: "/console/icon.svg", alt: "", width: 40, height: 40 }),
        h("h1", null, "Remit"),
        h(Trouble, { refused }),
        h(
            "p",
            null,
            "This page needs the link that ",
            h("code", null, "remit serve"),
            " prints. Each link opens it once, within ten minutes; the page then stays open to this browser.",
        ),
    );
}

async function main(): Promise<void> {
    const { me, refused } = await begin();
    listenForKeys();
    // A second link of the terminal, opened in a page that is there.
    addEventListener("hashchange", () => {
        if (here()[0]?.startsWith("code=") === true || location.hash.startsWith("#code=")) location.reload();
    });
    const root = document.getElementById("app");
    if (root === null) return;
    render(me === null ? h(Login, { refused }) : h(App, { me }), root);
    addEventListener(LOGGED_OUT, () => render(h(Login, { refused: null }), root));
}

void main();
