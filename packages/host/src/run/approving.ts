/**
 * Questions of a run to the person on whose behalf it runs, and what an answer is good for.
 *
 * Boundary: between the machine's `ask` effects, the records of questions (`ledger/asks.ts`) and whoever can answer now. What follows from an
 * answer is the machine's.
 *
 * Q1: an answer counts only through its record: given once, by the owner, for the arguments and the tool as they were when it was asked.
 * Q2: an answer given from another process counts like one given here; whichever is first.
 * Q3: a call that was allowed is made only while the tool describes its method as it did when it was allowed; otherwise it is asked about again.
 * Q4: nobody there is a no, unless the run may wait (`park`): then its state is kept, and the process may end.
 */
import { canonicalJson, type Json } from "@remit/language";
import type { AskRequest, Effect, Outcome, ToolRequest } from "@remit/machine";
import { type Ask, AskError, type Asks, boundOf, detailOf } from "../ledger/asks.ts";
import { sha256 } from "../ledger/blob.ts";
import type { Later, Performer, PerformIO } from "./host.ts";
import type { Handlers } from "./setup.ts";

export interface Asking {
    readonly run: string;
    readonly asks: Asks;
    /** Who may answer. */
    readonly owner: string;
    /** How long a question may be answered, milliseconds. */
    readonly expires: number;
    /** A question that nobody answers now is kept for later. */
    readonly park: boolean;
    /** The ledger is looked at from other processes too. */
    readonly shared: boolean;
    /** The run goes on: what was allowed before counts. */
    readonly resumed: boolean;
    /** What a tool says of a method now; null where nothing can be said. */
    readonly describe: (about: Named, signal: AbortSignal) => Promise<Json>;
}

/** A method of an import. */
export interface Named {
    readonly tool: string;
    readonly uri: string;
    readonly file: string;
    readonly method: string;
}

export interface Approving {
    readonly ask: Performer;
    /** Performs a call, after what was allowed was compared with what the tool is now. */
    call(effect: Effect, io: PerformIO, perform: Performer): Promise<Outcome | Later>;
}

/** How often the ledger is looked at for an answer from elsewhere while a person is asked here, milliseconds. */
const LOOK_MS = 400;
const AGAIN = /\/ask(?:\/changed)?$/;

interface Allowed {
    readonly schema: string;
    readonly detail: { readonly [key: string]: Json };
}

export function approving(on: Handlers, asking: Asking): Approving {
    const { asks, run, owner } = asking;
    /** By path of the call. */
    const once = new Map<string, Allowed>();
    /** By principal and method. */
    const sessions = new Map<string, Allowed>();

    async function schemaOf(named: Named | null, signal: AbortSignal): Promise<string> {
        return named === null ? "" : sha256(canonicalJson(await asking.describe(named, signal)));
    }

    function remember(path: string, decision: string, allowed: Allowed): void {
        if (namedIn(allowed.detail) === null) return;
        if (decision === "once" || decision === "session") once.set(path.replace(AGAIN, ""), allowed);
        if (decision === "session") sessions.set(sessionOf(String(allowed.detail.principal), namedIn(allowed.detail) as Named), allowed);
    }

    let restored: Promise<void> | null = null;
    /** Takes up what was allowed before the run was interrupted. */
    async function restore(): Promise<void> {
        for (const { path, detail, decision, schema } of await asks.approvals(run))
            if (detail !== null && typeof detail === "object" && !Array.isArray(detail)) remember(path, decision, { schema, detail });
    }
    async function ready(): Promise<void> {
        if (!asking.resumed) return;
        restored ??= restore();
        await restored;
    }

    const ask: Performer = async (effect, io) => {
        await ready();
        const request = effect.request as unknown as AskRequest;
        const detail = detailOf(request);
        const schema = await schemaOf(namedIn(detail), io.signal);
        const bound = boundOf(run, effect.path, request, schema);
        const given = (decision: string): Outcome => {
            remember(effect.path, decision, { schema, detail });
            return { ok: true, value: decision, origins: ["user"] };
        };

        const before = await asks.take(run, effect.path, bound);
        if (before.kind === "decided") return before.late ? denied(effect, "nobody answered in time") : given(before.decision);
        if (on.ask === undefined && !asking.park) return denied(effect, "nobody was there to answer");
        const open: Ask =
            before.kind === "open"
                ? before.ask
                : await asks.put({
                      run,
                      path: effect.path,
                      pending: io.parent ?? effect.path,
                      request,
                      bound,
                      schema,
                      owner,
                      expires: Date.now() + asking.expires,
                  });
        if (on.ask === undefined) return { later: true };

        const said = await asked(request, effect, open, io.signal);
        if (said === null) return { later: true };
        if (said !== ELSEWHERE) {
            try {
                await asks.decide(open.id, request.options.includes(said) ? said : "deny", owner);
            } catch (error) {
                // Somebody else was faster, or it came too late: the record says what counts.
                if (!(error instanceof AskError)) throw error;
            }
        }
        const taken = await asks.take(run, effect.path, bound);
        if (taken.kind !== "decided") return denied(effect, "the record of the question does not hold");
        return taken.late ? denied(effect, "nobody answered in time") : given(taken.decision);
    };

    /** What the person here says, or `ELSEWHERE` where the record was answered from another process meanwhile. */
    async function asked(request: AskRequest, effect: Effect, open: Ask, signal: AbortSignal): Promise<string | typeof ELSEWHERE | null> {
        const other = new AbortController();
        let timer: NodeJS.Timeout | null = null;
        const elsewhere = new Promise<typeof ELSEWHERE>((resolve, reject) => {
            if (!asking.shared) return;
            timer = setInterval(() => {
                asks.find(run, open.id).then(
                    ({ state }) => {
                        if (state !== "open" && state !== "expired") resolve(ELSEWHERE);
                    },
                    // The record was removed: what is said here would count for nothing.
                    (error: unknown) => (error instanceof AskError ? resolve(ELSEWHERE) : reject(error)),
                );
            }, LOOK_MS);
            timer.unref();
        });
        try {
            const here = Promise.resolve(on.ask?.(request, { effect, ask: open, signal: AbortSignal.any([signal, other.signal]) }) ?? null);
            return await Promise.race([here, elsewhere]);
        } finally {
            if (timer !== null) clearInterval(timer);
            other.abort();
        }
    }

    async function call(effect: Effect, io: PerformIO, perform: Performer): Promise<Outcome | Later> {
        await ready();
        if (once.size === 0 && sessions.size === 0) return perform(effect, io);
        const request = effect.request as unknown as ToolRequest;
        const named = request.op === "call" ? namedBy(request) : null;
        if (named === null) return perform(effect, io);
        const key = sessionOf(effect.principal, named);
        const allowed = once.get(effect.path) ?? sessions.get(key);
        if (allowed === undefined) return perform(effect, io);
        const schema = await schemaOf(named, io.signal);
        if (schema !== allowed.schema) {
            const outcome = await io.child(changed(effect, request, allowed));
            if (!outcome.ok) return isLater(outcome) ? { later: true } : outcome;
            if (outcome.value === "abort") return failure(effect, "cancelled", "the run was ended at a question");
            if (outcome.value !== "once" && outcome.value !== "session") return denied(effect, "the tool had changed since it was allowed");
            if (outcome.value === "session") sessions.set(key, { ...allowed, schema });
        }
        once.delete(effect.path);
        return perform(effect, io);
    }

    return { ask, call };
}

const ELSEWHERE = Symbol("answered elsewhere");

/** The question about a call whose tool is not what it was. */
function changed(effect: Effect, request: ToolRequest, allowed: Allowed): Effect {
    const { detail } = allowed;
    const question = `${request.tool}.${request.method ?? ""} is not described as it was when it was allowed. May it be called all the same?`;
    const about: Json = {
        ...detail,
        args: request.args ?? [],
        origins:
            canonicalJson((request.args ?? []) as Json) === canonicalJson(detail.args ?? [])
                ? (detail.origins ?? {})
                : { "*": [...effect.labels] },
        why: "changed",
    };
    const ask: AskRequest = { question, detail: about, options: ["once", "session", "deny", "abort"] };
    return {
        path: `${effect.path}/ask/changed`,
        kind: "ask",
        principal: effect.principal,
        site: effect.site,
        request: ask as unknown as Json,
        labels: effect.labels,
    };
}

/** The tool's method that a question is about; null where it is about something else. */
function namedIn(detail: { readonly [key: string]: Json }): Named | null {
    const { tool, uri, file, method, kind } = detail;
    if (typeof tool !== "string" || typeof uri !== "string" || typeof file !== "string" || typeof method !== "string") return null;
    return kind === undefined || kind === "tool" ? { tool, uri, file, method } : null;
}

function namedBy({ tool, uri, file, method, args }: ToolRequest): Named | null {
    if (method === undefined) return null;
    const first = args?.[0];
    // The generic call of a tool server is the method it names.
    const inner =
        /^mcp:/i.test(uri) && method === "call" && first !== null && typeof first === "object" && !Array.isArray(first)
            ? first.tool
            : undefined;
    return { tool, uri, file, method: typeof inner === "string" ? inner : method };
}

function sessionOf(principal: string, { tool, uri, file, method }: Named): string {
    return canonicalJson([principal, tool, uri, file, method]);
}

/** `childOf` says so where a question of a performer was left for later. */
function isLater(outcome: Outcome & { readonly ok: false }): boolean {
    const { detail } = outcome.failure;
    return detail !== null && typeof detail === "object" && !Array.isArray(detail) && detail.later === true;
}

function denied(effect: Effect, message: string): Outcome {
    return failure(effect, "denied", message, "run it on a terminal to be asked, or with --park to answer later");
}

function failure(effect: Effect, kind: "denied" | "cancelled", message: string, hint?: string): Outcome {
    return { ok: false, failure: { kind, message, site: effect.site, ...(hint === undefined ? {} : { hint }) } };
}
