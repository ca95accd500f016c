/**
 * How a turn ended where no result of its run says so.
 *
 * Boundary: pure but for looks into the ledger.
 */
import type { Json } from "@remit/language";
import { infoOf, type Ledger, resultElsewhere, type RunInfo, type RunResult } from "@remit/host";
import type { Turn } from "./state.ts";

/** How a turn ends that the process did not end: as its run did, where that is over (TRUN2). Else nothing of the run is lost. */
export async function leftTurn(ledger: Ledger, { status, run = "", isCancelled }: Turn): Promise<Partial<Turn>> {
    if (status === "queued") return { status: "cancelled" };
    const info = await infoOf(ledger.store, run);
    if (info !== null && isOver(info)) return outcomeOf(ledger, await resultElsewhere(ledger.store, run, null), isCancelled === true);
    const hint = `remit resume ${run} goes on with it`;
    return { status: "failed", failure: { kind: "unreachable", message: "the process ended in the middle of the turn", hint } };
}

/** The run has an end. */
export function isOver({ status }: RunInfo): boolean {
    return status === "done" || status === "failed";
}

/** How a run ended, as its turn tells it. `isCancelled`: the turn was. A person who says `stop` at a question cancels the turn. */
export async function outcomeOf(ledger: Ledger, result: RunResult, isCancelled: boolean): Promise<Partial<Turn>> {
    const { run, status, usage, failure } = result;
    if (result.ok) {
        let origins: readonly string[] = [];
        const { events } = await ledger.run(run);
        for await (const event of ledger.events(run, events)) if (event.kind === "run.ended") origins = event.labels;
        return { status: "done", value: result.value ?? null, origins: [...origins], usage: usage as unknown as Json };
    }
    // a run that is cancelled while it asks has put its question aside, and waits: the session's clients hear that it is withdrawn
    const isAside = isCancelled && status === "waiting";
    const aside = { kind: "cancelled", message: "the turn was cancelled while it waited for an answer", hint: undefined };
    const { kind, message, hint } = isAside ? aside : (failure ?? { kind: "error", message: "it failed", hint: undefined });
    return {
        status: status === "stopped" || kind === "cancelled" ? "cancelled" : "failed",
        failure: { kind, message, ...(hint === undefined ? {} : { hint }) },
        usage: usage as unknown as Json,
    };
}

export function failureOf(error: unknown): { readonly kind?: string; readonly message: string; readonly hint?: string } {
    if (error !== null && typeof error === "object" && "failure" in error)
        return error.failure as { readonly kind: string; readonly message: string; readonly hint?: string };
    return { message: error instanceof Error ? error.message : String(error) };
}

/** SSN4. */
export function endsRevoked(client: string): Partial<Turn> {
    const hint = "pair the client anew, and submit it again";
    const message = `the client ${client}, which submitted the turn, was revoked before it began`;
    return { status: "cancelled", failure: { kind: "cancelled", message, hint } };
}

export function isStuck(message: string): NonNullable<Turn["failure"]> {
    return { kind: "stuck", message: `the turn got nowhere: ${message}`, hint: "say more, lend another tool, or take another model" };
}
