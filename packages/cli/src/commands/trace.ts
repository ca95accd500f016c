/** `remit trace`: what a run did, for people and for other tools; `remit trace verify` checks the chain. */
import { here, secretsNow } from "../here.ts";
import { exported, isCarriedElsewhere, type LedgerStore, sendSpans, shownStore } from "@remit/host";
import { VERSION } from "../version.ts";
import type { LedgerEvent } from "@remit/machine";
import { isOfRun, otlp, traceText, watching } from "@remit/machine";
import { counted, EXIT, fitting, paint, plain, plainLine, print, printLines, safeJson, say, UsageError } from "../io.ts";
import { openForReading, openRun } from "../ledger.ts";

export default async function trace(args: string[], options: Record<string, unknown>): Promise<number> {
    if (args[0] === "verify") return verify(args[1], options);
    if (args.length > 1) throw new UsageError(`remit trace takes one run, not ${args.length}`);
    if (options["output"] !== undefined && !options["atif"]) throw new UsageError("--output is for --atif");
    if (options["follow"]) return follow(args[0] as string, options);
    const { store, run } = await openRun(args[0] as string, options);
    try {
        if (options["ndjson"]) {
            for await (const event of exported(store, run.id, { secrets: secretsNow() })) await write(`${safeJson(event)}\n`);
            return EXIT.ok;
        }
        const events = await Array.fromAsync(shownStore(store, secretsNow()).events(run.id));
        if (options["atif"]) return (await import("../trajectory.ts")).writeRun(events, options["output"] as string | undefined);
        if (options["otel"] !== undefined) return await otel(events, options);
        printLines(traceText(events, { full: options["full"] === true, paint: paint(process.stdout) as never }));
        return EXIT.ok;
    } finally {
        await store.close();
    }
}

/** Writes and waits where the reader is slower. */
function write(text: string): Promise<void> | void {
    if (!process.stdout.write(text)) return new Promise((done) => process.stdout.once("drain", () => done()));
}

const ANCHORED = { yes: "anchored", behind: "the last events are not anchored yet", no: "nothing is recorded yet" };
const BOUND = {
    yes: "",
    foreign: "; recorded under another key, so whether its options and its saved state were changed cannot be told",
    no: "; recorded under no key, so whether its options and its saved state were changed cannot be told",
};

async function verify(id: string | undefined, options: Record<string, unknown>): Promise<number> {
    const store = await openForReading(options);
    if (store === null) {
        say("No ledger yet, so nothing to verify.");
        return EXIT.ok;
    }
    try {
        const colour = paint(process.stdout);
        let sound = true;
        const unsound = (run: string, why: string): void => {
            sound = false;
            printLines(`${plain(run)}: ${colour("red", "NOT SOUND")}: ${plain(why)}`);
        };
        const runs =
            id === undefined
                ? (await store.runs(Number.MAX_SAFE_INTEGER, (one) => unsound(one.id, one.error.message))).map((run) => run.id)
                : [(await store.run(id)).id];
        for (const run of runs) {
            const { ok, events, anchored, bound, problem } = await store.verify(run);
            if (ok && anchored === "no" && events > 0)
                unsound(run, `this file has no anchor for the run, so whether its last events were cut off cannot be told${BOUND[bound]}`);
            else if (ok)
                printLines(`${run}: ${colour("green", "sound")}, ${counted(events, "event")}, ${ANCHORED[anchored]}${BOUND[bound]}`);
            else if (problem === undefined) unsound(run, "the chain does not hold");
            else unsound(run, problem.what === "row" ? problem.message : `${problem.what} ${problem.seq}: ${problem.message}`);
        }
        if (id === undefined) for (const run of await store.dropped()) unsound(run, "it was recorded, and is not in the ledger any more");
        return sound ? EXIT.ok : EXIT.failed;
    } finally {
        await store.close();
    }
}

/** Milliseconds between two looks. */
const PAUSE = 150;
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, PAUSE));

/** To the run's end; like `tail -f` it waits for what is not there yet: for a first run where `last` is asked for, and for the answer to a question. */
async function follow(id: string, options: Record<string, unknown>): Promise<number> {
    let stopped = false;
    // The launcher of an older Node passes a Ctrl-C on as SIGTERM.
    for (const signal of ["SIGINT", "SIGTERM"] as const)
        process.once(signal, () => {
            stopped = true;
        });
    const isStopped = (): boolean => stopped;
    if (id === "last" && !(await hasRun(options))) {
        say("No run yet: waits for the first one.");
        while (!(await hasRun(options))) {
            await pause();
            if (stopped) return EXIT.cancelled;
        }
    }
    const { store, run } = await openRun(id, options);
    try {
        return await followed(store, run.id, options, isStopped);
    } finally {
        await store.close();
    }
}

async function hasRun(options: Record<string, unknown>): Promise<boolean> {
    const store = await openForReading(options);
    if (store === null) return false;
    try {
        return (await store.runs(1)).length > 0;
    } finally {
        await store.close();
    }
}

async function followed(store: LedgerStore, id: string, options: Record<string, unknown>, isStopped: () => boolean): Promise<number> {
    const secrets = secretsNow();
    let next = 1;
    let told = false;
    const depth = (path: string): string => "  ".repeat(Math.max(0, path.split("/").length - 1));
    const watched = watching();
    for (;;) {
        for await (const event of exported(store, id, { from: next, secrets })) {
            next = event.seq + 1;
            if (options["ndjson"]) await write(`${safeJson(event)}\n`);
            else
                for (const line of watched(event))
                    await write(
                        `${fitting(`${plainLine(event.time.slice(11, 23))} ${depth(event.path)}${plainLine(line)}`, process.stdout)}\n`,
                    );
        }
        const run = await store.run(id);
        if (isStopped()) return EXIT.cancelled;
        // An execution elsewhere goes on while it waits for a person.
        const asks = isCarriedElsewhere(run) ? (await store.asks.open()).find((one) => isOfRun(one.run, run.id))?.run : undefined;
        const waits = run.status === "waiting" || asks !== undefined;
        if (!waits && (run.status === "done" || run.status === "failed" || !run.live)) {
            say(`${run.id}: ${run.status === "running" ? "interrupted" : run.status}`);
            return EXIT.ok;
        }
        if (waits && !told) say(`${run.id} waits for an answer: remit asks ${asks ?? run.id}`);
        told = waits;
        await pause();
    }
}

async function otel(events: LedgerEvent[], options: Record<string, unknown>): Promise<number> {
    const content = options["content"] === true;
    if (options["otel"] === true) {
        print(safeJson(otlp(events, { content, version: VERSION })));
        return EXIT.ok;
    }
    const sent = await sendSpans(events, { env: here().env, endpoint: String(options["otel"]) }, { content });
    if (!sent.ok) throw new UsageError(plain(sent.message), "name an OTLP/HTTP endpoint, usually on port 4318");
    say(`Sent ${counted(sent.spans, "span")} to ${plain(sent.url)}.`);
    return EXIT.ok;
}
