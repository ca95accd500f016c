/**
 * Names of call sites within a function, for paths: `helper#0`, `Repo.read#1`, `generate#0`.
 *
 * Boundary: one function's text. Reading a member of a module is a site too, named like a call of it.
 *
 * SI1: a site's number is its place among the sites of the same name in the function's text, outer calls before the calls in their arguments.
 */
import { type ExprForm, isModule, type StmtForm, shownName, walk } from "@remit/language";
import { stageCallOf } from "./blocks.ts";
import type { Fn } from "./program.ts";

export function numberSites(fn: Fn): ReadonlyMap<ExprForm, string> {
    const sites = new Map<ExprForm, string>();
    // Each node of a block is a text of its own.
    for (const body of fn.block === null ? [fn.form.body] : fn.block.nodes.map((node) => node.body)) numberIn(fn, body, sites);
    return sites;
}

function numberIn(fn: Fn, body: readonly StmtForm[], sites: Map<ExprForm, string>): void {
    const numbers = new Map<string, number>();
    const add = (e: ExprForm, name: string): void => {
        const n = numbers.get(name) ?? 0;
        numbers.set(name, n + 1);
        sites.set(e, `${name}#${n}`);
    };
    /** Members that name what is called or offered, not what is read. */
    const named = new Set<ExprForm>();
    walk(body, (e) => {
        if (e.kind === "generate" || e.kind === "parallel" || e.kind === "endorse") add(e, e.kind);
        if (e.kind === "generate") for (const tool of e.tools ?? []) named.add(tool);
        if (e.kind === "call") {
            named.add(e.callee);
            add(e, siteName(fn, e.callee));
        }
        if (e.kind === "member" && !named.has(e) && e.object.kind === "name") {
            const meaning = fn.program.lookup(fn.file, fn.agent, e.object.name);
            if (meaning?.kind === "tool" && isModule(meaning.import.form.uri)) add(e, siteName(fn, e));
        }
    });
}

function siteName(fn: Fn, callee: ExprForm): string {
    if (callee.kind === "name") {
        const meaning = fn.program.lookup(fn.file, fn.agent, callee.name);
        if (meaning?.kind === "func") return meaning.fn.name;
        const stage = stageCallOf(callee.name);
        if (stage !== null) return stage;
        if (meaning?.kind === "agent") return `${shownName(callee.name)}.${meaning.agent.main?.name ?? "main"}`;
        return callee.name;
    }
    if (callee.kind === "member") {
        if (callee.object.kind !== "name") return `.${callee.name}`;
        const on = callee.object.name;
        const meaning = fn.program.lookup(fn.file, fn.agent, on);
        return meaning?.kind === "agent" ? `${shownName(on)}.${shownName(callee.name)}` : `${on}.${callee.name}`;
    }
    return "call";
}
