/**
 * Which calls of a function fail where the tool says that something went wrong, because nothing else would see it.
 *
 * Boundary: one function's form. Which names are such tools is the caller's: the machine's, which makes the failure, and the checker's, which says so.
 *
 * FCA1: that is a call whose result is dropped, of which a member among `CONTENT` is read, or that is assigned to names of which nothing else is
 *     read in the whole function. What else becomes of a result, the program may look at it (LANGUAGE 7, D14).
 */
import type { CallForm, ExprForm, FuncForm, StmtForm } from "./form.ts";
import { walk } from "./walk.ts";

/** What a result is read for that does not say whether it is an error. */
const CONTENT: ReadonlySet<string> = new Set(["text", "content", "structured"]);

/** `isTool`: the name stands for a tool whose results say of themselves that they are errors, wherever it is no variable. */
export function failingCalls({ body, params }: FuncForm, isTool: (name: string) => boolean): ReadonlySet<CallForm> {
    const found = new Set<CallForm>();
    /** By the variable that holds the result. */
    const held = new Map<string, CallForm[]>();
    /** Variables, and those of which more is read than content. */
    const variables = new Set(params.map((param) => param.name));
    const escaping = new Set<string>();
    const calls = new Map<CallForm, string>();
    /** Names that are written, or read for content. */
    const harmless = new Set<ExprForm>();
    /** Statements that give the value of what they stand in. */
    const giving = new Set<StmtForm>();
    const gives = (block: readonly StmtForm[] | undefined): void => {
        const last = block?.[block.length - 1];
        if (last !== undefined) giving.add(last);
    };
    const callIn = (e: ExprForm): CallForm | null => {
        if (e.kind !== "call" || e.callee.kind !== "member" || e.callee.object.kind !== "name" || e.callee.name === "call") return null;
        const { name } = e.callee.object;
        if (!isTool(name)) return null;
        calls.set(e, name);
        return e;
    };
    gives(body);
    walk(body, (node) => {
        switch (node.kind) {
            case "if.expr":
                for (const branch of node.branches) gives(branch.body);
                gives(node.otherwise);
                break;
            case "try":
                if (node.name !== undefined) variables.add(node.name);
                break;
            case "try.expr":
                gives(node.body);
                gives(node.handler);
                if (node.name !== undefined) variables.add(node.name);
                break;
            case "parallel":
                gives(node.body);
                variables.add(node.item);
                break;
            case "for":
                variables.add(node.item);
                break;
            case "lambda":
                for (const param of node.params) variables.add(param);
                break;
            case "expr": {
                const call = giving.has(node) ? null : callIn(node.value);
                if (call !== null) found.add(call);
                break;
            }
            case "assign": {
                if (node.target.kind !== "name") break;
                const { name } = node.target;
                variables.add(name);
                if (node.op === "=") harmless.add(node.target);
                const call = callIn(node.value);
                if (call !== null) held.set(name, [...(held.get(name) ?? []), call]);
                break;
            }
            case "member": {
                if (!CONTENT.has(node.name)) break;
                const call = callIn(node.object);
                if (call !== null) found.add(call);
                else if (node.object.kind === "name") harmless.add(node.object);
                break;
            }
            case "name":
                if (!harmless.has(node)) escaping.add(node.name);
                break;
        }
    });
    for (const [name, all] of held) if (!escaping.has(name)) for (const call of all) found.add(call);
    for (const call of found) if (variables.has(calls.get(call) as string)) found.delete(call);
    return found;
}
