/**
 * Verifying a run: the chain of events, the chain of outcomes, the counts of the run's row and the anchor must agree; so must what the row says
 * of the program and of how the run ended with the events that say it; and what a resume starts from with what was bound.
 *
 * Boundary: pure over what the store reads; names the first thing that does not hold.
 */
import { isObject, amountOf, canonicalJson, type Json } from "@remit/language";
import { type SealedEvent, verifyStream } from "@remit/machine";
import type { Anchor } from "./anchor.ts";
import { sha256 } from "./blob.ts";
import type { Held } from "./bound.ts";
import { LedgerError } from "./error.ts";
import { chainOutcome } from "./order.ts";
import type { RunStatus, Verification } from "./store.ts";

export interface ChainedOutcome {
    readonly n: number;
    readonly path: string;
    readonly attempt: number;
    readonly text: string;
    readonly hash: string;
}

export interface Claims {
    /** Of the run's row. */
    readonly count: number;
    readonly head: string;
    readonly answers: number;
    readonly answered: string;
    readonly program: string;
    readonly status: RunStatus;
    /** Value of a run that is done. */
    readonly value: () => Json | undefined;
    /** Reads the program's form. Throws `LedgerError` where it is not the one of that hash. */
    readonly form: () => unknown;
    readonly events: Iterable<SealedEvent> | AsyncIterable<SealedEvent>;
    readonly outcomes: Iterable<ChainedOutcome> | AsyncIterable<ChainedOutcome>;
    readonly anchor: Anchor | undefined;
    readonly held: () => Held;
}

export async function verifyRun(claims: Claims): Promise<Verification> {
    const { anchor } = claims;
    const anchored = anchor === undefined ? "no" : anchor.count < claims.count || anchor.answers < claims.answers ? "behind" : "yes";
    let seen = 0;
    let started: SealedEvent | undefined;
    let ended: SealedEvent | undefined;
    const found = claims.held();
    const bound = found.held === "broken" ? "yes" : found.held;
    const no = (what: NonNullable<Verification["problem"]>["what"], seq: number, message: string): Verification => ({
        ok: false,
        events: seen,
        anchored,
        bound,
        problem: { what, seq, message },
    });
    try {
        const watched = async function* (): AsyncGenerator<SealedEvent> {
            for await (const event of claims.events) {
                seen = event.seq;
                if (event.path === "main" && event.kind === "run.started") started = event;
                if (event.path === "main" && event.kind === "run.ended") ended = event;
                // A failed run goes on.
                if (event.kind === "run.resumed") ended = undefined;
                yield event;
            }
        };
        const chain = await verifyStream(
            watched(),
            sha256,
            anchor === undefined || anchor.count === 0 ? undefined : { seq: anchor.count, hash: anchor.head },
        );
        if (!chain.ok) return no("event", chain.seq, chain.message);
        if (chain.count !== claims.count || chain.head !== claims.head)
            return no("head", chain.count, `the run's row speaks of ${amountOf(claims.count, "event")}, the file has ${chain.count}`);

        let prev = "";
        let n = 0;
        for await (const one of claims.outcomes) {
            n++;
            if (one.n !== n) return no("outcome", n, `outcome ${n} is missing or moved`);
            if (chainOutcome(prev, one.path, one.attempt, one.text) !== one.hash)
                return no("outcome", n, `outcome ${n} (${one.path}) was changed`);
            prev = one.hash;
            if (anchor !== undefined && n === anchor.answers && prev !== anchor.answered)
                return no("outcome", n, `outcome ${n} is not the one that was anchored`);
        }
        if (anchor !== undefined && anchor.answers > n) return no("outcome", n + 1, `outcome ${n + 1} was dropped`);
        if (n !== claims.answers || prev !== claims.answered)
            return no("head", n, `the run's row speaks of ${claims.answers} outcomes, the file has ${n}`);
        if (started !== undefined) {
            if (fieldOf(started, "program") !== claims.program) return no("head", started.seq, "the run's row names another program");
            try {
                await claims.form();
            } catch (error) {
                if (error instanceof LedgerError) return no("head", started.seq, error.message);
                throw error;
            }
        }
        if (ended !== undefined) {
            const done = fieldOf(ended, "ok") === true;
            if (claims.status !== (done ? "done" : "failed"))
                return no(
                    "head",
                    ended.seq,
                    `the run's row says '${claims.status}', event ${ended.seq} says '${done ? "done" : "failed"}'`,
                );
            if (done && canonicalJson(claims.value() ?? null) !== canonicalJson(fieldOf(ended, "value") ?? null))
                return no("head", ended.seq, `the run's row has another value than event ${ended.seq}`);
        }
        if (found.held === "broken") return no("row", seen, found.message);
    } catch (error) {
        if (error instanceof LedgerError && error.code === "tampered") return no("blob", seen + 1, error.message);
        if (error instanceof SyntaxError) return no("event", seen + 1, `what follows event ${seen} cannot be read`);
        throw error;
    }
    return { ok: true, events: seen, anchored, bound };
}

function fieldOf(event: SealedEvent, name: string): Json | undefined {
    const { data } = event;
    return isObject(data) && Object.hasOwn(data, name) ? data[name] : undefined;
}
