/**
 * Walking a function: its parameters, its body, and what the rest of the program has to know of it.
 *
 * Boundary: when a function is walked, and how often. The rules are elsewhere.
 *
 * FU1: a walk is repeated while its loops teach it something that earlier statements should have known; after `SETTLED` walks nothing is
 *     taken for known of any local, so that it ends.
 * FU2: a callee is walked before its caller goes on, unless it is being walked already or the stack is deep; then nothing is taken for
 *     known of it, and the caller is walked again if that was too little.
 */
import { fix } from "../text/fix.ts";
import type { Block, Expr, Stmt } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { isLiteral } from "../syntax/nodes.ts";
import { checkContract } from "./contracts.ts";
import { checkUsedLocals } from "./context.ts";
import { bit, type Checking, DATA, either, type FuncInfo, isDamaged, type Local, type Ring, Walk, report } from "../scope/model.ts";
import { shown } from "../syntax/entry.ts";
import { expr } from "./expressions.ts";
import { checkResult, parallel, scoped, statements } from "./statements.ts";
import { ANY, contractType, join, literalType, maybeCapability, misfit, type Type } from "../scope/types.ts";

const RING: Ring = { expr, scoped, parallel, summary };

/** Walks of one function within one visit before nothing is taken for known. */
const SETTLED = 4;
/** Visits of one function; more would only refine what is known. */
const MAX_VISITS = 12;
/** Depth of blocks and expressions under way up to which a callee is walked first. A tree is at most some 1,300 deep (the parser's STA3). */
const MAX_DEPTH = 100;

/** What a visit counts for in that depth. */
const VISIT_DEPTH = 4;

/** What a call of the function gives; null where nothing is known yet. */
function summary(w: Walk, func: FuncInfo): Type | null {
    if (func.state === "new" && w.checking.depth < MAX_DEPTH) visit(w.checking, func);
    func.readers.add(w.func);
    if (func.state === "done") return func.result;
    if (func.state === "new") func.blind.add(w.func);
    return func.node.result === undefined ? null : func.result;
}

export function visit(checking: Checking, func: FuncInfo): void {
    if (func.walks >= MAX_VISITS) return;
    func.walks++;
    func.state = "walking";
    const { returns, data, stores } = func;
    const { cap } = func.result;
    const widened = new Map<number, Local>();
    checking.depth += VISIT_DEPTH;
    for (let walks = 1; walks <= 2 * SETTLED && walk(checking, func, widened, walks > SETTLED); walks++);
    checking.depth -= VISIT_DEPTH;
    func.state = "done";
    const same = func.returns === returns && func.data === data && func.result.cap === cap && func.stores === stores;
    for (const caller of same ? func.blind : func.readers) {
        if (caller.state === "new" || caller.queued) continue;
        caller.queued = true;
        checking.queue.push(caller);
    }
    func.blind.clear();
}

/** One walk; true where another one would know more. */
function walk(checking: Checking, func: FuncInfo, widened: Map<number, Local>, vague: boolean): boolean {
    func.diagnostics = [];
    func.pending = [];
    func.calls = [];
    func.effects = new Set();
    func.blocks = new Set();
    func.generates = [];
    func.locals = [];
    const w = new Walk(RING, checking, func, widened, vague);
    if (w.agent !== null) {
        w.config = w.agent.config;
        w.uses = w.agent.uses;
    }
    params(w);
    const { body } = func.node;
    const type = statements(w, body.statements);
    const last = body.statements[body.statements.length - 1];
    const leaves = last !== undefined && alwaysLeaves(last);
    // An expression that is the last statement itself is the result.
    const lost = last === undefined || last.kind === "expr" ? null : lostValue(last);
    if (lost !== null) w.report("LOST_VALUE", lost.range, "nothing uses this value: the function does not give it back");
    if (func.node.result !== undefined) {
        checkContract(w.report, w.file, func.node.result, false);
        if (last?.kind === "expr") checkResult(w, type, last.value);
        else if (!leaves) checkResult(w, type, null);
        func.result = contractType(func.node.result, func.file);
    } else {
        const own = leaves ? null : type;
        func.result = w.returned === null ? (own ?? ANY) : own === null ? w.returned : join(own, w.returned);
    }
    // What could not be read may have given another value.
    if (func.node.result === undefined && isDamaged(func.file, func.node.range)) func.result = ANY;
    const given = either(w.from, w.returnedFrom);
    func.returns |= given.params;
    func.data |= given.data;
    w.end();
    checkUsedLocals(w);
    for (const use of w.declared) if (!use.seen) w.report("UNUSED_USE", use.node.range, "no `generate` can see this `use`");
    for (const { at, name, soft } of w.unguarded) {
        if (w.guarded.has(name)) continue;
        const dot = { start: at.start, end: at.start };
        // The dot stands right before the name, white space aside: only then is the fix one edit.
        const before = w.file.tree.source.text[at.start - 1] === ".";
        const fixes = before ? [fix(`write ?.${name}`, { start: at.start - 1, end: at.start }, "?.")] : undefined;
        w.suspect("MAYBE_ABSENT", before ? at : dot, `'${name}' may be absent, and then this read fails`, soft, { fixes, property: name });
    }
    return w.again;
}

/** A value at the end of a branch of a last statement, which looks like the function's result. A call may be there for what it does. */
function lostValue(s: Stmt): Expr | null {
    if (s.kind === "expr") return DOES.has(s.value.kind) || s.value.kind === "missing" ? null : s.value;
    const blocks = s.kind === "if" && s.otherwise !== undefined ? [...s.branches.map((one) => one.body), s.otherwise] : [];
    if (s.kind === "try") blocks.push(s.body, s.handler);
    for (const { statements: all } of blocks) {
        const last = all[all.length - 1];
        const found = last === undefined ? null : lostValue(last);
        if (found !== null) return found;
    }
    return null;
}

/** Expressions that do something besides giving a value. */
const DOES: ReadonlySet<string> = new Set(["call", "generate", "parallel", "if.expr", "try.expr"]);

/** A statement after which the end of the block is not reached. */
function alwaysLeaves(s: Stmt): boolean {
    switch (s.kind) {
        case "return":
        case "raise":
            return true;
        case "if":
            return s.otherwise !== undefined && [...s.branches.map((one) => one.body), s.otherwise].every(endLeaves);
        case "try":
            return endLeaves(s.body) && endLeaves(s.handler);
        case "delegate":
        case "spend":
            return endLeaves(s.body);
        default:
            return false;
    }
}

function endLeaves(block: Block): boolean {
    const last = block.statements[block.statements.length - 1];
    return last !== undefined && alwaysLeaves(last);
}

function params(w: Walk): void {
    const { node } = w.func;
    let optionalAt: string | null = null;
    for (let i = 0; i < node.params.length; i++) {
        const param = node.params[i] as (typeof node.params)[number];
        const { text, range } = param.name;
        if (text !== "" && w.names.has(text)) w.report("DUPLICATE_PARAM", range, `two parameters are called '${text}'`);
        const outside = w.file.names.get(text);
        if (outside !== undefined && outside.import !== null) shadows(w, text, range, outside.range);
        let type = ANY;
        if (param.contract !== undefined) {
            checkContract(w.report, w.file, param.contract, true);
            type = contractType(param.contract, w.file, true);
        }
        if (param.default !== undefined) {
            optionalAt ??= text;
            if (!isLiteral(param.default))
                w.report("INVALID_PARAM_CONTRACT", param.default.range, `the default of '${text}' is no literal`);
            else if (param.contract !== undefined) {
                const reason = misfit(literalType(param.default), param.default, param.contract, w.file);
                if (reason !== null)
                    w.report("INVALID_PARAM_CONTRACT", param.default.range, `the default of '${text}' does not fit: ${reason}`);
            }
        } else if (optionalAt !== null)
            w.report("INVALID_PARAM_CONTRACT", range, `'${text}' needs a default too, because '${optionalAt}' before it has one`);
        const cap = w.func.passed[i];
        if (cap != null && param.contract === undefined) type = maybeCapability(cap);
        w.from = { share: 0, params: bit(i), data: bit(i) };
        w.define(text, range, type);
    }
}

function shadows(w: Walk, name: string, range: Range, other: Range): void {
    // What a remit gives an answer does not take a name from it (AW4).
    if (w.checking.answer) return;
    w.report("PARAM_SHADOWS_IMPORT", range, `the parameter '${name}' has the name of an import`, {
        related: [{ message: "the import", file: w.file.name, range: other }],
    });
}

/** What parameters of functions take data that the source does not hold: by parameter, as a mask. */
function dataParams(funcs: readonly FuncInfo[]): Map<FuncInfo, number> {
    const known = new Map<FuncInfo, number>();
    const queue: FuncInfo[] = [];
    const add = (func: FuncInfo, mask: number): void => {
        const before = known.get(func) ?? 0;
        if ((before | mask) === before) return;
        known.set(func, before | mask);
        queue.push(func);
    };
    const onward = (func: FuncInfo): void => {
        const own = known.get(func) ?? 0;
        for (const edge of func.calls)
            edge.args.forEach(({ data }, i) => {
                if ((data & DATA) !== 0 || (data & own & ~DATA) !== 0) add(edge.callee, bit(i));
            });
    };
    for (const func of funcs) {
        if (func.node.main) add(func, -1);
        onward(func);
    }
    for (let func = queue.pop(); func !== undefined; func = queue.pop()) onward(func);
    return known;
}

/** Warnings about instructions that take data in. */
export function checkInstructions(funcs: readonly FuncInfo[]): void {
    if (!funcs.some((func) => func.generates.some((site) => site.data !== 0))) return;
    const known = dataParams(funcs);
    for (const func of funcs) {
        const own = known.get(func) ?? 0;
        for (const site of func.generates) {
            if ((site.data & DATA) === 0 && (site.data & own & ~DATA) === 0) continue;
            const input = site.node.options.find((option) => option.key.text === "input");
            if (input !== undefined)
                report(func, "INSTRUCTION_DATA", input.value.range, `the instruction of ${shown(func.name)} takes data in`);
        }
    }
}
