/**
 * Where a run of a program can begin, seen from outside: its main func, its functions and agents, with schemas of what they take and give.
 *
 * Boundary: pure; from the program form to descriptions. Who calls them, and how, is the faces' (`acp/`, `mcp/`).
 *
 * ENT1: what a caller sends as the entry's arguments is always one object, whatever the entry's parameters are; `inputOf` gives the run's input.
 * ENT2: what an entry gives is always one object too: a value that its contract does not make an object stands under `result`.
 */
import type { Entry } from "@remit/host";
import {
    type Contract,
    type Field,
    isObject,
    type Json,
    type Program,
    schemeOf,
    type Shapes,
    shownName,
    toJsonSchema,
    readsByScheme,
} from "@remit/language";

type Form = Program["files"][number];
type Func = Form["funcs"][number];
type Agent = Form["agents"][number];

export interface ProgramEntry {
    /** Unique in the program. */
    readonly name: string;
    /** For the run; absent: where the program begins. */
    readonly entry?: Entry;
    readonly description: string;
    /** JSON Schema of the one object that it takes (ENT1). */
    readonly input: JsonObject;
    /** Of the one object that it gives (ENT2); absent where its source does not say. */
    readonly output?: JsonObject;
    /** Effects that it can reach, as the form names them. */
    readonly effects: readonly string[];
    /** It changes nothing: it reaches models, the clock, and methods of the runtime's own tools that are known to read. */
    readonly readOnly: boolean;
    inputOf(args: { readonly [name: string]: Json }): Json;
    outputOf(value: Json): { readonly [name: string]: Json };
}

export type JsonObject = { readonly [key: string]: Json };

/** The program's beginning first, then its other functions and agents in the order of the source. */
export function entriesOf(program: Program): ProgramEntry[] {
    const file = program.files.length - 1;
    const form = program.files[file] as Form;
    const shapes = shapesOf(form);
    const found: ProgramEntry[] = [];
    const begins = program.entry?.file === file ? program.entry : undefined;
    if (begins !== undefined && form.blocks !== undefined) found.push(blocksOf(form));
    for (const one of form.agents) {
        const main = one.funcs.find((func) => func.main === true);
        if (main === undefined) continue;
        const isBegin = found.length === 0 && begins?.agent === one.name && begins.func === main.name;
        found[isBegin ? "unshift" : "push"](described(main, { program, shapes, agent: one, isBegin }));
    }
    for (const func of form.funcs) {
        if (func.name.startsWith("__") && func.main !== true) continue;
        const isBegin = begins !== undefined && begins.agent === undefined && begins.func === func.name;
        found[isBegin ? "unshift" : "push"](described(func, { program, shapes, agent: null, isBegin }));
    }
    return distinct(found);
}

interface Around {
    readonly program: Program;
    readonly shapes: Shapes;
    readonly agent: Agent | null;
    readonly isBegin: boolean;
}

function described(func: Func, { program, shapes, agent, isBegin }: Around): ProgramEntry {
    const name = agent === null || (isBegin && agent.name.startsWith("__")) ? shownName(func.name) : shownName(agent.name);
    const entry: Entry = agent === null ? { func: func.name } : { agent: agent.name, func: func.name };
    const { result } = func;
    const isWhole = result !== undefined && resolved(result, shapes).type === "object";
    return {
        name,
        entry,
        description: agent === null ? `The function ${name} of the program.` : aboutOf(agent, name),
        ...argumentsOf(func, shapes),
        ...(result === undefined
            ? {}
            : { output: toJsonSchema(isWhole ? result : { type: "object", fields: [{ name: "result", contract: result }] }, shapes) }),
        effects: func.effects,
        readOnly: func.effects.every((effect) => changesNothing(effect, program)),
        // a value that says nothing of itself is an object or it is not
        outputOf: (value) => (isObject(value) && (isWhole || result === undefined) ? value : { result: value }),
    };
}

/** An effect names a tool as its own file does: of two files that give one name to two tools, both have to read. */
function changesNothing(effect: string, { files }: Program): boolean {
    if (effect === "model" || effect === "clock") return true;
    const [, name, method] = /^tool:(\w+)\.(\w+)$/.exec(effect) ?? [];
    if (name === undefined || method === undefined) return false;
    const named = files.flatMap(({ imports }) => imports.filter((one) => one.what === "tool" && one.name === name));
    return named.length > 0 && named.every(({ uri }) => readsByScheme(schemeOf(uri), method) === true);
}

/** What the agent says of itself in its source; only text that stands there. */
function aboutOf(agent: Agent, name: string): string {
    const said = agent.config.flatMap((one) => {
        if (one.kind !== "config" || one.value.kind !== "literal" || typeof one.value.value !== "string") return [];
        return one.key === "model" ? [] : [{ key: one.key, text: one.value.value }];
    });
    const found = said.find(({ key }) => key === "description") ?? said[0];
    return found?.text ?? `The agent ${name} of the program.`;
}

/** The machine takes a lone parameter that is no scalar as the whole input, and others by name. */
function argumentsOf({ params }: Func, shapes: Shapes): Pick<ProgramEntry, "input" | "inputOf"> {
    const [only] = params;
    if (params.length === 1 && only !== undefined) {
        const contract = resolved(only.contract ?? { type: "json" }, shapes);
        if (contract.type === "object") return { input: toJsonSchema(only.contract ?? contract, shapes), inputOf: (args) => ({ ...args }) };
        if (contract.type === "json") return { input: { type: "object" }, inputOf: (args) => ({ ...args }) };
        if (!isScalar(contract)) {
            const { name } = only;
            const fields = [fieldOf({ ...only, contract })];
            return { input: toJsonSchema({ type: "object", fields }, shapes), inputOf: (args) => args[name] ?? null };
        }
    }
    return { input: toJsonSchema({ type: "object", fields: params.map(fieldOf) }, shapes), inputOf: (args) => ({ ...args }) };
}

const SCALARS: ReadonlySet<string> = new Set(["string", "number", "boolean", "list", "literal"]);

function isScalar(contract: Contract): boolean {
    return contract.type === "optional" ? isScalar(contract.of) : SCALARS.has(contract.type);
}

function fieldOf({ name, contract = { type: "json" }, default: given }: Func["params"][number]): Field {
    return { name, contract, ...(given === undefined ? {} : { default: given as Json }) };
}

function blocksOf(form: Form): ProgramEntry {
    return {
        name: (form.file.split("/").at(-1) ?? form.file).replace(/\.[^.]*$/, "") || "blocks",
        description: "The blocks of the program, one after another. What it is given flows into the first stage.",
        input: { type: "object" },
        // not counted: a stage may reach any of them
        effects: ["agent", "model", "tool"],
        readOnly: false,
        inputOf: (args) => ({ ...args }),
        outputOf: (value) => (isObject(value) ? value : { result: value }),
    };
}

function shapesOf(form: Form): Shapes {
    return Object.fromEntries(form.shapes.map(({ name, contract }) => [name, contract]));
}

function resolved(contract: Contract, shapes: Shapes): Contract {
    let found = contract;
    // shapes may name each other in a circle
    for (let depth = 0; found.type === "ref" && depth < 50; depth++) {
        const next = Object.hasOwn(shapes, found.name) ? shapes[found.name] : undefined;
        if (next === undefined) return { type: "json" };
        found = next;
    }
    return found;
}

/** A function and an agent of the same name are told apart. */
function distinct(entries: readonly ProgramEntry[]): ProgramEntry[] {
    const taken = new Set<string>();
    return entries.map((one) => {
        const base = one.name.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 60);
        let name = base;
        for (let n = 2; taken.has(name); n++) name = `${base}_${n}`;
        taken.add(name);
        return { ...one, name };
    });
}
