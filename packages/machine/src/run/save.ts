/**
 * The continuation: a run's state as JSON, whole or as what changed since the last save.
 *
 * Boundary: writing. Reading is `load.ts`; both follow the shapes below.
 *
 * M6: a list or object reachable twice is written once; an id is given at the first save that reaches it.
 * M7: a delta holds objects that changed or are new, appended tails of what only grew, and frames from the lowest one that ran; a whole image
 *     is written when the deltas since the last one are larger than it. What nothing reaches any more leaves with the next image.
 * LT1: a large text is written once, and referred to; of a conversation with a model a delta holds what is new, and a request for a turn nothing
 *     that follows from it. So what a delta takes depends on what is new, not on how much there is.
 */
import { isObject, type Json } from "@remit/language";
import { versionOf } from "../compile/version.ts";
import type { Fail } from "../effect/failure.ts";
import { LARGE_TEXT, referred } from "../value/texts.ts";
import { Capability, Labelled, List, type Obj, type Owner, type Value } from "../value/value.ts";
import {
    CONTINUATION,
    type Cell,
    type ThingDoc,
    type FailDoc,
    type NativeDoc,
    type FrameDoc,
    type FiberDoc,
    type PendingDoc,
    type CodeDoc,
    type EntryDoc,
    type Continuation,
    WAITS,
    codedAs,
} from "./document.ts";
import { isTurnOf } from "../prompt/generate.ts";
import { Fiber, type Frame, type GenerateWait, type Native, type Pending, type ParallelWait } from "../state/fiber.ts";
import type { Described } from "../state/descriptions.ts";
import { nextFiber } from "./execute.ts";
import type { Machine } from "./machine.ts";

/** Deltas of less than this do not call for an image, however small the last one was. */
const LEAST = 8192;

type JsonObject = { readonly [key: string]: Json };

/** What the last save knew. */
export class Saved {
    /** Size of the last image, -1 before the first; size of the deltas after it. */
    image = -1;
    deltas = 0;
    seq = 0;
    labels = 1;
    ids = 1;
    readonly fibers = new Set<number>();
    readonly pending = new Set<string>();
    /** Ids of large texts that are written, and the next one. */
    texts = new Map<string, number>();
    text = 1;
    /** States of generates as they were written. */
    readonly states = new WeakMap<GenerateWait, JsonObject>();
}

export function save(m: Machine, whole: boolean): { image: Json } | { delta: Json } {
    const { saved, run } = m;
    const image = whole || saved.image < 0 || saved.deltas > Math.max(saved.image, LEAST);
    const writer = new Writer(m, image);
    const doc = writer.withoutTexts(writer.document());
    run.heap.dirty.clear();
    run.heap.gen++;
    saved.seq++;
    saved.labels = run.labels.size;
    saved.fibers.clear();
    for (const [id, fiber] of m.fibers) {
        saved.fibers.add(id);
        fiber.low = fiber.frames.length;
    }
    saved.pending.clear();
    for (const path of m.waiting.keys()) saved.pending.add(path);
    if (image) {
        saved.image = writer.size;
        saved.deltas = 0;
        return { image: doc as unknown as Json };
    }
    saved.deltas += writer.size;
    return { delta: doc as unknown as Json };
}

class Writer {
    /** About how long the document is as text. */
    size = 0;
    /** Whether large texts are looked for: it may hold one, or leaves out what the reader adds. A document of many small things is written as it is. */
    private isWalked = false;
    private readonly m: Machine;
    private readonly image: boolean;
    private readonly heap: ThingDoc[] = [];
    private readonly met = new Set<List | Obj>();
    private readonly rest: (List | Obj)[] = [];

    constructor(m: Machine, image: boolean) {
        this.m = m;
        this.image = image;
    }

    /** By a text, or by JSON. */
    private grow(size: number): void {
        this.size += size;
        if (size > LARGE_TEXT) this.isWalked = true;
    }

    /** LT1. */
    withoutTexts(doc: Continuation): Continuation {
        const { saved } = this.m;
        if (!this.isWalked) {
            // An image begins anew: what only the documents before it held is written again.
            if (this.image) saved.texts = new Map();
            return doc;
        }
        const known = this.image ? new Map<string, number>() : saved.texts;
        const texts: [number, Json][] = [];
        const done = referred(doc as unknown as Json, "$text", (text, of) => {
            let id = known.get(text);
            if (id === undefined) {
                id = saved.texts.get(text) ?? saved.text++;
                known.set(text, id);
                // A value stays a value, so that the host finds in it what is known to be a secret.
                texts.push([id, of === "json" ? (JSON.parse(text) as Json) : text]);
            } else this.size = Math.max(0, this.size - text.length);
            return id;
        });
        saved.texts = known;
        return { ...(done as unknown as Continuation), texts };
    }

    document(): Continuation {
        const { m, image } = this;
        const { run, saved } = m;
        const from = image ? 1 : saved.labels;
        const sets: (readonly string[])[] = [];
        for (let id = from; id < run.labels.size; id++) sets.push(run.labels.origins(id));
        this.size += 16 * sets.length + 200;
        const { namedBlocks } = m.compiled;
        const imports = image ? [...run.imports].map((v, number) => (namedBlocks.has(number) ? null : this.cell(v))) : undefined;
        const blocks = [...namedBlocks.keys()].flatMap((number) => {
            const value = run.imports[number];
            return value === undefined ? [] : [[number, this.cell(value)] as const];
        });
        const fibers: FiberDoc[] = [];
        for (const fiber of m.fibers.values())
            if (image || fiber.low < fiber.frames.length || !saved.fibers.has(fiber.id)) fibers.push(this.fiber(fiber));
        if (!image)
            for (const [o, change] of run.heap.dirty) {
                this.met.add(o);
                this.thing(o, change.whole ? 0 : change.at);
            }
        for (let o = this.rest.pop(); o !== undefined; o = this.rest.pop()) this.thing(o, 0);
        const asked: PendingDoc[] = [];
        for (const [path, p] of m.waiting)
            if (image || !saved.pending.has(path)) {
                const doc = this.asked(p);
                asked.push(doc);
                this.grow(100 + weight(doc.effect.request));
            }
        const { used, reserved, reservedUsd } = m.accounts.root;
        const { tokens, usd, calls, turns } = used;
        return {
            ...CONTINUATION,
            program: m.options.programHash,
            code: this.code(),
            run: m.options.run,
            form: image ? "image" : "delta",
            seq: saved.seq,
            labels: { from, sets },
            heap: this.heap,
            fibers,
            gone: image ? [] : [...saved.fibers].filter((id) => !m.fibers.has(id)),
            ...(imports === undefined ? {} : { imports }),
            ...(blocks.length === 0 ? {} : { blocks }),
            asked,
            answered: image ? [] : [...saved.pending].filter((path) => !m.waiting.has(path)),
            inbox: m.inbox,
            ...this.ready(),
            entry: this.entry(),
            budgets: { tokens, usd, calls, turns, bytes: run.bytes, given: run.given, room: run.heap.room, reserved, reservedUsd },
            accounts: m.accounts.docs(),
            sessions: [...m.sessions.values()].map((one) => ({ ...one })),
            written: m.written.map((one) => ({ ...one, form: one.form as unknown as Json })),
            defined: [...m.defined.values()],
            described: [...m.described].map(([place, { methods, reads }]) => [place, methods, reads] as const),
            ...argumentsOf(m.described),
            ...askedUnder(m.described),
            steps: run.steps,
            standing: m.standing.doc(),
            nextFiber: m.nextFiber,
            framesUntil: m.framesUntil,
            ...(m.conduct === null ? {} : { conduct: m.conduct }),
            ended: m.result !== null && !m.canGoOn,
            raised: { ...m.raised },
            attempt: m.attempt,
            timedOut: m.timedOut,
            failed: m.canGoOn,
        };
    }

    /** Those that are held up by others count as waiting: none of them is in the midst of a slice. */
    private ready(): { readonly ready: readonly number[]; readonly held?: readonly number[] } {
        const { m } = this;
        const ids = m.ready.map((f) => f.id);
        return ids.length > 0 && nextFiber(m) === undefined ? { ready: [], held: ids } : { ready: ids };
    }

    private asked(pending: Pending): PendingDoc {
        const doc = pendingDoc(pending);
        const { request } = doc.effect;
        const native = pending.fiber.frames.at(-1)?.native;
        if (native?.kind !== "generate" || !isObject(request) || !isTurnOf(native.state, request)) return doc;
        this.isWalked = true;
        const { op = null, maxOutput } = request;
        return { ...doc, effect: { ...doc.effect, request: { op, ...(maxOutput === undefined ? {} : { maxOutput }) } } };
    }

    private code(): CodeDoc[] {
        const { compiled, fibers } = this.m;
        const found = new Map<string, CodeDoc>();
        for (const fiber of fibers.values())
            for (const { fn, form } of fiber.frames) {
                const strict = form.flow !== 0;
                const key = `${fn.file} ${strict}`;
                if (found.has(key)) continue;
                const version = versionOf(compiled, fn.file, strict);
                found.set(key, { file: fn.file, ...(strict ? { strict } : {}), version });
            }
        this.size += 40 * found.size;
        return [...found.values()];
    }

    private entry(): EntryDoc | null {
        const { entry, root } = this.m;
        if (entry === null || root.frames.length > 0) return null;
        this.grow(weight(entry.args.map((a) => a ?? null)));
        return {
            fn: entry.fn.id,
            args: entry.args.map((a) => a ?? null),
            absent: entry.args.flatMap((a, i) => (a === undefined ? [i] : [])),
            questions: entry.questions,
            origins: entry.origins,
        };
    }

    cell(value: Value): Cell {
        this.size += 6;
        if (value === null || typeof value === "boolean") return value;
        if (typeof value === "string") {
            this.grow(value.length);
            return value;
        }
        if (typeof value === "number")
            return Number.isFinite(value) && !Object.is(value, -0) ? value : { n: Object.is(value, -0) ? "-0" : String(value) };
        if (value instanceof Labelled) {
            this.size += 14;
            return { l: value.l, v: this.cell(value.v) };
        }
        if (value instanceof Capability) {
            const c = [value.kind, value.file, value.name, value.agent] as const;
            return value.right === null ? { c } : { c, right: value.right };
        }
        return { r: this.reach(value) };
    }

    /** The id of an object, to be written where this document has to have it. */
    private reach(o: List | Obj): number {
        if (o.id === 0) {
            o.id = this.m.saved.ids++;
            this.met.add(o);
            this.rest.push(o);
        } else if (this.image && !this.met.has(o)) {
            this.met.add(o);
            this.rest.push(o);
        }
        return o.id;
    }

    private thing(o: List | Obj, at: number): void {
        this.size += 24;
        const owner = this.ownerOf(o.owner);
        const head = {
            id: o.id,
            ...(owner === 0 ? {} : { o: owner }),
            ...(at === 0 ? {} : { at }),
            ...(o.label === 0 ? {} : { all: o.label }),
        };
        if (o instanceof List) {
            const list: Cell[] = [];
            for (let i = at; i < o.items.length; i++) list.push(this.cell(o.items[i] as Value));
            this.heap.push({ ...head, list });
        } else {
            const keys = o.shape.keys.slice(at);
            const values: Cell[] = [];
            for (let i = at; i < o.slots.length; i++) {
                values.push(this.cell(o.slots[i] as Value));
                this.size += (o.shape.keys[i] as string).length + 3;
            }
            this.heap.push({ ...head, keys, values, ...(o.keyLabel === 0 ? {} : { l: o.keyLabel }) });
        }
    }

    /** The fiber that owns a thing, or the nearest one around it that still runs: they permit the same writes. */
    private ownerOf(owner: Owner): number {
        for (let o: Owner | null = owner; o !== null; o = o.parent) if (o instanceof Fiber && this.m.fibers.has(o.id)) return o.id;
        return 0;
    }

    private fiber(f: Fiber): FiberDoc {
        const from = this.image || !this.m.saved.fibers.has(f.id) ? 0 : Math.min(f.low, f.frames.length);
        this.size += 60;
        const top = f.frames[f.frames.length - 1];
        return {
            id: f.id,
            parent: f.parent === null ? null : f.parent.id,
            index: f.index,
            base: f.base,
            from,
            frames: f.frames.slice(from).map((frame) => this.frame(frame)),
            need: f.need,
            ...(f.place === 0 ? {} : { place: f.place }),
            waiting: top?.native?.path ?? null,
            ...(f.told.length === 0 ? {} : { told: f.told.map((one) => this.told(one)) }),
            ...(f.stop === null
                ? {}
                : {
                      stop: {
                          fail: failDoc(f.stop.fail),
                          again: f.stop.again.map(({ pending, ...one }) => ({ ...one, pending: pendingDoc(pending) })),
                      },
                  }),
        };
    }

    private told({ pending, outcome }: Fiber["told"][number]): NonNullable<FiberDoc["told"]>[number] {
        const doc = this.asked(pending);
        this.grow(100 + weight(doc.effect.request) + weight(outcome as unknown as Json));
        return { pending: doc, outcome };
    }

    private frame(frame: Frame): FrameDoc {
        const locals: Cell[] = [];
        for (let i = 1; i < frame.locals.length; i++) locals.push(this.cell(frame.locals[i] as Value));
        this.size += 120 + frame.path.length;
        return {
            fn: frame.fn.id,
            body: frame.body,
            ...(frame.form.flow === 0 ? {} : { strict: true }),
            pc: frame.pc,
            locals,
            path: frame.path,
            parent: frame.parent,
            agent: frame.agent === null ? null : [frame.agent.file, frame.agent.name],
            principal: frame.principal,
            token: frame.token,
            account: frame.account,
            opened: frame.opened,
            approved: frame.approved?.use ?? null,
            ...(frame.approved?.described ? { described: frame.approved.described } : {}),
            site: frame.form.code[frame.pc]?.site ?? null,
            native: frame.native === null ? null : this.native(frame.native),
        };
    }

    /** The state of a generate, in a delta what changed of it: a step makes it anew and leaves the same what it does not change. */
    private state(n: GenerateWait): { readonly state: Json; readonly kept?: { readonly [field: string]: true | number } } {
        const now = n.state as JsonObject;
        const { states } = this.m.saved;
        const before = this.image ? undefined : states.get(n);
        states.set(n, now);
        if (before === undefined) return { state: now };
        this.isWalked = true;
        const state: { [key: string]: Json } = {};
        const kept: { [field: string]: true | number } = {};
        for (const key of Object.keys(now)) {
            const [is, was] = [now[key], before[key]];
            if (is === undefined) continue;
            if (is === was) kept[key] = true;
            else if (Array.isArray(is) && Array.isArray(was)) {
                const n = alike(is, was);
                kept[key] = n;
                state[key] = is.slice(n);
            } else state[key] = is;
        }
        return { state, kept };
    }

    private native(n: Native): NativeDoc {
        const doc: { [field: string]: unknown } = {};
        for (const field of Object.keys(WAITS[n.kind].properties as object)) {
            const value = (n as unknown as { readonly [field: string]: unknown })[field];
            const coded = codedAs(n.kind, field);
            if (value === undefined) continue;
            if (coded === "list") doc[field] = this.cell(value as List);
            else if (coded === "failures")
                doc[field] = (value as ParallelWait["failures"]).map(({ index, fail }) => ({ index, fail: failDoc(fail) }));
            else doc[field] = value;
        }
        if (n.kind === "generate") {
            Object.assign(doc, this.state(n));
            this.grow(weight(doc.state as Json) + weight(n.outcomes as unknown as Json));
        } else if (n.kind === "handover") {
            doc.state = { ...n.state, came: [...n.state.came] };
            this.grow(weight(doc.state as Json));
        }
        return doc as unknown as NativeDoc;
    }
}

/** How many items at the beginning of two lists are the same. */
function alike(a: readonly Json[], b: readonly Json[]): number {
    let n = 0;
    while (n < a.length && n < b.length && a[n] === b[n]) n++;
    return n;
}

function pendingDoc({ fiber, ...pending }: Pending): PendingDoc {
    return { ...pending, fiber: fiber.id };
}

function failDoc(fail: Fail): FailDoc {
    return {
        kind: fail.kind,
        message: fail.message,
        ...(fail.detail === undefined ? {} : { detail: fail.detail }),
        ...(fail.hint === undefined ? {} : { hint: fail.hint }),
        site: fail.site,
        labels: fail.labels,
        whole: fail.whole,
        ...(fail.region === null ? {} : { region: fail.region }),
        ...(fail.by === null ? {} : { by: fail.by }),
    };
}

/** About how long JSON is as text. */
function weight(json: Json): number {
    let size = 0;
    const rest: Json[] = [json];
    for (let j = rest.pop(); j !== undefined; j = rest.pop()) {
        size += typeof j === "string" ? j.length + 3 : 6;
        if (j !== null && typeof j === "object") for (const v of Array.isArray(j) ? j : Object.values(j)) if (v !== undefined) rest.push(v);
    }
    return size;
}

/** Left out where no tool was asked. */
function argumentsOf(described: ReadonlyMap<string, Described>): Pick<Continuation, "arguments"> {
    const told = [...described].flatMap(([place, { args }]) => (args === undefined ? [] : [[place, [...args]] as const]));
    return told.length === 0 ? {} : { arguments: told };
}

/** Left out where each tool was asked by code without labels. */
function askedUnder(described: ReadonlyMap<string, Described>): Pick<Continuation, "under"> {
    const told = [...described].flatMap(([place, { under }]) =>
        under === undefined ? [] : [[place, under.map((one) => [...one])] as const],
    );
    return told.length === 0 ? {} : { under: told };
}
