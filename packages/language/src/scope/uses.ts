/**
 * What a function uses of tools, models, memories and agents, and where: read from its tree alone.
 *
 * Boundary: names of the file, as the text says them; what travels in values is told as a mention of the name it came from.
 *
 * UE1: a name that the function gives to a value of its own anywhere is never taken for the file's: rules that must be certain err on the
 *     side of silence.
 */
import { eachNode } from "../syntax/nodes.ts";
import type { Block, Call, Delegate, Endorse, Expr, Spend, Stmt } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import type { Binding, FuncInfo } from "./model.ts";

export interface Use {
    readonly binding: Binding;
    /** Null: all of them, or none in particular. */
    readonly method: string | null;
    /** `call`: certainly used when the place is reached. `offer`: to a model. `mention`: taken as a value, or passed. */
    readonly how: "call" | "offer" | "mention";
    readonly range: Range;
    /** A mention that is a direct argument of a call of an agent: a grant. */
    readonly toAgent?: Binding;
}

export interface Uses {
    readonly uses: readonly Use[];
    /** Calls of plain functions, and of functions of the same agent. */
    readonly calls: readonly { readonly callee: FuncInfo; readonly range: Range }[];
    readonly delegates: readonly Delegate[];
    readonly spends: readonly Spend[];
    readonly endorses: readonly Endorse[];
}

/** Names that the function gives to values, with how often. */
export function ownNames(func: FuncInfo): ReadonlyMap<string, number> {
    if (func.own !== null) return func.own;
    const names = new Map<string, number>();
    const add = (name: string): void => {
        names.set(name, (names.get(name) ?? 0) + 1);
    };
    for (const param of func.node.params) add(param.name.text);
    eachNode(func.node.body, (node) => {
        const of = node as unknown as Expr | Stmt;
        if (of.kind === "assign" && of.target.kind === "ident") add(of.target.name);
        else if (of.kind === "for" || of.kind === "parallel") add(of.item.text);
        else if ((of.kind === "try" || of.kind === "try.expr") && of.name !== undefined) add(of.name.text);
        else if (of.kind === "lambda") for (const param of of.params) add(param.text);
    });
    func.own = names;
    return names;
}

/** Methods that functions call on their parameters, by function; null for one that is used in another way too. */
export type Through = Map<FuncInfo, (ReadonlySet<string> | null | undefined)[]>;

/** What a function and all that it hands the parameter to call on it, as far as nothing else is done with it; null where the text does not tell. */
function methodsThrough(func: FuncInfo, index: number, known: Through, open: ReadonlySet<FuncInfo>): ReadonlySet<string> | null {
    const before = known.get(func)?.[index];
    if (before !== undefined) return before;
    const name = func.node.params[index]?.name.text;
    const own = ownNames(func);
    if (name === undefined || own.get(name) !== 1) return null;
    const methods = new Set<string>();
    const told = new Set<Expr>();
    let isWhole = true;
    const inside = new Set([...open, func]);
    eachNode(func.node.body, (node) => {
        const e = node as unknown as Expr;
        if (e.kind === "ident" && e.name === name && !told.has(e)) isWhole = false;
        if (e.kind !== "call") return;
        const { callee } = e;
        if (callee.kind === "member" && callee.object.kind === "ident" && callee.object.name === name) {
            told.add(callee.object);
            methods.add(callee.name.text);
        }
        if (callee.kind !== "ident" || own.has(callee.name)) return;
        const to = (func.agent?.funcs.get(callee.name) ?? func.file.names.get(callee.name))?.func;
        if (to == null) return;
        e.args.forEach(({ value }, i) => {
            if (value.kind !== "ident" || value.name !== name) return;
            // One that is being looked at adds no more than it is found to add there.
            const more = inside.has(to) ? new Set<string>() : methodsThrough(to, i, known, inside);
            if (more === null) return;
            told.add(value);
            for (const method of more) methods.add(method);
        });
    });
    const found = isWhole && methods.size > 0 ? methods : null;
    if (open.size === 0) {
        const all = known.get(func) ?? [];
        all[index] = found;
        known.set(func, all);
    }
    return found;
}

/** What is found in a function while its nodes are gone through. */
interface Found {
    readonly uses: Use[];
    readonly calls: Uses["calls"][number][];
    /** Identifiers that were told with the construct around them. */
    readonly told: Set<Expr>;
    readonly lookup: (e: Expr) => Binding | undefined;
}

function useInCall(e: Call, { uses, calls, told, lookup }: Found, through: Through): void {
    const { callee } = e;
    const object = callee.kind === "member" ? callee.object : callee;
    const found = lookup(object);
    if (found === undefined) return;
    told.add(object);
    const passed = e.args.map(({ value }) => {
        const root = value.kind === "narrow" ? value.object : value;
        const binding = lookup(root);
        return { value, root, binding: binding?.func === null ? binding : undefined };
    });
    const { func } = found;
    if (func !== null) {
        if (callee === object) calls.push({ callee: func, range: e.range });
        passed.forEach(({ value, root, binding }, i) => {
            const methods = binding === undefined ? null : methodsThrough(func, i, through, new Set());
            if (binding === undefined || methods === null) return;
            told.add(root);
            for (const method of methods) uses.push({ binding, method, how: "mention", range: value.range });
        });
        return;
    }
    uses.push({ binding: found, method: callee.kind === "member" ? callee.name.text : null, how: "call", range: callee.range });
    if (found.kind !== "agent") return;
    for (const { value, root, binding } of passed) {
        if (binding === undefined) continue;
        told.add(root);
        const methods = value.kind === "narrow" ? value.methods.map(({ method }) => method.text) : [null];
        for (const method of methods) uses.push({ binding, method, how: "mention", range: value.range, toAgent: found });
    }
}

export function usesOf(func: FuncInfo, through: Through): Uses {
    const own = ownNames(func);
    const lookup = (e: Expr): Binding | undefined =>
        e.kind !== "ident" || own.has(e.name) ? undefined : (func.agent?.funcs.get(e.name) ?? func.file.names.get(e.name));
    const found: Found = { uses: [], calls: [], told: new Set(), lookup };
    const { uses, calls, told } = found;
    const delegates: Delegate[] = [];
    const spends: Spend[] = [];
    const endorses: Endorse[] = [];
    eachNode(func.node.body, (node) => {
        const of = node as unknown as Expr | Stmt;
        switch (of.kind) {
            case "call":
                useInCall(of, found, through);
                return;
            case "delegate":
                delegates.push(of);
                return;
            case "spend":
                spends.push(of);
                return;
            case "endorse":
                endorses.push(of);
                return;
            case "config":
                if (of.key === "model") told.add(of.value);
                return;
            case "narrow": {
                const found = lookup(of.object);
                if (found === undefined || told.has(of.object)) return;
                told.add(of.object);
                for (const { method } of of.methods) uses.push({ binding: found, method: method.text, how: "mention", range: of.range });
                return;
            }
            case "generate": {
                const tools = of.options.find((option) => option.key.text === "tools")?.value;
                const model = of.options.find((option) => option.key.text === "model")?.value;
                if (model !== undefined) told.add(model);
                if (tools?.kind !== "list") return;
                for (const item of tools.items) {
                    const object = item.kind === "member" ? item.object : item.kind === "spread" ? item.value : item;
                    const found = lookup(object);
                    if (found === undefined) continue;
                    told.add(object);
                    uses.push({ binding: found, method: item.kind === "member" ? item.name.text : null, how: "offer", range: item.range });
                }
                return;
            }
            case "ident": {
                const found = told.has(of) ? undefined : lookup(of);
                if (found !== undefined && found.func === null)
                    uses.push({ binding: found, method: null, how: "mention", range: of.range });
                return;
            }
            default:
                return;
        }
    });
    for (const site of func.generates) {
        const value = site.node.options.find((option) => option.key.text === "model")?.value ?? site.config.model?.value;
        const found = value === undefined ? undefined : lookup(value);
        if (found?.kind === "llm") uses.push({ binding: found, method: null, how: "call", range: site.node.range });
    }
    return { uses, calls, delegates, spends, endorses };
}

export function within(inner: Range, outer: Block): boolean {
    return inner.start >= outer.range.start && inner.end <= outer.range.end;
}
