/**
 * Of which variables of a function the inside is known: nothing changes what they hold but assignments through their own name.
 *
 * Boundary: one function, by name; which variables may hold the same list or object, and which of those are changed.
 *
 * F4: what is changed through one name is followed through that name alone: whatever else may hold it is loose. What is changed by a function
 *     that is called, or deeper inside, makes everything loose that has to do with it.
 */
import type { Block, Call, Expr, Stmt } from "../../syntax/tree.ts";
import { METHODS } from "../builtins.ts";
import type { Binding, FuncInfo } from "../model.ts";
import { eachNode } from "../uses.ts";

/** A variable that a value may share with. `inside`: it is put into something new; else the value may be it, or a part of it. */
interface Link {
    readonly name: string;
    readonly inside: boolean;
}

/** Names whose inside may change unseen. */
export function looseNames(
    func: FuncInfo,
    own: ReadonlyMap<string, number>,
    callee: (call: Call) => FuncInfo | Binding | null,
): Set<string> {
    const ties = new Ties();
    const byName = new Set<string>();
    const unseen = new Set<string>();
    const assign = (name: string, links: readonly Link[]): void => {
        for (const link of links) ties.add(name, link.name, link.inside);
    };
    const changeUnseen = (links: readonly Link[]): void => {
        const [first] = links;
        if (first !== undefined) assign(first.name, links);
        for (const { name } of links) unseen.add(name);
    };

    const found = new Map<Expr, readonly Link[]>();
    const links = (e: Expr): readonly Link[] => {
        if (e.kind === "string" || e.kind === "number") return NO_LINKS;
        let known = found.get(e);
        if (known === undefined) {
            known = distinct(linksOf(e));
            found.set(e, known);
        }
        return known;
    };
    const linksOf = (e: Expr): readonly Link[] => {
        switch (e.kind) {
            case "ident":
                return own.has(e.name) ? [{ name: e.name, inside: false }] : [];
            case "member":
            case "index":
            case "narrow":
                return links(e.object);
            case "paren":
                return links(e.value);
            case "binary":
                return e.op === "??" ? [...links(e.left), ...links(e.right)] : [];
            case "list":
                return into(e.items.flatMap((item) => links(item.kind === "spread" ? item.value : item)));
            case "object":
                return into(e.entries.flatMap((entry) => links(entry.value)));
            case "if.expr":
                return [...e.branches.map(({ body }) => body), ...(e.otherwise === undefined ? [] : [e.otherwise])].flatMap(tail);
            case "try.expr":
                return [...tail(e.body), ...tail(e.handler)];
            case "lambda":
                return links(e.body);
            case "parallel":
                return into([...tail(e.body), ...returned(e.body)]);
            case "call": {
                const to = callee(e);
                if (to !== null && "kind" in to) return [];
                const args = e.args.flatMap((arg) => links(arg.value));
                // What comes back may be an argument, or hold one.
                return (e.callee.kind === "member" ? [...links(e.callee.object), ...args] : args).map(({ name }) => ({
                    name,
                    inside: false,
                }));
            }
            default:
                return [];
        }
    };
    const tail = (block: Block): readonly Link[] => {
        const last = block.statements[block.statements.length - 1];
        return last?.kind === "expr" ? links(last.value) : NO_LINKS;
    };
    /** A `return` in an iteration of `parallel for` is its value as well. */
    const returned = (block: Block): Link[] => {
        const all: Link[] = [];
        eachNode(block, (node) => {
            const of = node as unknown as Stmt;
            if (of.kind === "return") all.push(...links(of.value));
        });
        return all;
    };
    const ownName = (e: Expr): string | null => (e.kind === "ident" && own.has(e.name) ? e.name : null);

    eachNode(func.node.body, (node) => {
        const of = node as unknown as Expr | Stmt;
        switch (of.kind) {
            case "assign": {
                const { target } = of;
                if (target.kind === "ident") {
                    if (of.op === "=") assign(target.name, links(of.value));
                    return;
                }
                const held = target.kind === "member" || target.kind === "index" ? target.object : target;
                const name = ownName(held);
                if (name === null) changeUnseen([...links(held), ...links(of.value)]);
                else {
                    byName.add(name);
                    assign(name, into(links(of.value)));
                }
                return;
            }
            case "for":
            case "parallel":
                assign(of.item.text, links(of.list));
                return;
            case "call": {
                const to = callee(of);
                if (to !== null && "kind" in to) return;
                const args = of.args.flatMap((arg) => links(arg.value));
                if (to !== null) {
                    if (to.mutates !== 0) changeUnseen(args);
                    return;
                }
                if (of.callee.kind !== "member") {
                    changeUnseen(args);
                    return;
                }
                const { object, name } = of.callee;
                const receiver = links(object);
                for (const { value } of of.args)
                    if (value.kind === "lambda") for (const param of value.params) assign(param.text, receiver);
                const rows = METHODS.get(name.text);
                const direct = ownName(object);
                if (rows === undefined) changeUnseen([...receiver, ...args]);
                else if (rows.some((row) => row.mutates)) {
                    if (direct === null) changeUnseen([...receiver, ...args]);
                    else {
                        byName.add(direct);
                        assign(direct, into(args));
                    }
                }
                return;
            }
            default:
                return;
        }
    });
    const params = new Set(func.node.params.map((param) => param.name.text));
    const loose = new Set<string>();
    for (const name of unseen) ties.all(name, loose);
    for (const name of byName)
        if (params.has(name)) ties.all(name, loose);
        else if (ties.isPart(name)) {
            const all = new Set<string>();
            ties.all(name, all);
            for (const one of all) loose.add(one);
        } else ties.holders(name, loose);
    return loose;
}

const NO_LINKS: readonly Link[] = [];

function distinct(links: readonly Link[]): readonly Link[] {
    return links.length < 2 ? links : [...new Map(links.map((link) => [`${link.inside ? "in " : ""}${link.name}`, link])).values()];
}

function into(links: readonly Link[]): Link[] {
    return links.map(({ name }) => ({ name, inside: true }));
}

/** Which variables may hold what others do. */
class Ties {
    /** In either direction. */
    private readonly any = new Map<string, Set<string>>();
    /** By what may be in them: those that may hold it. */
    private readonly held = new Map<string, Set<string>>();
    private readonly parts = new Set<string>();

    /** `inside`: `name` holds `other`; else one of them may be, or be part of, the other. */
    add(name: string, other: string, inside: boolean): void {
        if (name === other) {
            if (inside) this.parts.add(name);
            return;
        }
        put(this.any, name, other);
        put(this.any, other, name);
        put(this.held, other, name);
        if (inside) return;
        put(this.held, name, other);
        this.parts.add(name);
        this.parts.add(other);
    }

    /** What it holds may be what another variable holds too, and not only be held by it. */
    isPart(name: string): boolean {
        return this.parts.has(name);
    }

    /** Everything that has to do with it, itself included. */
    all(name: string, found: Set<string>): void {
        follow(name, this.any, found);
    }

    /** Everything that may hold it, itself not included. */
    holders(name: string, found: Set<string>): void {
        const all = new Set<string>();
        follow(name, this.held, all);
        all.delete(name);
        for (const one of all) found.add(one);
    }
}

function put(map: Map<string, Set<string>>, key: string, value: string): void {
    const known = map.get(key);
    if (known === undefined) map.set(key, new Set([value]));
    else known.add(value);
}

function follow(name: string, edges: ReadonlyMap<string, ReadonlySet<string>>, found: Set<string>): void {
    const rest = [name];
    const seen = new Set<string>();
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        if (seen.has(one)) continue;
        seen.add(one);
        found.add(one);
        rest.push(...(edges.get(one) ?? []));
    }
}
