/**
 * What a program's own code gives to agents while it runs: `delegate` blocks, and capabilities as direct arguments of agents' functions.
 *
 * Boundary: what stands in the text. A capability that travels through containers is no grant; one in a variable is followed where the
 * function gives the variable one value only, one in a parameter to every call of the function by name.
 *
 * GT4: no principal gives what it does not have: what a giver's remit forbids is left out of what it gives, what it asks about is asked about.
 */
import type { ArgForm, BoundForm, ExprForm, FuncForm, StmtForm } from "../form/form.ts";
import { crossed, type Holder, type Line, methodOf, type Tables, without } from "./tables.ts";

type NodeForm = ExprForm | StmtForm;

/** Rounds after which what is passed on and on is taken as told: no program is read for longer. */
const MAX_ROUNDS = 12;

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

interface Func {
    readonly file: number;
    readonly form: FuncForm;
    readonly giver: Holder;
    readonly values: ReadonlyMap<string, ExprForm | null>;
    /** What its parameters may hold, as far as calls by name tell. */
    readonly params: Map<string, Line[]>;
}

/** By identity of the agent that gets it. */
export function grantsIn(tables: Tables, holders: readonly Holder[]): Map<string, Line[]> {
    const holderOf = (key: string): Holder | undefined => holders.find((one) => one.agent !== null && idOf(one) === key);
    const user = holders[0] as Holder;
    const funcs = new Map<string, Func>();
    for (const { file, agent, func } of tables.funcs()) {
        const owner = agent === null ? undefined : `agent:${tables.program.files[file]?.file}#${agent.name}`;
        // A plain function runs as its caller; the widest is `user`.
        const giver = (owner === undefined ? undefined : holderOf(owner)) ?? user;
        funcs.set(`${owner ?? `file:${file}`} ${func.name}`, { file, form: func, giver, values: valuesOf(func), params: new Map() });
    }
    let given = new Map<string, Line[]>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
        const before = sizeOf(given, funcs);
        const next = new Map<string, Line[]>();
        for (const func of funcs.values()) give({ tables, funcs, holderOf, user, given, next }, func);
        given = next;
        if (sizeOf(given, funcs) === before) break;
    }
    return given;
}

function sizeOf(given: ReadonlyMap<string, readonly Line[]>, funcs: ReadonlyMap<string, Func>): string {
    const params = [...funcs.values()].map((func) => [...func.params.values()].reduce((sum, lines) => sum + lines.length, 0));
    return `${[...given].map(([id, lines]) => `${id}:${lines.length}`).join()} ${params.join()}`;
}

type How = Pick<Line, "by" | "site" | "onward">;

/** What is the same for one round over all functions. `given`: as far as it was found before. */
interface Round {
    readonly tables: Tables;
    readonly funcs: ReadonlyMap<string, Func>;
    readonly holderOf: (key: string) => Holder | undefined;
    readonly user: Holder;
    readonly given: ReadonlyMap<string, readonly Line[]>;
    readonly next: Map<string, Line[]>;
}

/** A function that gives, and all that its code has: its own rows, and what it was delegated with the right to pass it on. */
interface Giver extends Func {
    readonly has: readonly Line[];
}

function give(round: Round, func: Func): void {
    const { file, giver } = func;
    const own = giver.lines.filter((line) => line.gate !== "never" && (giver !== round.user || line.file === file));
    const onward = (round.given.get(idOf(giver)) ?? []).filter((line) => line.onward === true);
    const from: Giver = { ...func, has: [...own, ...kept(giver, onward)] };
    eachForm(func.form.body, (node) => {
        if (node.kind === "delegate") delegated(round, from, node);
        else if (node.kind === "call") passed(round, from, node);
    });
}

function add({ next }: Round, { giver }: Giver, to: Holder, lines: readonly Line[], how: How): Line[] {
    const some = lines.map((line): Line => {
        const { onward: _, ...rest } = line;
        return { ...rest, ...how, from: giver.name };
    });
    next.set(idOf(to), merged(next.get(idOf(to)) ?? [], some));
    return some;
}

/** What both these lines and the giver's own say, as the giver may pass it on. */
function both({ giver, has }: Giver, lines: readonly Line[]): Line[] {
    return kept(
        giver,
        lines.flatMap((line) => has.flatMap((one) => crossed(line, one) ?? [])),
    );
}

function delegated(round: Round, from: Giver, node: NodeForm & { kind: "delegate" }): void {
    const { tables } = round;
    const { file, giver, has } = from;
    const thing = tables.thing(file, node.to);
    const to = thing === undefined ? undefined : round.holderOf(thing.key);
    if (to === undefined) return;
    const site = tables.site(file, node.at);
    const how: How = { by: "delegate", site, ...(node.onward === true ? { onward: true } : {}) };
    const keys = new Set(tables.things(file).map((one) => one.key));
    const all = (): Line[] =>
        kept(
            giver,
            has.filter((line) => keys.has(line.thing.key) && line.thing.key !== thing?.key),
        );
    const lines =
        node.all === true
            ? all()
            : both(
                  from,
                  node.refs.flatMap((ref) => tables.line(file, ref, "may", "delegate", site) ?? []),
              );
    add(round, from, to, lines, how);
}

function passed(round: Round, from: Giver, node: NodeForm & { kind: "call" }): void {
    const { tables, funcs } = round;
    const { file, giver, values } = from;
    const { callee } = node;
    const object = callee.kind === "member" ? callee.object : callee;
    const called = object.kind === "name" && !values.has(object.name) ? tables.thing(file, object.name) : undefined;
    const to = called?.what === "agent" ? round.holderOf(called.key) : undefined;
    const target =
        called?.what === "agent"
            ? funcs.get(`${called.key} ${callee.kind === "member" ? callee.name : ""}`)
            : callee.kind === "name" && !values.has(callee.name)
              ? funcs.get(`file:${file} ${callee.name}`)
              : undefined;
    const crosses = to !== undefined && to !== giver;
    node.args.forEach((arg, i) => {
        let lines = carried(tables, from, arg, crosses);
        if (crosses) lines = add(round, from, to, lines, { by: "argument", site: tables.site(file, node.at) });
        const param = target?.form.params[i]?.name;
        if (target === undefined || param === undefined || lines.length === 0) return;
        target.params.set(param, merged(target.params.get(param) ?? [], lines));
    });
}

/** What an argument carries: what its giver has of a name, what came with a parameter. */
function carried(tables: Tables, from: Giver, arg: ArgForm, crosses: boolean): Line[] {
    const { file, giver, values, params } = from;
    const layers: (readonly { readonly method: string; readonly in?: readonly BoundForm[] }[])[] = [];
    let value: ExprForm = arg.value;
    for (let steps = 0; steps < 20; steps++) {
        if (value.kind === "narrow") {
            layers.push(value.methods);
            value = value.object;
        } else if (value.kind === "name" && values.get(value.name) != null) value = values.get(value.name) as ExprForm;
        else break;
    }
    if (value.kind !== "name") return [];
    let lines: Line[];
    if (values.has(value.name)) {
        const came = params.get(value.name) ?? [];
        lines = crosses ? kept(giver, came) : came;
    } else {
        const thing = tables.thing(file, value.name);
        if (thing === undefined) return [];
        const site = tables.site(file, arg.value.at);
        lines = both(from, [{ thing, file, method: null, gate: "may", bounds: [], by: "argument", site }]);
    }
    for (const layer of layers)
        lines = lines.flatMap((line) =>
            layer.flatMap((one) => {
                const method = methodOf(line.thing, one.method);
                return crossed(line, { ...line, method, gate: "may", bounds: one.in ?? [], except: [] }) ?? [];
            }),
        );
    return lines;
}

/** Lines as their holder may pass them on: without what its remit forbids, and asked about where that asks. */
function kept(holder: Holder, lines: readonly Line[]): Line[] {
    const never = holder.lines.filter((line) => line.gate === "never");
    const asks = holder.agent === null ? [] : holder.lines.filter((line) => line.gate === "ask");
    return lines.flatMap((line) => {
        const left = without(line, never);
        return left === null ? [] : [left, ...asks.flatMap((ask) => crossed(left, ask) ?? [])];
    });
}

function merged(known: readonly Line[], more: readonly Line[]): Line[] {
    const out = [...known];
    const said = new Set(known.map(saying));
    for (const line of more) {
        if (said.has(saying(line))) continue;
        said.add(saying(line));
        out.push(line);
    }
    return out;
}

function saying(line: Line): string {
    const { thing, ...rest } = line;
    return JSON.stringify([thing.key, rest]);
}

/** Names of a function with their value, null for parameters, and where there are several or it cannot be told. */
function valuesOf(func: FuncForm): Map<string, ExprForm | null> {
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
