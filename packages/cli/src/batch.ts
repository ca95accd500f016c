/**
 * Loops over many items as the events of a run tell of them: how many items are done, how many failed and why, what runs now.
 *
 * Boundary: reads ledger events. There is no event for a pass of a `parallel for`: it begins with the first event in it, and is over when its place
 * is taken by another. What is counted as failed is a pass whose last call failed; where the loop has ended, its own event says it exactly.
 */
import { isObject, type Json } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { plainLine } from "./io.ts";

type Data = { readonly [key: string]: Json };
const objectOf = (value: Json | undefined): Data => (isObject(value) ? value : {});

/** A loop of fewer items is shown call by call. */
const MANY = 10;
const NAME_WIDTH = 40;

interface Pass {
    readonly name: string;
    open: number;
    /** Why its last call failed; null where it did not. */
    failed: string | null;
}

/** Failures that differ in numbers alone. */
export interface Alike {
    readonly message: string;
    /** Of the first item. */
    readonly index: number;
    readonly name: string;
    count: number;
}

export interface Batch {
    readonly item: string;
    readonly total: number;
    /** Milliseconds since 1970: when it began, or its run went on. */
    readonly since: number;
    readonly atOnce: number;
    readonly path: string;
    /** Items that are over, and those of them that failed. */
    done: number;
    failed: number;
    tokens: number;
    /** Replies that were refused, and asked for again. */
    refused: number;
    readonly reasons: ReadonlyMap<string, Alike>;
    /** Names of the items that run. */
    running(): string[];
}

class Loop implements Batch {
    readonly item: string;
    readonly total: number;
    since: number;
    readonly atOnce: number;
    readonly path: string;
    done = 0;
    failed = 0;
    tokens = 0;
    refused = 0;
    readonly reasons = new Map<string, Alike>();
    private readonly inside: string;
    private readonly active = new Map<number, Pass>();
    private readonly over = new Set<number>();
    /** Of those that are over. */
    private readonly bad = new Set<number>();

    constructor(event: LedgerEvent) {
        const { item, items, concurrency } = objectOf(event.data);
        this.item = typeof item === "string" ? item : "item";
        this.total = Number(items);
        this.atOnce = Number(concurrency) || 1;
        this.since = Date.parse(event.time);
        this.path = event.path;
        this.inside = `${event.path.slice(0, event.path.lastIndexOf("/") + 1)}parallel[`;
    }

    holds(path: string): boolean {
        return path.startsWith(this.inside);
    }

    running(): string[] {
        return [...this.active.values()].filter(({ open }) => open > 0).map(({ name }) => name);
    }

    event(event: LedgerEvent): void {
        const index = Number.parseInt(event.path.slice(this.inside.length), 10);
        if (!Number.isInteger(index) || this.over.has(index)) return;
        const pass = this.active.get(index) ?? this.begun(index, event);
        const data = objectOf(event.data);
        const last = event.kind.slice(event.kind.lastIndexOf(".") + 1);
        if (last === "started" || last === "requested") pass.open++;
        else if (last === "ended" || last === "decided" || last === "given") {
            pass.open--;
            pass.failed = data["ok"] === false ? String(data["error"] ?? data["kind"] ?? "failed") : null;
        }
        if (event.kind === "generate.attempt") {
            const { input, output } = objectOf(data["usage"]);
            this.tokens += (Number(input) || 0) + (Number(output) || 0);
            if (typeof data["error"] === "string" && data["reply"] !== null) this.refused++;
        }
    }

    /** The loop is over, or its run is. */
    end(): void {
        for (const index of [...this.active.keys()]) this.retire(index);
    }

    /** The run goes on: items that failed are tried again, and what was under way is begun again. */
    again(now: number): void {
        for (const [index, { open }] of this.active) if (open <= 0) this.retire(index);
        this.active.clear();
        for (const index of this.bad) this.over.delete(index);
        this.bad.clear();
        this.reasons.clear();
        this.done = this.over.size;
        this.failed = 0;
        this.since = now;
    }

    private begun(index: number, event: LedgerEvent): Pass {
        // no more run at once: those in which nothing goes on are over
        for (const [one, { open }] of this.active) {
            if (this.active.size < this.atOnce) break;
            if (open <= 0) this.retire(one);
        }
        const pass: Pass = { name: nameOf(event), open: 0, failed: null };
        this.active.set(index, pass);
        return pass;
    }

    private retire(index: number): void {
        const pass = this.active.get(index) as Pass;
        this.active.delete(index);
        this.over.add(index);
        this.done++;
        if (pass.failed === null) return;
        this.failed++;
        this.bad.add(index);
        const key = pass.failed.replace(/\d+/g, "#");
        const known = this.reasons.get(key);
        if (known === undefined) this.reasons.set(key, { message: plainLine(pass.failed), index, name: pass.name, count: 1 });
        else known.count++;
    }
}

/** What an item is called: what its first call is about. */
function nameOf({ data }: LedgerEvent): string {
    const { instruction, items, args, arg } = objectOf(data);
    const context = Array.isArray(items) ? objectOf(items.at(-1))["text"] : undefined;
    const asked = objectOf(instruction)["text"];
    const given = Array.isArray(args) ? args[0] : arg;
    const said = [context, asked, typeof given === "string" ? given : Object.values(objectOf(given))[0]];
    const text = said.find((one): one is string => typeof one === "string" && one.trim() !== "") ?? "";
    const plain = plainLine(text.trim().split("\n")[0] ?? "");
    return plain.length > NAME_WIDTH ? `${plain.slice(0, NAME_WIDTH - 1)}…` : plain;
}

export interface Batches {
    /** The loop over many items that the event is in; what was just begun or ended is in `began` and `ended`. */
    event(event: LedgerEvent): { readonly in: Batch | null; readonly began?: Batch; readonly ended?: Batch };
    /** The run goes on at this time, behind the events that were told so far. */
    again(now: number): void;
    readonly open: readonly Batch[];
}

export function batches(): Batches {
    const open: Loop[] = [];
    return {
        open,
        again: (now) => {
            for (const one of open) one.again(now);
        },
        event(event) {
            const outer = open.find((one) => one.holds(event.path));
            if (outer !== undefined) {
                outer.event(event);
                return { in: outer };
            }
            const { items, failed_indices, iterations } = objectOf(event.data);
            if (event.kind === "parallel.started" && Number(items) > MANY) {
                const began = new Loop(event);
                open.push(began);
                return { in: null, began };
            }
            const at =
                event.kind === "run.ended" ? 0 : event.kind === "parallel.ended" ? open.findIndex(({ path }) => path === event.path) : -1;
            const ended = at < 0 ? undefined : open[at];
            if (ended === undefined) return { in: null };
            open.splice(at, 1);
            ended.end();
            if (Array.isArray(iterations)) {
                ended.failed = Array.isArray(failed_indices) ? failed_indices.length : 0;
                ended.done = iterations.filter((one) => objectOf(one)["kind"] !== "cancelled").length;
            }
            return { in: null, ended };
        },
    };
}
