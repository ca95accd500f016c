/** `remit resume`: goes on with a run that was interrupted, stopped, or waits for an answer. */
import { isOwnedElsewhere, LedgerError, openLedger, readJson, RemitError, type ResumeRunOptions, type UnknownAnswer } from "@remit/host";
import type { Json } from "@remit/language";
import { dollars, milliseconds, whole } from "../amounts.ts";
import { plainLine, UsageError } from "../io.ts";
import { blocksThere } from "../temporal.ts";
import { finish, handlers, hostOptions, parks, watched } from "../running.ts";

type Options = Record<string, unknown>;

/** What is said of a run that goes on, wherever that is. */
export type Said = Pick<ResumeRunOptions, "acceptForeign" | "retry" | "raise" | "answers" | "became">;

export default async function resume(args: string[], options: Options): Promise<number> {
    const { on } = options;
    const said: Said = {
        acceptForeign: options["acceptForeign"] === true,
        ...(options["retry"] === true ? { retry: true } : {}),
        raise: ((options["raise"] as string[] | undefined) ?? []).map(raiseOf),
        ...answersOf((options["answer"] as string[] | undefined) ?? []),
    };
    if (on === "temporal") return toldApart(async () => (await import("./handover.ts")).there(args[0] as string, options, said));
    if (on !== undefined && on !== "memory") throw new UsageError(`--on takes memory or temporal, not '${plainLine(String(on))}'`);
    const ledger = await openLedger(options["ledger"] as string | undefined);
    const watch = watched(options);
    const there = blocksThere(options);
    try {
        const info = await ledger.run(args[0] as string);
        watch.root = info.root || process.cwd();
        sameIdentity(options, await ledger.store.options(info.id));
        const isThere = isOwnedElsewhere(info);
        if (isThere && on === undefined)
            throw new UsageError(`run ${info.id} goes on on Temporal`, `remit resume ${info.id} --on memory takes it over`);
        const signal = watch.begins();
        return await toldApart(async () => {
            const from = isThere
                ? { from: await (await import("./handover.ts")).back(info, options, { signal, ledger: ledger.store }) }
                : {};
            await watch.progress.before?.(ledger.events(info.id));
            const handle = await ledger.resume<Json>(info.id, {
                ...hostOptions(options),
                ...said,
                ...from,
                blocks: there.blocks,
                queues: there.queues,
                ...(parks(options) ? { park: true } : {}),
                signal,
                on: handlers(options, watch, info.id),
            });
            return finish(handle, watch, { ...options, root: watch.root });
        });
    } finally {
        watch.end();
        await there.end();
        await ledger.close();
    }
}

async function toldApart(work: () => Promise<number>): Promise<number> {
    try {
        return await work();
    } catch (error) {
        if (error instanceof LedgerError && error.code === "finished") {
            throw new UsageError(error.message, "remit trace shows it, remit replay repeats it");
        }
        // What was said does not fit the run, which stays as it was.
        if (error instanceof RemitError && error.kind === "value") throw new UsageError(error.failure.message, error.hint);
        throw error;
    }
}

/** A run stays on whose behalf it was begun: another identity would act with what the first one's run had seen. */
function sameIdentity({ as }: Options, kept: Json): void {
    const begun = (kept as { readonly as?: string }).as;
    if (as === undefined || begun === undefined || as === begun) return;
    throw new UsageError(
        `this run is on behalf of ${plainLine(begun)}, not of ${plainLine(String(as))}`,
        "leave --as out, or begin another run",
    );
}

const BOUNDS = { tokens: whole, steps: whole, calls: whole, turns: whole, bytes: whole, depth: whole, memory: whole };
const METERS = { ...BOUNDS, usd: dollars, time: milliseconds } as const;

/** `[ACCOUNT:]METER=AMOUNT`; without an account it is the run's own. */
function raiseOf(pair: string): { account: string; meter: keyof typeof METERS; amount: number } {
    const [, account = "run", meter = "", amount = ""] = /^(?:(.+):)?([a-z]+)=(.+)$/.exec(pair) ?? [];
    if (!Object.hasOwn(METERS, meter))
        throw new UsageError(
            `--raise takes [ACCOUNT:]METER=AMOUNT, not '${pair}'`,
            `the meters are ${Object.keys(METERS).join(", ")}; for example --raise tokens=200k, or --raise main/spend#0:usd=2`,
        );
    const read = METERS[meter as keyof typeof METERS];
    return { account, meter: meter as keyof typeof METERS, amount: read(amount, "--raise") };
}

/** `PATH=done:JSON`, `PATH=again`, `PATH=give-up` for an unknown outcome; `PATH=VALUE` for everything else. */
export function answersOf(pairs: readonly string[]): Required<Pick<ResumeRunOptions, "answers" | "became">> {
    const answers: [string, Json][] = [];
    const became: [string, UnknownAnswer][] = [];
    for (const pair of pairs) {
        const at = pair.indexOf("=");
        if (at <= 0)
            throw new UsageError(`--answer takes PATH=ANSWER, not '${pair}'`, "the paths are in what `remit resume RUN` says it waits for");
        const path = pair.slice(0, at);
        const text = pair.slice(at + 1);
        if (text === "again") became.push([path, { answer: "again" }]);
        else if (text === "give-up") became.push([path, { answer: "give up" }]);
        else if (text.startsWith("done:")) became.push([path, { answer: "done", value: jsonOr(text.slice(5), true) }]);
        else answers.push([path, jsonOr(text, false)]);
    }
    return { answers: Object.fromEntries(answers), became: Object.fromEntries(became) };
}

function jsonOr(text: string, strict: boolean): Json {
    const read = readJson(text);
    if (read.ok) return read.value;
    if (strict) throw new UsageError(`the value after done: ${read.message}`, read.hint ?? `for example done:{"ok":true}`);
    return text;
}
