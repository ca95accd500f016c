/**
 * Calls of tools and memories.
 *
 * Boundary: what the URI of an import tells (`tools.ts`); what a tool really does is known to the host alone.
 */
import type { Call } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { type Binding, DATA, type Walk } from "../scope/model.ts";
import { suggestion } from "./names.ts";
import { arity, raise, walkArgs } from "./sites.ts";
import { MEMORY_METHODS, methodsOf, toolWrites } from "./tools.ts";
import { ANY, LIST, type Type } from "../scope/types.ts";

export function toolCall(w: Walk, e: Call, tool: Binding, name: string, at: Range): Type {
    const known = tool.import === null ? null : methodsOf(tool.import);
    if (known !== null && !known.includes(name) && name !== "")
        w.report(
            "UNKNOWN_METHOD",
            at,
            `the tool '${tool.name}' has no method '${name}'`,
            suggestion(w.checking, name, at, known) ?? { hint: `it has ${known.join(", ")}` },
        );
    walkArgs(w, e.args, true);
    const writes = tool.import === null ? null : toolWrites(tool.import, name, w.checking);
    const effect = `tool:${tool.name}.${name}`;
    raise(w, effect, e.callee.range, writes === "error");
    if (writes === "warning") {
        w.checking.writes.add(effect);
        if (w.level > 0)
            w.report("PARALLEL_FOR_REACHES_EFFECT", e.callee.range, `iterations in parallel call ${tool.name}.${name}, which may write`);
    }
    w.isFresh(DATA);
    return ANY;
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
