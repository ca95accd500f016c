/**
 * Statements and blocks: scopes, loops, assignments, and where control can go.
 *
 * Boundary: one statement at a time; expressions are in `expressions.ts`, context in `context.ts`.
 *
 * STT1: `x = v` changes the nearest x assigned before it in an enclosing block, or a parameter; else it makes x in the present block.
 * STT2: a block's names, `use`s, model, role and description are gone after it.
 */
import { fix } from "../text/fix.ts";
import type { Assign, Block, Expr, ExprStmt, For, Ident, Member, Name, NumberLit, ParallelFor, Return, Stmt } from "../syntax/tree.ts";
import { alias, hold } from "./methods.ts";
import { mutate, raise } from "./sites.ts";
import { checkBudget, checkConfig, checkUse } from "./context.ts";
import { expr, item, plus, propertyOf } from "./expressions.ts";
import { DATA, either, holding, isDamaged, localAt, type Walk } from "../scope/model.ts";
import { elsewhere, suggestion } from "./names.ts";
import {
    ANY,
    CAPABILITIES,
    describe,
    FROM_LIST,
    join,
    MAY_GROW,
    makeType,
    maybeCapability,
    misfit,
    NONE,
    NUMBER,
    property,
    FAILURE,
    soften,
    type Type,
} from "../scope/types.ts";

/** A block in a scope of its own; gives the type of its last expression, none where it does not end in one. */
export function scoped(w: Walk, block: Block, caught?: Name): Type {
    const mark = w.visible.length;
    const { uses, config } = w;
    if (caught !== undefined) {
        w.isFresh(DATA);
        w.define(caught.text, caught.range, w.file.name.endsWith(".as") ? ANY : FAILURE);
    }
    w.checking.depth++;
    const type = statements(w, block.statements);
    w.checking.depth--;
    w.leave(mark);
    w.uses = uses;
    w.config = config;
    return type;
}

/** The statements of a block whose scope is there already. */
export function statements(w: Walk, all: readonly Stmt[]): Type {
    let left = false;
    for (let i = 0; i < all.length; i++) {
        const s = all[i] as Stmt;
        if (left) {
            w.report("UNREACHABLE", s.range, "this statement can never run");
            left = false;
        }
        if (s.kind !== "expr") {
            left = statement(w, s);
            continue;
        }
        const found = expr(w, s.value);
        if (i === all.length - 1) return found;
    }
    w.isFresh(0);
    return NONE;
}

/** Whether no statement after it is reached. */
function statement(w: Walk, s: Exclude<Stmt, ExprStmt>): boolean {
    switch (s.kind) {
        case "assign":
            assign(w, s);
            return false;
        case "use":
        case "use.one":
            checkUse(w, s);
            return false;
        case "config": {
            checkConfig(w.report, w.checking, w.file, w.names, s);
            w.config = { ...w.config, [s.key]: s };
            return false;
        }
        case "context":
            checkBudget(w.report, s.max);
            w.config = { ...w.config, context: s };
            return false;
        case "if":
            for (const branch of s.branches) {
                expr(w, branch.test);
                scoped(w, branch.body);
            }
            if (s.otherwise !== undefined) scoped(w, s.otherwise);
            return false;
        case "return":
            leaveWith(w, s);
            return true;
        case "for":
            iterate(w, s);
            return false;
        case "loop":
            // Assigned in the body, read by the test of the next pass.
            expr(w, s.until);
            limit(w, s.max, 0);
            looped(w, s.body);
            return false;
        case "repeat":
            limit(w, s.times, 0);
            looped(w, s.body);
            return false;
        case "try":
            scoped(w, s.body);
            scoped(w, s.handler, s.name);
            return false;
        case "define":
            // What it defines is looked at by itself: it sees nothing of what is around it.
            if (!w.checking.answer)
                w.report("DEFINE_PLACE", s.range, "only what an agent answers defines functions while the program runs", {
                    hint: "write a func at the top of the file",
                });
            return false;
        case "delegate":
        case "spend":
            scoped(w, s.body);
            return false;
        case "raise":
            expr(w, s.value);
            return true;
        case "break":
        case "continue":
            if (w.breakable === 0)
                w.report(
                    "BREAK_OUTSIDE_LOOP",
                    s.range,
                    `${s.kind} stands outside a loop`,
                    w.level > 0 && w.lambda === 0 ? { hint: "`return` ends one iteration of `parallel for`" } : undefined,
                );
            return true;
        default:
            return false;
    }
}

function looped(w: Walk, body: Block): void {
    w.loop++;
    w.breakable++;
    scoped(w, body);
    w.loop--;
    w.breakable--;
}

function limit(w: Walk, max: NumberLit, least: number): void {
    if (/^\d+$/.test(max.text) && max.value >= least) return;
    w.report("INVALID_ITERATION_LIMIT", max.range, `the limit of a loop is a whole number${least > 0 ? " above 0" : ""}`);
}

/** What a loop goes through must be a list. */
function listOf(w: Walk, e: Expr): Type {
    const type = expr(w, e);
    if (type.kind !== "list" && type.kind !== "any" && !type.optional) {
        const message = `a loop goes through a list, and this is ${describe(type)}`;
        if (CAPABILITIES.has(type.kind)) w.report("INVALID_OPERAND", e.range, message);
        else w.suspect("INVALID_OPERAND", e.range, message, type.soft);
    }
    return type;
}

function itemType(list: Type): Type {
    if (list.item !== null && list.item !== ANY) return list.item;
    return list.cap === null ? ANY : maybeCapability(list.cap);
}

function iterate(w: Walk, s: For): void {
    const list = listOf(w, s.list);
    const { from } = w;
    limit(w, s.max, 1);
    const mark = w.visible.length;
    w.loop++;
    w.breakable++;
    w.from = from;
    alias(w, w.define(s.item.text, s.item.range, itemType(list)), s.list);
    scoped(w, s.body);
    w.leave(mark);
    w.loop--;
    w.breakable--;
}

export function parallel(w: Walk, e: ParallelFor): Type {
    const list = listOf(w, e.list);
    const { from } = w;
    if (!/^\d+$/.test(e.max.text) || e.max.value <= 0)
        w.report("INVALID_PARALLEL_FOR_LIMIT", e.max.range, "the limit of `parallel for` is a whole number above 0");
    if (e.stop !== undefined && (!/^\d+$/.test(e.stop.text) || e.stop.value <= 0))
        w.report("INVALID_PARALLEL_FOR_LIMIT", e.stop.range, "`stop after` names a whole number of failures above 0");
    raise(w, "parallel", { start: e.range.start, end: Math.min(e.range.end, e.range.start + 12) }, false);
    const last = e.body.statements[e.body.statements.length - 1];
    if (last?.kind !== "expr") bodyEnd(w, e, last);

    const { returned, returnedFrom, breakable } = w;
    const mark = w.visible.length;
    w.returned = null;
    w.breakable = 0;
    w.level++;
    w.loop++;
    // An item belongs to its iteration, unless iterations of a `parallel for` further out go through the same list.
    w.from = { ...from, share: Math.max(from.share, 0) < w.level - 1 ? from.share : w.level };
    w.define(e.item.text, e.item.range, itemType(list));
    let type = scoped(w, e.body);
    if (w.returned !== null) type = join(type, w.returned);
    w.leave(mark);
    w.level--;
    w.loop--;
    w.breakable = breakable;
    w.returned = returned;
    w.returnedFrom = returnedFrom;
    w.isFresh(DATA);
    return makeType("list", { item: soften(type, FROM_LIST), cap: type.cap });
}

function bodyEnd(w: Walk, e: ParallelFor, last: Stmt | undefined): void {
    const range = last?.range ?? e.body.range;
    if (last?.kind === "return") {
        const word = { start: last.range.start, end: last.value.range.start };
        w.report("INVALID_PARALLEL_FOR_BODY", range, "the body ends in `return`", {
            hint: "leave the word out: the last expression is the value",
            fixes: [fix("leave out `return`", word, "", true)],
        });
        return;
    }
    const hint =
        last?.kind === "assign" && last.target.kind === "ident"
            ? `write ${last.target.name} in a line of its own after it`
            : last?.kind === "if" || last?.kind === "try"
              ? `assign it, and end the body in the name: one = ${last.kind} …`
              : "end the body in the value of the iteration";
    w.report("INVALID_PARALLEL_FOR_BODY", range, "the body does not end in an expression", { hint });
}

function leaveWith(w: Walk, s: Return): void {
    const type = expr(w, s.value);
    if (w.lambda > 0) {
        w.report("LAMBDA_RETURN", s.range, "`return` stands inside a lambda");
        return;
    }
    if (w.level === 0) checkResult(w, type, s.value);
    w.returned = w.returned === null ? type : join(w.returned, type);
    w.returnedFrom = either(w.returnedFrom, w.from);
}

/** A value that the function gives, against the contract declared for it. */
export function checkResult(w: Walk, type: Type, e: Expr | null): void {
    const { result } = w.func.node;
    if (result === undefined) return;
    const reason = misfit(type, e, result, w.file);
    if (reason === null) return;
    const range = e?.range ?? w.func.node.name?.range ?? w.func.node.range;
    const message = `the value does not fit the contract of the function: ${reason}`;
    if (e !== null && e.kind !== "ident" && e.kind !== "member" && e.kind !== "index") w.report("CONTRACT_MISMATCH", range, message);
    else
        w.suspect(
            "CONTRACT_MISMATCH",
            range,
            message,
            type.soft | (type.kind === "object" ? MAY_GROW : 0),
            e === null ? { hint: "the function can end without giving a value" } : undefined,
        );
}

// ---- assignment ------------------------------------------------------------------------------------------------------

function assign(w: Walk, s: Assign): void {
    const { target } = s;
    const found = expr(w, s.value);
    const type = isDamaged(w.file, s.range) ? ANY : found;
    const { data } = w.from;
    switch (target.kind) {
        case "ident":
            assignName(w, s, target, type);
            return;
        case "member": {
            const object = expr(w, target.object);
            const { from } = w;
            if (target.safe) w.report("INVALID_ASSIGNMENT_TARGET", target.range, "`?.` cannot be assigned to", { hint: "write `.`" });
            memberTarget(w, target, object, type);
            if (s.op !== "=") changed(w, s, propertyOf(w, object, target), type);
            mutate(w, target.range, from, "the assignment");
            if (type.cap !== null) hold(w, target.object, type.cap);
            flow(w, target.object, data);
            return;
        }
        case "index": {
            const object = expr(w, target.object);
            const { from } = w;
            const index = expr(w, target.index);
            w.checking.itemsAssigned = true;
            if (target.index.kind === "string") {
                w.checking.assigned.add(target.index.value);
                if (
                    object.kind !== "any" &&
                    join(property(object, target.index.value) ?? ANY, type) !== property(object, target.index.value)
                )
                    w.checking.objectsChange = true;
            } else if (index.kind !== "number") w.checking.anyAssigned = true;
            if (object.kind === "any" || object.kind === "list") w.checking.listsChange = true;
            if (object.kind === "any" || index.kind !== "number") w.checking.objectsChange = true;
            if (CAPABILITIES.has(object.kind) || object.kind === "string" || object.kind === "number" || object.kind === "boolean")
                w.report("INVALID_ASSIGNMENT_TARGET", target.range, `an item of ${describe(object)} cannot be assigned`);
            else if (s.op !== "=") changed(w, s, item(w, object, index, target), type);
            mutate(w, target.range, from, "the assignment");
            if (type.cap !== null) hold(w, target.object, type.cap);
            flow(w, target.object, data);
            return;
        }
        case "missing":
            return;
        default:
            w.report("INVALID_ASSIGNMENT_TARGET", target.range, "only a name, a property or an item can be assigned to");
            expr(w, target);
    }
}

function assignName(w: Walk, s: Assign, target: Ident, value: Type): void {
    let type = value;
    const { data } = w.from;
    const { name, range } = target;
    const local = w.names.get(name);
    if (local !== undefined) {
        if (w.level > local.level) {
            w.report("PARALLEL_FOR_OUTER_ASSIGNMENT", range, `'${name}' belongs to the outside of this parallel for`, {
                related: [{ message: "first assigned here", file: w.file.name, range: local.range }],
            });
            return;
        }
        if (s.op !== "=") {
            type = changed(w, s, local.type, type);
            w.isFresh(data | local.from.data);
        }
        w.widen(local, type);
        if (s.op === "=") alias(w, local, s.value);
        return;
    }
    const found = w.agent?.funcs.get(name) ?? w.file.names.get(name);
    // What a remit gives an answer does not take a name from it (AW4).
    if (found !== undefined && !(w.checking.answer && found.import !== null)) {
        const what = found.import !== null ? `the import '${name}'` : `the ${found.kind === "func" ? "function" : found.kind} '${name}'`;
        w.report("IMMUTABLE_ASSIGNMENT", range, `${what} cannot be assigned to`, { hint: "choose another name" });
        return;
    }
    if (s.op !== "=") {
        const other = elsewhere(w.checking, w.file, name);
        if (other !== null) w.report("IMPORT_NOT_SHARED", range, `'${name}' belongs to ${other.where.name}, not to this file`, other.extra);
        else
            w.report(
                "UNKNOWN_IDENTIFIER",
                range,
                `'${name}' is not defined here`,
                suggestion(w.checking, name, range, w.names.keys()) ?? { hint: `assign it first: ${name} = …` },
            );
    }
    alias(w, w.define(name, range, type), s.value);
}

function memberTarget(w: Walk, target: Member, object: Type, type: Type): void {
    const name = target.name.text;
    w.checking.assigned.add(name);
    switch (object.kind) {
        case "any":
            w.checking.objectsChange = true;
            return;
        case "object": {
            const known = property(object, name);
            if (known != null && join(known, type) !== known) w.checking.objectsChange = true;
            return;
        }
        case "none":
        case "list":
        case "string":
        case "number":
        case "boolean":
            if (!object.optional)
                w.suspect("INVALID_ASSIGNMENT_TARGET", target.range, `${describe(object)} has no properties to assign`, object.soft);
            return;
        default:
            w.report("INVALID_ASSIGNMENT_TARGET", target.range, `${describe(object)} cannot be changed`);
    }
}

/** The value of `+=` and `-=`. */
function changed(w: Walk, s: Assign, before: Type, by: Type): Type {
    if (s.op === "+=") return plus(w, [before, s.target], [by, s.value], s.range);
    for (const [type, e] of [
        [before, s.target],
        [by, s.value],
    ] as const)
        if (type.kind !== "number" && type.kind !== "any" && !type.optional)
            w.suspect("INVALID_OPERAND", e.range, `'-=' needs numbers, and this is ${describe(type)}`, type.soft);
    return NUMBER;
}

/** What was put into the object at the root of `a.b[0]` is part of it: its data is the object's data. */
function flow(w: Walk, e: Expr, data: number): void {
    const local = localAt(w, e);
    if (local !== undefined) local.from = holding(local.from, data);
}
