/**
 * Calls of tools and memories.
 *
 * Boundary: what the URI of an import tells (`tools.ts`); what a tool really does is known to the host alone.
 */
import { schemeOf } from "../authority/thing.ts";
import { type ToolParam, toolParams } from "../authority/schemas.ts";
import type { Call, Expr } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { type Binding, DATA, type Walk } from "../scope/model.ts";
import { suggestion } from "./names.ts";
import { outsideCall } from "./outside.ts";
import { arity, raise, walkArgs } from "./sites.ts";
import { MEMORY_METHODS, methodsOf, toolWrites } from "./tools.ts";
import { ANY, LIST, type Type } from "../scope/types.ts";

export function toolCall(w: Walk, e: Call, tool: Binding, name: string, at: Range): Type {
    const known = methodsOf(tool);
    if (known !== null && !known.includes(name) && name !== "")
        w.report(
            "UNKNOWN_METHOD",
            at,
            `the tool '${tool.name}' has no method '${name}'`,
            name === "only"
                ? { hint: `what is passed on is narrowed by names alone: ${tool.name}.only(${known.slice(0, 2).join(", ")})` }
                : (suggestion(w.checking, name, at, [...known, "only"]) ?? { hint: `it has ${known.join(", ")}` }),
        );
    const types: Type[] = [];
    // `Repo.only([read, list])`: the names in it are methods, and told of above.
    if (known !== null && name === "only") return ANY;
    walkArgs(w, e.args, true, types);
    checkFields(w, e, tool, name, types[0]?.fields ?? null);
    const writes = tool.import === null ? null : toolWrites(tool.import, name, w.checking);
    const effect = `tool:${tool.name}.${name}`;
    raise(w, effect, e.callee.range, writes === "error");
    if (writes === "warning") {
        w.checking.writes.add(effect);
        if (w.level > 0)
            w.report("PARALLEL_FOR_REACHES_EFFECT", e.callee.range, `iterations in parallel call ${tool.name}.${name}, which may write`);
    }
    const members = tool.import === null ? undefined : w.checking.members.get(tool.import);
    const result = members === undefined ? ANY : outsideCall(w, e, { tool, name, at, types }, members);
    w.isFresh(DATA);
    return result;
}

/** Schemes whose tools take no field but their own. */
const EXACT: ReadonlySet<string> = new Set(["file", "sh"]);

/**
 * The fields that a call of one of the runtime's own tools, or of one that a file describes, is written with. `file:` and `sh:` take those that they
 * have, and all that they need (D16); the others leave a field alone that they do not have, as AgentScript does: what is nearly the name of one that
 * is missing is a slip.
 */
function checkFields(w: Walk, { args }: Call, { import: tool, has }: Binding, method: string, types: Type["fields"]): void {
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
        w.report("UNKNOWN_FIELD", key.range, `the method '${method}' has no field '${key.text}'`, near ?? { hint });
    }
    // What is missing beside a slip, the slip may be.
    if (slips > 0 || (!EXACT.has(scheme) && scheme !== "temporal") || entries.length < given.entries.length) return;
    const missing = params.filter(({ name, hasDefault }) => !hasDefault && !said.has(name)).map(({ name }) => name);
    if (missing.length > 0) w.report("MISSING_FIELD", given.range, `the method '${method}' needs ${missing.join(" and ")}`);
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
    walkArgs(w, e.args, true);
    raise(w, `memory:${memory.name}.${name}`, e.callee.range, name === "add");
    w.isFresh(DATA);
    return name === "query" ? LIST : ANY;
}
