/**
 * A running RAS program: its process, its socket, its open calls.
 *
 * Boundary: what the process asks for and what it is answered; who answers is the program that runs it (`bridge.ts`).
 *
 * PRO1: a step ends when the program is quiet: it has open calls and none can come without an answer, or it is over.
 * PRO2: whatever speaks to the socket says the run's token first; one program may, and any number of commands of a Bash program.
 * PRO3: ids of calls are ours. What is no frame, an id twice, a call after the end: the connection is ended, of a program the process too.
 * PRO4: what is printed is text and nothing else, kept up to `output` characters.
 * PRO5: time is counted while a step is under way; processes and memory of the whole tree are looked at while it is (Linux).
 * PRO6: nothing is left when it is over: the process and all that came of it are killed, the folder is removed.
 * PRO7: it works in a folder of its own that holds its files and is thrown away (`work.ts`); the files themselves stay as they are.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { isObject, type Json } from "@remit/language";
import { folderBeside } from "../process/sandbox.ts";
import { findCommand } from "../process/command.ts";
import type { Environment } from "../ledger/place.ts";
import { ToolFail } from "../tool/tool.ts";
import { readCommand, readsInput, shownAnswer } from "./command.ts";
import { CALL_KINDS, type CallKind, type Fields, frameReader } from "./frames.ts";
import { type Launched, launch } from "../tool/launch.ts";
import { BASH_CLIENT, bashCommand } from "./runner-bash.ts";
import { NODE_RUNNER } from "./runner-node.ts";
import { PYTHON_RUNNER } from "./runner-python.ts";
import { pythonHere, type RasSource } from "./source.ts";
import { lookAtTree } from "./tree.ts";
import { workFolder } from "./work.ts";

export interface RasLimits {
    /** Milliseconds of the program's own time: not while it waits for answers. */
    readonly time: number;
    /** Bytes in memory of all its processes. */
    readonly memory: number;
    /** Processes at once. */
    readonly processes: number;
    /** Calls of `reason`, `act` and `agent`. */
    readonly calls: number;
    /** Characters of output that are kept. */
    readonly output: number;
}
export const RAS_LIMITS: RasLimits = { time: 600_000, memory: 1024 * 1024 * 1024, processes: 64, calls: 1000, output: 262_144 };

export interface RasCall {
    readonly id: number;
    readonly kind: CallKind;
    readonly args: Fields;
}

export interface RasStep {
    readonly calls: readonly RasCall[];
    readonly done: boolean;
    /** Once it is done: what it printed, what it returned, why it failed. */
    readonly output?: string;
    readonly value?: Json;
    readonly error?: string;
}

export interface RasAnswer {
    readonly id: number;
    readonly value: Json;
    /** The call fails in the program, with these words. */
    readonly error?: string;
}

export interface RasProcess {
    readonly confinement: Launched["confinement"];
    /** Gives the answers to open calls, waits until the program is quiet again. */
    step(answers: readonly RasAnswer[], signal: AbortSignal): Promise<RasStep>;
    end(): Promise<void>;
}

export interface RasOptions {
    readonly inputs: Json;
    readonly limits: RasLimits;
    readonly unconfined: boolean;
    readonly env: Environment;
}

/** Characters of standard error that are kept, its end. */
const MAX_STDERR = 4000;
/** More output than this, in characters, ends the program. */
const MAX_PRINTED = 64 * 1024 * 1024;
/** Between two looks at the processes, milliseconds. */
const LOOK_MS = 8;
/** So many looks at a Bash program must say the same before it counts as quiet. */
const QUIET_LOOKS = 3;
/** Longest variable of an environment that Linux takes, bytes. */
const MAX_VARIABLE = 120_000;

interface Open {
    readonly call: RasCall;
    readonly answer: (answer: RasAnswer) => void;
}

/** Throws `ToolFail` where the program cannot be started at all. */
export async function startRas(source: RasSource, options: RasOptions): Promise<RasProcess> {
    const { limits } = options;
    const folder = mkdtempSync(join(tmpdir(), "remit-ras-"));
    const token = randomBytes(24).toString("base64url");
    const open = new Map<number, Open>();
    let fresh: RasCall[] = [];
    let nextId = 0;
    /** The program itself said that it has nothing left to do. */
    let idle = false;
    let program: Socket | null = null;
    let commands = 0;
    let ended: { readonly value?: Json; readonly error?: string } | null = null;
    /** Why we ended it. */
    let stopped: string | null = null;
    let over = false;
    let changed = (): void => undefined;
    const sockets = new Set<Socket>();

    const stop = (why: string): void => {
        stopped ??= why;
        launched?.kill();
        changed();
    };
    const send = (socket: Socket, frame: Fields): void => {
        if (!socket.destroyed) socket.write(`${JSON.stringify(frame)}\n`);
    };
    const ask = (kind: CallKind, args: Fields, answer: Open["answer"]): void => {
        if (nextId >= limits.calls) {
            stop(`it made more than ${limits.calls} calls`);
            return;
        }
        const call = { id: nextId++, kind, args };
        open.set(call.id, { call, answer });
        fresh.push(call);
        changed();
    };

    function fromProgram(socket: Socket): (frame: Fields) => boolean {
        const ids = new Set<Json>();
        return (frame) => {
            if (ended !== null) return false;
            if (frame.ended === true) {
                ended = {
                    ...(typeof frame.error === "string" ? { error: frame.error.slice(0, MAX_STDERR) } : {}),
                    ...(frame.value === undefined ? {} : { value: frame.value }),
                };
                return true;
            }
            if (!Array.isArray(frame.calls)) return false;
            for (const one of frame.calls) {
                if (!isObject(one) || typeof one.id !== "number" || ids.has(one.id) || !isObject(one.args)) return false;
                const kind = CALL_KINDS.find((name) => name === one.kind);
                if (kind === undefined) return false;
                const { id } = one;
                ids.add(id);
                ask(kind, one.args, ({ value, error }) => send(socket, { answers: [error === undefined ? { id, value } : { id, error }] }));
            }
            idle = true;
            changed();
            return true;
        };
    }

    function fromCommand(socket: Socket, hello: Fields): ((frame: Fields) => boolean) | null {
        const kind = CALL_KINDS.find((name) => name === hello.kind);
        const argv = Array.isArray(hello.argv) ? hello.argv.filter((one) => typeof one === "string") : null;
        if (kind === undefined || argv === null) return null;
        const begin = (input: string): void => {
            const read = readCommand(kind, argv, input);
            if (!read.ok) {
                send(socket, { err: read.message, code: 2 });
                return;
            }
            ask(read.kind, read.args, ({ value, error }) =>
                send(socket, error === undefined ? { ...shownAnswer(read.kind, read.args, value) } : { err: error, code: 1 }),
            );
        };
        if (!readsInput(kind, argv)) {
            begin("");
            return () => false;
        }
        send(socket, { input: true });
        let had = false;
        return (frame) => {
            if (had || typeof frame.input !== "string") return false;
            had = true;
            begin(frame.input);
            return true;
        };
    }

    const server = createServer((socket) => {
        sockets.add(socket);
        let next: ((frame: Fields) => boolean) | null = null;
        let counted = false;
        const hello = (frame: Fields): boolean => {
            if (frame.hello !== token) return false;
            if (frame.as === "command" && source.language === "bash") {
                counted = true;
                commands++;
                next = fromCommand(socket, frame);
                return next !== null;
            }
            if (frame.as !== "program" || program !== null || source.language === "bash") return false;
            program = socket;
            next = fromProgram(socket);
            send(socket, { inputs: options.inputs });
            return true;
        };
        const read = frameReader((frame) => (next ?? hello)(frame));
        socket.on("data", (piece) => {
            if (read(piece as Buffer)) return;
            socket.destroy();
            if (socket === program && ended === null) stop("it spoke to its run in a way that its own runner does not");
        });
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
            sockets.delete(socket);
            if (counted) commands--;
            changed();
        });
    });

    let launched: Launched | null = null;
    const clean = (): void => {
        server.close();
        for (const socket of sockets) socket.destroy();
        rmSync(folder, { recursive: true, force: true });
    };
    const place = join(folder, "s");
    const client = join(folder, "client.mjs");
    try {
        await new Promise<void>((done, failed) => {
            server.once("error", failed);
            server.listen(place, done);
        });
        launched = await begun(source, options, { folder, place, client, token });
    } catch (error) {
        clean();
        throw error;
    }
    const { child } = launched;
    const printed = collector(limits.output, () => stop(`it printed more than ${MAX_PRINTED} characters`));
    let said = "";
    child.stdout.on("data", printed.take);
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
        said = (said + piece).slice(-MAX_STDERR);
    });
    let exit = "";
    const exited = child.over.then(({ code, signal, error }) => {
        exit =
            error !== undefined ? `it could not be started: ${error.message}` : signal === null ? `exit code ${code}` : `signal ${signal}`;
        over = true;
        changed();
    });

    function result(): RasStep {
        const error = stopped ?? ended?.error ?? failureOf();
        return {
            calls: [],
            done: true,
            output: printed.text(),
            ...(ended?.value === undefined ? {} : { value: ended.value }),
            ...(error === null ? {} : { error }),
        };
    }
    function failureOf(): string | null {
        if (source.language === "bash" ? exit === "exit code 0" : ended !== null) return null;
        const tail = said.trim();
        return `it ended with ${exit === "exit code 0" ? "no word to its run" : exit}${tail === "" ? "" : `:\n${tail}`}`;
    }

    let marks = "";
    let same = 0;
    /** Looks at the processes; true where a Bash program is quiet. */
    function look(): boolean {
        const seen = lookAtTree(child.pid ?? 0, client);
        // Without /proc: nothing new for a while is taken for quiet.
        const mark = seen === null ? `${nextId} ${commands}` : `${seen.mark} ${nextId} ${commands} ${printed.size()}`;
        if (seen !== null && seen.processes > limits.processes) stop(`it had more than ${limits.processes} processes`);
        if (seen !== null && seen.memory > limits.memory) stop(`it took more than ${Math.round(limits.memory / 1_048_576)} MiB of memory`);
        // A command that was started and has not yet spoken will.
        const busy = seen !== null && (seen.running || seen.marked > commands);
        same = mark === marks && !busy ? same + 1 : 0;
        marks = mark;
        return same >= QUIET_LOOKS;
    }

    let left = limits.time;
    async function step(answers: readonly RasAnswer[], signal: AbortSignal): Promise<RasStep> {
        idle = false;
        same = 0;
        for (const answer of answers) {
            const one = open.get(answer.id);
            open.delete(answer.id);
            one?.answer(answer);
        }
        const began = Date.now();
        const abort = (): void => stop("it was cancelled");
        if (signal.aborted) abort();
        signal.addEventListener("abort", abort, { once: true });
        const timer = setTimeout(() => stop(`it took longer than ${left} ms of its own time`), left);
        let quiet = false;
        const looking = setInterval(() => {
            quiet = look();
            if (quiet) changed();
        }, LOOK_MS);
        try {
            for (;;) {
                if (over) return result();
                const waits = source.language === "bash" ? quiet : idle;
                if (fresh.length > 0 && stopped === null && ended === null && waits) {
                    const calls = fresh;
                    fresh = [];
                    return { calls, done: false };
                }
                await new Promise<void>((wake) => {
                    changed = wake;
                });
            }
        } finally {
            clearTimeout(timer);
            clearInterval(looking);
            signal.removeEventListener("abort", abort);
            left = Math.max(1, left - (Date.now() - began));
        }
    }

    return {
        confinement: launched.confinement,
        step,
        end: async () => {
            stop("its run is over");
            await exited;
            clean();
        },
    };
}

async function begun(
    source: RasSource,
    options: RasOptions,
    at: { readonly folder: string; readonly place: string; readonly client: string; readonly token: string },
): Promise<Launched> {
    const bin = join(at.folder, "bin");
    const text = JSON.stringify(options.inputs);
    const short = Buffer.byteLength(text) <= MAX_VARIABLE;
    const variables = {
        RIA_EXTENSIONS: "ria.agent",
        REMIT_RAS: at.place,
        REMIT_RAS_TOKEN: at.token,
        ...(short ? { RIFF_PARAMS: text } : {}),
    };
    // The program's folder, with the files it imports; of a home, or of the root, the program alone.
    const seen = folderBeside(source.path, options.env);
    const read = [seen, at.folder];
    // PRO7. Without a sandbox it is where it lies, with all rights.
    const cwd = options.unconfined ? dirname(source.path) : workFolder(seen, join(at.folder, "work"));
    const write = options.unconfined ? [] : [cwd];
    const base = { installed: true, cwd, write, path: [], room: at.folder, unconfined: options.unconfined };
    if (source.language === "python") {
        const python = await pythonHere(options.env);
        const runner = join(at.folder, "runner.py");
        writeFileSync(runner, PYTHON_RUNNER, { mode: 0o600 });
        const args = ["-u", "-B", runner, source.path];
        const env = { ...variables, PYTHONIOENCODING: "utf-8", PYTHONHASHSEED: "0" };
        return launch({ ...base, command: python.path, args, env, read: [...python.places, ...read] }, options.env);
    }
    if (source.language === "typescript") {
        const runner = join(at.folder, "runner.mjs");
        writeFileSync(runner, NODE_RUNNER, { mode: 0o600 });
        const heap = Math.max(64, Math.floor(options.limits.memory / 1_048_576));
        const args = ["--disable-warning=ExperimentalWarning", `--max-old-space-size=${heap}`, runner, source.path];
        return launch({ ...base, command: process.execPath, args, env: variables, read }, options.env);
    }
    mkdirSync(bin, { mode: 0o700 });
    writeFileSync(at.client, BASH_CLIENT, { mode: 0o600 });
    for (const kind of CALL_KINDS) {
        writeFileSync(join(bin, kind), bashCommand(kind, process.execPath, at.client));
        chmodSync(join(bin, kind), 0o700);
    }
    const bash = findCommand("bash", "/", options.env);
    if (bash === null) throw new ToolFail("there is no bash on the PATH", { kind: "unreachable", hint: "install bash" });
    return launch({ ...base, command: bash, args: [source.path], env: variables, path: [bin], read }, options.env);
}

/** Keeps the beginning of what is printed, whole characters. */
function collector(max: number, tooMuch: () => void) {
    const decoder = new StringDecoder("utf8");
    let kept = "";
    let size = 0;
    return {
        take: (piece: Buffer): void => {
            const text = decoder.write(piece);
            if (kept.length < max) kept += text;
            size += text.length;
            if (size > MAX_PRINTED) tooMuch();
        },
        size: () => size,
        text: (): string => {
            if (kept.length <= max) return kept;
            const end = /[\uD800-\uDBFF]/.test(kept[max - 1] ?? "") ? max - 1 : max;
            return `${kept.slice(0, end)}\n… ${size - end} more characters were printed`;
        },
    };
}
