/**
 * Verbs of the program that embeds Remit: a plugin is a function and its entry in the registry, and nothing registers itself.
 *
 * Boundary: from plugins to the registry that the checker knows and the functions that the host calls. How a stage is checked is the language's.
 *
 * VPL1: an entry that says too little or is at odds with itself is refused where the registry is made, not in the middle of a run.
 * VPL2: a program form that names a verb of another registry fails as unreachable, at its call: it never calls something else of that name.
 */
import { FLOWING, isName, NATIVE_VERBS, type Registry, registryOf, type Verb, type VerbParam } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import type { HostFunction, HostMethod, HostTool } from "../tool/functions.ts";

/** What a verb says of itself; the rest of its entry follows. */
export interface VerbEntry
    extends Pick<Verb, "name" | "description" | "params" | "result">,
        Partial<Pick<Verb, "backends" | "example" | "credential">> {}

export interface VerbPlugin extends Pick<HostMethod, "readOnly" | "repeatable"> {
    readonly entry: VerbEntry;
    /** Gets the arguments by name as one object, and what a tool's function gets besides. Gives JSON, or a promise of it. */
    readonly call: HostFunction;
}

/** Remit's own verbs and those of plugins, with the functions of the latter by their URIs. */
export interface VerbRegistry {
    readonly verbs: Registry;
    readonly functions: { readonly [uri: string]: HostTool };
}

/** A verb that wants nothing of what flows in, and has all that it needs, lets it pass by: it fills no parameter with a default. */
const PASSED_BY: VerbParam = {
    name: FLOWING,
    contract: { type: "json" },
    description: "what flows in; it is not looked at",
    optional: true,
    flows: true,
    unused: true,
};

/** Throws `DuplicateVerb` where two verbs have one name, `RemitError` where an entry cannot be a verb (VPL1). */
export function verbRegistry(plugins: readonly VerbPlugin[]): VerbRegistry {
    const functions: { [uri: string]: HostTool } = {};
    const verbs = plugins.map(({ entry, call, ...more }): Verb => {
        checkEntry(entry);
        const uri = `verb:${entry.name}`;
        functions[uri] = { call: { call, description: entry.description, ...more } };
        const params = entry.params.some((param) => param.flows === true) ? entry.params : [...entry.params, PASSED_BY];
        return {
            backends: ["memory", "temporal"],
            example: entry.name,
            ...entry,
            params,
            effects: [`tool:${toolOf(entry.name)}.call`],
            uri,
        };
    });
    return { verbs: registryOf([...NATIVE_VERBS.values()], verbs), functions };
}

/** As what the code of a verb imports its function. */
export function toolOf(verb: string): string {
    return `Verb_${verb}`;
}

function checkEntry({ name, description, params, backends }: VerbEntry): void {
    const wrong = (message: string, hint: string): never => {
        throw new RemitError({ kind: "value", message: `the verb '${name}' ${message}`, hint });
    };
    if (!isName(name)) wrong("has a name that no program can write", "use letters, digits and _");
    if (description.trim() === "") wrong("has no description", "say in a sentence what it does: people and models read it");
    if (backends?.length === 0) wrong("runs nowhere", 'name "memory", "temporal" or both as its backends');
    const seen = new Set<string>();
    let optional: string | null = null;
    for (const param of params) {
        if (!isName(param.name)) wrong(`has a parameter '${param.name}' that no program can write`, "use letters, digits and _");
        if (seen.has(param.name)) wrong(`has two parameters called '${param.name}'`, "give one of them another name");
        if ((param.flows === true) !== (param.name === FLOWING))
            wrong(
                `has the parameter '${param.name}' for what flows in`,
                `a parameter that says flows: true is called ${FLOWING}, and no other`,
            );
        if (param.takes !== undefined)
            wrong(`takes a thing of the program as '${param.name}'`, "a function of the host takes values alone");
        const isOptional = param.default !== undefined || param.optional === true;
        if (!isOptional && optional !== null)
            wrong(`needs '${param.name}' behind '${optional}', which may be left out`, "put it before that one");
        if (isOptional) optional = param.name;
        seen.add(param.name);
    }
}
