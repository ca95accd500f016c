/**
 * A function's frame form: statements to instructions.
 *
 * Boundary: statements and control flow here, expressions that hold calls in `lift.ts`, plain expressions as closures.
 *
 * FRA1: steps are counted as in closures: a statement's first instruction counts its step, `NEXT` one for each pass.
 * FRA3: no value is half computed between two instructions: everything is in a slot.
 *
 * Why it is long: one class emits all statements, whose parts share its state.
 */

import { type At, type ExprForm, failingCalls, type Site, type StmtForm, saysErrors } from "@remit/language";
import type { Value } from "../value/value.ts";
import { BLOCK_INPUT, type BlockCode } from "./blocks.ts";
import { condition, contextOf, step } from "./closures.ts";
import type { Code, Step } from "./code.ts";
import { type Context, expr, fails, siteOf, slotFor } from "./context.ts";
import { delegation } from "./delegation.ts";
import {
    type AgentContext,
    type Detail,
    FRAMES_ONLY,
    type FrameForm,
    type Handler,
    Instruction,
    OP,
    type PathSite,
    type Region,
} from "./instructions.ts";
import { Lifter } from "./lift.ts";
import { hasLooseForm, marking } from "./loose.ts";
import type { Fn } from "./program.ts";
import { Scope } from "./scope.ts";
import { numberSites } from "./sites.ts";
import { carrying, FLOW, meet, raisePc } from "./strict.ts";
import { agentContext, useSpec } from "./uses.ts";
import { type Along, alongOf, failing, NOTHING_ALONG, parted, tried, type Ways, waysOf } from "./ways.ts";

const NOTHING: Step = () => undefined;
const NONE: Code = () => null;
const NO_WAYS: Ways = { assigned: [], leaves: false, returns: false, mayFail: false };

export type LoopForm = StmtForm & { kind: "repeat" | "loop" | "for" };

interface LoopLabels {
    readonly exits: Instruction[];
    readonly again: Instruction[];
    /** How many handlers catch around it. */
    readonly caught: number;
}

interface Body {
    readonly flow: number;
    code: Instruction[];
    handlers: Handler[];
    regions: { from: number; to: number; slot: number; kind: Region["kind"] }[];
    names: { name: string; slot: number; from: number; to: number }[];
}

export function frameForm(fn: Fn, strict: boolean): FrameForm {
    const emitter = new Emitter(fn, strict);
    return emitter.function();
}

export class Emitter {
    readonly fn: Fn;
    readonly cx: Context;
    readonly lifter: Lifter;
    readonly ordinals: ReadonlyMap<ExprForm, string>;
    private failing: ReadonlySet<ExprForm> | null = null;
    /** Slots that keep whether failures were caught outside, of each handler around. */
    private readonly caught: number[] = [];
    private readonly bodies: Body[] = [];
    private body: Body;
    private pending = 0;
    /** The last place that a jump leads to. */
    private landed = -1;
    private site: Site | null = null;
    private loops: LoopLabels[] = [];
    /** Slots of the regions around this place, with the number of loops around each. */
    private open: { readonly slot: number; readonly loops: number }[] = [];
    /** Loops around this place that may run as closures. */
    private wholes = 0;
    path: { word: string; slot: number }[] = [];
    context: AgentContext;
    private labels = new Map<string, number>();

    constructor(fn: Fn, strict: boolean) {
        this.fn = fn;
        const scope = new Scope();
        for (const p of fn.form.params) scope.define(p.name);
        this.cx = contextOf(fn, scope, strict ? fn.form.body : null);
        this.body = { flow: this.cx.flow, code: [], handlers: [], regions: [], names: [] };
        this.bodies.push(this.body);
        this.ordinals = numberSites(fn);
        this.context = agentContext(fn.program, fn.file, fn.agent);
        this.lifter = new Lifter(this);
    }

    function(): FrameForm {
        for (const p of this.fn.form.params) this.named(p.name, this.cx.scope.find(p.name));
        if (this.fn.program.padded) this.emit(OP.DO, NOTHING);
        if (this.fn.block === null) this.returning(this.fn.form.body);
        else this.plan(this.fn.block);
        return { slots: this.cx.scope.size, bodies: this.bodies };
    }

    // ---- emitting ----

    emit(op: number, code: Code | Step, slot = 0, detail: Detail | null = null): Instruction {
        const { pending: step, site, cx } = this;
        const made = new Instruction({ op, step, site, code, slot, detail, failing: cx.flow === 0 ? NOTHING_ALONG : failing(cx) });
        this.pending = 0;
        this.body.code.push(made);
        return made;
    }

    /** Sends the result of the instruction just emitted to another slot, if it is the one that fills `from` and nothing jumps past it. */
    redirect(from: number, to: number): boolean {
        const { code } = this.body;
        const last = code[code.length - 1] as Instruction;
        if (last.slot !== from || last.op < OP.CALL || last.op > OP.PARALLEL || this.landed === code.length) return false;
        code[code.length - 1] = new Instruction({ ...last, slot: to });
        return true;
    }

    here(): number {
        return this.body.code.length;
    }

    /** Makes these jumps lead to the next instruction. */
    land(jumps: readonly Instruction[]): void {
        for (const jump of jumps) jump.to = this.here();
        this.landed = this.here();
    }

    jumpTo(to: number): void {
        this.emit(OP.JUMP, NOTHING).to = to;
    }

    at(at: At | undefined): void {
        this.site = siteOf(this.cx, at) ?? this.site;
    }

    /** `slot = e`, with calls in `e` lifted before. */
    set(slot: number, e: ExprForm): void {
        const plain = this.lifter.lift(e);
        this.emit(this.lifter.mayRunLong(plain) ? OP.STRETCH : OP.SET, expr(this.cx, plain), slot);
    }

    /** Whether an error that the tool tells is a failure of this call. Only functions that call such a tool are looked through for it. */
    failsOnError(e: ExprForm, uri: string): boolean {
        if (!saysErrors(uri)) return false;
        const { fn } = this;
        this.failing ??= failingCalls(fn.form, (name) => {
            const meaning = fn.program.lookup(fn.file, fn.agent, name);
            return meaning?.kind === "tool" && saysErrors(meaning.import.form.uri);
        });
        return this.failing.has(e);
    }

    siteOfCall(e: ExprForm, word: string): PathSite {
        return { loops: [...this.path], name: this.ordinals.get(e) ?? word };
    }

    named(name: string, slot: number): void {
        this.body.names.push({ name, slot, from: this.here(), to: Number.POSITIVE_INFINITY });
    }

    // ---- blocks ----

    /** A block in its own scope. `into`: the slot for the value of its last statement, none where that is no expression. */
    block(statements: readonly StmtForm[], into = 0): void {
        const { context } = this;
        const first = this.body.names.length;
        this.cx.scope.push();
        const last = statements[statements.length - 1];
        for (const s of statements) {
            if (into !== 0 && s === last && s.kind === "expr") {
                this.begin(s);
                this.set(into, s.value);
            } else this.statement(s);
        }
        if (into !== 0 && last?.kind !== "expr") this.emit(OP.SET, NONE, into);
        this.cx.scope.pop();
        this.context = context;
        for (let i = first; i < this.body.names.length; i++) {
            const name = this.body.names[i] as Body["names"][number];
            if (name.to === Number.POSITIVE_INFINITY) name.to = this.here();
        }
    }

    /** Statements of a function's or iteration's body, with the value it returns at the end. */
    private returning(statements: readonly StmtForm[]): void {
        const last = statements[statements.length - 1];
        for (const s of statements) {
            if (s === last && s.kind === "expr") {
                this.begin(s);
                const plain = this.lifter.lift(s.value);
                this.giveBack(plain);
            } else this.statement(s);
        }
        if (last?.kind !== "expr") this.emit(OP.RETURN, this.carried(NONE));
    }

    private giveBack(plain: ExprForm): void {
        if (this.lifter.mayRunLong(plain)) {
            const slot = this.cx.scope.temporary();
            this.emit(OP.STRETCH, expr(this.cx, plain), slot);
            this.emit(
                OP.RETURN,
                this.carried((f) => f[slot] as ReturnType<Code>),
            );
        } else this.emit(OP.RETURN, this.carried(expr(this.cx, plain)));
    }

    // ---- strict mode ----

    private carried(code: Code): Code {
        return this.cx.flow === 0 ? code : carrying(this.cx.flow, code);
    }

    /** Remembers what this place depends on. Gives what makes ways that part here meet again. */
    parting(): (ways: Ways) => void {
        const { flow, scope } = this.cx;
        if (flow === 0) return () => undefined;
        const slot = scope.temporary();
        this.emit(OP.SET, (f) => f[flow] as Value, slot);
        return (ways) => {
            this.emit(OP.DO, (f) => {
                meet(f, flow, ways, f[slot] as Value);
                return undefined;
            });
        };
    }

    /** What `parts` touch, looked up where they stand. */
    ways(parts: Parameters<typeof waysOf>[1], into = 0): Ways {
        return this.cx.flow === 0 ? NO_WAYS : waysOf(this.cx, parts, into === 0 ? [] : [into]);
    }

    /** What is raised where these ways part. */
    along(parts: Parameters<typeof waysOf>[1], ways: Ways): Along {
        return alongOf(this.cx, parts, ways);
    }

    /** What follows depends on the value in a slot; without `along` only where a failure here would be caught. */
    depending(slot: number, along: Along | null = null): void {
        const { flow } = this.cx;
        if (flow === 0) return;
        const raised = along ?? failing(this.cx);
        this.emit(OP.DO, (f) => {
            if (along !== null || f[flow + FLOW.caught] === true) raisePc(f, flow, f[slot] as Value, raised);
            return undefined;
        });
    }

    /** Runs the nodes of a block, keeps what it gives under its name, and gives it. */
    private plan(block: BlockCode): void {
        const { form, nodes } = block;
        const { file, program } = this.fn;
        this.pending = 1;
        this.at(form.at);
        const slot = this.cx.scope.temporary();
        const input = expr(this.cx, { kind: "name", name: BLOCK_INPUT });
        const made = nodes.map((code) => ({ code, ...this.iteration(code.params, code.body) }));
        this.pending = 1;
        this.at(form.at);
        this.emit(OP.PLAN, input, slot, { kind: "plan", block, nodes: made, path: { loops: [], name: "" } });
        this.depending(slot);
        const number = form.name === undefined || block.walked ? undefined : program.files[file]?.named.get(form.name);
        if (number !== undefined)
            this.emit(OP.DO, (f) => {
                f[0].bind(number, f[slot] as Value);
                return undefined;
            });
        this.emit(
            OP.RETURN,
            this.carried((f) => f[slot] as Value),
        );
    }

    /** The body of a parallel for or of a node, as a body of its own over the same slots. Gives its number, and the slots of what it is given. */
    iteration(given: readonly string[], statements: readonly StmtForm[]): { body: number; slots: number[] } {
        const { body, loops, path, context, site, pending, open } = this;
        const outer = { body, loops, path, context, site, pending, open };
        const made: Body = { flow: this.cx.flow, code: [], handlers: [], regions: [], names: [] };
        const { places } = this.cx;
        const around = { loop: places?.loop ?? null, tried: places?.tried ?? null };
        if (places !== null) Object.assign(places, { loop: null, tried: null });
        const number = this.bodies.push(made) - 1;
        Object.assign(this, { body: made, loops: [], open: [], path: [], pending: 0 });
        this.cx.scope.push(true);
        const slots = given.map((name) => this.cx.scope.define(name));
        given.forEach((name, i) => {
            this.named(name, slots[i] as number);
        });
        this.returning(statements);
        this.cx.scope.pop();
        if (places !== null) Object.assign(places, around);
        Object.assign(this, outer);
        return { body: number, slots };
    }

    private begin(s: StmtForm): void {
        this.pending = 1;
        this.at(s.at);
    }

    // ---- statements ----

    statement(s: StmtForm): void {
        this.begin(s);
        this.inside(s);
        if (this.pending !== 0) this.emit(OP.DO, NOTHING);
    }

    private inside(s: StmtForm): void {
        switch (s.kind) {
            case "config":
                this.context = { ...this.context, [s.key]: expr(this.cx, s.value) };
                return;
            case "context":
                this.context = { ...this.context, max: s.max };
                return;
            case "use":
            case "use.one": {
                const use = useSpec(this.cx, this.fn.agent, this.fn.name, s, this.labels);
                this.context = { ...this.context, uses: [...this.context.uses, use] };
                this.emit(OP.USE, NOTHING, 0, { kind: "use", use, path: { loops: [...this.path], name: "" } });
                return;
            }
            case "expr": {
                const plain = this.lifter.lift(s.value);
                if (plain.kind === "name" || plain.kind === "literal") {
                    if (plain.kind === "name" && this.cx.scope.find(plain.name) === 0) this.emit(OP.DO, expr(this.cx, plain) as Step);
                    return;
                }
                const code = expr(this.cx, plain);
                this.emit(this.lifter.mayRunLong(plain) ? OP.STRETCH : OP.DO, dropping(code));
                return;
            }
            case "return":
                this.giveBack(this.lifter.lift(s.value));
                return;
            case "raise":
                this.emit(OP.DO, step(this.cx, { ...s, value: this.lifter.short(this.lifter.lift(s.value)) }));
                return;
            case "assign":
                this.assign(s);
                return;
            case "break":
            case "continue": {
                const loop = this.loops[this.loops.length - 1];
                if (loop === undefined) this.emit(OP.DO, fails(`${s.kind} stands in no loop`, this.site));
                else {
                    // A jump out of a region closes it.
                    const inside = this.open.filter((region) => region.loops >= this.loops.length);
                    for (const region of inside.reverse()) this.emit(OP.CLOSE, NOTHING, region.slot);
                    // And out of a handler's reach what was caught before it.
                    const before = this.caught[loop.caught];
                    if (before !== undefined) this.emit(OP.SET, (f) => f[before] as Value, this.cx.flow + FLOW.caught);
                    (s.kind === "break" ? loop.exits : loop.again).push(this.emit(OP.JUMP, NOTHING));
                }
                return;
            }
            case "debugger":
                this.emit(OP.DO, NOTHING, 0, { kind: "debugger" });
                return;
            case "if":
                this.branches(s.branches, s.otherwise, 0);
                return;
            case "try":
                this.guarded(s.body, s.name, s.handler, 0);
                return;
            case "define":
                this.at(s.at);
                this.emit(OP.DEFINE, () => undefined, this.scopeSlot(), {
                    kind: "define",
                    func: s.func,
                    keep: s.keep === true,
                    path: { loops: [...this.path], name: this.regionName(`define.${s.func.name}`) },
                });
                return;
            case "delegate":
                this.region("delegate", s, delegation(this.cx, s, { loops: [...this.path], name: this.regionName("delegate") }));
                return;
            case "spend":
                this.region("spend", s, { kind: "spend", spend: s.spend, path: { loops: [...this.path], name: this.regionName("spend") } });
                return;
            case "repeat":
            case "loop":
            case "for":
                this.looping(s);
                return;
        }
    }

    private scopeSlot(): number {
        return this.cx.scope.temporary();
    }

    private regions = new Map<string, number>();
    private regionName(word: string): string {
        const n = this.regions.get(word) ?? 0;
        this.regions.set(word, n + 1);
        return `${word}#${n}`;
    }

    private region(kind: Region["kind"], s: { readonly body: readonly StmtForm[]; readonly at?: At }, detail: Detail): void {
        this.at(s.at);
        const slot = this.cx.scope.temporary();
        this.emit(OP.OPEN, NOTHING, slot, detail);
        const region = { from: this.here(), to: Number.POSITIVE_INFINITY, slot, kind };
        this.body.regions.push(region);
        this.open.push({ slot, loops: this.loops.length });
        this.block(s.body);
        this.open.pop();
        this.at(s.at);
        this.emit(OP.CLOSE, NOTHING, slot);
        region.to = this.here();
    }

    /** A loop that reaches no effect is one instruction, with its instructions behind it. */
    private looping(s: LoopForm): void {
        const ways = this.ways([[s]]);
        const together = this.parting();
        parted(this.cx, [[s]], ways, () => (s.kind === "for" ? this.forEach(s) : this.counted(s)), [s]);
        together(ways);
    }

    /** The instruction of a loop that runs as closures; null where it may not. `written`: as the program has it, which frames take for its ways. */
    private whole(s: LoopForm, detail: Detail | null = null, written = s): Instruction | null {
        if (!this.lifter.isWhole(s)) return null;
        const { flow } = this.cx;
        this.wholes++;
        if (flow !== 0 && this.fn.isAlwaysStrict) return this.emit(OP.LOOP, FRAMES_ONLY, 0, detail);
        const made = this.emit(OP.LOOP, step(flow === 0 ? this.cx : { ...this.cx, flow: 0, places: null }, s), 0, detail);
        if (flow !== 0 && hasLooseForm(this.fn, [written]))
            made.loose = marking(flow, waysOf(this.cx, [[s]]), step({ ...this.cx, loose: true }, s));
        return made;
    }

    private counted(s: LoopForm & { kind: "repeat" | "loop" }): void {
        const whole = this.whole(s);
        if (s.kind === "repeat") this.loop("repeat", s.times, null, s.body, s.at);
        else this.loop("loop", s.max, s.until, s.body, s.at);
        if (whole === null) return;
        this.wholes--;
        this.land([whole]);
    }

    private assign(s: StmtForm & { kind: "assign" }): void {
        const { lifter } = this;
        if (s.target.kind === "name") {
            const known = this.cx.scope.find(s.target.name);
            if (this.cx.scope.isFenced(s.target.name) || (s.op !== "=" && known === 0)) {
                // Fails before its value is computed, as it does in closures.
                this.emit(OP.DO, step(this.cx, s));
                return;
            }
            let value = s.value;
            if (lifter.lifts(value)) {
                if (s.op !== "=" && known !== 0)
                    value = lifter.lift({ kind: "binary", op: s.op === "+=" ? "+" : "-", left: s.target, right: s.value, at: s.at });
                else value = lifter.lift(value);
                // A call's result goes straight into the variable.
                const { name } = s.target;
                if (this.cx.flow === 0 && lifter.retarget(value, () => slotFor(this.cx, name))) {
                    if (known === 0) this.named(s.target.name, this.cx.scope.find(s.target.name));
                    return;
                }
                if (s.op !== "=" && known !== 0) {
                    this.emit(lifter.mayRunLong(value) ? OP.STRETCH : OP.DO, step(this.cx, { ...s, op: "=", value }));
                    return;
                }
            }
            const long = lifter.mayRunLong(value);
            const code = step(this.cx, { ...s, value });
            this.emit(long ? OP.STRETCH : OP.DO, code);
            if (known === 0) this.named(s.target.name, this.cx.scope.find(s.target.name));
            return;
        }
        const { target } = s;
        if (target.kind === "member") {
            const [value, object] = lifter.liftAll([s.value, target.object]) as [ExprForm, ExprForm];
            this.plain({ ...s, value, target: { ...target, object } });
        } else if (target.kind === "index") {
            const [value, object, index] = lifter.liftAll([s.value, target.object, target.index]) as [ExprForm, ExprForm, ExprForm];
            this.plain({ ...s, value, target: { ...target, object, index } });
        } else this.plain(s);
    }

    private plain(s: StmtForm & { kind: "assign" }): void {
        const long = this.lifter.mayRunLong(s.value) || this.lifter.mayRunLong(s.target);
        this.emit(long ? OP.STRETCH : OP.DO, step(this.cx, s));
    }

    /** `into`: slot for the value of the branch taken; 0 for a statement. */
    branches(
        list: readonly { readonly test: ExprForm; readonly body: readonly StmtForm[] }[],
        otherwise: readonly StmtForm[] | undefined,
        into: number,
    ): void {
        const ends: Instruction[] = [];
        const parts = [...list.flatMap((b) => [b.test, b.body]), otherwise];
        const ways = this.ways(parts, into);
        const together = this.parting();
        parted(this.cx, parts, ways, () => {
            for (const branch of list) {
                const skip = this.unless(branch.test);
                this.block(branch.body, into);
                ends.push(this.emit(OP.JUMP, NOTHING));
                this.land([skip]);
            }
            if (otherwise !== undefined) this.block(otherwise, into);
            else if (into !== 0) this.emit(OP.SET, NONE, into);
        });
        this.land(ends);
        together(ways);
    }

    /** A jump that is taken where `test` is false. */
    unless(test: ExprForm): Instruction {
        const plain = this.lifter.short(this.lifter.lift(test));
        return this.emit(OP.UNLESS, condition(this.cx, plain));
    }

    guarded(body: readonly StmtForm[], name: string | undefined, handler: readonly StmtForm[], into: number): void {
        if (this.pending !== 0) this.emit(OP.DO, NOTHING);
        const ways = this.ways([body, handler], into);
        const whole = [...body, ...handler];
        const together = this.parting();
        const uncaught = this.catching();
        const from = this.here();
        tried(this.cx, whole, () => this.block(body, into));
        const to = this.here();
        uncaught();
        const end = this.emit(OP.JUMP, NOTHING);
        this.cx.scope.push();
        const slot = name === undefined ? 0 : this.cx.scope.define(name);
        this.body.handlers.push({ from, to, at: this.here(), slot });
        const first = this.body.names.length;
        if (name !== undefined) this.named(name, slot);
        uncaught();
        this.block(handler, into);
        this.cx.scope.pop();
        if (name !== undefined) (this.body.names[first] as { to: number }).to = this.here();
        this.land([end]);
        together(ways);
    }

    /** From here on failures are caught; gives the end of that. */
    private catching(): () => void {
        const { flow, scope } = this.cx;
        if (flow === 0) return () => undefined;
        const slot = scope.temporary();
        const at = flow + FLOW.caught;
        this.emit(OP.SET, (f) => f[at] as Value, slot);
        this.emit(OP.SET, () => true, at);
        this.caught.push(slot);
        return () => {
            if (this.caught.at(-1) === slot) this.caught.pop();
            this.emit(OP.SET, (f) => f[slot] as Value, at);
        };
    }

    private loop(word: string, times: number, until: ExprForm | null, body: readonly StmtForm[], at: At | undefined): void {
        this.cx.scope.push();
        const index = this.cx.scope.temporary();
        this.emit(OP.SET, () => -1, index);
        const top = this.here();
        const labels: LoopLabels = { exits: [], again: [], caught: this.caught.length };
        this.path.push({ word, slot: index });
        this.at(at);
        const path = { loops: [...this.path], name: "" };
        const next = this.emit(OP.NEXT, NOTHING, 0, {
            kind: "next",
            index,
            times,
            count: 0,
            list: 0,
            item: 0,
            max: times,
            name: null,
            reaching: false,
            path,
        });
        labels.exits.push(next);
        if (until !== null) {
            const plain = this.lifter.short(this.lifter.lift(until));
            labels.exits.push(this.emit(OP.WHEN, condition(this.cx, plain)));
        }
        this.passes(labels, body, top);
    }

    private forEach(s: StmtForm & { kind: "for" }): void {
        this.cx.scope.push();
        const list = this.cx.scope.temporary();
        const count = this.cx.scope.temporary();
        const index = this.cx.scope.temporary();
        this.set(list, s.list);
        this.depending(list, this.cx.places?.along);
        const item = this.cx.scope.define(s.item);
        const held: ExprForm = { kind: "name", name: `%${list}`, ...(s.list.at === undefined ? {} : { at: s.list.at }) };
        this.cx.scope.alias(held.name, list, s.list);
        const inner = { ...s, list: held };
        this.path.push({ word: "for", slot: index });
        const path = { loops: [...this.path], name: "" };
        const reaching = this.lifter.reaches(s.body);
        const name = reaching || this.wholes === 0 ? s.item : null;
        const detail: Detail = { kind: "next", index, times: s.max, count, list, item, max: s.max, name, reaching, path };
        const whole = this.whole(inner, detail, s);
        this.at(s.list.at);
        this.emit(OP.ENTER, NOTHING, 0, detail);
        const top = this.here();
        this.at(s.at);
        const labels: LoopLabels = { exits: [], again: [], caught: this.caught.length };
        labels.exits.push(this.emit(OP.NEXT, NOTHING, 0, detail));
        const first = this.body.names.length;
        this.named(s.item, item);
        this.passes(labels, s.body, top);
        (this.body.names[first] as { to: number }).to = this.here();
        if (whole === null) return;
        this.wholes--;
        this.land([whole]);
    }

    private passes(labels: LoopLabels, body: readonly StmtForm[], top: number): void {
        this.loops.push(labels);
        this.block(body);
        this.loops.pop();
        this.path.pop();
        for (const jump of labels.again) jump.to = top;
        this.jumpTo(top);
        this.land(labels.exits);
        this.cx.scope.pop();
    }
}

function dropping(code: Code): Step {
    return (f) => {
        code(f);
        return undefined;
    };
}
