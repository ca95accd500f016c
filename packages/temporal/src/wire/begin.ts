/**
 * What a workflow of a run begins with: its argument, and what the server lists it by.
 *
 * Boundary: values for Temporal's calls, in the sandbox and outside it. What is in the ledger is read by the caller.
 */
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from "@temporalio/common";
import { ATTRIBUTES, type RunInput } from "./messages.ts";

const KEYS = ATTRIBUTES.map((name) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD));

/** Of which program a run is, and of what in it. */
export interface Begun {
    readonly file: string;
    /** SHA-256 of the program form. */
    readonly program: string;
    /** Name of the function, agent or block, for people. */
    readonly entry: string;
    /** Who answers its questions. */
    readonly owner: string;
}

export interface Begin {
    readonly taskQueue: string;
    readonly workflowId: string;
    readonly args: [RunInput];
    readonly memo: { readonly run: string; readonly program: string; readonly hash: string };
    readonly staticSummary: string;
    readonly typedSearchAttributes?: TypedSearchAttributes;
}

export function beginOf({ file, program, entry, owner }: Begun, input: RunInput, taskQueue: string): Begin {
    const values = [file, entry, owner, "opening"];
    const pairs = KEYS.map((key, i) => ({ key, value: values[i] as string }));
    return {
        ...{ taskQueue, workflowId: input.run, args: [input] },
        memo: { run: input.run, program: file, hash: program },
        staticSummary: `${file} · ${entry}`,
        ...(input.settings.attributes ? { typedSearchAttributes: new TypedSearchAttributes(pairs) } : {}),
    };
}
