/**
 * What a workflow of a run begins with: its argument, and what the server lists it by.
 *
 * Boundary: values for Temporal's client. What is in the ledger is read by the caller.
 */
import type { KeptOptions } from "@remit/host";
import type { Client } from "@temporalio/client";
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from "@temporalio/common";
import { ATTRIBUTES, type RunInput } from "../wire/messages.ts";

const KEYS = ATTRIBUTES.map((name) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD));

/** Of which program a run is, and how it was begun. */
export interface Begun {
    readonly file: string;
    /** SHA-256 of the program form. */
    readonly program: string;
    readonly kept: Pick<KeptOptions, "entry" | "asks">;
}

export interface Begin {
    readonly taskQueue: string;
    readonly workflowId: string;
    readonly args: [RunInput];
    readonly memo: { readonly run: string; readonly program: string; readonly hash: string };
    readonly staticSummary: string;
    readonly typedSearchAttributes?: TypedSearchAttributes;
}

export function beginOf({ file, program, kept }: Begun, input: RunInput, taskQueue: string): Begin {
    const entry = kept.entry?.func ?? kept.entry?.agent ?? "main";
    const values = [file, entry, kept.asks?.owner ?? "", "opening"];
    const pairs = KEYS.map((key, i) => ({ key, value: values[i] as string }));
    return {
        ...{ taskQueue, workflowId: input.run, args: [input] },
        memo: { run: input.run, program: file, hash: program },
        staticSummary: `${file} · ${entry}`,
        ...(input.settings.attributes ? { typedSearchAttributes: new TypedSearchAttributes(pairs) } : {}),
    };
}

/** Whether the server knows the search attributes; asked once. */
export function known({ connection, options: { namespace } }: Client): () => Promise<boolean> {
    let asked: Promise<boolean> | null = null;
    const ask = async (): Promise<boolean> => {
        const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
        return ATTRIBUTES.every((name) => customAttributes?.[name] !== undefined);
    };
    return () => {
        // A server that cannot say has none.
        asked ??= ask().catch(() => false);
        return asked;
    };
}
