/**
 * Whether a turn gets anywhere: the calls of tools, what came of each, and when that is enough.
 *
 * Boundary: pure. What is done about it is the session's.
 *
 * STK1: a call that was refused is not put to a person again in the same turn.
 * STK2: a turn ends after `MAX_SAME` calls in a row that are the same and give the same, and after `MAX_FAILED` in a row that fail.
 * STK3: it ends after `MAX_UNCHANGED` reads with nothing new in between, each of which gave what the same read gave before, whatever else was called
 *     between them.
 * STK4: a call that is told to its model as an error before it is made counts as one that failed, though no client hears of it: its tool was not
 *     offered, its arguments do not fit, or the program does not allow it.
 * STK5: what a model calls of the program's own imports counts as what it calls of lent tools, but the calls of two loops are never the same: each loop
 *     over many things may begin with the same look.
 */
import { LENT, canonicalJson, isObject, type Json } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";

const MAX_SAME = 3;
const MAX_FAILED = 4;
const MAX_UNCHANGED = 4;

export interface Called {
    /** The tool only reads. */
    readonly reads: boolean;
    readonly ok: boolean;
    /** What it gave, or why it failed. */
    readonly gave: Json;
}

export class Progress {
    readonly #refused = new Map<string, number>();
    /** What each read gave last. */
    readonly #read = new Map<string, string>();
    #unchanged = 0;
    #last = "";
    #same = 0;
    #failed = 0;

    /** What a call is told by. `loop`: where it is told by that, too (STK5). */
    static key(tool: string, args: Json, loop?: string): string {
        return canonicalJson(loop === undefined ? [tool, args] : [tool, args, loop]);
    }

    /**
     * A call was refused, by a person now or because one refused it before. Why the turn ends, or null.
     */
    refused(key: string): string | null {
        const times = (this.#refused.get(key) ?? 0) + 1;
        this.#refused.set(key, times);
        if (times > MAX_SAME) return `the same call of ${toolOf(key)} came ${times} times after it was refused`;
        return this.#counts(false, `the last one, of ${toolOf(key)}, was refused`);
    }

    /** STK1. */
    wasRefused(key: string): boolean {
        return this.#refused.has(key);
    }

    /** What came of a call. Why the turn ends, or null. */
    called(key: string, { ok, gave, reads }: Called): string | null {
        const now = canonicalJson([key, ok, gave]);
        this.#same = now === this.#last ? this.#same + 1 : 1;
        this.#last = now;
        if (this.#same >= MAX_SAME) return `the same call of ${toolOf(key)} gave the same ${this.#same} times in a row`;
        if (ok && reads && this.#isOld(key, now))
            return `${this.#unchanged} reads in a row gave what they gave before, the last one of ${toolOf(key)}`;
        return this.#counts(ok, `the last one, of ${toolOf(key)}: ${typeof gave === "string" ? gave : JSON.stringify(gave)}`);
    }

    /** STK3. */
    #isOld(key: string, now: string): boolean {
        this.#unchanged = this.#read.get(key) === now ? this.#unchanged + 1 : 0;
        this.#read.set(key, now);
        return this.#unchanged >= MAX_UNCHANGED;
    }

    #counts(ok: boolean, last: string): string | null {
        this.#failed = ok ? 0 : this.#failed + 1;
        return this.#failed >= MAX_FAILED ? `${this.#failed} calls in a row came to nothing, ${last}` : null;
    }
}

/** STK4 and STK5, from the events of a turn's run. */
export class ModelCalls {
    /** By the path of a `generate`, the calls of its model's last reply that have no event of their own yet. */
    readonly #open = new Map<string, readonly { readonly key: string; readonly path: string }[]>();
    /** By the path of a `generate`, the methods of its tools that only read. */
    readonly #reading = new Map<string, ReadonlySet<string>>();

    /** The calls of which this event says what came of them, but for the calls of lent tools that were made. */
    heard({ kind, path, data }: Pick<LedgerEvent, "kind" | "path" | "data">): readonly { readonly key: string; readonly called: Called }[] {
        if (kind === "generate.started" && isObject(data)) {
            const reading = listOf(data.tools).filter((one) => one["read_only"] === true);
            this.#reading.set(path, new Set(reading.map(({ tool, method }) => `${String(tool)}.${String(method)}`)));
        }
        const loop = /^(.*)\/attempt\[\d+\]\/turn\[\d+\]\/call\[\d+\]$/.exec(path)?.[1];
        if (kind !== "policy.denied" && path.includes("/call["))
            for (const [generate, calls] of this.#open)
                this.#open.set(
                    generate,
                    calls.filter((call) => path !== call.path && !path.startsWith(`${call.path}/`)),
                );
        if (kind === "tool.ended" && loop !== undefined && isObject(data) && data["uri"] !== LENT) return [this.#own(loop, data)];
        if (kind === "generate.ended") {
            this.#open.delete(path);
            this.#reading.delete(path);
        }
        if (kind !== "generate.attempt" || !isObject(data)) return [];
        const generate = path.slice(0, path.lastIndexOf("/attempt["));
        const told = listOf(data.messages).flatMap(({ role, result }) => (role === "tool" ? [isObject(result) ? result : {}] : []));
        const before = this.#open.get(generate) ?? [];
        const calls = isObject(data.reply) ? listOf(data.reply.calls) : [];
        this.#open.set(
            generate,
            calls.map(({ name, args = {} }, at) => ({
                key: Progress.key(String(name), args),
                path: `${generate}/attempt[${data.attempt}]/turn[${data.turn}]/call[${at}]`,
            })),
        );
        return before.flatMap(({ key, path: made }) => {
            const result = told[Number(/\[(\d+)\]$/.exec(made)?.[1])];
            return result?.["isError"] === true ? [{ key, called: { ok: false, gave: String(result["error"] ?? ""), reads: false } }] : [];
        });
    }

    #own(loop: string, { tool, method, args = null, ok, result = null, error = null }: { readonly [key: string]: Json }) {
        const name = `${String(tool)}.${String(method)}`;
        const isOk = ok === true;
        const reads = this.#reading.get(loop)?.has(name) === true;
        return { key: Progress.key(name, args, loop), called: { ok: isOk, gave: isOk ? result : error, reads } };
    }
}

function listOf(value: Json | undefined): readonly { readonly [key: string]: Json }[] {
    return Array.isArray(value) ? value.filter(isObject) : [];
}

function toolOf(key: string): string {
    return (JSON.parse(key) as [string, unknown])[0];
}
