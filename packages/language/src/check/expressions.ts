/**
 * Expressions: the names in them, what kind of value they give, what that value shares, and where its data comes from.
 *
 * Boundary: one expression at a time; all kinds that are no call, in one file because they share the walk's state. Calls are in `calls.ts`, `generate` in `generate.ts`, blocks in `statements.ts`.
 *
 * EO1: after `expr`, `from` of the walk speaks of the expression walked.
 *
 * Why it is long: one function for each kind of expression, each short, called from one another.
 */
import { fix } from "../text/fix.ts";
import type { Binary, Endorse, Expr, Ident, IfExpr, Index, ListLit, Member, Narrow, ObjectLit, TryExpr } from "../syntax/tree.ts";
import { isModule } from "../load/schemes.ts";
import { FOREIGN_NAMES } from "../syntax/foreign.ts";
import { withoutHyphens } from "../syntax/hyphens.ts";
import type { Range } from "../text/source.ts";
import { BUILTINS_ON, isNamespace, METHODS, type Namespace } from "../scope/builtins.ts";
import { checkNarrowed } from "./remits.ts";
import { call } from "./calls.ts";
import { generate } from "./generate.ts";
import { strayLambda } from "./methods.ts";
import { type Binding, DATA, either, type Extra, holding, type Origin, type Walk } from "../scope/model.ts";
import { elsewhere, suggestion } from "./names.ts";
import { meant, misspelt } from "../scope/model.ts";
import { inner, raise } from "./sites.ts";
import {
    ANY,
    BOOLEAN,
    CAPABILITIES,
    describe,
    NAMESPACE_TYPES,
    join,
    LIST,
    listOf,
    makeType,
    mayBeAbsent,
    maybeCapability,
    NONE,
    NUMBER,
    OBJECT,
    present,
    property,
    propertyNames,
    scalarOf,
    STRING,
    type Type,
} from "../scope/types.ts";

export function expr(w: Walk, e: Expr): Type {
    switch (e.kind) {
        case "ident":
            return ident(w, e);
        case "member":
            return readMember(w, e);
        case "string":
            w.isFresh(0);
            return STRING;
        case "call":
            return call(w, e);
        case "number":
            w.isFresh(0);
            return NUMBER;
        case "binary":
            return binary(w, e);
        case "object":
            return object(w, e);
        case "list":
            return list(w, e);
        case "bool":
            w.isFresh(0);
            return BOOLEAN;
        case "none":
            w.isFresh(0);
            return NONE;
        case "index":
            return readIndex(w, e);
        case "unary": {
            const type = inner(w, e.value);
            if (e.op === "-") operand(w, type, e.value, "-");
            if (e.op === "text" && CAPABILITIES.has(type.kind)) wrongOperand(w, e.value, type, `a text cannot hold ${describe(type)}`);
            w.isFresh(w.from.data);
            return e.op === "-" ? NUMBER : e.op === "text" ? STRING : BOOLEAN;
        }
        case "paren":
            return inner(w, e.value);
        case "generate":
            return generate(w, e);
        case "parallel":
            return w.ring.parallel(w, e);
        case "if.expr":
            return ifExpr(w, e);
        case "try.expr":
            return tryExpr(w, e);
        case "lambda":
            return strayLambda(w, e);
        case "narrow":
            return narrow(w, e);
        case "endorse":
            return endorse(w, e);
        case "missing":
            w.isFresh(0);
            return ANY;
    }
}

/** A narrower handle is a handle of the same kind. */
function narrow(w: Walk, e: Narrow): Type {
    const type = inner(w, e.object);
    if (!CAPABILITIES.has(type.kind) && type.kind !== "any") {
        w.suspect("UNKNOWN_METHOD", e.range, `${describe(type)} has no methods to choose from`, type.soft, {
            hint: "`.only(…)` narrows a tool, a memory or an agent",
        });
        return ANY;
    }
    if (type.cap !== null && type.kind !== "any") for (const { method, bounds } of e.methods) checkNarrowed(w, type.cap, method, bounds);
    return type;
}

function endorse(w: Walk, e: Endorse): Type {
    inner(w, e.because);
    if (w.pure) w.report("LAMBDA_EFFECT", e.range, "a lambda cannot endorse anything");
    return inner(w, e.value);
}

// ---- names -----------------------------------------------------------------------------------------------------------

function ident(w: Walk, e: Ident): Type {
    const local = w.names.get(e.name);
    if (local === undefined) return outer(w, e);
    w.from = local.from;
    return local.type;
}

function outer(w: Walk, e: Ident): Type {
    const { name, range } = e;
    const found = w.agent?.funcs.get(name) ?? w.file.names.get(name);
    w.isFresh(0);
    if (found === undefined) return nowhere(w, name, range);
    found.used = true;
    if (found.kind === "file") {
        w.from = { ...w.from, share: -1 };
        return found.type;
    }
    if (found.kind === "block") {
        w.func.blocks.add(found);
        w.isFresh(DATA);
        w.from = { ...w.from, share: -1 };
        return found.type;
    }
    if (found.kind === "shape") {
        w.report("UNKNOWN_IDENTIFIER", range, `'${name}' is a shape, not a value`);
        return ANY;
    }
    w.isFresh(DATA);
    if (w.using !== null) notData(w, range, found.type);
    return found.type;
}

function ofNamespace(w: Walk, kind: Namespace, name: string, at: Range): Type {
    const functions = BUILTINS_ON[kind];
    const all = [...functions.keys()].map((one) => `${kind}.${one}`);
    const hint = functions.has(name) ? `call it: ${kind}.${name}(…)` : `it has ${all.join(" and ")}`;
    w.report("UNKNOWN_PROPERTY", at, `${kind} has no property '${name}'`, { hint });
    return ANY;
}

function notData(w: Walk, range: Range, type: Type): void {
    w.report("INVALID_USE_RESOURCE", range, `it is ${describe(type)}, which is never data`);
}

function nowhere(w: Walk, name: string, range: Range): Type {
    w.isFresh(DATA);
    if (isNamespace(name)) return NAMESPACE_TYPES[name];
    if (name === "") return ANY;
    if (BUILTINS_ON.global.has(name)) {
        w.report("UNKNOWN_IDENTIFIER", range, `'${name}' is a built-in function and no value`, { hint: `call it: ${name}(…)` });
        return ANY;
    }
    const other = elsewhere(w.checking, w.file, name);
    if (other !== null) {
        w.report("IMPORT_NOT_SHARED", range, `'${name}' belongs to ${other.where.name}, not to this file`, other.extra);
        return ANY;
    }
    const foreign = FOREIGN_NAMES.get(name);
    if (foreign !== undefined) {
        w.report(
            "UNKNOWN_IDENTIFIER",
            range,
            `'${name}' is not defined here`,
            foreign.write === undefined
                ? { hint: foreign.hint }
                : {
                      hint: `write ${foreign.write}`,
                      fixes: [fix(`write '${foreign.write}'`, range, foreign.write, true)],
                  },
        );
        return ANY;
    }
    const later = w.func.locals.find((one) => one.name === name);
    const hyphen = withoutHyphens(w.file.tree.source.text, range.start);
    const hint =
        suggestion(w.checking, name, range, w.names.keys(), w.agent?.funcs.keys() ?? [], w.file.names.keys()) ??
        (comparesAlone(w.file.tree.source.text, range) ? { hint: `a name is given a value with one sign: ${name} = …` } : undefined) ??
        (hyphen === null ? undefined : { hint: `a name holds no hyphen: if this is a part of one, write ${hyphen}` });
    w.report(
        "UNKNOWN_IDENTIFIER",
        range,
        `'${name}' is not defined here`,
        later === undefined
            ? (hint ?? { hint: w.checking.answer ? passedHint(w) : "assign it first, take it as a parameter, or import it" })
            : {
                  hint: "a name first assigned inside a block is gone after it: assign it before the block",
                  related: [{ message: "assigned here", file: w.file.name, range: later.range }],
              },
    );
    return ANY;
}

/** `name == …` at the beginning of a line, where `name = …` was meant. */
function comparesAlone(text: string, { start, end }: Range): boolean {
    return /^[ \t]*==(?!=)/.test(text.slice(end, end + 20)) && /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - 200), start));
}

/** What an answer can name: an import in it would be an error of its own. */
function passedHint(w: Walk): string {
    const names = w.func.node.params.map(({ name }) => name.text).join(", ");
    const given = [...w.file.names.values()].filter((one) => one.import !== null).map((one) => one.name);
    const remit = given.length === 0 ? "" : `, and what its remit gives, by name: ${given.join(", ")}`;
    if (names === "" && given.length === 0) return "a function sees its own parameters, and this one has none: give it what it needs";
    return `an answer sees what was passed to it, by its parameters: ${names}${remit}; of a tool among them call the methods that the handshake lists`;
}

// ---- members and items -----------------------------------------------------------------------------------------------

function readMember(w: Walk, e: Member): Type {
    return propertyOf(w, inner(w, e.object), e);
}

/** What reading the member gives; the object has been walked. */
export function propertyOf(w: Walk, type: Type, e: Member): Type {
    const name = e.name.text;
    const at = e.name.range;
    switch (type.kind) {
        case "any":
            if (e.safe) w.guarded.add(name);
            return ANY;
        case "object": {
            const found = property(type, name);
            if (found != null) {
                if (e.safe) w.guarded.add(name);
                else if (found.optional && mayBeAbsent(type, name)) w.unguarded.push({ at, name, soft: type.soft });
                return found;
            }
            if (found === null) {
                const isMethod = BUILTINS_ON.object.has(name);
                const near = isMethod ? undefined : suggestion(w.checking, name, at, propertyNames(type));
                // `?.` asks for what may be absent; a name that is nearly one that there is was not meant to be
                if (e.safe && (type.open || near === undefined)) return ANY;
                const extra = isMethod ? callIt(e) : near === undefined ? undefined : misspelt(w.file, near);
                const known =
                    extra ??
                    (propertyNames(type).length > 0 ? { hint: `it has ${propertyNames(type).slice(0, 12).join(", ")}` } : undefined);
                const said = { ...known, property: name };
                if (type.open) w.suspect("UNDECLARED_PROPERTY", at, `the contract does not declare '${name}'`, type.soft, said);
                else w.suspect("UNKNOWN_PROPERTY", at, `there is no property '${name}'`, type.soft, said);
            }
            return ANY;
        }
        case "list":
        case "string":
        case "number": {
            const row = BUILTINS_ON[type.kind].get(name);
            if (row?.property) {
                w.isFresh(w.from.data);
                return row.result === "list" ? (type.item === null ? LIST : type) : NUMBER;
            }
            const extra = row !== undefined ? callIt(e) : suggestion(w.checking, name, at, BUILTINS_ON[type.kind].keys());
            if (!e.safe || row !== undefined)
                w.suspect("UNKNOWN_PROPERTY", at, `${describe(type)} has no property '${name}'`, type.soft, extra);
            return ANY;
        }
        case "boolean":
        case "none":
            if (!e.safe) w.suspect("UNKNOWN_PROPERTY", at, `${describe(type)} has no property '${name}'`, type.soft);
            return ANY;
        case "json":
        case "csv":
        case "time":
            return ofNamespace(w, type.kind, name, at);
        case "agent": {
            const agent = (type.cap as Binding).agent;
            const found = agent?.funcs.get(name);
            w.isFresh(DATA);
            if (agent !== null && found === undefined)
                w.report(
                    "UNKNOWN_FUNCTION",
                    at,
                    `agent '${type.cap?.name}' has no func '${name}'`,
                    suggestion(w.checking, name, at, agent.funcs.keys()),
                );
            return found?.type ?? maybeCapability(type.cap as Binding);
        }
        case "memory":
            if (name !== "add" && name !== "query")
                w.report("UNKNOWN_MEMORY_METHOD", at, `a memory has no method '${name}'`, { hint: "it has add and query" });
            return maybeCapability(type.cap as Binding);
        case "tool":
            w.isFresh(DATA);
            if (isModule(type.cap?.import?.uri.value ?? "sh:")) {
                raise(w, `tool:${type.cap?.name}.${name}`, at, false);
                return ANY;
            }
            return maybeCapability(type.cap as Binding);
        default:
            w.report("UNKNOWN_PROPERTY", at, `${describe(type)} has no properties`);
            return ANY;
    }
}

/** A method that is read and not called. */
function callIt(e: Member): Extra {
    const name = e.name.text;
    const end = { start: e.name.range.end, end: e.name.range.end };
    const bare = METHODS.get(name)?.some((row) => row.min === 0);
    return {
        hint: `call it: .${name}(…)`,
        ...(bare ? { fixes: [fix(`call it: .${name}()`, end, "()")] } : {}),
    };
}

function readIndex(w: Walk, e: Index): Type {
    const type = inner(w, e.object);
    const { from } = w;
    const index = inner(w, e.index);
    w.from = holding(from, w.from.data);
    return item(w, type, index, e);
}

/** What `object[index]` gives. */
export function item(w: Walk, type: Type, index: Type, e: Index): Type {
    switch (type.kind) {
        case "list": {
            const value = scalarOf(e.index);
            const wrong =
                index.kind === "string" ||
                index.kind === "boolean" ||
                index.kind === "none" ||
                index.kind === "list" ||
                index.kind === "object";
            if (wrong && !index.optional)
                w.suspect("INVALID_OPERAND", e.index.range, "an item of a list is read by its number", index.soft);
            else if (typeof value === "number" && (value < 0 || !Number.isInteger(value)))
                w.report(
                    "INVALID_OPERAND",
                    e.index.range,
                    "an item of a list is read by a whole number from 0",
                    value < 0 ? { hint: "the last item is .last()" } : undefined,
                );
            return type.item !== null && type.item !== ANY ? type.item : type.cap === null ? ANY : maybeCapability(type.cap);
        }
        case "object":
            if (e.index.kind === "string") return property(type, e.index.value) ?? ANY;
            return type.cap === null ? ANY : maybeCapability(type.cap);
        case "any":
            return type.cap === null ? ANY : maybeCapability(type.cap);
        default:
            w.suspect("INVALID_OPERAND", e.object.range, `${describe(type)} cannot be indexed`, type.soft);
            return ANY;
    }
}

// ---- literals --------------------------------------------------------------------------------------------------------

function list(w: Walk, e: ListLit): Type {
    let data = 0;
    let cap: Binding | null = null;
    let sure = false;
    let every: Type | null = null;
    for (const one of e.items) {
        const type = inner(w, one.kind === "spread" ? one.value : one);
        every = one.kind === "spread" ? ANY : every === null ? type : join(every, type);
        data |= w.from.data;
        cap ??= type.cap;
        sure ||= isCapability(type);
    }
    w.isFresh(data);
    return cap === null ? listOf(every ?? ANY) : makeType("list", { item: ANY, cap, sure });
}

function object(w: Walk, e: ObjectLit): Type {
    let data = 0;
    let cap: Binding | null = null;
    let sure = false;
    let fields: Map<string, Type> | null = new Map();
    for (const one of e.entries) {
        const type = inner(w, one.value);
        data |= w.from.data;
        cap ??= type.cap;
        sure ||= isCapability(type);
        if (one.kind === "spread") fields = null;
        else fields?.set(one.key.text, type);
    }
    w.isFresh(data);
    if (fields === null && cap === null) return OBJECT;
    return makeType("object", { fields, cap, sure });
}

/** It is, or holds, a capability for certain, as long as nothing in it is replaced. */
function isCapability(type: Type): boolean {
    return type.sure || CAPABILITIES.has(type.kind);
}

// ---- operators -------------------------------------------------------------------------------------------------------

function binary(w: Walk, e: Binary): Type {
    const left = inner(w, e.left);
    const { from } = w;
    const right = inner(w, e.right);
    const both = either(from, w.from);
    switch (e.op) {
        case "??": {
            w.from = both;
            if (left.kind === "none") return right;
            return join(present(left), right);
        }
        case "and":
        case "or":
            w.isFresh(both.data);
            return BOOLEAN;
        case "==":
        case "!=":
            compared(w, e, left, right);
            w.isFresh(both.data);
            return BOOLEAN;
        case "+":
            w.isFresh(both.data);
            return plus(w, [left, e.left], [right, e.right], e.range);
        default:
            operand(w, left, e.left, e.op);
            operand(w, right, e.right, e.op);
            w.isFresh(both.data);
            return e.op === "<" || e.op === "<=" || e.op === ">" || e.op === ">=" ? BOOLEAN : NUMBER;
    }
}

/** An operand that must be a number. */
function operand(w: Walk, type: Type, e: Expr, op: string): void {
    if (type.kind === "number" || type.kind === "any" || type.optional) return;
    wrongOperand(w, e, type, `'${op}' needs numbers, and this is ${describe(type)}`);
}

function wrongOperand(w: Walk, e: Expr, type: Type, message: string): void {
    if (scalarOf(e) !== undefined || e.kind === "list" || e.kind === "object" || CAPABILITIES.has(type.kind))
        w.report("INVALID_OPERAND", e.range, message);
    else w.suspect("INVALID_OPERAND", e.range, message, type.soft);
}

/** Also for `+=`. */
export function plus(w: Walk, [left, a]: readonly [Type, Expr], [right, b]: readonly [Type, Expr], range: Range): Type {
    if (CAPABILITIES.has(left.kind)) wrongOperand(w, a, left, `'+' cannot take ${describe(left)}`);
    if (CAPABILITIES.has(right.kind)) wrongOperand(w, b, right, `'+' cannot take ${describe(right)}`);
    const text = left.kind === "string" || right.kind === "string";
    if (text && !left.optional && !right.optional) {
        const lost = left.kind === "list" || left.kind === "object" ? a : right.kind === "list" || right.kind === "object" ? b : null;
        if (lost !== null) w.report("LOST_IN_CONCAT", lost.range, `${describe(lost === a ? left : right)} adds nothing to a text`);
        return STRING;
    }
    if (left.kind === "string" || right.kind === "string")
        return left.kind === "any" || right.kind === "any" || left.kind !== right.kind ? ANY : STRING;
    if (left.kind === "number" && right.kind === "number") return left.optional || right.optional ? ANY : NUMBER;
    if (left.kind === "any" || right.kind === "any") return ANY;
    if (!left.optional && !right.optional) {
        const wrong = left.kind === "number" ? b : a;
        const both = left.kind === "list" && right.kind === "list" ? { hint: "lists are joined with .concat(…)" } : undefined;
        w.suspect(
            "INVALID_OPERAND",
            both === undefined ? wrong.range : range,
            `'+' adds numbers or joins texts; ${describe(wrong === a ? left : right)} is neither`,
            left.soft | right.soft,
            both,
        );
    }
    return ANY;
}

/** A text that a contract lists, against one that it does not. */
function compared(w: Walk, e: Binary, left: Type, right: Type): void {
    const [type, other] = left.values !== null ? [left, e.right] : [right, e.left];
    // Against none it is asked whether there is one, which compares no capabilities.
    if (left.kind !== "none" && right.kind !== "none") {
        comparable(w, left, e.left);
        comparable(w, right, e.right);
    }
    if (type.values === null || type.open || other.kind !== "string" || type.values.includes(other.value)) return;
    w.suspect(
        "NEVER_EQUAL",
        other.range,
        `it is never ${JSON.stringify(other.value)}`,
        type.soft,
        near(w, other.value, other.range, type.values) ?? {
            hint: `it is one of ${type.values.map((one) => JSON.stringify(one)).join(", ")}`,
        },
    );
}

function comparable(w: Walk, type: Type, value: Expr): void {
    if (CAPABILITIES.has(type.kind))
        w.report("INVALID_OPERAND", value.range, `${describe(type)} is a capability and is compared with nothing`);
}

/** The fix quotes the text. */
function near(w: Walk, value: string, range: Range, values: readonly string[]): Extra | undefined {
    const found = suggestion(w.checking, value, range, values)?.fixes?.[0]?.edits[0]?.text;
    return found === undefined ? undefined : misspelt(w.file, meant(found, range, JSON.stringify(found)));
}

// ---- blocks that are expressions -------------------------------------------------------------------------------------

/** The value is that of the branch taken: what is known is what is true of all. */
function ifExpr(w: Walk, e: IfExpr): Type {
    let type: Type | null = null;
    let from: Origin = { share: w.level, params: 0, data: 0 };
    const branch = (found: Type): void => {
        type = type === null ? found : join(type, found);
        from = either(from, w.from);
    };
    for (const one of e.branches) {
        inner(w, one.test);
        branch(w.ring.scoped(w, one.body));
    }
    if (e.otherwise !== undefined) branch(w.ring.scoped(w, e.otherwise));
    else type = join(type ?? NONE, NONE);
    w.from = from;
    return type ?? NONE;
}

function tryExpr(w: Walk, e: TryExpr): Type {
    const body = w.ring.scoped(w, e.body);
    const { from } = w;
    const handler = w.ring.scoped(w, e.handler, e.name);
    w.from = either(from, w.from);
    return join(body, handler);
}
