/**
 * Says of a call that an error its tool tells is a failure here, because nothing looks at it (LANGUAGE 7, D14).
 *
 * Boundary: which calls these are is said of forms (`form/failing.ts`), by which the machine goes, too.
 */
import { saysErrors } from "../authority/thing.ts";
import { failingCalls } from "../form/failing.ts";
import { funcForm } from "../form/lower.ts";
import { type FileScope, type FuncInfo, report } from "../scope/model.ts";
import { eachNode } from "../syntax/nodes.ts";
import type { Call, Node, Try, TryExpr } from "../syntax/tree.ts";
import { position } from "../text/source.ts";

export function checkUnlooked(funcs: readonly FuncInfo[]): void {
    const tools = new Map<FileScope, ReadonlySet<string>>();
    for (const func of funcs) {
        const ofFile = tools.get(func.file) ?? toolsOf(func.file);
        tools.set(func.file, ofFile);
        if (ofFile.size > 0) checkFunc(func, ofFile);
    }
}

/** Names of the tools that tell errors. */
function toolsOf({ names }: FileScope): ReadonlySet<string> {
    return new Set([...names].flatMap(([name, one]) => (one.import?.what === "tool" && saysErrors(one.import.uri.value) ? [name] : [])));
}

function checkFunc(func: FuncInfo, tools: ReadonlySet<string>): void {
    const { source } = func.file.tree;
    const failing = new Set([...failingCalls(funcForm(func.node, source), (name) => tools.has(name))].map(({ at }) => at?.join()));
    if (failing.size === 0) return;
    const visit = (node: Node & { readonly kind: string }): boolean => {
        if (node.kind === "try" || node.kind === "try.expr") {
            // what a `try` holds is looked at by its `catch`
            eachNode((node as unknown as Try | TryExpr).handler, visit);
            return false;
        }
        if (node.kind !== "call") return true;
        const { callee, range } = node as unknown as Call;
        const [from, to] = [position(source, range.start), position(source, range.end)];
        if (!failing.has([from.line, from.column, to.line, to.column].join())) return true;
        report(func, "TOOL_ERROR_FAILS", callee.range, "where the tool tells an error, this call fails: nothing looks at it");
        return true;
    };
    eachNode(func.node.body, visit);
}
