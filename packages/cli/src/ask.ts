/**
 * Questions on the terminal: missing input and approvals. Only where both standard input and standard error are terminals; no person there
 * means no (an `ask`) or a failure (an `input`).
 */
import type { AskRequest, InputRequest } from "@remit/machine";
import { answerOf, askText, offered } from "./asking.ts";
import { paint, plain, plainLine, say } from "./io.ts";
import type { Progress } from "./progress.ts";
import { prompted } from "./prompts.ts";

// Handed on for those who load this file when they need it: loading a whole package by `import()` would put all of it into every bundle.
export { askField } from "@remit/host";

/** One question at a time, in the order they came. */
let queue: Promise<unknown> = Promise.resolve();
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const next = queue.then(work, work);
    queue = next.catch(() => undefined);
    return next;
}

/** Asks for one line of a missing field; `again` says what was wrong with the line before. Null where the person gave up (Ctrl-C, Ctrl-D). */
export function askInput(
    request: InputRequest,
    about: { readonly expected: string; readonly again?: string },
    progress: Progress,
): Promise<string | null> {
    return oneAtATime(async () => {
        progress.pause();
        const what = request.description ? `${plain(request.name)} (${plain(request.description)})` : plain(request.name);
        const message = about.again === undefined ? what : `${plain(about.again)}\n${what}`;
        // a line that is left empty is undefined
        return prompted<string>(async ({ text }, around) => (await text({ message, placeholder: plain(about.expected), ...around })) ?? "");
    });
}

/** What is typed before a question can have been read answers no question, milliseconds. */
const HEED_MS = 150;

/**
 * Asks about a call. Ctrl-D is deny; Ctrl-C is no answer: it stops what asks, which ends the question by the signal, and without a `stop` it is deny.
 * Null where the signal ended the question, because the run was stopped or another process answered. Only a word or a key of the list is an answer:
 * whatever else is typed, Enter alone too, is asked again.
 */
export function askChoice(
    request: AskRequest,
    progress: Progress,
    about: { readonly root: string; readonly signal: AbortSignal; readonly stop?: () => void },
): Promise<string | null> {
    return oneAtATime(async () => {
        if (about.signal.aborted) return null;
        const { createInterface } = await import("node:readline");
        const colour = paint(process.stderr);
        const show = (full: boolean): void => {
            const width = process.stderr.columns || 80;
            say(`\n${askText(request, { paint: colour, root: about.root, full, more: "v shows all", width })}`);
        };
        progress.pause();
        show(false);
        await drained();
        /** The cursor stands behind the prompt: what is said next needs a line of its own. */
        let isOpen = true;
        const endLine = (): void => {
            if (isOpen) say("");
            isOpen = false;
        };
        const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true, historySize: 0 });
        try {
            return await new Promise<string | null>((resolve) => {
                lines.setPrompt(promptOf(request.options, process.stderr.columns || 80));
                lines.on("SIGINT", () => {
                    if (about.stop === undefined) return resolve("deny");
                    endLine();
                    about.stop();
                });
                lines.on("close", () => resolve("deny"));
                about.signal.addEventListener("abort", () => resolve(null), { once: true });
                lines.on("line", (line) => {
                    const said = answerOf(line, request.options);
                    isOpen = false;
                    if (said !== null) {
                        resolve(said);
                        return;
                    }
                    const typed = line.trim();
                    if (["v", "view", "view all"].includes(typed.toLowerCase())) show(true);
                    else if (typed !== "") say(`${plainLine(typed)} is no answer to this; the answers are:`);
                    else say("Enter alone is no answer; the answers are:");
                    isOpen = true;
                    lines.prompt();
                });
                lines.prompt();
            });
        } finally {
            lines.close();
            endLine();
        }
    });
}

/** The answers that may be typed, broken between two of them where the terminal is too narrow. */
export function promptOf(options: readonly string[], width: number): string {
    const lines: string[] = [];
    for (const one of `${offered(options)} · v view all >`.split(" · ")) {
        const last = lines.at(-1);
        if (last === undefined || last.length + 3 + one.length >= width - 1) lines.push(one);
        else lines[lines.length - 1] = `${last} · ${one}`;
    }
    return `${lines.join("\n")} `;
}

/** Lets go of what was typed already: the second press of a key must not answer the next question. */
export async function drained(): Promise<void> {
    const ignore = (): void => undefined;
    process.stdin.on("data", ignore);
    process.stdin.resume();
    await new Promise((resolve) => setTimeout(resolve, HEED_MS));
    process.stdin.off("data", ignore);
    process.stdin.pause();
}
