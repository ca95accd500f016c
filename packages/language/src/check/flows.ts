/**
 * Flows that a clause is certain to refuse: a value that came from a tool, memory or model stands, in the same function, in an argument
 * that takes only trusted origins, or others.
 *
 * Boundary: one function, its own variables, each assigned once. What is not certain is the machine's to tell.
 *
 * V1: nothing is reported that a run could let pass.
 */
import type { ArgClause, Call, Expr, ObjectEntry, Stmt } from "../syntax/tree.ts";
import type { Report } from "./context.ts";
import type { Binding, FuncInfo } from "./model.ts";
import { eachNode, ownNames } from "./uses.ts";

/** How many variables a value is followed through. */
const MAX_STEPS = 20;

/** Methods of texts and lists whose result carries what they were called on. */
const CARRYING: ReadonlySet<string> = new Set(["trim", "lower", "upper", "replace", "slice", "first", "last", "join", "split"]);

export function checkFlows(func: FuncInfo, report: Report, trusted: (binding: Binding) => boolean): void {
    const guarded = [...func.file.names.values()].filter((one) => one.import?.clauses?.some((clause) => clause.kind === "clause.arg"));
    if (guarded.length === 0) return;
    const own = ownNames(func);
    const lookup = (e: Expr): Binding | undefined =>
        e.kind !== "ident" || own.has(e.name) ? undefined : (func.agent?.funcs.get(e.name) ?? func.file.names.get(e.name));
    const values = assignedOnce(func, own, (e) => {
        const found = lookup(e);
        return found?.kind === "tool" || found?.kind === "memory";
    });
    const origins = (e: Expr, steps: number): Binding[] => {
        switch (e.kind) {
            case "ident": {
                const value = values.get(e.name);
                return value === undefined || value.range.end > e.range.start || steps >= MAX_STEPS ? [] : origins(value, steps + 1);
            }
            case "member":
            case "index":
                return origins(e.object, steps);
            case "paren":
                return origins(e.value, steps);
            case "binary":
                return e.op === "+" ? [...origins(e.left, steps), ...origins(e.right, steps)] : [];
            case "generate": {
                const site = func.generates.find((one) => one.node === e);
                const value = e.options.find((option) => option.key.text === "model")?.value ?? site?.config.model?.value;
                const model = value === undefined ? undefined : lookup(value);
                return model?.kind === "llm" ? [model] : [];
            }
            case "call": {
                if (e.callee.kind === "ident")
                    return e.callee.name === "text" && lookup(e.callee) === undefined && !own.has("text") && e.args.length === 1
                        ? origins((e.args[0] as { value: Expr }).value, steps)
                        : [];
                if (e.callee.kind !== "member") return [];
                const found = lookup(e.callee.object);
                if (found?.kind === "tool" || found?.kind === "memory") return [found];
                return CARRYING.has(e.callee.name.text) ? origins(e.callee.object, steps) : [];
            }
            default:
                return [];
        }
    };
    eachNode(func.node.body, (node) => {
        const call = node as unknown as Expr;
        if (call.kind !== "call" || call.callee.kind !== "member") return;
        const tool = lookup(call.callee.object);
        if (tool?.kind !== "tool") return;
        const method = call.callee.name.text;
        if (method === "call" && /^mcp:/i.test(tool.import?.uri.value ?? "")) return;
        for (const clause of tool.import?.clauses ?? []) {
            if (
                clause.kind !== "clause.arg" ||
                clause.ask ||
                clause.among === true ||
                (clause.method !== undefined && clause.method.text !== method)
            )
                continue;
            for (const value of arguments_(call, clause)) {
                const bad = origins(value, 0).find((one) => !allowed(clause, one, trusted));
                if (bad === undefined) continue;
                const what = clause.from === undefined ? "takes only what is trusted" : "does not take that";
                report("FLOW_REFUSED", value.range, `this comes from ${bad.name}, and '${clause.name.text}' of ${tool.name} ${what}`, {
                    hint: "take the value from the input or the program, add `or ask` to the clause, or endorse the value",
                    related: [{ message: "the clause", file: func.file.name, range: clause.range }],
                });
                break;
            }
        }
    });
}

/** What of a call a clause speaks of, where that is certain. */
function arguments_(call: Call, clause: ArgClause): Expr[] {
    const name = clause.name.text;
    if (call.args.some((arg) => arg.name !== undefined)) return [];
    if (/^[1-9][0-9]*$/.test(name)) {
        const arg = call.args[Number(name) - 1];
        return arg === undefined ? [] : [arg.value];
    }
    const only = call.args.length === 1 ? call.args[0]?.value : undefined;
    if (only?.kind === "object") {
        if (only.entries.some((entry) => entry.kind === "spread")) return [];
        const found = (only.entries as ObjectEntry[]).filter((entry) => entry.key.text === name);
        return found.slice(-1).map((entry) => entry.value);
    }
    // By place, a name stands for all of them; a single value may be the object that has the argument.
    return call.args.length > 1 ? call.args.map((arg) => arg.value) : [];
}

function allowed(clause: ArgClause, from: Binding, trusted: (binding: Binding) => boolean): boolean {
    const ok = trusted(from);
    if (clause.from === undefined) return ok;
    // What a model was given may be among what is allowed or not: its own origin counts alone.
    const origin = `${from.kind === "llm" ? "model" : from.kind}:${from.name}`;
    return clause.from.some((one) => one.value === origin || (one.value === "trusted" && ok));
}

/** Variables with one value, and nothing put into it later. */
function assignedOnce(func: FuncInfo, own: ReadonlyMap<string, number>, copies: (object: Expr) => boolean): Map<string, Expr> {
    const values = new Map<string, Expr>();
    const changed = new Set<string>();
    eachNode(func.node.body, (node) => {
        const of = node as unknown as Expr | Stmt;
        if (of.kind === "assign") {
            if (of.target.kind === "ident") {
                if (of.op === "=" && own.get(of.target.name) === 1) values.set(of.target.name, of.value);
            } else {
                let root: Expr = of.target;
                while (root.kind === "member" || root.kind === "index" || root.kind === "paren")
                    root = root.kind === "paren" ? root.value : root.object;
                if (root.kind === "ident") changed.add(root.name);
            }
        } else if (of.kind === "call") {
            // A function that gets the value may change what is in it; a tool or a memory gets a copy.
            if (of.callee.kind === "member" && copies(of.callee.object)) return;
            for (const arg of of.args) if (arg.value.kind === "ident") changed.add(arg.value.name);
            if (of.callee.kind === "member" && of.callee.object.kind === "ident" && !CARRYING.has(of.callee.name.text))
                changed.add(of.callee.object.name);
        }
    });
    for (const name of changed) values.delete(name);
    return values;
}
