/**
 * What a front end has to know of blocks, as one value: verbs, operators and backends, each with a sentence. `remit verbs` shows it, and the prompt
 * of prose translation is made of it, so that neither knows the language itself.
 *
 * Boundary: made from a registry alone; nothing here is looked up anywhere else.
 */
import type { Contract, Json } from "../contract/contract.ts";
import { showContract, showJson } from "../contract/show.ts";
import type { Registry, Verb, VerbParam } from "./verb.ts";

export interface CatalogueParam {
    readonly name: string;
    readonly contract: string;
    readonly description: string;
    /** It has to be given, or to flow in. */
    readonly required: boolean;
    readonly default?: Json;
    /** What flows into the stage fills it. */
    readonly flows: boolean;
    /** Names that an agent standing here may give its parameters. */
    readonly gives?: readonly string[];
}

export interface CatalogueVerb extends Pick<Verb, "name" | "description" | "effects" | "backends" | "example" | "credential"> {
    /** `save(path: string, input: json) -> json`. */
    readonly signature: string;
    readonly params: readonly CatalogueParam[];
    readonly result: string;
}

export interface Sentence {
    readonly name: string;
    readonly description: string;
}

export interface Catalogue {
    readonly verbs: readonly CatalogueVerb[];
    readonly operators: readonly Sentence[];
    readonly backends: readonly Sentence[];
    readonly modes: readonly Sentence[];
    /** A block as a person would write it. */
    readonly example: string;
}

const OPERATORS: readonly Sentence[] = [
    { name: ">=>", description: "What the stage before it gives flows into the stage behind it." },
    {
        name: "<*>",
        description:
            "Both sides run side by side on the same input, and give the list of their values in this order. It binds less tightly than >=>.",
    },
    { name: "( … )", description: "Groups stages; around <*> so that its list flows on." },
    { name: "as NAME", description: "Behind a block: what later blocks and functions call its value." },
    { name: "with { … }", description: "Behind a stage: timeout, retries, on_error, queue, credential, as, priority, rate, model." },
];
const BACKENDS: readonly Sentence[] = [
    { name: "memory", description: "Runs in this process: at once, for what a person waits for." },
    { name: "temporal", description: "Runs on a Temporal server: durable, for what takes long, waits for people or runs by a schedule." },
];
const MODES: readonly Sentence[] = [
    { name: "static", description: "A plan that is known, checked and shown before anything runs." },
    { name: "dynamic", description: "One node whose code is followed while it runs; its effects are each as durable." },
];

export function catalogueOf(registry: Registry): Catalogue {
    return {
        verbs: [...registry.values()].map(entryOf),
        operators: OPERATORS,
        backends: BACKENDS,
        modes: MODES,
        example: 'memory static ( ( read "a.md" <*> read "b.md" ) >=> merge >=> summarize >=> save "summary.md" ) as summary',
    };
}

function entryOf(verb: Verb): CatalogueVerb {
    const { name, description, params, result, effects, backends, example, credential } = verb;
    return {
        name,
        description,
        signature: `${name}(${params.map(paramText).join(", ")}) -> ${resultText(result)}`,
        params: params.map((param) => ({
            name: param.name,
            contract: showContract(param.contract),
            description: param.description,
            required: param.default === undefined && param.optional !== true,
            ...(param.default === undefined ? {} : { default: param.default }),
            flows: param.flows === true,
            ...(param.gives === undefined ? {} : { gives: param.gives }),
        })),
        result: showContract(result),
        effects,
        backends,
        example,
        ...(credential === undefined ? {} : { credential }),
    };
}

function paramText({ name, contract, takes, duration, default: fallback, optional }: VerbParam): string {
    const what =
        takes === "call" ? "verb or function" : takes === "agent" ? "agent" : takes === "tools" ? "[tools]" : showContract(contract);
    const end = fallback === undefined ? "" : ` = ${showJson(fallback)}`;
    return `${name}${optional === true ? "?" : ""}: ${duration === true ? "time" : what}${end}`;
}

/** The fields of an object by name alone. */
function resultText(contract: Contract): string {
    return contract.type === "object" ? `{ ${contract.fields.map((field) => field.name).join(", ")} }` : showContract(contract);
}
