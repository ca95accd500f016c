/**
 * The state of a running `generate`: plain JSON, made from a set-up by rendering everything in it.
 *
 * Boundary: the only file of the coroutine that sees values; after `prepare` there are texts and origins.
 */
import type { Contract, Json } from "@remit/language";
import type { Runtime } from "../builtin/builtin.ts";
import type { Message, Reach } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";
import type { Value } from "../value/value.ts";
import { type Fit, type FitItem, startFit } from "./budget.ts";
import { type Instruction, instructionOf, type Rejection } from "./feedback.ts";
import { fileOf, type FilePart, itemsOfPictures } from "./image.ts";
import type { Hidden } from "./hidden.ts";
import type { Offer, ToolInput } from "./offers.ts";
import { bodyOf, originsOf, renderValue, sizeOf } from "./render.ts";
import type { GenerateOptions, GenerateSetup, ItemInput } from "./setup.ts";

/** A call of the model on its way: to be asked about, to be made, or with its result. */
export interface Call extends Reach {
    readonly id: string;
    readonly name: string;
    readonly args: Json;
    readonly stage: "ask" | "call" | "read" | "done";
    readonly result?: Json;
    /** Pictures of the result. */
    readonly files?: readonly FilePart[];
    /** What is asked about. */
    readonly detail?: Json;
    /** Origins of what references filled into arguments, by argument. */
    readonly carried?: { readonly [arg: string]: readonly string[] };
    /** State of a reader's own `generate`. */
    readonly inner?: Json;
}

export interface State {
    readonly phase: "describe" | "count" | "turn" | "calls";
    readonly label: string;
    readonly agent: string;
    readonly model: { readonly name: string; readonly uri: string };
    readonly modelFile?: string;
    readonly identity: { readonly role: string; readonly description: string };
    readonly options: GenerateOptions;
    readonly contract?: Contract;
    readonly shapes: { readonly [name: string]: Contract };
    readonly scope?: readonly string[];
    readonly instruction: Instruction;
    /** Origins of data in the instruction: more than the program's own text. */
    readonly instructionOrigins: readonly string[];
    readonly fit: Fit;
    /** Counts made so far. */
    readonly counts: number;
    readonly tokenizer?: string;
    readonly tools: readonly ToolInput[];
    readonly offers: readonly Offer[];
    readonly messages: readonly Message[];
    /** How many of `messages` were in the last turn's event already. */
    readonly carried: number;
    readonly attempt: number;
    readonly turn: number;
    /** How often the model was told in a row that it called no tool; 0 where absent. */
    readonly nudged?: number;
    /** A tool call was made or answered in this generate. */
    readonly called: boolean;
    readonly calls: readonly Call[];
    /** What references stand for; absent where nothing is hidden. */
    readonly hidden?: readonly Hidden[];
    readonly errors: readonly string[];
    readonly rejection: Rejection | null;
    /** Sorted origins of everything the model has seen or budgets left out of what it was to see, and of what it said. */
    readonly origins: readonly string[];
    readonly usage: Usage;
}

/** What every `generate` begins with. */
export const BEGUN = {
    phase: "turn",
    counts: 0,
    offers: [],
    messages: [],
    carried: 0,
    attempt: 0,
    turn: 0,
    called: false,
    calls: [],
    errors: [],
    rejection: null,
    usage: {},
} as const satisfies Partial<State>;

/** Renders a set-up. Throws `Fail` for a capability, a cycle, or a picture that is none. */
export function prepare(setup: GenerateSetup, rt: Runtime): State {
    const role = renderValue(setup.identity.role, rt);
    const description = renderValue(setup.identity.description, rt);
    const instruction = bodyOf(setup.instruction, rt);
    const instructionOrigins = originsOf(instruction);
    const given = setup.items.flatMap((item) => itemsOfPictures(item, rt));
    const shown = given.filter((item) => item.variant?.empty !== true);
    const items = given.map((item) => itemOf(item, shown.indexOf(item), rt));
    const { contract, scope, contextMax } = setup;
    return {
        ...BEGUN,
        label: setup.label,
        agent: setup.agent,
        model: { name: setup.model.name, uri: setup.model.uri },
        ...(setup.modelFile === undefined ? {} : { modelFile: setup.modelFile }),
        identity: { role: role.text, description: description.text },
        options: setup.options,
        ...(contract === undefined ? {} : { contract }),
        shapes: setup.shapes,
        ...(scope === undefined ? {} : { scope }),
        instruction: instructionOf(instruction),
        instructionOrigins,
        fit: startFit(items, contextMax),
        tools: setup.tools ?? [],
        ...(setup.options.hide === undefined ? {} : { hidden: [] }),
        // Of what budgets leave out, too: how long an item is, its author says, and so whether it and those behind it are shown.
        origins: originsUnion(
            rt.labels.origins(role.labels),
            rt.labels.origins(description.labels),
            instructionOrigins,
            ...items.map(({ body }) => originsOf(body)),
        ),
    };
}

function itemOf(item: ItemInput, index: number, rt: Runtime): FitItem {
    const empty = item.variant?.empty === true;
    const value: Value = empty ? null : item.value;
    const image = item.image === true && !empty ? fileOf(value, rt) : null;
    const body = image === null ? bodyOf(empty ? "" : value, rt) : image.body;
    const size = sizeOf(body);
    return {
        index,
        heading: item.label ?? String(index),
        source: item.source,
        label: item.label,
        priority: item.priority ?? 0,
        ...(item.budget === undefined ? {} : { budget: item.budget }),
        body,
        ...(image === null ? {} : { file: image.file }),
        clipped: false,
        original_size: size,
        clipped_size: size,
        strategy: "whole",
        shown: !empty,
        ...(item.site === undefined || item.site === null ? {} : { site: item.site }),
        ...(item.variant === undefined ? {} : { variant: { ...item.variant, available: [...item.variant.available] } }),
    };
}

/** Sorted, each once. */
export function originsUnion(...sets: readonly (readonly string[])[]): string[] {
    return [...new Set(sets.flat())].sort();
}
