/**
 * A machine from its continuation.
 *
 * Boundary: reading what `save.ts` wrote. A document of another program, engine, version or compiled code (SD4), or one that does not follow its
 * forerunner, is refused; nothing in it is run before it is whole.
 */
import { isObject, type FileForm, FORM, type Json, validateProgram } from "@remit/language";
import type { Slots } from "../compile/code.ts";
import { versionOf } from "../compile/version.ts";
import { Fail } from "../effect/failure.ts";
import { whatIsNew, fields } from "../ledger/known.ts";
import { Capability, type CapabilityKind, type Heap, Labelled, List, Obj, type Value } from "../value/value.ts";
import { restored } from "../value/texts.ts";
import { CONDUCT, type ConductDoc } from "../conduct/messages.ts";
import type { Effect } from "../effect/effect.ts";
import { isTurnOf, turnOf } from "../prompt/generate.ts";
import { checkAgainstSchema } from "../prompt/schema.ts";
import { awaitsCounts } from "../state/lent-counts.ts";
import { settle } from "../state/definitions.ts";
import {
    CONTINUATION,
    type Cell,
    type Continuation,
    type FailDoc,
    type FiberDoc,
    type FrameDoc,
    type NativeDoc,
    type ThingDoc,
    codedAs,
    DELTA,
    IMAGE,
} from "./document.ts";
import { Fiber, Frame, type Native } from "../state/fiber.ts";
import type { HandoverState } from "../state/handover.ts";
import type { Machine } from "./machine.ts";
import { boundBy, failureOfRun } from "./stops.ts";
import { takeIn } from "../state/agent-code.ts";

function refuse(message: string): Fail {
    return new Fail("invalid_payload", `this continuation cannot be loaded: ${message}`, {
        hint: "go on with it in the version of Remit that wrote it",
    });
}

/** Of a build whose states this one does not read: the run can still be told again. */
function another(message: string): Fail {
    const { kind, message: said, hint } = refuse(message);
    return new Fail(kind, said, { detail: ANOTHER_BUILD, ...(hint === undefined ? {} : { hint }) });
}

const ANOTHER_BUILD = { build: "another" } as const;

/** Whether a continuation was refused because another build wrote it. */
export function isOfAnotherBuild(fail: Fail): boolean {
    return fail.detail === ANOTHER_BUILD;
}

/**
 * Takes over what no telling gives from a continuation that is not loaded, as far as it can be read: when accounts began, and what the conductor
 * kept. Where another build kept it otherwise, what is needed so that nothing is performed twice.
 */
export function takeWorld(m: Machine, documents: readonly Json[]): void {
    const last = documents.at(-1);
    const { accounts, conduct: kept } = isObject(last) ? last : {};
    const conduct = ofToday(kept);
    for (const one of Array.isArray(accounts) ? accounts : [])
        for (const account of m.accounts.open.values())
            if (isObject(one) && one.path === account.path && typeof one.began === "number") account.began ??= one.began;
    if (conduct !== undefined && checkAgainstSchema(conduct, CONDUCT).length === 0) {
        m.conduct = conduct as unknown as ConductDoc;
        return;
    }
    const { spent, begun, idle, sessions } = isObject(conduct) ? conduct : {};
    if (typeof spent !== "number" || !isTexts(sessions)) return;
    if (isTexts(begun)) m.conduct = { spent, begun, sessions };
    else if (isTexts(idle)) m.conduct = { spent, idle, sessions };
}

/** What a conductor kept. An earlier build kept the sessions that another process can take up as pairs: the session, and the name that its agent has for it. */
function ofToday(conduct: Json | undefined): Json | undefined {
    if (!isObject(conduct) || !Array.isArray(conduct.loads)) return conduct;
    const loads = conduct.loads.map((one): Json => {
        const [session = null, id = null] = isTexts(one) ? one : [];
        return isTexts(one) ? { session, id } : one;
    });
    return { ...conduct, loads };
}

/** Steps at which a continuation that is not loaded was taken while the run computed; undefined where it waited. */
export function computedTo(documents: readonly Json[]): number | undefined {
    const last = documents.at(-1);
    const { ready, steps, failed } = isObject(last) ? last : {};
    return Array.isArray(ready) && ready.length > 0 && failed !== true && typeof steps === "number" ? steps : undefined;
}

function isTexts(json: Json | undefined): json is string[] {
    return Array.isArray(json) && json.every((one) => typeof one === "string");
}

export function load(m: Machine, documents: readonly Json[]): Machine {
    if (documents.length === 0) throw refuse("there is none");
    const texts = new Map<number, string>();
    const docs = documents.map((doc, i) => whole(checked(m, doc, i), texts));
    const last = docs[docs.length - 1] as Continuation;
    const reader = new Reader(m);
    for (const doc of docs) reader.take(doc);
    reader.finish(last);
    m.saved.seq = last.seq + 1;
    return m;
}

function checked(m: Machine, json: Json, i: number): Continuation {
    if (!isObject(json)) throw refuse("it is no object");
    const doc = json as unknown as Continuation;
    if (doc.version !== CONTINUATION.version)
        throw another(`its version is ${String(doc.version)}, this machine reads ${CONTINUATION.version}`);
    if (doc.engine !== CONTINUATION.engine) throw another(`its engine is ${String(doc.engine)}, this machine is ${CONTINUATION.engine}`);
    if (doc.program !== m.options.programHash) throw refuse(`it belongs to program ${String(doc.program)}, not ${m.options.programHash}`);
    if (doc.run !== m.options.run) throw refuse(`it belongs to run ${String(doc.run)}, not ${m.options.run}`);
    if (doc.form !== (i === 0 ? "image" : "delta"))
        throw refuse(i === 0 ? "the first document is no image" : "a later document is no delta");
    const strange = fields(json, i === 0 ? IMAGE : DELTA) ?? strangeIn(doc);
    if (strange !== null) throw another(strange);
    return doc;
}

/** What an effect or outcome of a document has that this version does not know, as the end of a sentence. */
function strangeIn({ asked, inbox, fibers }: Continuation): string | null {
    const told = fibers.flatMap((fiber) => fiber.told ?? []);
    for (const { effect } of [...asked, ...told.map(({ pending }) => pending)]) {
        const strange = whatIsNew.effect(effect as unknown as Json);
        if (strange !== null) return `of the effect it waits for ${strange}`;
    }
    for (const { outcome } of [...inbox, ...told]) {
        const strange = whatIsNew.outcome(outcome as unknown as Json);
        if (strange !== null) return `of an outcome in it ${strange}`;
    }
    return null;
}

/** With its large texts, those of the documents before it among them. */
function whole({ texts, ...doc }: Continuation, known: Map<number, string>): Continuation {
    if (texts === undefined) return doc;
    for (const [id, kept] of texts) known.set(id, typeof kept === "string" ? kept : JSON.stringify(kept));
    return restored(doc as unknown as Json, "$text", (id) => {
        const text = known.get(id as number);
        if (text === undefined) throw refuse(`text ${String(id)} is missing`);
        return text;
    }) as unknown as Continuation;
}

type ParallelDoc = Extract<NativeDoc, { readonly kind: "parallel" }>;

class Reader {
    private readonly m: Machine;
    private readonly things = new Map<number, List | Obj>();
    private readonly owners = new Map<number, number>();
    private readonly frames = new Map<number, FrameDoc[]>();
    private readonly heads = new Map<number, FiberDoc>();
    /** Parents of all fibers that were ever saved: what a fiber made that is gone belongs to the one around it. */
    private readonly parents = new Map<number, number>();
    private seq = -1;
    /** Files and ways of running whose code is that of this machine. */
    private readonly versions = new Set<string>();

    constructor(m: Machine) {
        this.m = m;
    }

    take(doc: Continuation): void {
        const { m } = this;
        const { run } = m;
        if (this.seq >= 0 && doc.seq !== this.seq + 1) throw refuse(`document ${doc.seq} does not follow ${this.seq}`);
        this.seq = doc.seq;
        doc.labels.sets.forEach((set, i) => {
            if (run.labels.of(set) !== doc.labels.from + i) throw refuse("its labels are not in order");
        });
        for (const thing of doc.heap) this.make(thing, run.heap);
        for (const thing of doc.heap) this.fill(thing, run.heap);
        for (const id of doc.gone) {
            this.heads.delete(id);
            this.frames.delete(id);
        }
        for (const f of doc.fibers) {
            this.heads.set(f.id, f);
            this.parents.set(f.id, f.parent ?? 0);
            const frames = f.frames.map((frame) => ({ ...frame, native: this.grown(frame.native) }));
            this.frames.set(f.id, [...(this.frames.get(f.id) ?? []).slice(0, f.from), ...frames]);
        }
        const { namedBlocks } = m.compiled;
        if (doc.imports !== undefined) {
            run.imports = doc.imports.map((cell) => this.value(cell));
            for (const number of namedBlocks.keys()) delete run.imports[number];
        }
        for (const [number, cell] of doc.blocks ?? []) {
            if (!namedBlocks.has(number)) throw refuse(`no block gives value ${number}`);
            run.imports[number] = this.value(cell);
        }
        for (const path of doc.answered) this.asked.delete(path);
        for (const p of doc.asked) this.asked.set(p.effect.path, p);
    }

    /** States of generates, by their paths. */
    private readonly states = new Map<string, { readonly [key: string]: Json }>();

    /** With what a delta left out of the state of a generate. */
    private grown(native: NativeDoc | null): NativeDoc | null {
        if (native?.kind !== "generate") return native;
        const { kept = {}, ...doc } = native;
        const before = this.states.get(doc.path) ?? {};
        const state = { ...(doc.state as { [key: string]: Json }) };
        for (const [key, n] of Object.entries(kept)) {
            const was = before[key];
            if (was === undefined || (n !== true && !Array.isArray(was))) throw refuse(`the state of ${doc.path} does not fit`);
            state[key] = n === true ? was : [...(was as Json[]).slice(0, n), ...(state[key] as Json[])];
        }
        this.states.set(doc.path, state);
        return { ...doc, state };
    }

    private readonly asked = new Map<string, Continuation["asked"][number]>();

    private make(doc: ThingDoc, heap: Heap): void {
        if (doc.o !== undefined) this.owners.set(doc.id, doc.o);
        else this.owners.delete(doc.id);
        if (this.things.has(doc.id)) return;
        const made = "list" in doc ? new List([], heap) : new Obj(heap.root, [], heap);
        made.id = doc.id;
        made.gen = 0;
        this.things.set(doc.id, made);
        if (doc.id >= this.m.saved.ids) this.m.saved.ids = doc.id + 1;
    }

    private fill(doc: ThingDoc, heap: Heap): void {
        const o = this.things.get(doc.id) as List | Obj;
        const at = doc.at ?? 0;
        o.label = doc.all === undefined ? 0 : this.label(doc.all);
        if ("list" in doc) {
            if (!(o instanceof List) || at > o.items.length) throw refuse(`list ${doc.id} does not fit`);
            o.items.length = at;
            for (const cell of doc.list) o.items.push(this.value(cell));
            return;
        }
        if (!(o instanceof Obj) || at > o.slots.length) throw refuse(`object ${doc.id} does not fit`);
        if (at === 0) {
            o.shape = heap.root;
            o.slots = [];
        }
        o.keyLabel = doc.l === undefined ? 0 : this.label(doc.l);
        doc.keys.forEach((key, i) => {
            o.shape = o.shape.with(key);
            o.slots.push(this.value(doc.values[i] as Cell));
        });
    }

    value(cell: Cell): Value {
        if (cell === null || typeof cell !== "object") return cell;
        if ("r" in cell) {
            const o = this.things.get(cell.r);
            if (o === undefined) throw refuse(`object ${cell.r} is missing`);
            return o;
        }
        if ("l" in cell) {
            const v = this.value(cell.v);
            if (v instanceof Labelled) throw refuse("a label does not fit");
            return new Labelled(v, this.label(cell.l));
        }
        if ("c" in cell) return new Capability(cell.c[0] as CapabilityKind, cell.c[1], cell.c[2], cell.c[3], cell.right ?? null);
        return cell.n === "-0" ? -0 : Number(cell.n);
    }

    private label(l: number): number {
        if (l <= 0 || l >= this.m.run.labels.size) throw refuse("a label does not fit");
        return l;
    }

    /** What agents wrote comes before the frames that run it. */
    private written(last: Continuation): void {
        const { m } = this;
        for (const { form, path, agent, live } of last.written) {
            const valid = validateProgram({ format: FORM, files: [form] }, { checked: true });
            if (!valid.ok) throw refuse("what an agent wrote is no program form");
            takeIn(m, { form: valid.program.files[0] as FileForm, path, agent, live });
        }
        for (const one of last.defined) m.defined.set(one.name, { ...one });
        for (const [place, methods, reads] of last.described) m.described.set(place, { methods, reads });
        for (const [place, args] of last.arguments ?? []) {
            const said = m.described.get(place);
            if (said === undefined) throw refuse("arguments are told of a tool that was not asked");
            m.described.set(place, { ...said, args: new Map(args) });
        }
        for (const [place, under] of last.under ?? []) {
            const said = m.described.get(place);
            if (said === undefined) throw refuse("it is told who asked a tool that was not asked");
            m.described.set(place, { ...said, under });
        }
        settle(m);
        for (const session of last.sessions) m.sessions.set(session.path, { ...session });
    }

    /** SD4. */
    private code(last: Continuation): void {
        const { compiled } = this.m;
        for (const { file, strict, version } of last.code) {
            if (compiled.files[file] === undefined) throw refuse(`it has frames in file ${file}, which the program does not have`);
            const here = versionOf(compiled, file, strict === true);
            const name = compiled.fileName(file);
            if (version !== here)
                throw another(`its code of ${name} is version ${version}, and this machine compiles that file to version ${here}`);
            this.versions.add(`${file} ${strict === true}`);
        }
    }

    finish(last: Continuation): void {
        const { m } = this;
        const { run } = m;
        this.written(last);
        this.code(last);
        for (const head of [...this.heads.values()].sort((a, b) => a.id - b.id)) this.fiber(head);
        for (const [id, o] of this.things) {
            let owner = this.owners.get(id) ?? 0;
            while (owner !== 0 && !m.fibers.has(owner)) owner = this.parents.get(owner) ?? 0;
            o.owner = m.fibers.get(owner) ?? m.root;
        }
        for (const p of this.asked.values()) {
            const fiber = m.fibers.get(p.fiber);
            if (fiber === undefined) throw refuse(`effect ${p.effect.path} belongs to no fiber`);
            m.waiting.set(p.effect.path, { ...p, fiber, effect: asked(p.effect, fiber) });
            if (p.waits !== undefined) m.unpaid.set(p.effect.path, p.waits);
        }
        for (const fiber of m.fibers.values()) if (awaitsCounts(fiber)) m.waiting.turns.add(fiber);
        m.inbox = last.inbox.map((i) => ({ ...i }));
        m.ready = [...last.ready, ...(last.held ?? [])].map((id) => {
            const fiber = m.fibers.get(id);
            if (fiber === undefined) throw refuse(`fiber ${id} is missing`);
            m.waiting.turns.add(fiber);
            return fiber;
        });
        if (last.entry !== null) {
            const fn = m.compiled.functions[last.entry.fn];
            if (fn === undefined) throw refuse("its entry is unknown");
            const args: (Json | undefined)[] = [...last.entry.args];
            for (const i of last.entry.absent) args[i] = undefined;
            m.entry = { fn, args, questions: [...last.entry.questions], origins: [...last.entry.origins] };
        }
        const { bytes, given, room, reserved, reservedUsd, ...used } = last.budgets;
        Object.assign(m.accounts.root.used, used);
        m.accounts.root.reserved = reserved;
        m.accounts.root.reservedUsd = reservedUsd;
        run.bytes = bytes;
        run.given = given;
        run.heap.room = room;
        run.before = last.steps;
        m.accounts.restore(last.accounts);
        m.standing.restore(last.standing);
        m.conduct = (ofToday(last.conduct as unknown as Json | undefined) as unknown as ConductDoc | undefined) ?? null;
        m.nextFiber = last.nextFiber;
        m.framesUntil = last.framesUntil;
        m.entryPath = m.root.frames[0]?.path ?? m.options.path ?? m.entry?.fn.name ?? m.entryPath;
        m.raised = last.raised;
        boundBy(m, m.raised);
        m.attempt = last.attempt;
        m.timedOut = last.timedOut;
        for (const head of this.heads.values()) {
            this.told(head);
            this.stop(head);
        }
        if (last.ended) throw refuse("the run has ended");
        if (!last.failed) return;
        const fail = m.timedOut ? new Fail("limit.time", "the time of the run was up") : failureOfRun(m);
        m.result = { ok: false, failure: fail.toFailure() };
    }

    private fiber(doc: FiberDoc): void {
        const { m } = this;
        let fiber = m.root;
        if (doc.parent !== null) {
            const parent = m.fibers.get(doc.parent);
            if (parent === undefined) throw refuse(`fiber ${doc.id} has no parent`);
            fiber = new Fiber(doc.id, parent, doc.index, doc.base);
            m.fibers.set(doc.id, fiber);
        }
        fiber.need = doc.need;
        fiber.place = doc.place ?? 0;
        m.waiting.turns.last = Math.max(m.waiting.turns.last, fiber.place);
        for (const frame of this.frames.get(doc.id) ?? []) fiber.frames.push(this.frame(frame));
    }

    private told({ id, told = [] }: FiberDoc): void {
        const fiber = this.m.fibers.get(id);
        if (fiber === undefined) return;
        fiber.told = told.map(({ pending, outcome }) => ({
            pending: { ...pending, fiber, effect: asked(pending.effect, fiber) },
            outcome,
        }));
    }

    private stop({ id, stop }: FiberDoc): void {
        const fiber = this.m.fibers.get(id);
        if (stop === undefined || fiber === undefined) return;
        fiber.stop = { fail: failOf(stop.fail), again: stop.again.map((one) => ({ ...one, pending: { ...one.pending, fiber } })) };
        this.m.stopped.add(fiber);
    }

    private frame(doc: FrameDoc): Frame {
        const { m } = this;
        const fn = m.compiled.functions[doc.fn];
        const forms = fn?.framesFor(doc.strict === true);
        const form = forms?.bodies[doc.body];
        if (fn === undefined || forms === undefined || form === undefined || form.code[doc.pc] === undefined)
            throw refuse("a frame does not fit the program");
        if (!this.versions.has(`${fn.file} ${doc.strict === true}`))
            throw another(`it does not name the version of the compiled code of ${m.compiled.fileName(fn.file)}`);
        if (doc.locals.length + 1 < forms.slots) throw refuse("a frame has too few locals");
        const locals: Slots = [m.run];
        for (const cell of doc.locals) locals.push(this.value(cell));
        const agent = doc.agent === null ? null : m.compiled.agent(doc.agent[0], doc.agent[1]);
        if (agent === undefined) throw refuse("a frame names an unknown agent");
        const frame = new Frame(fn, doc.body, form, locals, { ...doc, agent });
        frame.pc = doc.pc;
        frame.approved = doc.approved === null ? null : { use: doc.approved, described: doc.described ?? "" };
        frame.native = doc.native === null ? null : this.native(doc.native);
        return frame;
    }

    /** Lists and states are copies: a document may be read more than once. */
    private native(doc: NativeDoc): Native {
        const made: { [field: string]: unknown } = { ...doc };
        for (const [field, value] of Object.entries(doc) as [string, unknown][]) {
            const coded = codedAs(doc.kind, field);
            if (coded === "list") made[field] = this.list(value as Cell);
            else if (coded === "failures")
                made[field] = (value as ParallelDoc["failures"]).map(({ index, fail }) => ({ index, fail: failOf(fail) }));
            else if (Array.isArray(value)) made[field] = [...value];
        }
        if (doc.kind === "handover") {
            const state = doc.state as unknown as HandoverState;
            made.state = { ...state, came: [...state.came] };
        }
        return made as unknown as Native;
    }

    private list(cell: Cell): List {
        const v = this.value(cell);
        if (!(v instanceof List)) throw refuse("a list is missing");
        return v;
    }
}

/** The request for a model's turn is written without what follows from the state of its `generate`. */
function asked(effect: Effect, fiber: Fiber): Effect {
    const native = fiber.frames.at(-1)?.native;
    if (native?.kind !== "generate" || !isTurnOf(native.state, effect.request)) return effect;
    return { ...effect, request: { ...(turnOf(native.state) as unknown as { [key: string]: Json }), ...(effect.request as object) } };
}

function failOf(doc: FailDoc): Fail {
    return new Fail(doc.kind, doc.message, {
        ...(doc.detail === undefined ? {} : { detail: doc.detail }),
        ...(doc.hint === undefined ? {} : { hint: doc.hint }),
        site: doc.site,
        labels: doc.labels,
        whole: doc.whole,
        ...(doc.region === undefined ? {} : { region: doc.region }),
        ...(doc.by === undefined ? {} : { by: doc.by }),
    });
}
