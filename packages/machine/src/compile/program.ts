/**
 * A compiled program: its functions, what its names mean, and their compiled forms, made when first needed.
 *
 * Boundary: knows the program form and nothing of any run. One `Compiled` serves any number of machines.
 *
 * PO2: which functions can reach an effect follows from the form alone (`effects.ts`); what the form claims of itself is not believed.
 * PO3: a function's number is its place in the form, so a continuation can name it.
 */
import {
    type At,
    BLOCKS,
    type FileForm,
    type FuncForm,
    type ImportForm,
    type Program,
    type Shapes,
    type Site,
    shownName,
    siteAt,
    walk,
} from "@remit/language";
import type { Answers } from "../agent/answers.ts";
import { type Builtin, findBuiltin } from "../builtin/table.ts";
import { Capability } from "../value/value.ts";
import { type BlockCode, blockIn, blocksOf, type Target, verbIn, namesOf } from "./blocks.ts";
import { type Mutations, mutationsOf } from "./changes.ts";
import { closureForm } from "./closures.ts";
import type { ClosureForm } from "./code.ts";
import { analyse, analyseLoosely, type Loosely, type Reach } from "./effects.ts";
import { frameForm } from "./frames.ts";
import type { AgentContext, FrameForm } from "./instructions.ts";

/** Where a function stands, and what it is. */
interface Declared {
    readonly file: number;
    readonly agent: string | null;
    readonly form: FuncForm;
    readonly block?: BlockCode | null;
}

/** A user's function. */
export class Fn {
    readonly id: number;
    readonly file: number;
    readonly agent: string | null;
    readonly form: FuncForm;
    readonly program: Compiled;
    /** True where arguments or the result have to be checked against a contract. */
    readonly checksParams: boolean;
    /** Least number of arguments: parameters after it have defaults. */
    readonly required: number;
    /** Of the function of a block. */
    readonly block: BlockCode | null;
    /** `flow strict` stands at the top of its file. Other functions run strictly where strict code calls them. */
    readonly strict: boolean;
    /** Nothing runs it otherwise: what agents write runs strictly (W7). */
    readonly isAlwaysStrict: boolean;
    private closures: ClosureForm | null = null;
    private strictly: ClosureForm | null = null;
    private loosely: ClosureForm | null = null;
    private framed: FrameForm | null = null;
    private strictFramed: FrameForm | null = null;
    private mutated: Mutations | null = null;

    constructor(id: number, { file, agent, form, block = null }: Declared, program: Compiled) {
        this.id = id;
        this.block = block;
        this.file = file;
        this.agent = agent;
        this.form = form;
        this.program = program;
        this.strict = program.program.files[file]?.flow === "strict";
        this.isAlwaysStrict = this.strict || program.base !== null;
        this.checksParams = form.params.some((p) => p.contract !== undefined);
        let required = form.params.length;
        while (required > 0 && form.params[required - 1]?.default !== undefined) required--;
        this.required = required;
    }

    /** As it shows in paths and messages. */
    get name(): string {
        return this.block !== null ? "block" : this.form.name === BLOCKS ? "blocks" : shownName(this.form.name);
    }

    get effectful(): boolean {
        return this.program.reach.effectful[this.id] as boolean;
    }

    get closure(): ClosureForm {
        if (this.closures === null) this.closures = closureForm(this);
        return this.closures;
    }

    get strictClosure(): ClosureForm {
        if (this.strictly === null) this.strictly = closureForm(this, "strict");
        return this.strictly;
    }

    /** For callers that keep choices alone and catch no failure: only `pc` is filled in of the hidden slots. */
    get looseClosure(): ClosureForm {
        if (this.loosely === null) this.loosely = closureForm(this, "loose");
        return this.loosely;
    }

    /** It has a loose form. */
    get isLoose(): boolean {
        return this.program.loosely.loose[this.id] as boolean;
    }

    /** What calling it changes of what it did not make. */
    get mutations(): Mutations {
        this.mutated ??= mutationsOf(this);
        return this.mutated;
    }

    /** True where it does not run as closures when a frame calls it: strict code and what reaches it has its labels on frames. */
    get staysFramed(): boolean {
        return this.program.reach.framed[this.id] as boolean;
    }

    get frames(): FrameForm {
        if (this.framed === null) this.framed = frameForm(this, false);
        return this.framed;
    }

    /** Its frame form, strict or not. */
    framesFor(strict: boolean): FrameForm {
        if (!strict) return this.frames;
        if (this.strictFramed === null) this.strictFramed = frameForm(this, true);
        return this.strictFramed;
    }

    site(at: At | undefined): Site | null {
        return this.program.site(this.file, at);
    }
}

/**
 * The name under which an agent's main func is a method of it: a caller of the agent, or code that hands control to it, uses that one. Null where it has
 * no name, so that no rule can be about it alone.
 */
export function answering({ main }: Pick<AgentEntry, "main">): string | null {
    return main === null || shownName(main.form.name) !== main.form.name ? null : main.form.name;
}

/** What a name stands for where it is no local. */
export type Meaning =
    | { readonly kind: "func"; readonly fn: Fn; readonly value: Capability }
    | { readonly kind: "agent"; readonly agent: AgentEntry; readonly value: Capability }
    | { readonly kind: "tool" | "llm" | "memory" | "skill"; readonly import: ImportEntry; readonly value: Capability }
    /** `number`: place of its value among those that a run has for the whole program (`Run.imports`). */
    | { readonly kind: "file"; readonly number: number }
    /** What a block of that name gave, once it has run. */
    | { readonly kind: "block"; readonly number: number }
    | { readonly kind: "builtin"; readonly row: Builtin };

export interface AgentEntry {
    readonly file: number;
    readonly name: string;
    readonly main: Fn | null;
    readonly funcs: ReadonlyMap<string, Fn>;
    readonly value: Capability;
    /** Set where it runs outside the program: the import that names it. */
    readonly outside: ImportEntry | null;
}

export interface ImportEntry {
    readonly file: number;
    /** Place of a file's content among the values that a run has for the whole program. */
    readonly number: number;
    readonly form: ImportForm;
    readonly value: Capability | null;
}

interface FileEntry {
    readonly form: FileForm;
    readonly imports: Map<string, ImportEntry>;
    readonly funcs: Map<string, Fn>;
    readonly agents: Map<string, AgentEntry>;
    readonly shapes: Shapes;
    /** Functions of its blocks, that of all of them last. */
    readonly blocks: readonly Fn[];
    /** Its blocks that have a name. */
    readonly named: ReadonlyMap<string, number>;
}

export class Compiled {
    readonly program: Program;
    readonly base: Compiled | null;
    readonly functions: Fn[] = [];
    readonly files: FileEntry[] = [];
    /** Of so many of the files. */
    private readonly agentNames = { files: 0, all: new Set<string>() };
    /** Numbers of files by their names. */
    private readonly fileNumbers = new Map<string, number>();
    readonly fileImports: ImportEntry[] = [];
    /** Values that a run has for the whole program: file imports, and what blocks with a name gave. */
    values = 0;
    /** Of them, those of blocks: names by number. */
    readonly namedBlocks = new Map<number, string>();
    private readonly contexts = new Map<string, AgentContext>();
    private reached: Reach | null = null;
    private reachedLoosely: Loosely | null = null;
    private mayChange: boolean | null = null;
    /** Answers that were read before, for all runs of the program. */
    readonly answers: Answers;
    /** Versions of its files' compiled code, as far as they were asked for (`version.ts`). */
    readonly versions = new Map<string, string>();
    /** This program with one more file, as long as the file is held. */
    private readonly extended = new WeakMap<FileForm, Map<number, Compiled>>();
    /** Each function begins with an instruction that does nothing: another listing of the same program. For tests of versions (EE4). */
    readonly padded: boolean;

    /** `base`: a program that this one goes on with: the last file alone is new. `home`: whose imports the last file has, -1 for its own. */
    constructor(program: Program, base: Compiled | null = null, padded = false, home = -1) {
        this.program = program;
        this.base = base;
        this.padded = padded;
        this.answers = base?.answers ?? new Map();
        if (base !== null) {
            this.functions.push(...base.functions);
            this.files.push(...base.files);
            this.fileImports.push(...base.fileImports);
            this.values = base.values;
            for (const [number, name] of base.namedBlocks) this.namedBlocks.set(number, name);
        }
        program.files.forEach((form, file) => {
            if (file < this.files.length) return;
            const made = this.entry(form, file);
            if (home >= 0) this.lend(made, home);
            this.files.push(made);
        });
        // Of two of one name the first counts.
        for (const [file, { form }] of this.files.entries()) if (!this.fileNumbers.has(form.file)) this.fileNumbers.set(form.file, file);
    }

    /** The imports of another file by their names, as far as a remit can be about them: they stay that file's, with its clauses. */
    private lend(to: FileEntry, home: number): void {
        const { imports, agents } = this.files[home] as FileEntry;
        for (const [name, one] of imports) if (isLent(one.form)) to.imports.set(name, one);
        for (const [name, one] of agents) if (one.outside !== null && isLent(one.outside.form)) to.agents.set(name, one);
    }

    /**
     * The same program with one more file: functions that an agent of file `home` wrote. Functions, files and their numbers stay what they were;
     * what was there does not see what is new. Of one file it is one program.
     */
    extend(file: FileForm, home: number): Compiled {
        const known = this.extended.get(file) ?? new Map<number, Compiled>();
        this.extended.set(file, known);
        let made = known.get(home);
        if (made === undefined) {
            made = new Compiled({ ...this.program, files: [...this.program.files, file] }, this, this.padded, home);
            known.set(home, made);
        }
        return made;
    }

    private entry(form: FileForm, file: number): FileEntry {
        const add = (agent: string | null, func: FuncForm, block: BlockCode | null = null): Fn => {
            const fn = new Fn(this.functions.length, { file, agent, form: func, block }, this);
            this.functions.push(fn);
            return fn;
        };
        const imports = new Map<string, ImportEntry>();
        for (const i of form.imports) {
            const kind = i.what;
            const value = kind === "file" ? null : new Capability(kind, file, i.name);
            const made: ImportEntry = { file, number: kind === "file" ? this.values++ : -1, form: i, value };
            if (kind === "file") this.fileImports.push(made);
            imports.set(i.name, made);
        }
        const agents = new Map<string, AgentEntry>();
        for (const a of form.agents) {
            const funcs = new Map(a.funcs.map((func) => [func.name, add(a.name, func)]));
            const main = [...funcs.values()].find((fn) => fn.form.main === true) ?? null;
            agents.set(a.name, { file, name: a.name, main, funcs, value: new Capability("agent", file, a.name), outside: null });
        }
        for (const outside of imports.values()) {
            const { name, what, from } = outside.form;
            if (what === "agent" && from === undefined)
                agents.set(name, { file, name, main: null, funcs: new Map(), value: new Capability("agent", file, name), outside });
        }
        const funcs = new Map(form.funcs.map((func) => [func.name, add(null, func)]));
        const shapes = Object.fromEntries(form.shapes.map((s) => [s.name, s.contract]));
        const entry = { form, imports, funcs, agents, shapes, blocks: [] as Fn[], named: new Map<string, number>() };
        for (const name of (form.blocks ?? []).flatMap(namesOf)) {
            entry.named.set(name, this.values);
            this.namedBlocks.set(this.values++, name);
        }
        const made = blocksOf(form, (name) => this.targetOf(entry, name));
        entry.blocks.push(...made.map(({ func, block }) => add(null, func, block)));
        return entry;
    }

    /** What a stage of a block calls (BLK1). */
    private targetOf({ imports, funcs, agents }: FileEntry, name: string): Target | null {
        const func = funcs.get(name);
        if (func !== undefined) return { kind: "func", params: func.form.params };
        const found = imports.get(name);
        const from = found?.form.from;
        const agent = agents.get(name) ?? (from === undefined ? undefined : this.agent(from, name));
        if (agent !== undefined) return { kind: "agent", params: agent.main?.form.params ?? [] };
        if (found !== undefined) return { kind: "tool", uri: found.form.uri };
        const verb = this.verb(name);
        return verb === undefined ? null : { kind: "verb", params: verb.form.params };
    }

    /** The function of a verb that the program uses. */
    private verb(name: string): Fn | undefined {
        return this.files.find(({ form }) => form.prelude === true)?.funcs.get(name);
    }

    /** An agent may define functions of it anew: somewhere `delegate all` stands. */
    get changes(): boolean {
        this.mayChange ??= this.functions.some((fn) => walk(fn.form.body, (s) => s.kind === "delegate" && s.all === true));
        return this.mayChange;
    }

    get reach(): Reach {
        if (this.reached === null) this.reached = analyse(this);
        return this.reached;
    }

    get loosely(): Loosely {
        this.reachedLoosely ??= analyseLoosely(this);
        return this.reachedLoosely;
    }

    site(file: number, at: At | undefined): Site | null {
        return at === undefined ? null : siteAt(this.fileName(file), at);
    }

    fileName(file: number): string {
        return (this.files[file] as FileEntry).form.file;
    }

    shapesOf(file: number): Shapes {
        return (this.files[file] as FileEntry).shapes;
    }

    agent(file: number, name: string): AgentEntry | undefined {
        return this.files[file]?.agents.get(name);
    }

    /** What agent-level configuration gives to every function of an agent; empty for a function outside agents. */
    context(file: number, agent: string | null, make: () => AgentContext): AgentContext {
        const key = `${file}/${agent ?? ""}`;
        let made = this.contexts.get(key);
        if (made === undefined) {
            made = make();
            this.contexts.set(key, made);
        }
        return made;
    }

    /**
     * The meaning of a name in a function of `agent` in `file`: the agent's functions, the file's functions, agents and imports, agents of
     * files that are imported for an agent, built-ins.
     */
    lookup(file: number, agent: string | null, name: string): Meaning | undefined {
        const entry = this.files[file] as FileEntry;
        if (name.startsWith("%")) return this.hidden(entry, name);
        const own = agent === null ? undefined : entry.agents.get(agent)?.funcs.get(name);
        if (own !== undefined) return { kind: "func", fn: own, value: capabilityOf(own) };
        const func = entry.funcs.get(name);
        if (func !== undefined) return { kind: "func", fn: func, value: capabilityOf(func) };
        const declared = entry.agents.get(name);
        if (declared !== undefined) return { kind: "agent", agent: declared, value: declared.value };
        const found = entry.imports.get(name);
        if (found !== undefined) {
            const what = found.form.what;
            if (what === "file") return { kind: "file", number: found.number };
            if (what !== "agent") return { kind: what, import: found, value: found.value as Capability };
            const from = found.form.from === undefined ? undefined : this.agent(found.form.from, name);
            return from === undefined ? undefined : { kind: "agent", agent: from, value: from.value };
        }
        const named = entry.named.get(name);
        if (named !== undefined) return { kind: "block", number: named };
        const beside = this.namesAgent(name) ? this.besideImported(file, name, new Set()) : undefined;
        if (beside !== undefined) return { kind: "agent", agent: beside, value: beside.value };
        const row = findBuiltin("global", name);
        return row === undefined ? undefined : { kind: "builtin", row };
    }

    /** What the compiler itself calls by name: blocks and verbs. */
    private hidden({ blocks }: FileEntry, name: string): Meaning | undefined {
        const number = blockIn(name);
        const verb = verbIn(name);
        const fn = number !== null ? blocks[number] : verb === null ? undefined : this.verb(verb);
        return fn === undefined ? undefined : { kind: "func", fn, value: capabilityOf(fn) };
    }

    /** Some file declares an agent of this name. Few names are, and each look at what is imported goes through all of it. */
    private namesAgent(name: string): boolean {
        const { files, agentNames } = this;
        for (; agentNames.files < files.length; agentNames.files++)
            for (const one of files[agentNames.files]?.agents.keys() ?? []) agentNames.all.add(one);
        return agentNames.all.has(name);
    }

    /** AgentScript makes every agent of an imported file callable, not only the one that was named. */
    private besideImported(file: number, name: string, seen: Set<number>): AgentEntry | undefined {
        for (const i of (this.files[file] as FileEntry).form.imports) {
            if (i.what !== "agent" || i.from === undefined || seen.has(i.from)) continue;
            seen.add(i.from);
            const found = this.agent(i.from, name) ?? this.besideImported(i.from, name, seen);
            if (found !== undefined) return found;
        }
        return undefined;
    }

    /** The import that a tool, model or memory capability names. */
    importOf(c: Capability): ImportForm | undefined {
        return this.files[c.file]?.imports.get(c.name)?.form;
    }

    /** The capability of an import, by the name of its file. */
    capabilityAt(fileName: string, name: string): Capability {
        const file = this.fileNumbers.get(fileName) ?? -1;
        const found = this.files[file]?.imports.get(name)?.value;
        return found ?? new Capability("tool", file, name);
    }

    /** The function that a function capability names. */
    functionOf(c: Capability): Fn | undefined {
        return c.agent === null ? this.files[c.file]?.funcs.get(c.name) : this.agent(c.file, c.agent)?.funcs.get(c.name);
    }
}

/**
 * What an answer of an agent can name of its file's imports where the remit gives it: capabilities from outside the program. None takes the name of a
 * built-in from an answer, which may not know of the import.
 */
export function isLent({ what, from, name }: ImportForm): boolean {
    return what !== "file" && what !== "skill" && from === undefined && findBuiltin("global", name) === undefined;
}

export function capabilityOf(fn: Fn): Capability {
    return new Capability("func", fn.file, fn.form.name, fn.agent);
}

/** As long as the program is held: its runs share what was compiled. */
const COMPILED = new WeakMap<Program, Compiled>();

/** Compiles nothing yet: functions are compiled when they are first called. `padded`: see `Compiled`. */
export function compileProgram(program: Program, padded = false): Compiled {
    if (padded) return new Compiled(program, null, true);
    const made = COMPILED.get(program) ?? new Compiled(program, null);
    COMPILED.set(program, made);
    return made;
}
