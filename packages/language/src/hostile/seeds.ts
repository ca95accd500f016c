/**
 * Which data is taken for hostile: what methods of tools give, memories, files, agents, the input of the run.
 *
 * Boundary: names in, facts out. A name that the program does not have is an error, with the names that it has.
 */
import { nearest } from "../diagnostics/nearest.ts";
import type { ProjectPolicy } from "../authority/project.ts";
import { isOutside, toolSchema, unknownIn } from "../authority/schemas.ts";
import { methodName, resourceOf } from "../authority/thing.ts";
import type { Thing } from "../authority/tables.ts";
import type { ImportForm, Program } from "../form/form.ts";
import { type Facts, factOf, NO_FACTS, union } from "./facts.ts";
import type { Scope } from "./scope.ts";

/** What is taken for hostile that the program does not have. */
export interface UnknownSeed {
    readonly name: string;
    readonly message: string;
    readonly hint: string;
}

/**
 * Whose words a tool's description is that a model reads. `said`: the tool's own, and the prompt then certainly carries the tool's origin; `pinned`: what
 * `remit.lock` has, or the tool's own where it says something else by now; `caller`: those of the code that brings the tool. Undefined: that is not known.
 */
export type Descriptions = (tool: Pick<ImportForm, "name" | "uri">, file: string) => "said" | "pinned" | "caller" | undefined;

interface Seed {
    readonly key: string;
    /** Null: every method. */
    readonly method: string | null;
}

const INPUT = "input";
const KINDS = new Set(["tool", "memory", "agent"]);

export class Seeds {
    private readonly files = new Set<string>();
    private readonly things: Seed[] = [];
    private isInput = false;

    private readonly policy: ProjectPolicy;
    private readonly program: Program;
    private readonly descriptions: Descriptions;

    constructor(scope: Scope, policy: ProjectPolicy, names: readonly string[], descriptions: Descriptions) {
        const { program } = scope;
        this.policy = policy;
        this.program = program;
        this.descriptions = descriptions;
        for (const name of names) {
            if (name === INPUT) this.isInput = true;
            const dot = name.indexOf(".");
            const [of, method] = dot < 0 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)];
            if (program.files.some(({ imports }) => imports.some((one) => one.what === "file" && one.name === name))) this.files.add(name);
            program.files.forEach((_, file) => {
                const thing = scope.tables.thing(file, of);
                if (thing === undefined || !KINDS.has(thing.what)) return;
                this.things.push({ key: thing.key, method: method === null ? null : methodName(thing.import?.uri ?? "", method) });
            });
        }
    }

    private has({ key }: Pick<Thing, "key">, method: string | null): boolean {
        return this.things.some((one) => one.key === key && (one.method === null || method === null || one.method === method));
    }

    /** What a method gives; null: any method. */
    ofUse(thing: Thing, method: string | null): Facts {
        if (!this.has(thing, method)) return NO_FACTS;
        const kind = thing.what === "memory" ? "memory" : thing.what === "agent" ? "agent" : "tool";
        const from = method === null ? thing.name : `${thing.name}.${method}`;
        return factOf({ must: [`${kind}:${thing.name}`], from, entered: null });
    }

    /** What a tool says of itself, as an import of this file: the runtime's own words of its tools are none. */
    private describes({ import: form, what }: Thing, file: number): ReturnType<Descriptions> {
        if (what !== "tool" || form === null || resourceOf(form.uri) !== null) return "caller";
        return this.descriptions(form, this.program.files[file]?.file ?? "");
    }

    /** Where a tool as a whole is hostile, so is what it says of itself: no lock keeps it from saying something else, in a run that is not frozen. */
    ofDescription(thing: Thing, file: number): Facts {
        const isHostile = this.things.some(({ key, method }) => key === thing.key && method === null);
        return isHostile && this.describes(thing, file) !== "caller" ? this.ofUse(thing, null) : NO_FACTS;
    }

    /** Whether a prompt that shows what a tool says of itself certainly carries its origin. */
    saysItself(thing: Thing, file: number): boolean {
        return this.describes(thing, file) === "said";
    }

    /** What of a tool is hostile as a whole, or by some of its methods. */
    ofThing(thing: Thing): Facts {
        return this.things
            .filter(({ key }) => key === thing.key)
            .reduce((all, { method }) => union(all, this.ofUse(thing, method)), NO_FACTS);
    }

    ofFile(name: string, origin: string): Facts | null {
        return this.files.has(name) ? factOf({ must: [origin], from: name, entered: null }) : null;
    }

    /** The machine takes the input for the word of the user, where the project does not say otherwise. */
    ofInput(): Facts {
        if (!this.isInput) return NO_FACTS;
        return factOf({ must: [this.policy.input === "unlabelled" ? "unlabelled" : "user"], from: INPUT, entered: null });
    }
}

/** Names that a program gives data under: `Inbox`, `Notes`, `input`. */
function givers({ files }: Program): string[] {
    const names = files.flatMap(({ imports }) => imports.filter(({ what }) => what !== "llm" && what !== "skill").map(({ name }) => name));
    return [...new Set([INPUT, ...names])];
}

export function unknownSeeds(program: Program, names: readonly string[]): UnknownSeed[] {
    const known = givers(program);
    return names.flatMap((name): UnknownSeed[] => {
        const dot = name.indexOf(".");
        const [of, method] = dot < 0 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)];
        const imported = program.files.flatMap(({ imports }) => imports.filter((one) => one.name === of));
        if (!known.includes(of) || (method !== null && imports(imported))) {
            const near = nearest(of, known);
            const hint = near === null || near === of ? `it has ${known.join(", ")}` : `did you mean ${near}?`;
            return [{ name, message: `the program has no data called '${name}'`, hint }];
        }
        if (method === null) return [];
        for (const { what, uri } of imported) {
            const schema = what === "agent" && !isOutside(uri) ? null : toolSchema(what, uri);
            const wrong = schema === null ? null : unknownIn(schema, uri, method, null);
            if (wrong === null) return [];
            const near = nearest(method, wrong.known);
            const hint = near === null ? `it has ${wrong.known.join(", ")}` : `did you mean ${of}.${near}?`;
            return [{ name, message: `${of} has no method '${method}'`, hint }];
        }
        return [];
    });
}

/** Whether no import of a name has methods. */
function imports(found: readonly { readonly what: string }[]): boolean {
    return found.every(({ what }) => what === "file");
}
