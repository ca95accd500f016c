/**
 * The plan of a block: its nodes, what each waits for, and what the block gives (PROTOCOLS 5).
 *
 * Boundary: the shape. Lowering makes it, `validate.ts` checks it, the operation `plan` runs it, people look at it.
 */
import type { Site } from "@remit/language";
import { CREDENTIAL } from "../effect/stage.ts";
import { count, flag, from1, is, json, list, matching, number, one, orNull, ref, says, shape, type Told, text } from "../shape/build.ts";

export const PLAN_VERSION = 1;

/** How long ids, names and texts of a plan may be, code units. */
export const MAX_NODES = 20_000;

const ARG = shape({ value: says(json, "a literal, or {ref: NAME} for a thing of the program") }, { name: text });

/** What a stage says with `with { … }`. Times in milliseconds. */
const OPTIONS = {
    timeout: says(from1, "milliseconds"),
    retries: says(count, "further tries after a failure that may pass"),
    on_error: one(["fail", "collect", "none"]),
    queue: text,
    credential: CREDENTIAL,
    as: says(text, "identity on whose behalf"),
    priority: number,
    rate: says(number, "starts a second"),
    model: text,
};

export const PLAN_NODE = shape(
    {
        id: says(matching("^[^/#]+#[0-9]+$"), "name of the call and its number among those of that name in the block"),
        call: text,
        args: list(ARG),
        requires: says(list(text), "ids of the nodes that it waits for, in the order of the source"),
        join: says(one(["none", "list", "spread"]), "how what they gave is passed: one value, one list, or one by one"),
        site: orNull(ref<Site>("Site")),
    },
    {
        ...OPTIONS,
        branch: says(list(count), "branches around it: number of the fan-out and of the branch, outermost first"),
        gate: says(is(true), "it ends its branch unless its condition holds"),
        plan: says(ref<Plan>("Plan"), "of a nested block"),
    },
);
export type PlanNode = Told<typeof PLAN_NODE>;

export const PLAN = shape(
    {
        version: is(PLAN_VERSION),
        source: shape({ file: text, sha256: says(text, "of the program form") }, {}),
        backend: one(["memory", "temporal"]),
        mode: one(["static", "dynamic"]),
        nodes: list(ref<PlanNode>("PlanNode")),
        results: says(list(text), "ids of the nodes whose values the block gives"),
        several: says(flag, "it gives the list of them, also where there is one"),
    },
    { name: says(text, "under which its value is known in the file") },
);
export type Plan = {
    readonly version: typeof PLAN_VERSION;
    readonly source: { readonly file: string; readonly sha256: string };
    readonly backend: "memory" | "temporal";
    readonly mode: "static" | "dynamic";
    readonly nodes: readonly PlanNode[];
    readonly results: readonly string[];
    readonly several: boolean;
    readonly name?: string;
};

export const PLAN_SHAPES = { Plan: PLAN, PlanNode: PLAN_NODE };
