/** A client of the runs on a Temporal server, for one command. */
import { setTimeout as after } from "node:timers/promises";
import { openStore, RemitError } from "@remit/host";
import type { Answer, Asked, Question, RemitClient } from "@remit/temporal";
import { showFailure } from "./failure.ts";
import { here, ledgerHere } from "./here.ts";
import { EXIT, plain, plainLine, printJson, say } from "./io.ts";
import { queue, settings, signer, temporal } from "./temporal.ts";

type Options = Record<string, unknown>;

/** A person waits: a server that has gone is told after about two seconds. One that is very busy has as long as for its first answer. */
const CALLS = { tries: 5, ms: 10_000 };

/**
 * With a client of the ledger that is named; both are closed. `before`: what the ledger alone can tell, before a Temporal server is looked for; where it
 * gives something, none is.
 */
export async function asking<T>(
    options: Options,
    ask: (client: RemitClient, store: Awaited<ReturnType<typeof openStore>>) => Promise<T>,
    before: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T | null> = async () => null,
): Promise<T> {
    const { connect, placeOf, remitClient } = await temporal();
    const { env } = here();
    const place = placeOf(settings(options));
    const store = await openStore(ledgerHere(options), { env });
    try {
        const known = await before(store);
        if (known !== null) return known;
        const connection = await connect(place, { slow: (told) => say(plainLine(told)), calls: CALLS });
        try {
            return await ask(
                remitClient({ connection, store, namespace: place.namespace, env, ...queue(options), ...signer(options) }),
                store,
            );
        } finally {
            await connection.close();
        }
    } finally {
        await store.close();
    }
}

/** A question of a run there, and how it is answered. */
export function shownQuestion({ id, kind, request, options }: Question, run: string): string {
    const { question, hint } = request as { readonly question?: string; readonly hint?: string };
    const takes = options === undefined ? "" : ` (${options.join(", ")})`;
    return plain(
        `  ${kind} ${plainLine(id)}: ${plainLine(question ?? "")}${hint === undefined ? "" : `\n    ${plainLine(hint)}, then`}\n    remit approve ${run} ${plainLine(id)} ANSWER${plainLine(takes)}`,
    );
}

/** Rejects with `RemitError` where it is not taken. */
export async function answer(client: RemitClient, { run, question }: Asked, answer: Omit<Answer, "question">): Promise<void> {
    const { refusalOf } = await temporal();
    try {
        await client.answer(run, { question: question.id, ...answer }, question);
    } catch (error) {
        const message = refusalOf(error);
        if (message === null) throw error;
        const isUnsigned = !client.signs && question.nonce !== undefined;
        const hint = isUnsigned
            ? "sign it with --decision-key FILE"
            : `remit status ${run} shows what is asked now; remit asks ${run}, of whom`;
        throw new RemitError({ kind: "denied", message, hint });
    }
}

/** Between two looks for questions of a run that is waited for, milliseconds. */
const LOOK_MS = 1_000;

/** Tells of each question of a run once, while it is waited for: another command answers it. */
async function tellQuestions(client: RemitClient, run: string, until: AbortSignal): Promise<void> {
    const told = new Set<string>();
    while (!until.aborted) {
        await after(LOOK_MS, undefined, { signal: until }).catch(() => undefined);
        if (until.aborted) return;
        // Where the run cannot be asked now its result says more.
        for (const { run: of, question } of await client.client.withAbortSignal(until, () => client.questions(run)).catch(() => [])) {
            if (told.has(question.id)) continue;
            told.add(question.id);
            say(`run ${of} waits for an answer:\n${shownQuestion(question, of)}`);
        }
    }
}

export async function resultOf(client: RemitClient, run: string, options: Options): Promise<number> {
    const over = new AbortController();
    const telling = tellQuestions(client, run, over.signal);
    try {
        printJson(await client.result(run), options["json"] === true);
        return EXIT.ok;
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        showFailure(error.failure, { run, json: options["json"] === true });
        return error.kind === "cancelled" ? EXIT.cancelled : EXIT.failed;
    } finally {
        over.abort();
        await telling;
    }
}
