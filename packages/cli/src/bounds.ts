/**
 * Options that many commands share: what bounds a run, whose meaning is `running.ts`'s, and where Temporal is, whose meaning is `temporal.ts`'s.
 *
 * Boundary: knows nothing of the host, so that `remit --help` does not load it.
 */
import type { Command } from "commander";

/** Of each run, however many a command begins. */
export function limits(command: Command): Command {
    return command
        .option("--max-tokens <n>", "end with limit.tokens after N tokens, input and output")
        .option("--max-cost <usd>", "end with limit.cost after this many US dollars")
        .option("--max-steps <n>", "end with limit.steps after N steps")
        .option("--max-calls <n>", "end with limit.calls after N effects: model turns, calls of tools and memories")
        .option(
            "--untrusted <ask|never>",
            "gate for untrusted data in calls that do more than read, if no clause of the program is about it",
        )
        .option("--timeout <duration>", "end with limit.time after this long (30s, 5min)");
}

export function bounds(command: Command): Command {
    return limits(command)
        .option("--expires <duration>", "how long a question can be answered (30min, 24h); after that it is a no; default 24h")
        .option("--concurrency <n>", "how many iterations of a parallel for, or nodes of a block, run at once", "4");
}

/** A Temporal server. */
export function server(command: Command): Command {
    return command
        .option("--address <host:port>", "Temporal server (TEMPORAL_ADDRESS, or the profile file)")
        .option("--namespace <name>", "namespace (TEMPORAL_NAMESPACE)")
        .option("--profile <name>", "profile of Temporal's profile file (TEMPORAL_PROFILE)");
}

/** The key with which answers to the questions of runs on Temporal are signed; `more` says what this command does with it. */
export function decisionKey(command: Command, more: string): Command {
    return command.option("--decision-key <file>", `Ed25519 key (PEM): ${more}`);
}

/** A Temporal server, and the workers of one of its queues. */
export function place(command: Command): Command {
    return server(command).option("--queue <name>", "task queue; default: remit");
}
