/**
 * A session as it stands now: what the server says of it, asked for again after each thing that happened, and what is said before it is kept.
 *
 * Boundary: one stream, one state. Views read it.
 *
 * LIV1: what the ledger has comes from the server's own account of the session, never from adding up events here.
 */
import { useEffect, useState } from "preact/hooks";
import type { SessionInfo } from "../src/wire/messages.ts";
import { at, type Link, listen, ServerRefusal, request } from "./api.ts";

export interface Step {
    readonly kind: string;
    readonly name: string;
    readonly bad: boolean;
}

/** What a turn does while it runs. */
export interface Doing {
    /** Text of the model, by the place that it is written for. */
    readonly text: readonly { readonly path: string; readonly text: string }[];
    readonly steps: readonly Step[];
}

export interface Live {
    readonly info: SessionInfo | null;
    readonly link: Link;
    readonly refused: ServerRefusal | null;
    readonly doing: ReadonlyMap<string, Doing>;
    /** Calls of lent tools that are under way, by their id. */
    readonly calls: ReadonlyMap<string, { readonly tool: string; readonly turn: string }>;
}

const NUMBERED = ["session.opened", "session.closed", "turn.submitted", "turn.started", "turn.ended", "lent.registered", "lent.withdrawn"];
const ASKED = ["ask.requested", "ask.decided", "ask.withdrawn"];
const TOLD = ["turn.text", "turn.restart", "turn.step", "call", "call.ended", "caught-up"];
const NOTHING: Doing = { text: [], steps: [] };

type Fields = { readonly [key: string]: unknown };

export function useSession(id: string): Live & { reload(): void } {
    const [live, set] = useState<Live>({ info: null, link: "lost", refused: null, doing: new Map(), calls: new Map() });
    const [reload, setReload] = useState<() => void>(() => () => undefined);
    useEffect(() => {
        let left = false;
        let close = (): void => undefined;
        let busy = false;
        let wanted = false;
        const load = async (): Promise<SessionInfo | null> => {
            if (busy) {
                wanted = true;
                return null;
            }
            busy = true;
            try {
                let info: SessionInfo;
                do {
                    wanted = false;
                    info = await request<SessionInfo>("GET", at("sessions", id));
                } while (wanted && !left);
                if (!left) set((before) => ({ ...before, info, refused: null }));
                return info;
            } catch (error) {
                if (!(error instanceof ServerRefusal)) throw error;
                if (!left) set((before) => ({ ...before, refused: error }));
                return null;
            } finally {
                busy = false;
            }
        };
        setReload(() => () => void load());
        void load().then((info) => {
            if (left || info === null) return;
            close = listen(`${at("sessions", id, "events")}?from=${info.seq}`, [...NUMBERED, ...ASKED, ...TOLD], {
                link: (link) => {
                    set((before) => ({ ...before, link }));
                    // What was told and not kept meanwhile is made up for.
                    if (link === "live") void load();
                },
                event: (name, data) => {
                    if (!TOLD.includes(name)) void load();
                    set((before) => told(before, name, data as Fields));
                },
            });
        });
        return () => {
            left = true;
            close();
        };
    }, [id]);
    return { ...live, reload };
}

function told(live: Live, name: string, data: Fields): Live {
    const turn = String(data["turn"]);
    const doing = live.doing.get(turn) ?? NOTHING;
    const become = (next: Doing): Live => ({ ...live, doing: new Map(live.doing).set(turn, next) });
    if (name === "turn.text") return become({ ...doing, text: added(doing.text, String(data["path"]), String(data["delta"])) });
    if (name === "turn.restart") return become({ ...doing, text: doing.text.filter(({ path }) => path !== data["path"]) });
    if (name === "turn.step") return become({ ...doing, steps: [...doing.steps, stepOf(data)] });
    if (name === "call" || name === "call.ended") {
        const calls = new Map(live.calls);
        if (name === "call") calls.set(String(data["id"]), { tool: String(data["tool"]), turn });
        else calls.delete(String(data["id"]));
        return { ...live, calls };
    }
    if (name === "session.closed") return { ...live, link: "over" };
    return live;
}

function added(text: Doing["text"], path: string, delta: string): Doing["text"] {
    const last = text.at(-1);
    return last?.path === path ? [...text.slice(0, -1), { path, text: last.text + delta }] : [...text, { path, text: delta }];
}

function stepOf(data: Fields): Step {
    const { kind, use, tool, agent, label, id, message, path, rule } = data;
    const name = use ?? tool ?? agent ?? id ?? label ?? message ?? rule ?? String(path).split("/").at(-1);
    return { kind: String(kind), name: String(name), bad: data["ok"] === false || kind === "failure" || kind === "policy.denied" };
}
