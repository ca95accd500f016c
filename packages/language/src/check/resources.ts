/**
 * Calls of tools and memories.
 *
 * Boundary: what the URI of an import tells (`tools.ts`); what a tool really does is known to the host alone.
 */
import { schemeOf } from "../authority/thing.ts";
import { type ToolParam, toolParams } from "../authority/schemas.ts";
import type { Call, Expr } from "../syntax/tree.ts";
import { around } from "../text/fix.ts";
import type { Range } from "../text/source.ts";
import { type Binding, DATA, type Extra, type Walk } from "../scope/model.ts";
import { suggestion } from "./names.ts";
import { outsideCall } from "./outside.ts";
import { arity, raise, walkArgs } from "./sites.ts";
import { toolResult } from "./tool-results.ts";
import { MEMORY_METHODS, methodsOf, takesObject, toolWrites } from "./tools.ts";
import { ANY, contractType, describe, LIST, type Type } from "../scope/types.ts";

export function toolCall(w: Walk, e: Call, tool: Binding, name: string, at: Range): Type {
    const known = methodsOf(tool);
    if (known !== null && !known.includes(name) && name !== "")
        w.report(
            "UNKNOWN_METHOD",
            at,
            `the tool '${tool.name}' has no method '${name}'`,
            name === "only"
                ? { hint: `what is passed on is narrowed by names alone: ${tool.name}.only(${known.slice(0, 2).join(", ")})` }
                : saidBy(tool, suggestion(w.checking, name, at, [...known, "only"]) ?? { hint: `it has ${known.join(", ")}` }),
        );
    const types: Type[] = [];
    // `Repo.only([read, list])`: the names in it are methods, and told of above.
    if (known !== null && name === "only") return ANY;
    const members = tool.import === null ? undefined : w.checking.members.get(tool.import);
    const isOne = members === undefined && takesObject(tool, name);
    const isNamed = isOne && namedFields(w, e, `${tool.name}.${name}`);
    walkArgs(w, isNamed ? e.args.map(({ value, range }) => ({ value, range })) : e.args, true, types);
    if (isOne && !isNamed) oneObject(w, e, `${tool.name}.${name}`, fieldNames(tool, name), types);
    checkFields(w, e, tool, name, types[0]?.fields ?? null);
    const writes = tool.import === null ? null : toolWrites(tool.import, name, w.checking);
    const effect = `tool:${tool.name}.${name}`;
    raise(w, effect, e.callee.range, writes === "error");
    if (writes === "warning") {
        w.checking.writes.add(effect);
        if (w.level > 0)
            w.report("PARALLEL_FOR_REACHES_EFFECT", e.callee.range, `iterations in parallel call ${tool.name}.${name}, which may write`);
    }
    const result = members === undefined ? ownResult(w, e, tool, name) : outsideCall(w, e, { tool, name, at, types }, members);
    w.isFresh(DATA);
    return result;
}

/** Where what is known of a tool comes from the lock, the hint says so. */
function saidBy({ has }: Pick<Binding, "has">, extra: Extra = {}): Extra {
    if (has?.isPinned !== true) return extra;
    const where = "remit.lock pins the tool so, and `remit lock` asks the server again";
    return { ...extra, hint: extra.hint === undefined ? where : `${extra.hint}${extra.hint.endsWith("?") ? "" : ";"} ${where}` };
}

function ownResult(w: Walk, e: Call, { import: tool }: Binding, method: string): Type {
    const node = tool === null ? null : toolResult(tool.uri.value, method, e.args[0]?.value);
    return node === null ? ANY : contractType(node, w.file);
}

/** `Repo.read(path: "a")`, where a call takes its fields in one object. */
function namedFields(w: Walk, { args }: Call, name: string): boolean {
    const [first] = args;
    const last = args.at(-1);
    if (first?.name === undefined || last === undefined || args.some((arg) => arg.name === undefined)) return false;
    const range = { start: first.range.start, end: last.range.end };
    w.report("NAMED_ARGUMENT", first.name.range, `${name} takes its fields in one object`, {
        hint: `write ${name}({ ${args.map((arg) => `${arg.name?.text}: …`).join(", ")} })`,
        fixes: [around("put braces around the fields", range, "{ ", " }")],
    });
    return true;
}

function fieldNames({ import: tool, has }: Binding, method: string): readonly ToolParam[] {
    return tool === null ? [] : (has?.params?.get(method) ?? toolParams(tool.uri.value, method) ?? []);
}

/** Told at the call: what takes one object is given something else. */
function oneObject(w: Walk, { args, range }: Call, name: string, fields: readonly ToolParam[], types: readonly Type[]): void {
    const needed = fields.filter(({ hasDefault }) => !hasDefault).map((one) => one.name);
    const hint = `write ${name}({ ${needed.length === 0 ? "…" : needed.map((one) => `${one}: …`).join(", ")} })`;
    if (args.length !== 1) {
        w.report("INVALID_ARGUMENT_COUNT", range, `${name} takes one object, not ${args.length} arguments`, {
            hint: args.length === 0 && needed.length === 0 ? `write ${name}({})` : hint,
        });
        return;
    }
    const [type, value] = [types[0] ?? ANY, args[0]?.value];
    if (value === undefined || !NO_OBJECT.has(type.kind) || type.optional) return;
    const [only] = needed;
    const extra: Extra =
        needed.length === 1 && type.kind === "string"
            ? { hint, fixes: [around(`write { ${only}: … }`, value.range, `{ ${only}: `, " }")] }
            : { hint };
    w.suspect("CONTRACT_MISMATCH", value.range, `${name} takes one object, not ${describe(type)}`, type.soft, extra);
}

const NO_OBJECT: ReadonlySet<string> = new Set(["string", "number", "boolean", "list", "none"]);

/** Schemes whose tools take no field but their own. */
const EXACT: ReadonlySet<string> = new Set(["file", "sh"]);
/** Schemes whose tools refuse a call without all that they need. */
const NEEDING: ReadonlySet<string> = new Set([...EXACT, "temporal", "mcp"]);

/**
 * The fields that a call of one of the runtime's own tools, or of one that a file describes or a lock pins, is written with. `file:` and `sh:` take those that they
 * have, and all that they need (D16); the others leave a field alone that they do not have, as AgentScript does: what is nearly the name of one that
 * is missing is a slip.
 */
function checkFields(w: Walk, { args }: Call, binding: Binding, method: string, types: Type["fields"]): void {
    const { import: tool, has } = binding;
    if (tool === null || has === null) return;
    const uri = tool.uri.value;
    const scheme = schemeOf(uri);
    const params = has.params?.get(method) ?? toolParams(uri, method);
    const given = args[0]?.value;
    if (params === null || args.length !== 1 || given?.kind !== "object") return;
    const entries = given.entries.flatMap((entry) => (entry.kind === "entry" ? [entry] : []));
    const said = new Set(entries.map(({ key }) => key.text));
    const free = params.flatMap(({ name }) => (said.has(name) ? [] : [name]));
    const isExact = EXACT.has(scheme) || has.exact?.has(method) === true;
    let slips = 0;
    for (const { key, value } of entries) {
        const param = params.find(({ name }) => name === key.text);
        if (param !== undefined) {
            checkKind(w, value, { method, param, type: types?.get(key.text) ?? ANY });
            continue;
        }
        const near = suggestion(w.checking, key.text, key.range, free);
        if (near === undefined && !isExact) continue;
        slips++;
        const hint = `it has ${params.map(({ name }) => name).join(", ")}`;
        w.report("UNKNOWN_FIELD", key.range, `the method '${method}' has no field '${key.text}'`, saidBy(binding, near ?? { hint }));
    }
    // What is missing beside a slip, the slip may be.
    if (slips > 0 || !NEEDING.has(scheme) || entries.length < given.entries.length) return;
    const missing = params.filter(({ name, hasDefault }) => !hasDefault && !said.has(name)).map(({ name }) => name);
    if (missing.length === 0) return;
    w.report("MISSING_FIELD", given.range, `the method '${method}' needs ${missing.join(" and ")}`, saidBy(binding));
}

/** A value of another kind than the one that is described. */
function checkKind(
    w: Walk,
    value: Expr,
    { method, param: { name, kinds }, type }: { readonly method: string; readonly param: ToolParam; readonly type: Type },
): void {
    if (kinds === undefined || type.kind === "any" || kinds.has(type.kind) || (type.optional && kinds.has("none"))) return;
    const message = `the field '${name}' of the method '${method}' is ${[...kinds].join(" or ")}, not ${type.kind}`;
    w.suspect("CONTRACT_MISMATCH", value.range, message, type.soft);
}

export function memoryCall(w: Walk, e: Call, memory: Binding, name: string, at: Range): Type {
    if (!MEMORY_METHODS.includes(name))
        w.report(
            "UNKNOWN_MEMORY_METHOD",
            at,
            `a memory has no method '${name}'`,
            suggestion(w.checking, name, at, MEMORY_METHODS) ?? { hint: "it has add and query" },
        );
    else arity(w, e, `${memory.name}.${name}()`, { min: 1, max: 1 });
    const types: Type[] = [];
    walkArgs(w, e.args, true, types);
    if (MEMORY_METHODS.includes(name) && e.args.length === 1) oneObject(w, e, `${memory.name}.${name}`, [], types);
    raise(w, `memory:${memory.name}.${name}`, e.callee.range, name === "add");
    w.isFresh(DATA);
    return name === "query" ? LIST : ANY;
}
