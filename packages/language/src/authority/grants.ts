/**
 * What a program's own code gives to agents while it runs: `delegate` blocks, and capabilities as direct arguments of agents' functions.
 *
 * Boundary: what stands in the text. A capability that travels through containers is no grant; one in a variable is followed where the
 * function gives the variable one value only.
 */
import type { ArgForm, BoundForm, ExprForm, FuncForm, StmtForm } from "../form/form.ts";
import { crossed, type Holder, type Line, methodOf, type Tables, type Thing } from "./rows.ts";

type NodeForm = ExprForm | StmtForm;

/** Every node of a body, parents first. */
function eachForm(node: unknown, visit: (node: NodeForm) => void): void {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) {
        for (const one of node) eachForm(one, visit);
        return;
    }
    if (typeof (node as { kind?: unknown }).kind === "string") visit(node as NodeForm);
    for (const [key, value] of Object.entries(node))
        if (key !== "at" && key !== "contract" && typeof value === "object") eachForm(value, visit);
}

export function idOf(holder: Holder): string {
    return holder.agent === null ? "user" : `agent:${holder.agent.file}#${holder.agent.name}`;
}

/** By identity of the agent that gets it. */
export function grantsIn(tables: Tables, holders: readonly Holder[]): Map<string, Line[]> {
    const given = new Map<string, Line[]>();
    const holderOf = (key: string): Holder | undefined => holders.find((one) => one.agent !== null && idOf(one) === key);
    const user = holders[0] as Holder;
    for (const { file, agent, func } of tables.funcs()) {
        const name = tables.program.files[file]?.file;
        // A plain function runs as its caller; the widest is `user`.
        const giver = (agent === null ? undefined : holderOf(`agent:${name}#${agent.name}`)) ?? user;
        const give = (to: Holder, lines: readonly Line[], how: Pick<Line, "by" | "site" | "onward">): void => {
            const some = lines.flatMap((line) =>
                giver.lines.flatMap((own) => {
                    if (own.gate === "never" || (giver === user && own.file !== file)) return [];
                    const both = crossed(line, own);
                    return both === null ? [] : [{ ...both, ...how, from: giver.name }];
                }),
            );
            given.set(idOf(to), [...(given.get(idOf(to)) ?? []), ...some]);
        };
        const values = assignedOnce(func);
        const found = (name: string): Thing | undefined => (values.has(name) ? undefined : tables.thing(file, name));
        eachForm(func.body, (node) => {
            if (node.kind === "delegate") {
                const thing = tables.thing(file, node.to);
                const to = thing === undefined ? undefined : holderOf(thing.key);
                if (to === undefined) return;
                const site = tables.site(file, node.at);
                const how = { by: "delegate" as const, site, ...(node.onward === true ? { onward: true as const } : {}) };
                if (node.all !== true) {
                    give(
                        to,
                        node.refs.flatMap((ref) => tables.line(file, ref, "may", "delegate", site) ?? []),
                        how,
                    );
                    return;
                }
                const all = giver.lines.filter(
                    (line) => line.gate !== "never" && line.thing.key !== thing?.key && (giver !== user || line.file === file),
                );
                given.set(idOf(to), [...(given.get(idOf(to)) ?? []), ...all.map((line) => ({ ...line, ...how, from: giver.name }))]);
            } else if (node.kind === "call") {
                const object = node.callee.kind === "member" ? node.callee.object : node.callee;
                const callee = object.kind === "name" ? found(object.name) : undefined;
                const to = callee?.what === "agent" ? holderOf(callee.key) : undefined;
                if (to === undefined || to === giver) return;
                const site = tables.site(file, node.at);
                for (const arg of node.args) give(to, passed(tables, file, arg, values, site), { by: "argument", site });
            }
        });
    }
    return given;
}

function passed(tables: Tables, file: number, arg: ArgForm, values: ReadonlyMap<string, ExprForm | null>, site: Line["site"]): Line[] {
    let value: ExprForm = arg.value;
    const layers: (readonly { readonly method: string; readonly in?: readonly BoundForm[] }[])[] = [];
    for (let steps = 0; steps < 20; steps++) {
        if (value.kind === "narrow") {
            layers.push(value.methods);
            value = value.object;
        } else if (value.kind === "name" && values.has(value.name)) {
            const next = values.get(value.name);
            if (next == null) return [];
            value = next;
        } else break;
    }
    if (value.kind !== "name") return [];
    const thing = tables.thing(file, value.name);
    if (thing === undefined) return [];
    let lines: Line[] = [{ thing, file, method: null, gate: "may", bounds: [], by: "argument", site }];
    for (const layer of layers)
        lines = lines.flatMap((line) =>
            layer.flatMap(
                (one) => crossed(line, { ...line, method: methodOf(thing, one.method), gate: "may", bounds: one.in ?? [] }) ?? [],
            ),
        );
    // Bounds of a line crossed with itself would be said twice.
    return lines.map((line) => ({ ...line, bounds: [...new Set(line.bounds)] }));
}

/** Names of a function with their value, null where there are several or it cannot be told. */
function assignedOnce(func: FuncForm): Map<string, ExprForm | null> {
    const values = new Map<string, ExprForm | null>(func.params.map((param) => [param.name, null]));
    const set = (name: string, value: ExprForm | null): void => {
        values.set(name, values.has(name) ? null : value);
    };
    eachForm(func.body, (node) => {
        if (node.kind === "assign" && node.target.kind === "name") set(node.target.name, node.op === "=" ? node.value : null);
        else if (node.kind === "for" || node.kind === "parallel") set(node.item, null);
        else if ((node.kind === "try" || node.kind === "try.expr") && node.name !== undefined) set(node.name, null);
        else if (node.kind === "lambda") for (const param of node.params) set(param, null);
    });
    return values;
}
