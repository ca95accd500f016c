/**
 * What the checker keeps while it works: files, agents, functions, names, and the state of one walk over one function.
 *
 * Boundary: structures and their small moves; the rules are in the files named after them.
 *
 * ML1: everything that a walk finds (diagnostics, calls, effects) lies in its `FuncInfo` and is replaced when the function is walked again.
 * ML2: `share` of an origin is the depth of `parallel for` at which a value came to be: -1 for a file import, 0 for a parameter. A change at depth d
 *     of a value with `share` < d is a change of something that iterations share.
 * ML3: a mask has bit i for parameter i; parameters from 30 on share bit 30. In a mask of data, `DATA` says: not from the source's literals.
 */
import { fix } from "../text/fix.ts";
import type { Project } from "../authority/project.ts";
import type { Schema } from "../authority/schemas.ts";
import type { Registry } from "../verbs/verb.ts";
import type { Signature } from "../contract/signature.ts";
import type { Code } from "../diagnostics/codes.ts";
import { CODES } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type {
    Agent,
    Block,
    Call,
    Config,
    ContextBudget,
    ContractNode,
    Expr,
    File,
    Func,
    Generate,
    Import,
    Name,
    ParallelFor,
    RemitDecl,
    ShapeDecl,
    Use,
    UseOneOf,
} from "../syntax/tree.ts";
import { rootOf } from "../syntax/nodes.ts";
import type { Range } from "../text/source.ts";
import { ANY, join, type Type } from "./types.ts";

export const DATA = 1 << 31;

/** What a value shares, and where its data comes from: see ML2 and ML3. `params`: parameters that it may share with. */
export interface Origin {
    readonly share: number;
    readonly params: number;
    readonly data: number;
}

/** What is true of either of two values. */
export function either(a: Origin, b: Origin): Origin {
    return { share: Math.min(a.share, b.share), params: a.params | b.params, data: a.data | b.data };
}

/** The same value with more data in it. */
export function holding(from: Origin, data: number): Origin {
    return { ...from, data: from.data | data };
}

export function bit(index: number): number {
    return 1 << (index < 30 ? index : 30);
}

/** What a top-level name, or a function of an agent, stands for. */
export interface Binding {
    readonly kind: "tool" | "llm" | "memory" | "file" | "skill" | "agent" | "func" | "shape" | "block";
    readonly name: string;
    readonly range: Range;
    readonly type: Type;
    readonly import: Import | null;
    /** Methods and arguments of what is imported; null where only the thing itself can say them. */
    readonly has: Schema | null;
    /** Null for an imported agent that could not be found. */
    agent: AgentScope | null;
    readonly func: FuncInfo | null;
    used: boolean;
    /** The type of a value that may be it, made when first needed. */
    maybe: Type | null;
}

export interface FileScope {
    readonly name: string;
    readonly tree: File;
    readonly names: Map<string, Binding>;
    readonly shapes: Map<string, ShapeDecl>;
    /** The first of each name. */
    readonly remits: Map<string, RemitDecl>;
    readonly agents: AgentScope[];
    readonly funcs: FuncInfo[];
    readonly diagnostics: Diagnostic[];
    /** Types of contract nodes, and of those of parameters. */
    readonly types: readonly [Map<ContractNode, Type>, Map<ContractNode, Type>];
    /** Remits that an `agent()` names as its policy. */
    readonly policies: Set<string>;
    /** Reading it gave errors: what is missing may only have been unreadable. */
    readonly broken: boolean;
    /** It is the code of verbs: an agent or function that a stage names is called in it through a parameter. */
    readonly prelude: boolean;
}

export interface AgentScope {
    readonly node: Agent;
    readonly name: string;
    readonly file: FileScope;
    readonly funcs: Map<string, Binding>;
    main: FuncInfo | null;
    config: Configured;
    uses: UseEntry | null;
    /** A `generate` stands in one of its functions. */
    generates: boolean;
}

/** The model, role, description and `context max` in force. */
export interface Configured {
    readonly model: Config | null;
    readonly role: Config | null;
    readonly description: Config | null;
    readonly context: ContextBudget | null;
}

export const UNCONFIGURED: Configured = { model: null, role: null, description: null, context: null };

/** A `use` in force, and the ones before it. */
export interface UseEntry {
    readonly node: Use | UseOneOf;
    readonly before: UseEntry | null;
    /** An earlier one with the same label. */
    readonly twin: UseEntry | null;
    seen: boolean;
}

/** One call of a function of the program. */
export interface CallEdge {
    readonly callee: FuncInfo;
    readonly node: Call;
    readonly level: number;
    readonly inLambda: boolean;
    readonly args: readonly Origin[];
    /** Place of each argument. */
    readonly ranges: readonly Range[];
}

/** A diagnostic that holds unless the program changes objects in a way that was seen only later. */
export interface Pending {
    readonly diagnostic: Diagnostic;
    /** What is reported where it may be untrue. */
    readonly otherwise?: Diagnostic;
    /** The property that was found missing; null for a kind that was found wrong. */
    readonly property: string | null;
    /** `FROM_FIELD`, `FROM_LIST`, `MAY_GROW`: what could make it untrue. */
    readonly soft: number;
}

/** A `generate` and what was in force at it. */
export interface GenerateSite {
    readonly node: Generate;
    readonly func: FuncInfo;
    readonly uses: UseEntry | null;
    readonly config: Configured;
    /** Moment of the walk; a local is visible from its `start` to its `end`. */
    readonly at: number;
    /** Where its instruction takes data from. */
    readonly data: number;
}

export interface FuncInfo {
    readonly node: Func;
    readonly name: string;
    readonly file: FileScope;
    readonly agent: AgentScope | null;
    state: "new" | "walking" | "done";
    walks: number;
    queued: boolean;
    diagnostics: Diagnostic[];
    pending: Pending[];
    calls: CallEdge[];
    effects: Set<string>;
    generates: GenerateSite[];
    locals: Local[];
    /** Parameters that it changes. */
    mutates: number;
    /** Blocks whose values it reads. */
    blocks: Set<Binding>;
    /** A capability that it puts into what it is passed. */
    stores: Binding | null;
    /** Parameters that its value may share with. */
    returns: number;
    /** Where its value takes data from. */
    data: number;
    result: Type;
    /** Names that it gives to values, with how often; made when first asked for (`ownNames`). */
    own: ReadonlyMap<string, number> | null;
    /** Capabilities that calls pass, by parameter. */
    readonly passed: (Binding | null)[];
    /** Functions that have read what is known of this one. */
    readonly readers: Set<FuncInfo>;
    /** Of these, the ones that read it when nothing was known. */
    readonly blind: Set<FuncInfo>;
}

export interface Local {
    readonly name: string;
    readonly range: Range;
    type: Type;
    /** Depth of `parallel for` where it was made. */
    readonly level: number;
    /** Depth of loops of any kind where it was made. */
    readonly loop: number;
    from: Origin;
    /** Locals that may be the same value, or stand inside one another; itself among them. */
    aliases?: ReadonlySet<Local>;
    readonly ordinal: number;
    readonly shadowed: Local | undefined;
    readonly start: number;
    end: number;
}

/** What is known of the functions of modules, by their imports. */
export type Members = ReadonlyMap<Import, { readonly functions: ReadonlyMap<string, Outside>; readonly open: boolean }>;

/** A function outside the program, with its contracts as the checker reads them. */
export interface Outside {
    readonly signature: Signature;
    readonly params: readonly ContractNode[];
    readonly result: ContractNode;
    /** What an object must hold that stands for the lone argument. */
    readonly named: ContractNode | null;
}

/** What the whole program has in common. */
export interface Checking {
    readonly files: Map<string, FileScope>;
    readonly order: readonly FileScope[];
    /** Name of the file that the program begins in. */
    readonly entry: string;
    readonly queue: FuncInfo[];
    /** Properties that are assigned somewhere. */
    readonly assigned: Set<string>;
    /** A property of unknown name is assigned somewhere. */
    anyAssigned: boolean;
    /** `a[i] = v` stands somewhere. */
    itemsAssigned: boolean;
    /** A value of unknown kind may be put into an object, or into a list, whose contract is known. */
    objectsChange: boolean;
    listsChange: boolean;
    /** Effects that change something outside the program. */
    readonly writes: Set<string>;
    /** It is what an agent answered with. */
    readonly answer: boolean;
    /** What the project says besides; null where it says nothing. */
    readonly project: Project | null;
    /** What a stage may call besides what its file has. */
    readonly verbs: Registry;
    /** Functions of modules whose types are known. */
    readonly members: Members;
    /** Import nodes of local modules that only read. */
    readonly readOnly: ReadonlySet<Import>;
    /** Suggestions of near names that may still be looked for: a text full of errors needs no more. */
    suggestions: number;
    /** Depth of blocks and expressions of all walks under way. */
    depth: number;
}

export type Extra = Pick<Diagnostic, "hint" | "fixes" | "related"> & {
    /** Of this one, where it is sure enough to be more than its code says. */
    readonly severity?: Diagnostic["severity"];
};

/** A name that is nearly one that there is: an error, except in files of AgentScript, which run as they did. */
export function misspelt(file: FileScope, found: Extra): Extra {
    return file.name.endsWith(".as") ? found : { ...found, severity: "error" };
}

/** A hint for a name that was found near another, and the fix that writes it. `text`: what stands at `range` instead. */
export function meant(found: string, range: Range, text: string): Extra {
    return { hint: `did you mean '${found}'?`, fixes: [fix(`write '${text}'`, range, text)] };
}

export function diagnostic(file: FileScope, code: Code, range: Range, message: string, extra?: Extra): Diagnostic {
    const made: { -readonly [K in keyof Diagnostic]: Diagnostic[K] } = {
        code,
        severity: extra?.severity ?? CODES[code].severity,
        message,
        file: file.name,
        range,
    };
    const hint = extra?.hint ?? CODES[code].hint;
    if (hint !== undefined) made.hint = hint;
    if (extra?.fixes !== undefined) made.fixes = extra.fixes;
    if (extra?.related !== undefined) made.related = extra.related;
    return made;
}

/** `property`: which is missing, as far as is known. */
export type Suspicion = Extra & { readonly property?: string };

export type Report = (code: Code, range: Range, message: string, extra?: Extra) => void;

/** Adds to what is found in a file, or in one of its functions. */
export function report(where: FileScope | FuncInfo, ...[code, range, message, extra]: Parameters<Report>): void {
    where.diagnostics.push(diagnostic("file" in where ? where.file : where, code, range, message, extra));
}

export function reporter(where: FileScope | FuncInfo): Report {
    return (...found) => report(where, ...found);
}

/** Something in it could not be read. */
export function isDamaged(file: FileScope, { start, end }: Range): boolean {
    return file.tree.damaged?.some((one) => one.start < end && one.end > start) ?? false;
}

/** Parts of a walk that need one another in a ring; where a walk begins they are given. */
export interface Ring {
    readonly expr: (w: Walk, e: Expr) => Type;
    readonly scoped: (w: Walk, block: Block, caught?: Name) => Type;
    readonly parallel: (w: Walk, e: ParallelFor) => Type;
    /** What a call of a function gives; null where nothing is known yet. */
    readonly summary: (w: Walk, func: FuncInfo) => Type | null;
}

/** Shares with nothing that is made in a function, and has no data. */
export const NOWHERE: Origin = { share: 0, params: 0, data: 0 };

/** The state of one walk over one function. */
export class Walk {
    readonly ring: Ring;
    readonly checking: Checking;
    readonly file: FileScope;
    readonly agent: AgentScope | null;
    readonly func: FuncInfo;
    readonly names = new Map<string, Local>();
    /** Locals in scope, oldest first. */
    readonly visible: Local[] = [];
    /** What earlier walks learnt of locals that loops change, by ordinal. */
    readonly widened: Map<number, Local>;
    /** Something was learnt that earlier statements of a loop should have known. */
    again = false;
    /** Nothing is known of any local: the last resort where walks do not settle. */
    readonly vague: boolean;
    /** Depth of `parallel for`, of loops of any kind, and of loops that `break` leaves. */
    level = 0;
    loop = 0;
    breakable = 0;
    /** Depth of lambdas. */
    lambda = 0;
    /** In a lambda where none belongs: it is the mistake, and what it reaches is no further one. */
    stray = false;
    clock = 0;
    uses: UseEntry | null = null;
    /** Every `use` of the function. */
    readonly declared: UseEntry[] = [];
    config: Configured = UNCONFIGURED;
    /** The `use` whose expression is walked; an identifier in it must be data. */
    using: Use | UseOneOf | null = null;
    /** Locals that `use` reads, whole or in part, to be looked at at the end. */
    readonly used: { readonly local: Local; readonly range: Range; readonly part: boolean }[] = [];
    /** Properties whose absence the function looks for (`x?.name`, `x.has("name")`), and reads that would fail without. */
    readonly guarded = new Set<string>();
    readonly unguarded: { readonly at: Range; readonly name: string; readonly soft: number }[] = [];
    /** Type of the values that `return` gives, and what they share: of the function, or of the iteration of a `parallel for`. */
    returned: Type | null = null;
    returnedFrom: Origin = NOWHERE;
    /** Of the expression walked last. */
    from: Origin = NOWHERE;

    constructor(ring: Ring, checking: Checking, func: FuncInfo, widened: Map<number, Local>, vague: boolean) {
        this.ring = ring;
        this.checking = checking;
        this.func = func;
        this.file = func.file;
        this.agent = func.agent;
        this.widened = widened;
        this.vague = vague;
    }

    readonly report: Report = (...found) => report(this.func, ...found);

    /** In a lambda, which reaches no effect. */
    get pure(): boolean {
        return this.lambda > 0 && !this.stray;
    }

    /** Reports what follows from a type: at once, or where a change of an object elsewhere could make it untrue, when all are known. */
    suspect(code: Code, range: Range, message: string, soft: number, extra?: Suspicion): void {
        const property = extra?.property ?? null;
        const made = diagnostic(this.file, code, range, message, extra);
        if (soft === 0 && property === null) this.func.diagnostics.push(made);
        else this.func.pending.push({ diagnostic: made, property, soft });
    }

    /** The value walked last is new here and shares with nothing. */
    isFresh(data: number): void {
        this.from = { share: this.level, params: 0, data };
    }

    /** Makes a name of the present block. What the value shares is what `from` says. */
    define(name: string, range: Range, type: Type): Local {
        const ordinal = this.func.locals.length;
        const known = this.widened.size === 0 ? undefined : this.widened.get(ordinal);
        const local: Local = {
            name,
            range,
            type: this.vague ? vaguely(type) : known === undefined ? type : join(known.type, type),
            level: this.level,
            loop: this.loop,
            from: known === undefined ? this.from : either(known.from, this.from),
            ordinal,
            shadowed: this.names.get(name),
            start: ++this.clock,
            end: -1,
        };
        this.func.locals.push(local);
        this.names.set(name, local);
        this.visible.push(local);
        return local;
    }

    /** A further value for a local: what is known of it shrinks to what is true of both. */
    widen(local: Local, type: Type): void {
        const joined = this.vague ? vaguely(join(local.type, type)) : join(local.type, type);
        const from = either(local.from, this.from);
        const { share, params, data } = local.from;
        if (joined === local.type && from.share === share && from.params === params && from.data === data) return;
        local.type = joined;
        local.from = from;
        if (this.loop > local.loop) {
            this.again = true;
            this.widened.set(local.ordinal, local);
        }
    }

    /** The end of the function: the moments of its locals are told, and no name is looked for any more (taking each out of a map has its price). */
    end(): void {
        for (let at = this.visible.length - 1; at >= 0; at--) (this.visible[at] as Local).end = ++this.clock;
        this.visible.length = 0;
    }

    /** Forgets the names made since `mark`. */
    leave(mark: number): void {
        while (this.visible.length > mark) {
            const local = this.visible.pop() as Local;
            local.end = ++this.clock;
            if (local.shadowed === undefined) this.names.delete(local.name);
            else this.names.set(local.name, local.shadowed);
        }
    }
}

/** The variable at the root of `a.b[0]`. */
export function localAt(w: Walk, e: Expr): Local | undefined {
    const root = rootOf(e);
    return root.kind === "ident" ? w.names.get(root.name) : undefined;
}

function vaguely(type: Type): Type {
    return type.cap === null ? ANY : join(ANY, type);
}
