/**
 * `shell:` and `shell:FOLDER`: commands in the workspace, in the operating system's sandbox.
 *
 * Boundary: one command, its end and what it printed. Which commands may run is the remit's (`in command: "npm test"`).
 *
 * SH2: a command runs in the sandbox, with the folder and nothing else of the user's, without network; `shell:… unconfined` says that it need not.
 * SH3: with `args` nothing is read by a shell: `command` is a program and each item one argument.
 * SH4: at its time, at a cancel and when the run ends, everything that came of a command is killed.
 * SH5: naming a program shows nothing of the disk: what was installed with one is seen only where the search path leads to it, outside the folder.
 * SH6: what it prints is kept up to `MAX_KEPT` characters a stream, its beginning and its end.
 */
import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Json } from "@remit/language";
import { utf8Check } from "../input/bytes.ts";
import { findCommand } from "../process/command.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { launch } from "./launch.ts";
import { toolOf } from "./args.ts";
import { jail } from "./jail.ts";
import { type CallIO, type Open, ToolFail } from "./tool.ts";

const RUN = {
    description: "Runs a command in the workspace and gives its exit code and what it printed.",
    fields: {
        command: { type: "text", description: "what the shell reads; with args, a program", needed: true },
        args: { type: "json", description: "arguments of the program, a list of texts; no shell reads them" },
        cwd: { type: "text", description: "folder, from the tool's own", default: "." },
        timeout: { type: "number", description: "milliseconds", default: 120_000 },
    },
    readOnly: false,
} as const;

/** Characters of each stream that are kept. */
const MAX_KEPT = 65_536;
/** A command that prints more is ended, bytes. */
const MAX_PRINTED = 256 * 1024 * 1024;
const MAX_TIMEOUT = 3_600_000;

export const openShell: Open = (uri, _about, context) => {
    const [, folder = "", word] = /^shell:(?:\/\/(?=[^/\s]|$))?(\S*)(?:\s+(\S+))?\s*$/.exec(uri) ?? [];
    if (word !== undefined && word !== "unconfined")
        throw new ToolFail(`'${word}' is not understood`, { hint: 'write "shell:", "shell:FOLDER" or "shell:FOLDER unconfined"' });
    const inside = jail(context.workspace);
    const root = folder === "" || folder === "workspace" ? inside.root : inside.existing(folder).real;
    const running = new Set<() => void>();
    return {
        ...toolOf({ run: RUN }, async (_, given, io) => {
            const place = jail(root).existing(given.cwd as string);
            if (statSync(place.real).isDirectory() !== true) throw new ToolFail(`'${place.shown}' is not a folder`);
            const command = given.command as string;
            if (command.trim() === "" || command.includes("\0")) throw new ToolFail("'command' must say something");
            const [program, list] = given.args === undefined ? shellOf(command, context.env) : [command, textsOf(given.args)];
            const path = findCommand(program, place.real, context.env);
            if (path === null) throw new ToolFail(`there is no program '${program}'`);
            const room = realpathSync(mkdtempSync(join(tmpdir(), "remit-shell-")));
            try {
                const started = await launch(
                    {
                        command: path,
                        installed: !program.includes("/") && !isInside(root, path),
                        args: list,
                        cwd: place.real,
                        env: {},
                        path: [dirname(process.execPath), dirname(path)],
                        read: [],
                        write: [root],
                        room,
                        unconfined: word === "unconfined",
                    },
                    context.env,
                    context.children,
                );
                running.add(started.kill);
                try {
                    return await ended(started, Math.min(given.timeout as number, MAX_TIMEOUT), io, context.secrets);
                } finally {
                    started.kill();
                    running.delete(started.kill);
                }
            } finally {
                rmSync(room, { recursive: true, force: true, maxRetries: 3 });
            }
        }),
        close: async () => {
            for (const kill of running) kill();
        },
    };
};

function isInside(folder: string, path: string): boolean {
    const from = relative(folder, path);
    return !isAbsolute(from) && from !== ".." && !from.startsWith(`..${sep}`);
}

/** The shell that reads a command: bash where there is one. */
function shellOf(command: string, env: Readonly<Record<string, string | undefined>>): [string, string[]] {
    return findCommand("bash", "/", env) === null ? ["/bin/sh", ["-c", command]] : ["bash", ["-c", command]];
}

function textsOf(value: Json): string[] {
    if (!Array.isArray(value)) throw new ToolFail("'args' must be a list of texts");
    return value.map((one) => {
        if (typeof one !== "string" || one.includes("\0")) throw new ToolFail("'args' must be a list of texts");
        return one;
    });
}

type Started = Awaited<ReturnType<typeof launch>>;

async function ended({ child, kill }: Started, timeout: number, io: CallIO, secrets: Scrubber): Promise<Json> {
    let why: string | null = null;
    const stop = (reason: string): void => {
        why ??= reason;
        kill();
    };
    const told = (text: string): void => {
        if (text !== "") io.emit({ type: "output", delta: text });
    };
    const tooMuch = (): void => stop("it printed too much");
    const out = stream({ tooMuch, told, secrets });
    const err = stream({ tooMuch, told, secrets });
    child.stdout.on("data", out.take);
    child.stderr.on("data", err.take);
    const cancel = (): void => stop("cancelled");
    if (io.signal.aborted) cancel();
    io.signal.addEventListener("abort", cancel, { once: true });
    const timer = setTimeout(() => stop("timeout"), timeout);
    try {
        // What it left in the background ends with it.
        const { code, signal, error } = await child.over;
        if (error !== undefined) throw error;
        out.end();
        err.end();
        if (why === "cancelled") throw new ToolFail("it was cancelled", { kind: "cancelled" });
        if (why === "timeout")
            throw new ToolFail(`it was not done after ${timeout} ms`, {
                kind: "timeout",
                detail: { stdout: out.text(), stderr: err.text() },
            });
        if (why !== null) throw new ToolFail(why);
        return {
            exit_code: code,
            ...(signal === null ? {} : { signal }),
            stdout: out.text(),
            stderr: err.text(),
            truncated: out.cut() || err.cut(),
            ...noteOf({ stdout: out.isText(), stderr: err.isText() }),
        };
    } finally {
        clearTimeout(timer);
        io.signal.removeEventListener("abort", cancel);
    }
}

/** What of its output is no text as it stands. */
function noteOf(texts: { readonly [stream: string]: boolean }): { readonly note?: string } {
    const wrong = Object.entries(texts).flatMap(([name, isText]) => (isText ? [] : [name]));
    return wrong.length === 0 ? {} : { note: `${wrong.join(" and ")} held bytes that are not UTF-8: each stands as U+FFFD` };
}

interface StreamOptions {
    readonly tooMuch: () => void;
    /** Told of all of it as it comes, of a secret in one piece: the pieces of two streams are told one between the other. */
    readonly told: (text: string) => void;
    readonly secrets: Scrubber;
}

/** The beginning and the end of what a stream brought, whole characters. */
function stream({ tooMuch, told, secrets }: StreamOptions) {
    const decoder = new StringDecoder("utf8");
    const check = utf8Check();
    const half = MAX_KEPT / 2;
    let head = "";
    let tail = "";
    let held = "";
    let bytes = 0;
    let left = 0;
    return {
        take: (piece: Buffer): void => {
            bytes += piece.length;
            if (bytes > MAX_PRINTED) tooMuch();
            check(piece);
            let text = decoder.write(piece);
            const at = secrets.hold(held + text);
            told((held + text).slice(0, at));
            held = (held + text).slice(at);
            if (head.length < half) {
                const more = text.slice(0, half - head.length);
                head += more;
                text = text.slice(more.length);
            }
            tail += text;
            if (tail.length > 2 * half) {
                left += tail.length - half;
                tail = tail.slice(-half);
            }
        },
        /** What was held back is told. */
        end: (): void => {
            told(held);
            held = "";
        },
        /** Of the whole. */
        isText: (): boolean => check(),
        cut: () => left > 0 || tail.length > half,
        text: (): string => {
            const over = Math.max(0, tail.length - half);
            if (left + over === 0) return head + tail;
            // CUT1: what goes on in what is left out is no whole secret here.
            const [begins, ends] = [head.slice(0, secrets.hold(head)), secrets.ending(tail, half, left > 0).text.slice(-half)];
            return `${whole(begins)}\n… ${left + over} characters left out …\n${whole(ends)}`;
        },
    };
}

/** Without half a character at either end. */
function whole(text: string): string {
    return text.replace(/^[\uDC00-\uDFFF]/, "").replace(/[\uD800-\uDBFF]$/, "");
}
