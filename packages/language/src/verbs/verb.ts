/**
 * A verb as data: what a stage of a block may call besides the functions, agents and tools of its file.
 *
 * Boundary: shapes, and a registry that is a value. Nothing registers itself. The checker, the machine, `remit verbs` and the prompt of prose
 * translation all read the same entries.
 *
 * VRB1: a name stands for one verb; a second entry of a name is refused.
 */
import type { Contract, Json } from "../contract/contract.ts";
import type { Backend } from "../form/form.ts";

export interface VerbParam {
    readonly name: string;
    readonly contract: Contract;
    readonly description: string;
    /** Used where nothing is given. */
    readonly default?: Json;
    /** May be left out, and is none then. */
    readonly optional?: true;
    /** What flows into the stage fills it before others, and literals without a name pass over it. Its name is `FLOWING`. */
    readonly flows?: true;
    /** Of a verb of the host: what it is given is not passed on to the function. */
    readonly unused?: true;
    /** The name of a thing stands here, no value: something that is called, an agent or function that stands for a default, a list of tools. */
    readonly takes?: "call" | "agent" | "tools";
    /** Milliseconds, written as a duration: `30s`, `2 min`. */
    readonly duration?: true;
    /** A condition, as `when` reads it. */
    readonly condition?: true;
    /** The least and the greatest number. */
    readonly range?: readonly [least: number, most: number];
    /** What a text says a place in: an address of the web, or a path in the workspace. */
    readonly place?: "address" | "path";
    /** Where an agent stands here: what its main func may ask for by the names of its parameters. */
    readonly gives?: readonly string[];
}

/** The parameter of a verb that takes what flows in. */
export const FLOWING = "input";

export interface Verb {
    readonly name: string;
    /** One sentence. */
    readonly description: string;
    readonly params: readonly VerbParam[];
    readonly result: Contract;
    /** Kinds of effect that it can have, sorted, as a function's. */
    readonly effects: readonly string[];
    readonly backends: readonly Backend[];
    /** A stage as a person would write it. */
    readonly example: string;
    /** What credential it wants, in words. */
    readonly credential?: string;
    /** Remit source: a func of the verb's name with these parameters in this order, and the imports, shapes and functions that it needs. */
    readonly code?: string;
    /** Name of the machine's operation. */
    readonly native?: string;
    /** `verb:NAME`: a function of the host, called by its method `call` with the arguments by name. */
    readonly uri?: string;
}

/** Verbs by name, in the order in which they were given. */
export type Registry = ReadonlyMap<string, Verb>;

export class DuplicateVerb extends Error {
    readonly verb: string;
    constructor(verb: string) {
        super(`two verbs are called '${verb}'; give one of them another name`);
        this.name = "DuplicateVerb";
        this.verb = verb;
    }
}

export function registryOf(...lists: readonly (readonly Verb[])[]): Registry {
    const registry = new Map<string, Verb>();
    for (const verb of lists.flat()) {
        if (registry.has(verb.name)) throw new DuplicateVerb(verb.name);
        registry.set(verb.name, verb);
    }
    return registry;
}
