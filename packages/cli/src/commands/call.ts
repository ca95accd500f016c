/**
 * `remit reason`, `remit act` and `remit agent`, and the installed commands of these names: one call of the language's built-ins from a shell.
 *
 * Standard output gets the envelope on one line and nothing else. Exit code 0 for data or a result, 1 for an error, 2 for a wrong command line.
 */
import { here } from "../here.ts";
import { agentGiven, type CallKind, callProgram, readCommand, readsInput, shownAnswer, talkToRun } from "@remit/host";
import { isObject, type Json } from "@remit/language";
import { EXIT, plain, print, say } from "../io.ts";
import { loadOptions, watched } from "../running.ts";
import { decoded } from "../text.ts";
import { toolOptions } from "./ras.ts";

/** `rest`: the arguments of the command itself, options of the run taken out. */
export async function call(kind: CallKind, rest: readonly string[], options: Record<string, unknown>): Promise<number> {
    const input = async (): Promise<string> => decoded(await new Response(process.stdin as never).arrayBuffer(), "standard input");
    const told = await talkToRun(kind, rest, input, here().env);
    if (told !== null) {
        if (told.err !== undefined) say(plain(told.err));
        if (told.out !== undefined) print(told.out);
        return told.code;
    }
    const read = readCommand(kind, rest, readsInput(kind, rest) ? await input() : "");
    if (!read.ok) {
        say(plain(read.message));
        return EXIT.usage;
    }
    // A command in a pipeline says nothing but its answer; the ledger has the rest.
    const watch = watched({ ...options, quiet: options["verbose"] !== true });
    try {
        const given = kind === "agent" ? agentGiven(read.args) : read.args;
        if (typeof given === "string") {
            print(JSON.stringify({ error: given }));
            return EXIT.failed;
        }
        const program = await callProgram(kind, { ...loadOptions(options, watch), ...toolOptions(options) });
        watch.root = program.root;
        try {
            const result = await program.run(given, { signal: watch.begins() }).result;
            if (!result.ok) {
                const message = result.failure?.message ?? "the run failed";
                const answer: Json = kind === "act" ? { content: [{ type: "text", text: message }], isError: true } : { error: message };
                print(shownAnswer(kind, read.args, answer).out);
                return result.status === "waiting" ? EXIT.waiting : EXIT.failed;
            }
            const { value = null } = result;
            // What a program would be told by an exception, a shell is told by the exit code.
            const answer: Json = isObject(value) && typeof value.failed === "string" && kind === "agent" ? { error: value.failed } : value;
            const shown = shownAnswer(kind, read.args, answer);
            print(shown.out);
            return shown.code;
        } finally {
            await program.close();
        }
    } finally {
        watch.end();
    }
}
