/**
 * Lends the panel's tools to a session as long as the panel is open, and carries out their calls one after another.
 *
 * Boundary: between the connection and the tools. A panel that is closed has no connection, and what it lent is withdrawn by the server.
 *
 * LDG2: a result that the server cannot take now is sent again as it is: it counts once. One that it does not take at all is told as a failure.
 * LDG1: of several panels one lends: a call is carried out once.
 */
import { useEffect, useState } from "preact/hooks";
import { at, hear, ServerRefusal, request } from "./api.ts";
import type { CallResult } from "../src/wire/messages.ts";
import { namedBy, resultOf, TOOLS } from "./tools.ts";

export interface Action {
    readonly id: string;
    readonly tool: string;
    readonly about: string;
    readonly state: "doing" | "done" | "failed";
    readonly said: string;
}

/** Of the questions that are open about a reference: what it names in the page, by the question. */
export function useNamed(session: string | null): readonly { readonly ask: string; readonly ref: string; readonly names: string }[] {
    const [named, set] = useState<readonly { readonly ask: string; readonly ref: string; readonly names: string }[]>([]);
    useEffect(() => {
        set([]);
        const asked = async (ask: string, ref: string): Promise<void> => {
            const names = await namedBy(ref);
            set((before) => [...before, { ask, ref, names }]);
        };
        return hear({
            connected: () => undefined,
            message: ({ session: of, event, data }) => {
                const { ask, detail } = data as {
                    readonly ask?: string;
                    readonly detail?: { readonly args?: readonly { readonly ref?: unknown }[] };
                };
                if (of !== session || ask === undefined) return;
                const ref = detail?.args?.[0]?.ref;
                if (event === "ask.requested" && typeof ref === "string") void asked(ask, ref);
                else if (event === "ask.decided" || event === "ask.withdrawn") set((before) => before.filter((one) => one.ask !== ask));
            },
        });
    }, [session]);
    return named;
}

/** Actions that are shown. */
const MOST = 30;

/** What was done for the session, the newest first; null while another panel lends. */
export function useLending(session: string | null): readonly Action[] | null {
    const [actions, set] = useState<readonly Action[] | null>(null);
    useEffect(() => {
        if (session === null) return;
        const over = new AbortController();
        let stop: () => void = () => undefined;
        const turn = navigator.locks.request("remit-lends", { signal: over.signal }, async () => {
            set([]);
            stop = lend(session, (action) =>
                set((before) => [action, ...(before ?? []).filter(({ id }) => id !== action.id)].slice(0, MOST)),
            );
            await new Promise((resolve) => over.signal.addEventListener("abort", resolve, { once: true }));
        });
        turn.catch((error: unknown) => {
            if (!over.signal.aborted) throw error;
        });
        return () => {
            over.abort();
            stop();
        };
    }, [session]);
    return actions;
}

/** A server or a session that is gone has withdrawn the tools itself. */
function isOver(error: unknown): void {
    if (!(error instanceof ServerRefusal)) throw error;
}

type Call = { readonly id: string; readonly client: string; readonly tool: string; readonly args: { readonly [name: string]: unknown } };

/** Tries to give a result, and milliseconds between two. */
const TRIES = 60;
const AGAIN_MS = 1_000;

/** LDG2. Rejects with `ServerRefusal`. */
async function give(to: string, result: CallResult): Promise<void> {
    for (let tries = 1; ; tries++)
        try {
            await request("POST", to, result);
            return;
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            const { status, message } = error;
            if (status === 400 || status === 413) {
                await request("POST", to, { ok: false, error: message });
                return;
            }
            if ((status !== 429 && status !== 503) || tries === TRIES) throw error;
            await new Promise((go) => setTimeout(go, AGAIN_MS));
        }
}

function lend(session: string, tell: (action: Action) => void): () => void {
    const taken = new Set<string>();
    let me = "";
    let last: Promise<void> = Promise.resolve();
    const carry = async ({ id, tool, args }: Call): Promise<void> => {
        const about = JSON.stringify(args);
        tell({ id, tool, about, state: "doing", said: "" });
        const result = await resultOf(tool, args);
        const said = result.ok ? [result.site ?? []].flat().join(", ") : result.error;
        tell({ id, tool, about, state: result.ok ? "done" : "failed", said });
        const to = at("sessions", session, "calls", id, "result");
        await give(to, result);
    };
    const connected = async (): Promise<void> => {
        me = (await request<{ id: string }>("GET", "/v1/me")).id;
        for (const [name, { spec }] of Object.entries(TOOLS)) await request("PUT", at("sessions", session, "tools", name), spec);
    };
    const trouble = (error: Error): void => tell({ id: "lend", tool: "lend", about: "", state: "failed", said: error.message });
    const off = hear({
        connected: () => void connected().catch(trouble),
        message: ({ session: of, event, data }) => {
            const call = data as Call;
            if (of !== session || event !== "call" || call.client !== me || taken.has(call.id)) return;
            taken.add(call.id);
            last = last.then(() => carry(call)).catch(trouble);
        },
    });
    void connected().catch(trouble);
    return () => {
        off();
        for (const name of Object.keys(TOOLS)) void request("DELETE", at("sessions", session, "tools", name)).catch(isOver);
    };
}
