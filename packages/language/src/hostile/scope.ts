/**
 * What the names of a program stand for: functions, things, values of blocks.
 *
 * Boundary: looks names up as the machine does; knows no values.
 */
import { isOutside } from "../authority/schemas.ts";
import { Tables, type Thing } from "../authority/tables.ts";
import { idOf as holderId } from "../authority/grants.ts";
import type { ProjectPolicy } from "../authority/project.ts";
import { type AgentForm, type FlowForm, type FuncForm, type ImportForm, type Program, VERBS_FILE } from "../form/form.ts";
import { type FormNode, walk } from "../form/walk.ts";

export interface Func {
    readonly id: string;
    readonly file: number;
    readonly agent: AgentForm | null;
    readonly form: FuncForm;
    readonly strict: boolean;
    /** Names of its own. */
    readonly locals: ReadonlySet<string>;
    /** Names that are given a value where the function begins alone. */
    readonly fixed: ReadonlySet<string>;
    /** Who it runs as; null: its caller. */
    readonly principal: string | null;
}

/** A capability as a value: a thing by a name of a file, or a function. */
export type Cap =
    | { readonly kind: "thing"; readonly id: string; readonly file: number; readonly thing: Thing }
    | { readonly kind: "func"; readonly id: string; readonly func: Func };

export type Meaning = { readonly kind: "cap"; readonly cap: Cap } | { readonly kind: "file" | "block"; readonly name: string };

export const USER = "user";

export class Scope {
    readonly tables: Tables;
    readonly funcs: readonly Func[];
    private readonly byPlace = new Map<string, Func>();
    private readonly caps = new Map<string, Cap>();
    /** Names of blocks by file, those of blocks inside blocks too. */
    private readonly blocks: readonly ReadonlySet<string>[];

    readonly program: Program;

    constructor(program: Program, policy: ProjectPolicy) {
        this.program = program;
        this.tables = new Tables(program, policy);
        const bound = new Map(this.tables.agents().map((holder) => [holderId(holder), holder]));
        this.funcs = this.tables.funcs().map(({ file, agent, func }): Func => {
            const place = placeOf(file, agent?.name ?? null, func.name);
            const { locals, fixed } = namesOf(func);
            const form = program.files[file];
            const own = agent === null ? undefined : `agent:${form?.file}#${agent.name}`;
            const holder = own === undefined ? undefined : bound.get(own);
            const strict = policy.strict === true || form?.flow === "strict" || holder?.strict === true;
            const principal = agent === null ? null : holder === undefined ? USER : (own as string);
            return { id: place, file, agent, form: func, strict, locals, fixed, principal };
        });
        for (const func of this.funcs) this.byPlace.set(func.id, func);
        this.blocks = program.files.map(({ blocks = [] }) => new Set(blocks.flatMap(blockNames)));
    }

    func(file: number, agent: string | null, name: string): Func | undefined {
        return this.byPlace.get(placeOf(file, agent, name));
    }

    /** The main function of an agent of the program. */
    mainOf(file: number, agent: AgentForm): Func | undefined {
        const main = agent.funcs.find((one) => one.main === true);
        return main === undefined ? undefined : this.func(file, agent.name, main.name);
    }

    cap(id: string): Cap {
        return this.caps.get(id) as Cap;
    }

    ofFunc(func: Func): Cap {
        const id = `func:${func.id}`;
        const known = this.caps.get(id) ?? { kind: "func", id, func };
        this.caps.set(id, known);
        return known;
    }

    lookup(file: number, agent: string | null, name: string): Meaning | null {
        const func = (agent === null ? undefined : this.func(file, agent, name)) ?? this.func(file, null, name);
        if (func !== undefined) return { kind: "cap", cap: this.ofFunc(func) };
        const thing = this.tables.thing(file, name) ?? this.beside(file, name, new Set());
        if (thing !== undefined) {
            const id = `${file}:${name}`;
            const cap = this.caps.get(id) ?? { kind: "thing", id, file, thing };
            this.caps.set(id, cap);
            return { kind: "cap", cap };
        }
        const imported = this.program.files[file]?.imports.find((one) => one.what === "file" && one.name === name);
        if (imported !== undefined) return { kind: "file", name: fileOrigin(imported) };
        return this.blocks[file]?.has(name) === true ? { kind: "block", name: `${file} ${name}` } : null;
    }

    /** Every agent of an imported file can be called, not only the one that was named. */
    private beside(file: number, name: string, seen: Set<number>): Thing | undefined {
        for (const { what, from } of this.program.files[file]?.imports ?? []) {
            if (what !== "agent" || from === undefined || seen.has(from)) continue;
            seen.add(from);
            const isDeclared = this.program.files[from]?.agents.some((one) => one.name === name) === true;
            const found = (isDeclared ? this.tables.thing(from, name) : undefined) ?? this.beside(from, name, seen);
            if (found !== undefined) return found;
        }
        return undefined;
    }

    /** The agent of the program that a thing is, with its file. */
    agentOf(thing: Thing): { readonly file: number; readonly form: AgentForm } | null {
        if (thing.what !== "agent" || thing.key === "") return null;
        for (const [file, { file: name, agents }] of this.program.files.entries())
            for (const form of agents) if (thing.key === `agent:${name}#${form.name}`) return { file, form };
        return null;
    }

    verb(name: string): Func | undefined {
        const file = this.program.files.findIndex((one) => one.prelude === true || one.file === VERBS_FILE);
        return file < 0 ? undefined : this.func(file, null, name);
    }
}

/** Whether an import is an agent that runs elsewhere. */
export function isOutsideAgent(thing: Thing): boolean {
    return thing.what === "agent" && thing.import !== null && thing.import.from === undefined && isOutside(thing.import.uri);
}

function blockNames(flow: FlowForm): string[] {
    switch (flow.kind) {
        case "block":
            return [...(flow.name === undefined ? [] : [flow.name]), ...blockNames(flow.body)];
        case "pipe":
            return flow.stages.flatMap(blockNames);
        case "fan":
            return flow.branches.flatMap(blockNames);
        case "stage":
            return [];
    }
}

function fileOrigin({ uri }: ImportForm): string {
    return `file:${uri.replace(/^\.\//, "")}`;
}

function placeOf(file: number, agent: string | null, name: string): string {
    return `${file}|${agent ?? ""}|${name}`;
}

function namesOf(func: FuncForm): { locals: Set<string>; fixed: Set<string> } {
    const locals = new Set(func.params.map(({ name }) => name));
    const fixed = new Set(locals);
    const times = new Map<string, number>();
    const bound = new Set<string>();
    walk(func.body, (node) => {
        if (node.kind === "assign" && node.target.kind === "name") {
            locals.add(node.target.name);
            times.set(node.target.name, (times.get(node.target.name) ?? 0) + 1);
        } else for (const name of boundBy(node)) bound.add(name);
    });
    for (const name of [...times.keys(), ...bound]) fixed.delete(name);
    for (const name of bound) locals.add(name);
    // A name that the body gives a value once, outside of everything else, stands for it from there on.
    for (const statement of func.body)
        if (statement.kind === "assign" && statement.target.kind === "name" && times.get(statement.target.name) === 1) {
            const { name } = statement.target;
            if (!bound.has(name) && !func.params.some((one) => one.name === name)) fixed.add(name);
        }
    return { locals, fixed };
}

/** Names that a loop, a `catch` or a lambda gives values to. */
function boundBy(node: FormNode): readonly string[] {
    if (node.kind === "for" || node.kind === "parallel") return [node.item];
    if (node.kind === "try" || node.kind === "try.expr") return node.name === undefined ? [] : [node.name];
    return node.kind === "lambda" ? node.params : [];
}
