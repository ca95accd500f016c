/**
 * Questions on the terminal: missing input and approvals. Only where both standard input and standard error are terminals; nobody there
 * means no (an `ask`) or a failure (an `input`).
 */
import type { Json } from "@remit/language";
import type { AskRequest, InputRequest } from "@remit/machine";
import { plain, plainLine } from "./io.ts";
import type { Progress } from "./progress.ts";

// Handed on for those who load this file when they need it: loading a whole package by `import()` would put all of it into every bundle.
export { askField } from "@remit/host";

export function somebodyThere(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

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
        const { isCancel, text } = await import("@clack/prompts");
        progress.pause();
        const what = request.description ? `${plain(request.name)} (${plain(request.description)})` : plain(request.name);
        const message = about.again === undefined ? what : `${plain(about.again)}\n${what}`;
        const answer = await text({ message, placeholder: plain(about.expected), output: process.stderr });
        return isCancel(answer) ? null : (answer ?? "");
    });
}

/** Asks to choose one of the options. Null where the person gave up. */
export function askChoice(request: AskRequest, progress: Progress): Promise<string | null> {
    return oneAtATime(async () => {
        const { isCancel, note, select } = await import("@clack/prompts");
        progress.pause();
        if (request.detail !== null) note(plain(shown(request.detail)), "What is asked", { output: process.stderr });
        const answer = await select({
            message: plain(request.question),
            options: request.options.map((value) => ({ value, label: plainLine(value) })),
            output: process.stderr,
        });
        return isCancel(answer) ? null : answer;
    });
}

function shown(detail: Json): string {
    const text = typeof detail === "string" ? detail : JSON.stringify(detail, null, 2);
    return text.length > 4000 ? `${text.slice(0, 4000)}\n… (${text.length - 4000} more characters)` : text;
}
