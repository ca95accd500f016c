/** `remit answer`: answers a question of a run that waits, from any process; `remit resume` then goes on. */
import { type Ask, AskError, isCarriedElsewhere, openLedger, type RunInfo } from "@remit/host";
import type { Json } from "@remit/language";
import { answerOf, offered } from "../asking.ts";
import { EXIT, paint, plain, plainLine, printJson, say, UsageError } from "../io.ts";

export default async function answer(args: string[], options: Record<string, unknown>): Promise<number> {
    const [run, ask, ...words] = args as [string, string?, ...string[]];
    const by = options["as"] === undefined ? undefined : String(options["as"]);
    if (by !== undefined && !/^\S+$/.test(by)) throw new UsageError(`--as takes who answers, such as user:alice, not '${by}'`);
    const ledger = await openLedger(options["ledger"] as string | undefined);
    try {
        const info = await ledger.run(run);
        const { id } = info;
        if (ask === undefined || words.length === 0) throw incomplete(info, await ledger.asks(id), ask);
        const question = await ledger.store.asks.find(id, ask);
        const decision = answerOf(words.join(" "), question.request.options);
        // Of a record that was changed nothing is an answer, and that is what is said.
        if (decision === null && question.tampered !== true)
            throw new UsageError(`'${words.join(" ")}' is no answer to this question`, `it takes ${question.request.options.join(", ")}`);
        const answered = await ledger.answer(id, question.id, decision ?? "deny", by);
        if (options["json"]) printJson(answered as unknown as Json, true);
        else say(`${paint(process.stderr)("green", "answered")}: ${plain(answered.decision ?? "")}. remit resume ${id} goes on.`);
        return EXIT.ok;
    } catch (error) {
        if (!(error instanceof AskError)) throw error;
        say(`${paint(process.stderr)("red", "not taken")}: ${plain(error.message)}`);
        say(`  ${plain(error.hint)}`);
        return EXIT.failed;
    } finally {
        await ledger.close();
    }
}

/** The question or its answer was not given. `said`: what was, if anything: a question, or an answer. */
function incomplete(run: RunInfo, all: readonly Ask[], said: string | undefined): UsageError {
    const open = all.filter(({ state, tampered }) => state === "open" && tampered !== true);
    if (open.length === 0)
        return new UsageError(`no question of run ${run.id} waits for an answer`, `remit asks ${run.id} --all shows all`);
    const named = said === undefined ? [] : open.filter(({ id, path }) => path === said || id.startsWith(said));
    const shown = named.length === 0 ? open : named;
    const lines = shown.map(({ id, request }) => `\n  ${plainLine(id)}  ${plainLine(request.question)} (${offered(request.options)})`);
    const [first] = shown as [Ask, ...Ask[]];
    const isAnswer = named.length === 0 && said !== undefined && answerOf(said, first.request.options) !== null;
    const missing = named.length === 0 ? "say which question is answered" : "say what the answer is";
    const command = isCarriedElsewhere(run) ? "approve" : "answer";
    return new UsageError(
        `${missing}; run ${run.id} asks:${lines.join("")}`,
        `remit ${command} ${run.id} ${shown.length === 1 ? plainLine(first.id) : "ASK"} ${isAnswer ? plainLine(said) : "ANSWER"}`,
    );
}
