/**
 * Lifting calls out of expressions: every call of a user's function and everything that can reach an effect becomes an instruction with its
 * result in a slot, in the order of evaluation; what is left is an expression without them.
 *
 * Boundary: expressions of one function. A lifted value is referred to by a hidden name (`%3`), which no program can write.
 *
 * LIF4: operands left of a lifted call are computed before it: they go to temporaries unless nothing can change them.
 *
 * Why it is long: one class lifts all expressions, whose parts share its state.
 */

import { type ArgForm, type ExprForm, isModule, printFormExpr, type SpreadForm, type StmtForm, shownName, walk } from "@remit/language";
import type { Builtin } from "../builtin/builtin.ts";
import { type StageCall, stageCallOf } from "./blocks.ts";
import { argsOf, refusalOf, wrongArgs, wrongCount } from "./calls.ts";
import type { Code, Step } from "./code.ts";
import { expr, fails, lookUp, siteOf } from "./context.ts";
import { asLambda, clockOf, EFFECTS, leaves } from "./effects.ts";
import type { Emitter, LoopForm } from "./frames.ts";
import { defaultsFrom } from "./lambdas.ts";
import { agentOptions, type HandoverKind, handoverOf } from "./handover.ts";
import { type Detail, type GenerateDetail, type GenerateOptionsForm, type HandoverDetail, OP, type PathSite } from "./instructions.ts";
import { rowsOf } from "./members.ts";
import type { AgentEntry, Fn, ImportEntry } from "./program.ts";

const NOTHING: Step = () => undefined;
const OPTIONS = [
    "max_output",
    "attempts",
    "temperature",
    "think",
    "strict",
    "debug",
    "stream",
    "turns",
    "nudges",
    "timeout",
    "hide",
] as const;

type CallForm = ExprForm & { kind: "call" };

export class Lifter {
    private readonly e: Emitter;
    private readonly known = new Map<ExprForm, boolean>();

    constructor(emitter: Emitter) {
        this.e = emitter;
    }

    // ---- what is to be lifted ----

    lifts(e: ExprForm): boolean {
        let known = this.known.get(e);
        if (known === undefined) {
            known = this.find(e);
            this.known.set(e, known);
        }
        return known;
    }

    private find(e: ExprForm): boolean {
        switch (e.kind) {
            case "literal":
            case "name":
            case "lambda":
                return false;
            case "list":
                return e.items.some((i) => this.lifts(i.kind === "spread" ? i.value : i));
            case "object":
                return e.entries.some((i) => this.lifts(i.value));
            case "member":
                return this.moduleOf(e) !== null || this.lifts(e.object);
            case "index":
                return this.lifts(e.object) || this.lifts(e.index);
            case "unary":
                return this.lifts(e.value);
            case "binary":
                return this.lifts(e.left) || this.lifts(e.right);
            case "call":
                return (
                    this.isOwn(e) || (e.callee.kind === "member" && this.lifts(e.callee.object)) || e.args.some((a) => this.lifts(a.value))
                );
            case "if.expr":
                return (
                    e.branches.some((b) => this.lifts(b.test) || this.blockLifts(b.body)) ||
                    (e.otherwise !== undefined && this.blockLifts(e.otherwise))
                );
            case "try.expr":
                return this.blockLifts(e.body) || this.blockLifts(e.handler);
            case "narrow":
                return this.lifts(e.object);
            case "generate":
            case "parallel":
            case "endorse":
                return true;
        }
    }

    /** Blocks in expressions stay closures only where they are one plain expression. */
    private blockLifts(body: readonly StmtForm[]): boolean {
        const [only] = body;
        return body.length !== 0 && (body.length > 1 || only?.kind !== "expr" || this.lifts(only.value));
    }

    /** True where a call is an instruction of its own: not a built-in on data. */
    private isOwn(e: CallForm): boolean {
        const { cx } = this.e;
        const { callee } = e;
        if (this.handover(e) !== null || this.clock(e) !== null) return true;
        if (refusalOf(cx, e) !== null) return true;
        if (callee.kind === "name") {
            const meaning = lookUp(cx, callee.name);
            return meaning?.kind === "func" || meaning?.kind === "agent";
        }
        if (callee.kind !== "member") return true;
        if (callee.object.kind === "name" && cx.scope.find(callee.object.name) === 0) {
            const meaning = lookUp(cx, callee.object.name);
            if (meaning !== undefined && "value" in meaning) return true;
            if (meaning === undefined) return false;
        }
        return callee.object.kind !== "literal" && cx.program.reach.travels;
    }

    private clock(e: CallForm): Builtin | null {
        const { cx } = this.e;
        return clockOf(cx.program, cx, (name) => cx.scope.find(name) !== 0, e);
    }

    private handover(e: CallForm): HandoverKind | null {
        const { cx } = this.e;
        return handoverOf(cx.program, cx, (name) => cx.scope.find(name) !== 0, e);
    }

    /** True where plain code holds a lambda, so that it may take any number of steps. */
    mayRunLong(e: ExprForm): boolean {
        return walk(e, (x) => x.kind === "lambda" || (x.kind === "call" && x.args.some((_, i) => this.lambdaAt(x, i) !== undefined)));
    }

    /** True where plain code holds the call of a method that changes a list. */
    private mayChange(e: ExprForm): boolean {
        return walk(e, (x) => x.kind === "call" && x.callee.kind === "member" && x.callee.name === "add");
    }

    /** True where statements hold something that can reach an effect. */
    reaches(body: readonly StmtForm[]): boolean {
        return walk(body, (e) => EFFECTS.has(e.kind) || (e.kind === "call" && this.callReaches(e)));
    }

    private callReaches(e: CallForm): boolean {
        const { cx } = this.e;
        if (this.handover(e) !== null || this.clock(e) !== null) return true;
        const named = e.callee.kind === "member" ? e.callee.object : e.callee;
        const meaning = named.kind === "name" ? lookUp(cx, named.name) : undefined;
        if (meaning?.kind === "func") return meaning.fn.effectful;
        return (meaning !== undefined && "value" in meaning) || cx.program.reach.travels;
    }

    /** True where a loop can run as closures: it reaches no effect, and nothing jumps out of it or out of an expression in it. */
    isWhole(s: LoopForm): boolean {
        return !walk(s, (e) => {
            if (e.kind === "call") return this.callReaches(e) || this.isFramed(e);
            return e.kind === "return" || EFFECTS.has(e.kind) || ((e.kind === "if.expr" || e.kind === "try.expr") && leaves(e));
        });
    }

    private isFramed(e: CallForm): boolean {
        const meaning = e.callee.kind === "name" ? lookUp(this.e.cx, e.callee.name) : undefined;
        if (meaning?.kind === "func") return meaning.fn.staysFramed;
        return e.args.some((_, i) => this.lambdaAt(e, i)?.staysFramed === true);
    }

    private lambdaAt(e: CallForm, i: number): Fn | undefined {
        return asLambda(this.e.cx.program, this.e.fn, { has: () => false }, e, i);
    }

    // ---- lifting ----

    /** For the value of this expression. */
    private temporary(of: ExprForm): { slot: number; name: ExprForm } {
        const { scope } = this.e.cx;
        const slot = scope.temporary();
        const name = `%${slot}`;
        scope.alias(name, slot, of);
        return { slot, name: { kind: "name", name } };
    }

    /** The expression's value in a temporary. */
    spill(e: ExprForm): ExprForm {
        const { slot, name } = this.temporary(e);
        this.e.emit(this.mayRunLong(e) ? OP.STRETCH : OP.SET, expr(this.e.cx, e), slot);
        return name;
    }

    /** Sends the result of the instruction just emitted into another slot, where `e` is nothing but that result. */
    retarget(e: ExprForm, slot: () => number): boolean {
        if (e.kind !== "name" || !e.name.startsWith("%")) return false;
        const to = slot();
        if (to === 0) return false;
        return this.e.redirect(this.e.cx.scope.find(e.name), to);
    }

    /** Operands in order: each lifted, and kept safe from the calls that come after it. */
    liftAll(list: readonly ExprForm[]): ExprForm[] {
        let last = -1;
        list.forEach((e, i) => {
            if (this.lifts(e)) last = i;
        });
        if (last < 0) return [...list];
        return list.map((e, i) => {
            if (i > last) return e;
            const plain = this.lift(e);
            if (i === last || plain.kind === "literal") return plain;
            // A name that is no variable (`json`, an import) stands for the same whatever comes after it, and may be no value.
            const fixed = plain.kind === "name" && (plain.name.startsWith("%") || this.e.cx.scope.find(plain.name) === 0);
            if (fixed || (plain.kind === "name" && !list.slice(i + 1).some((later) => this.hasBlock(later)))) return plain;
            if (plain.kind === "lambda") return plain;
            return this.spill(plain);
        });
    }

    /** A block in an expression may assign variables. */
    private hasBlock(e: ExprForm): boolean {
        return walk(e, (x) => x.kind === "if.expr" || x.kind === "try.expr");
    }

    lift(e: ExprForm): ExprForm {
        if (!this.lifts(e)) return e;
        switch (e.kind) {
            case "literal":
            case "name":
            case "lambda":
                return e;
            case "list": {
                const values = this.liftAll(e.items.map((i) => (i.kind === "spread" ? i.value : i)));
                const items = e.items.map((i, at): ExprForm | SpreadForm =>
                    i.kind === "spread" ? { ...i, value: values[at] as ExprForm } : (values[at] as ExprForm),
                );
                return { ...e, items };
            }
            case "object": {
                const values = this.liftAll(e.entries.map((i) => i.value));
                return { ...e, entries: e.entries.map((i, at) => ({ ...i, value: values[at] as ExprForm })) };
            }
            case "member": {
                const from = this.moduleOf(e);
                return from === null ? { ...e, object: this.lift(e.object) } : this.read(e, from);
            }
            case "index": {
                const [object, index] = this.liftAll([e.object, e.index]) as [ExprForm, ExprForm];
                return { ...e, object, index };
            }
            case "unary":
                return { ...e, value: this.lift(e.value) };
            case "binary":
                return this.binary(e);
            case "call":
                return this.call(e);
            case "if.expr": {
                const { slot, name } = this.temporary(e);
                this.e.branches(e.branches, e.otherwise, slot);
                return name;
            }
            case "try.expr": {
                const { slot, name } = this.temporary(e);
                this.e.guarded(e.body, e.name, e.handler, slot);
                return name;
            }
            case "narrow":
                return { ...e, object: this.lift(e.object) };
            case "endorse": {
                const [value, because] = this.liftAll([e.value, e.because]) as [ExprForm, ExprForm];
                const { cx } = this.e;
                return this.result(e, "endorse", (path) => [
                    OP.ENDORSE,
                    { kind: "endorse", because: expr(cx, because), readers: e.readers ?? null, path },
                    expr(cx, this.short(value)),
                ]);
            }
            case "generate":
                return this.generate(e);
            case "parallel":
                return this.parallel(e);
        }
    }

    private binary(e: ExprForm & { kind: "binary" }): ExprForm {
        if (e.op !== "and" && e.op !== "or" && e.op !== "??") {
            const [left, right] = this.liftAll([e.left, e.right]) as [ExprForm, ExprForm];
            return { ...e, left, right };
        }
        if (!this.lifts(e.right)) return { ...e, left: this.lift(e.left) };
        // The right side runs only where the left one does not decide: jumps around it, the operator itself applied on each way.
        const { slot, name } = this.temporary(e);
        const ways = this.e.ways([e.right], slot);
        const together = this.e.parting();
        this.e.set(slot, e.left);
        this.e.depending(slot, this.e.along([e.right], ways));
        const decided =
            e.op === "??"
                ? this.e.emit(OP.PRESENT, NOTHING, slot)
                : this.e.emit(e.op === "and" ? OP.UNLESS : OP.WHEN, expr(this.e.cx, name));
        const right = this.lift(e.right);
        this.e.emit(this.mayRunLong(right) ? OP.STRETCH : OP.SET, expr(this.e.cx, { ...e, left: name, right }), slot);
        if (e.op === "??") {
            this.e.land([decided]);
            together(ways);
            return name;
        }
        const end = this.e.emit(OP.JUMP, NOTHING);
        this.e.land([decided]);
        this.e.emit(OP.SET, expr(this.e.cx, { ...e, left: name, right: { kind: "literal", value: e.op === "and" } }), slot);
        this.e.land([end]);
        together(ways);
        return name;
    }

    // ---- members of modules ----

    /** The module import of which this reads a member. */
    private moduleOf(e: ExprForm & { kind: "member" }): ImportEntry | null {
        const { cx } = this.e;
        if (e.object.kind !== "name" || cx.scope.find(e.object.name) !== 0) return null;
        const meaning = lookUp(cx, e.object.name);
        return meaning?.kind === "tool" && isModule(meaning.import.form.uri) ? meaning.import : null;
    }

    private read(e: ExprForm & { kind: "member" }, from: ImportEntry): ExprForm {
        return this.result(e, e.name, (path) => [OP.EFFECT, { kind: "effect", import: from, method: e.name, args: null, path }]);
    }

    // ---- calls ----

    /** An instruction, made once the slot of its result is there; gives the name of that. `word`: of its place in the run. */
    private result(
        e: ExprForm,
        word: string,
        make: (path: PathSite) => readonly [op: number, detail: Detail, code?: Code | Step],
    ): ExprForm {
        const { slot, name } = this.temporary(e);
        this.mark(e);
        const [op, detail, code = NOTHING] = make(this.e.siteOfCall(e, word));
        this.e.emit(op, code, slot, detail);
        this.e.depending(slot);
        return name;
    }

    private refused(message: string, e: ExprForm): ExprForm {
        this.e.emit(OP.DO, fails(message, siteOf(this.e.cx, e.at)));
        return { kind: "literal", value: null };
    }

    private call(e: CallForm): ExprForm {
        const { cx } = this.e;
        const { callee } = e;
        if (!this.isOwn(e)) {
            const object = callee.kind === "member" ? [callee.object] : [];
            const [first, ...rest] = this.liftAll([...object, ...e.args.map((a) => a.value)]) as [ExprForm, ...ExprForm[]];
            const values = callee.kind === "member" ? rest : [first, ...rest];
            const args = e.args.map((a, i): ArgForm => ({ ...a, value: values[i] as ExprForm }));
            return { ...e, callee: callee.kind === "member" ? { ...callee, object: first } : callee, args };
        }
        const what = this.handover(e);
        if (what !== null) return this.handOver(e, what);
        const clock = this.clock(e);
        if (clock !== null) {
            const wrong = wrongArgs(clock, e.args.length);
            if (wrong !== null) return this.refused(wrong, e);
            return this.result(e, "now", (path) => [OP.CLOCK, { kind: "clock", path }]);
        }
        const stage = callee.kind === "name" ? stageCallOf(callee.name) : null;
        if (stage !== null) return this.stage(e, stage);
        const { travels } = cx.program.reach;
        const local = callee.kind === "name" ? cx.scope.find(callee.name) !== 0 : callee.kind !== "member";
        const refusal = refusalOf(cx, e);
        if (refusal !== null && !(travels && local)) return this.refused(refusal, e);
        if (e.args.some((a) => a.name !== undefined)) return this.refused("this call takes no named arguments", e);
        if (local) return this.value(e);
        if (callee.kind === "name") {
            const meaning = lookUp(cx, callee.name);
            if (meaning?.kind === "func") return this.user(e, meaning.fn, null);
            if (meaning?.kind === "agent" && meaning.agent.main !== null) return this.agent(e, meaning.agent.main, meaning.agent);
        }
        if (callee.kind === "member" && callee.object.kind === "name" && cx.scope.find(callee.object.name) === 0) {
            const meaning = lookUp(cx, callee.object.name);
            const fn = meaning?.kind === "agent" ? meaning.agent.funcs.get(callee.name) : undefined;
            if (meaning?.kind === "agent" && fn !== undefined) return this.agent(e, fn, meaning.agent);
            if (meaning?.kind === "tool" || meaning?.kind === "memory") {
                const args = this.argsIn(e, [])[1];
                return this.result(e, callee.name, (path) => [
                    OP.EFFECT,
                    {
                        kind: "effect",
                        import: meaning.import,
                        method: callee.name,
                        args: argsOf(cx, args),
                        path,
                        ...(this.e.failsOnError(e, meaning.import.form.uri) ? { fails: true } : {}),
                    },
                ]);
            }
        }
        return this.value(e);
    }

    private agent(e: CallForm, fn: Fn, agent: AgentEntry): ExprForm {
        const wrong = wrongCount(fn, e.args.length);
        return wrong === null ? this.user(e, fn, agent) : this.refused(wrong, e);
    }

    private mark(e: ExprForm): void {
        this.e.at(e.at);
    }

    /** Lifted receiver operands and the call with lifted arguments. */
    private argsIn(e: CallForm, before: readonly ExprForm[], isGated = true): [ExprForm[], CallForm] {
        const values = this.liftAll([...before, ...e.args.map((a) => a.value)]);
        // An argument that may run long is an instruction of its own, and so is what comes before it. So is one that changes something: after a
        // question the call runs again, with the arguments that were shown.
        let long = -1;
        values.forEach((v, i) => {
            if (v.kind !== "lambda" && (this.mayRunLong(v) || (isGated && this.mayChange(v)))) long = i;
        });
        for (let i = 0; i <= long; i++) {
            const v = values[i] as ExprForm;
            if (v.kind !== "literal" && v.kind !== "lambda" && (v.kind !== "name" || i === long)) values[i] = this.spill(v);
        }
        const args = e.args.map((a, i): ArgForm => ({ ...a, value: values[before.length + i] as ExprForm }));
        return [values.slice(0, before.length), { ...e, args }];
    }

    private user(e: CallForm, fn: Fn, agent: AgentEntry | null): ExprForm {
        const [, lifted] = this.argsIn(e, [], agent !== null);
        const args = [...lifted.args.map((a) => expr(this.e.cx, a.value)), ...defaultsFrom(fn, e.args.length)];
        const { slot, name } = this.temporary(e);
        this.mark(e);
        this.e.emit(OP.CALL, NOTHING, slot, { kind: "call", fn, args, agent, path: this.e.siteOfCall(e, fn.name) });
        return name;
    }

    /** The expression, or the temporary that holds it where it may run long. */
    short(e: ExprForm): ExprForm {
        return this.mayRunLong(e) ? this.spill(e) : e;
    }

    /** A call through a value: which it is shows only when it runs. */
    private value(e: CallForm): ExprForm {
        const { callee } = e;
        const ways = this.e.ways([e]);
        const along = this.e.along([e], ways);
        const together = this.e.parting();
        const object = callee.kind === "member" ? callee.object : callee;
        const [[receiver], lifted] = this.argsIn(e, [object]) as [[ExprForm], CallForm];
        const code = expr(this.e.cx, receiver);
        const { slot, name } = this.temporary(e);
        this.mark(e);
        this.e.emit(OP.CALL_VALUE, code, slot, {
            kind: "call.value",
            name: callee.kind === "member" ? callee.name : null,
            args: argsOf(this.e.cx, lifted),
            rows: rowsOf(callee.kind === "member" ? callee.name : ""),
            safe: callee.kind === "member" && callee.safe === true,
            path: this.e.siteOfCall(e, "call"),
            along,
        });
        this.e.depending(slot);
        together(ways);
        return name;
    }

    // ---- handing over control ----

    private handOver(e: CallForm, what: HandoverKind): ExprForm {
        const { cx, fn } = this.e;
        const { callee } = e;
        const isLocal = (name: string): boolean => cx.scope.find(name) !== 0;
        const options = what === "agent" ? agentOptions(fn, isLocal, e) : { policy: null, skills: [], args: e.args };
        const before = callee.kind === "member" ? [callee.object] : [];
        const [[receiver], lifted] = this.argsIn({ ...e, args: [...options.args] }, before);
        const word = callee.kind === "member" && callee.object.kind === "name" ? `${callee.object.name}.${what}` : what;
        const skills = [...options.skills, ...(e.with?.skills ?? [])];
        return this.result(e, word, (path) => {
            const code = receiver === undefined ? NOTHING : expr(cx, receiver);
            const detail: HandoverDetail = {
                kind: "handover",
                what,
                args: lifted.args.map((arg) => ({ name: arg.name ?? null, code: expr(cx, arg.value) })),
                with: e.with ?? {},
                skills: skills.flatMap((one) => {
                    const meaning = lookUp(cx, one);
                    return meaning?.kind === "skill" ? [meaning.import] : [];
                }),
                policy: options.policy,
                contract: e.contract ?? null,
                shapes: cx.program.shapesOf(cx.file),
                model: what === "reason" ? (this.e.context.model ?? this.onlyModel()) : null,
                ...this.asked(path),
                path,
            };
            return [OP.HANDOVER, detail, code];
        });
    }

    /** What is asked here, as the ledger and models that answer by label know it. */
    private asked(path: PathSite): Pick<HandoverDetail, "label" | "agent"> {
        const { fn } = this.e;
        const agent = fn.agent === null ? null : shownName(fn.agent);
        const label = `${agent === null ? "" : `${agent}.`}${fn.name}[${path.name.slice(path.name.indexOf("#") + 1)}]`;
        return { label, agent: agent ?? fn.name };
    }

    /** The one model that the file imports. */
    private onlyModel(): Code | null {
        const { cx } = this.e;
        const models = (cx.program.program.files[cx.file]?.imports ?? []).filter((one) => one.what === "llm");
        return models.length === 1 ? expr(cx, { kind: "name", name: (models[0] as { name: string }).name }) : null;
    }

    // ---- generate, parallel and stages ----

    private stage(e: CallForm, what: StageCall): ExprForm {
        const [arg, passes] = this.liftAll(e.args.slice(0, 2).map((one) => one.value)) as [ExprForm, ExprForm];
        const time = e.args[2]?.value;
        const within = time?.kind === "literal" && typeof time.value === "number" ? { within: time.value } : {};
        const { cx } = this.e;
        return this.result(e, what, (path) => [
            OP.STAGE,
            { kind: "stage", what, passes: expr(cx, this.short(passes)), ...within, path },
            expr(cx, this.short(arg)),
        ]);
    }

    private generate(e: ExprForm & { kind: "generate" }): ExprForm {
        const { cx } = this.e;
        const input = this.short(this.lift(e.input));
        const options: { [key: string]: unknown } = {};
        for (const key of OPTIONS) if (e[key] !== undefined) options[key] = e[key];
        return this.result(e, "generate", (path) => {
            const detail: GenerateDetail = {
                kind: "generate",
                context: this.e.context,
                input: expr(cx, input),
                model: e.model === undefined ? null : expr(cx, e.model),
                tools:
                    e.tools?.map((t) =>
                        t.kind === "member" ? { code: expr(cx, t.object), method: t.name } : { code: expr(cx, t), method: null },
                    ) ?? null,
                contract: e.contract ?? null,
                shapes: cx.program.shapesOf(cx.file),
                ...this.asked(path),
                options: options as GenerateOptionsForm,
                scope: cx.scope.visible(),
                path,
            };
            return [OP.GENERATE, detail];
        });
    }

    private parallel(e: ExprForm & { kind: "parallel" }): ExprForm {
        const list = this.short(this.lift(e.list));
        const code = expr(this.e.cx, list);
        return this.result(e, "parallel", (path) => {
            const { body, slots } = this.e.iteration([e.item], e.body);
            this.mark(e);
            return [
                OP.PARALLEL,
                {
                    kind: "parallel",
                    list: code,
                    max: e.max,
                    ...(e.stop === undefined ? {} : { stop: e.stop }),
                    item: e.item,
                    slot: slots[0] as number,
                    body,
                    source: printFormExpr(e.list),
                    path,
                },
            ];
        });
    }
}
