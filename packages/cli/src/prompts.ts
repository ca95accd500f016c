/**
 * A line, a secret, a choice or a yes on the terminal, by `@clack/prompts`.
 *
 * Boundary: what is asked is said by the callers; here is how a prompt ends.
 *
 * PMT1: Ctrl-C, Ctrl-D and the end of the input end every prompt: the person gave up. The library itself leaves a choice without an answer then.
 */
const CTRL_D = "\u0004";

/** Questions are shown on standard error and answered on standard input: a person is asked only where both are terminals. */
export function isPersonThere(): boolean {
    // standard input last: looking at it opens it
    return process.stderr.isTTY === true && process.stdin.isTTY === true;
}

interface Around {
    readonly output: NodeJS.WriteStream;
    readonly signal: AbortSignal;
}

/** The person's answer; null where the person gave up. `ask`: one prompt of the library, with what it is given. */
export async function prompted<T>(ask: (clack: typeof import("@clack/prompts"), around: Around) => Promise<T | symbol>): Promise<T | null> {
    const clack = await import("@clack/prompts");
    const over = new AbortController();
    const { stdin } = process;
    const typed = (bytes: string | Buffer): void => {
        if (bytes.includes(CTRL_D)) over.abort();
    };
    const ended = (): void => over.abort();
    stdin.on("data", typed).once("end", ended).once("close", ended);
    try {
        const answer = await ask(clack, { output: process.stderr, signal: over.signal });
        return clack.isCancel(answer) ? null : (answer as T);
    } finally {
        stdin.off("data", typed).off("end", ended).off("close", ended);
    }
}
