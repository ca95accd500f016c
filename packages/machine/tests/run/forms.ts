/** Short names for making program forms by hand, and drivers that run them to the end. */
import type { ExprForm, FuncForm, ImportForm, Json, Program, StmtForm } from "@remit/language";
import { Compiled, type Effect, Machine, type MachineEvent, type Outcome, type Result, type StartOptions } from "../../src/index.ts";

export const name = (n: string): ExprForm => ({ kind: "name", name: n });
export const lit = (value: string | number | boolean | null): ExprForm => ({ kind: "literal", value });
export const bin = (op: (ExprForm & { kind: "binary" })["op"], left: ExprForm, right: ExprForm): ExprForm => ({
    kind: "binary",
    op,
    left,
    right,
});
export const call = (callee: string | ExprForm, ...args: ExprForm[]): ExprForm => ({
    kind: "call",
    callee: typeof callee === "string" ? name(callee) : callee,
    args: args.map((value) => ({ value })),
});
export const member = (object: ExprForm, n: string): ExprForm => ({ kind: "member", object, name: n });
export const list = (...items: ExprForm[]): ExprForm => ({ kind: "list", items });
export const object = (entries: { [key: string]: ExprForm }): ExprForm => ({
    kind: "object",
    entries: Object.entries(entries).map(([key, value]) => ({ kind: "entry", key, value })),
});
export const set = (target: string | ExprForm, value: ExprForm, op: "=" | "+=" | "-=" = "="): StmtForm => ({
    kind: "assign",
    target: typeof target === "string" ? name(target) : target,
    op,
    value,
});
export const stmt = (value: ExprForm): StmtForm => ({ kind: "expr", value });
export const give = (value: ExprForm): StmtForm => ({ kind: "return", value });
export const func = (n: string, params: string[], body: StmtForm[], more: Partial<FuncForm> = {}): FuncForm => ({
    name: n,
    params: params.map((p) => ({ name: p })),
    effects: [],
    body,
    ...more,
});
export const TOOL: ImportForm = { what: "tool", name: "T", uri: "http://example.test" };

export function program(funcs: FuncForm[], imports: ImportForm[] = [TOOL]): Program {
    return {
        format: "remit-program/1",
        files: [{ file: "main.remit", imports, shapes: [], funcs, agents: [] }],
        entry: { file: 0, func: "main" },
    };
}

export interface Ran {
    readonly result: Result;
    readonly steps: number;
    readonly events: MachineEvent[];
    readonly effects: Effect[];
}

const described = new WeakMap<Program, Json>();

/** What a tool says of itself that has all methods and all arguments of which a program speaks. */
export function describing(p: Program): Json {
    const found = described.get(p);
    if (found !== undefined) return found;
    const words = [...new Set(JSON.stringify(p).match(/[A-Za-z_]\w*/g))].sort();
    const input = { type: "object", properties: Object.fromEntries(words.map((word) => [word, {}])) };
    const made = { methods: words.map((name) => ({ name, input })) };
    described.set(p, made);
    return made;
}

export type Answer = (effect: Effect) => Outcome;

export const OPTIONS = { run: "run", programHash: "hash", input: {} } as const satisfies StartOptions;

/** An answer that follows from the path and the arguments alone. */
export const echo: Answer = (effect) => {
    const { args } = effect.request as { args?: Json[] };
    const given = args?.[0] ?? null;
    if (given === "fail") return { ok: false, failure: { kind: "tool", message: `no ${effect.path}` } };
    return {
        ok: true,
        value: { n: effect.path.length, given: typeof given === "object" ? null : given, list: [1, 2, 3] },
        origins: ["tool:T"],
    };
};

export interface How {
    readonly options?: Partial<StartOptions>;
    readonly answer?: Answer;
    /** Which of the waiting effects is answered next. */
    readonly pick?: (waiting: readonly Effect[]) => number;
    /** Save, print and parse after every step, and load after every step (true) or after every so many, from an image and deltas. */
    readonly saving?: boolean | number;
    /** Each use is decided, also one that was let through before at its place. */
    readonly each?: boolean;
    /** Is given each machine that runs a part of it. */
    readonly watch?: (machine: Machine) => unknown;
}

/** A program as it is compiled where it is started (`here`) and where a saved run is loaded (`there`): once each, as in two processes of a host. */
const compiled = new WeakMap<Program, { readonly here: Compiled; there: Compiled | null }>();

function compiledOf(p: Program): { readonly here: Compiled; there: Compiled | null } {
    let both = compiled.get(p);
    if (both === undefined) {
        both = { here: new Compiled(p), there: null };
        compiled.set(p, both);
    }
    return both;
}

export function runAll(p: Program, how: How = {}): Ran {
    const both = compiledOf(p);
    const options: StartOptions = { ...OPTIONS, ...how.options };
    const watched = (m: Machine): Machine => {
        const { letThrough } = m.run;
        if (how.each === true) letThrough.set = () => letThrough;
        how.watch?.(m);
        return m;
    };
    let machine = watched(Machine.start(both.here, options));
    const events: MachineEvent[] = [];
    const effects: Effect[] = [];
    let documents: Json[] = [];
    let waiting: Effect[] = [];
    for (let turns = 0; turns < 2_000_000; turns++) {
        const step = machine.advance();
        events.push(...step.events);
        effects.push(...step.effects);
        waiting.push(...step.effects);
        waiting = waiting.filter((e) => !step.withdrawn.includes(e.path));
        if (step.state === "done") return { result: step.result as Result, steps: machine.usage.steps, events, effects };
        if (how.saving !== undefined && how.saving !== false) {
            const saved = JSON.parse(JSON.stringify(machine.save())) as { image?: Json; delta?: Json };
            if (saved.image !== undefined) documents = [saved.image];
            else documents.push(saved.delta as Json);
            if (how.saving === true || turns % how.saving === 0) {
                both.there ??= new Compiled(p);
                machine = watched(Machine.load(both.there, options, documents));
            }
        }
        if (step.state === "slice") continue;
        const at = how.pick?.(waiting) ?? 0;
        const [next] = waiting.splice(at, 1);
        if (next === undefined) throw new Error("the machine waits for nothing");
        if (!machine.resolve(next.path, (how.answer ?? echo)(next))) throw new Error(`nothing waits for ${next.path}`);
    }
    throw new Error("the run does not end");
}
