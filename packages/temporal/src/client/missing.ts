/**
 * A credential that a block on Temporal lacks, as the run around it sees it.
 *
 * Boundary: looks at the workflow's questions, and lets its worker look again. What the run around it does meanwhile is the host's.
 *
 * TMC1: going on with the run around it is the answer: the first look after that lets the worker look again, once; what is missing then is missing.
 */
import { setTimeout as after } from "node:timers/promises";
import type { BlockElsewhere, Later } from "@remit/host";
import type { Question } from "../wire/messages.ts";
import type { RemitClient } from "./client.ts";

/** Between two looks, milliseconds. */
const LOOK_MS = 1_000;

export interface Looking {
    /** The block was begun before: the user who goes on says that its credential is there. */
    readonly again: boolean;
    readonly by: string | undefined;
    readonly until: AbortSignal;
}

/** What is missing, as soon as something is; null once the block is over, or stopped. */
export async function missing(client: RemitClient, { request: { run } }: BlockElsewhere, looking: Looking): Promise<Later | null> {
    const { again, by, until } = looking;
    const retried = new Set<string>();
    while (!until.aborted) {
        await after(LOOK_MS, undefined, { signal: until }).catch(() => undefined);
        for (const question of until.aborted ? [] : await questionsOf(client, run)) {
            if (question.kind !== "credential") continue;
            if (!again || retried.has(question.id)) return { later: true, why: whyOf(question) };
            retried.add(question.id);
            await client.answer(run, { question: question.id, by: by ?? question.owner, decision: "once" });
        }
    }
    return null;
}

function whyOf({ request }: Question): NonNullable<Later["why"]> {
    const { question, hint } = request as { readonly question: string; readonly hint: string };
    return { message: question, hint };
}

async function questionsOf(client: RemitClient, run: string): Promise<readonly Question[]> {
    try {
        return (await client.status(run)).questions;
    } catch {
        // No worker answers now, or the workflow has ended: its result says more.
        return [];
    }
}
