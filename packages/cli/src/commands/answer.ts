/** `remit answer`: answers a question of a run that waits, from any process; `remit resume` then goes on. */
import { AskError, openLedger } from "@remit/host";
import type { Json } from "@remit/language";
import { answerOf } from "../asking.ts";
import { EXIT, paint, plain, printJson, say, UsageError } from "../io.ts";

export default async function answer(args: string[], options: Record<string, unknown>): Promise<number> {
    const [run, ask, ...words] = args as [string, string, ...string[]];
    const by = options["as"] === undefined ? undefined : String(options["as"]);
    if (by !== undefined && !/^\S+$/.test(by)) throw new UsageError(`--as takes who answers, such as user:alice, not '${by}'`);
    const ledger = await openLedger(options["ledger"] as string | undefined);
    try {
        const { id } = await ledger.run(run);
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
