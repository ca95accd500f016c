/**
 * A credential that a command prints: `op read op://vault/item/field`.
 *
 * Boundary: starts one command and reads one line of it. Whether it may be started is `sources.ts`.
 *
 * CEX1: the command gets no shell, no input, `EXEC_MS` and `MAX_OUTPUT` bytes; it ends with its group, whatever comes first.
 * CEX2: nothing that it wrote is ever shown: not its output, which is the secret, and not its error output, which may quote it.
 */
import { findCommand } from "../process/command.ts";
import type { Children } from "../process/child.ts";
import type { Environment } from "../ledger/place.ts";
import { CredentialError } from "./source.ts";

/** Longest time a command may take, milliseconds: a password manager may ask for a finger. */
const EXEC_MS = 60_000;
/** Most that it may print, bytes. */
export const MAX_OUTPUT = 64 * 1024;

export interface Exec {
    readonly env: Environment;
    readonly children: Children;
    /** Where it runs, and where a relative path of a program begins. */
    readonly folder: string;
    readonly ms?: number;
}

export type Printed = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly message: string };

/** What the command printed, without the line break at its end. Throws `CredentialError` where it cannot be started. */
export async function printed(line: string, { env, children, folder, ms = EXEC_MS }: Exec): Promise<Printed> {
    const words = wordsOf(line);
    const [command = "", ...args] = words ?? [];
    if (words === null || command === "")
        throw new CredentialError(
            "denied",
            `'${line}' is no command`,
            'write exec("op read op://vault/item"): words, and quotes around spaces',
        );
    const path = findCommand(command, folder, env);
    if (path === null) throw new CredentialError("denied", `there is no command '${command}'`, "install it, or put its folder on the PATH");
    const all = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
    const child = children.start({ command: path, args, env: all, cwd: folder }, "ignore");
    const chunks: Buffer[] = [];
    let size = 0;
    let why = "";
    const stop = (reason: string): void => {
        if (why === "") why = reason;
        child.signal("SIGKILL");
    };
    child.stdout.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_OUTPUT) stop(`printed more than ${MAX_OUTPUT} bytes`);
        else chunks.push(chunk);
    });
    // CEX2. It is read, so that a full pipe holds nothing up.
    child.stderr.resume();
    const timer = setTimeout(() => stop(`gave nothing in ${Math.round(ms / 1000)} s`), ms);
    try {
        const { code, error } = await child.over;
        if (error !== undefined)
            throw new CredentialError(
                "denied",
                `the command '${command}' cannot be started (${error.code ?? "unknown"})`,
                "look at its path",
            );
        if (why !== "") return { ok: false, message: `the command '${command}' ${why}` };
        if (code !== 0) return { ok: false, message: `the command '${command}' ended with code ${code}` };
        const value = Buffer.concat(chunks)
            .toString("utf8")
            .replace(/\r?\n$/, "");
        return value === "" ? { ok: false, message: `the command '${command}' printed nothing` } : { ok: true, value };
    } finally {
        clearTimeout(timer);
    }
}

/** Words between spaces; single and double quotes keep them together, and nothing else means anything. Null where a quote has no end. */
export function wordsOf(line: string): string[] | null {
    const words: string[] = [];
    let rest = line.trimStart();
    while (rest !== "") {
        let word = "";
        while (rest !== "" && !/^\s/.test(rest)) {
            const [whole, single, double, plain] = /^(?:'([^']*)'|"([^"]*)"|([^\s'"]+))/.exec(rest) ?? [];
            if (whole === undefined) return null;
            word += single ?? double ?? plain ?? "";
            rest = rest.slice(whole.length);
        }
        words.push(word);
        rest = rest.trimStart();
    }
    return words;
}
