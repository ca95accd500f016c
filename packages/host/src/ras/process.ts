/**
 * A running RAS program: its process, its limits, its open calls.
 *
 * Boundary: what the process asks for and what it is answered; who answers is the program that runs it (`bridge.ts`), how they speak is `talk.ts`.
 *
 * PRO1: a step ends when the program is quiet: it has open calls and none can come without an answer, or it is over.
 * PRO4: what is printed is text and nothing else, kept up to `output` characters.
 * PRO5: time is counted while a step is under way; processes and memory of the whole tree are looked at while it is (Linux).
 * PRO6: nothing is left when it is over: the process and all that came of it are killed, the folder is removed.
 * PRO7: it works in a folder of its own that holds its files and is thrown away (`work.ts`); the files themselves stay as they are.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Json } from "@remit/language";
import { folderBeside } from "../process/sandbox.ts";
import type { Children } from "../process/child.ts";
import { findCommand } from "../process/command.ts";
import type { Environment } from "../ledger/place.ts";
import { Head, Tail } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { ToolFail } from "../tool/tool.ts";
import { CALL_KINDS, type CallKind, type Fields } from "./frames.ts";
import { type Launched, launch } from "../tool/launch.ts";
import { BASH_CLIENT, bashCommand } from "./runner-bash.ts";
import { NODE_RUNNER } from "./runner-node.ts";
import { PYTHON_RUNNER } from "./runner-python.ts";
import { pythonHere, type RasSource } from "./source.ts";
import { type Listener, type Said, Talk } from "./talk.ts";
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

export interface RasAnswer extends Said {
    readonly id: number;
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
    /** Absolute folders whose files it may read: those of the project that its tools name. */
    readonly folders?: readonly string[];
    readonly env: Environment;
    readonly children: Children;
    /** Takes known secrets out of what it prints and says, before it is cut. */
    readonly secrets: Scrubber;
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

/** Throws `ToolFail` where the program cannot be started at all. */
export async function startRas(source: RasSource, options: RasOptions): Promise<RasProcess> {
    const folder = mkdtempSync(join(tmpdir(), "remit-ras-"));
    const made = new Running(source, options, folder);
    try {
        await made.start();
        return made;
    } catch (error) {
        made.clean();
        throw error;
    }
}

class Running implements RasProcess, Listener {
    private readonly source: RasSource;
    private readonly options: RasOptions;
    private readonly folder: string;
    private readonly client: string;
    private readonly token = randomBytes(24).toString("base64url");
    private readonly talk: Talk;
    private readonly printed: Collector;
    private launched: Launched | null = null;
    private readonly open = new Map<number, (said: Said) => void>();
    private fresh: RasCall[] = [];
    private nextId = 0;
    /** Why we ended it. */
    private stopped: string | null = null;
    private readonly said = new Tail(MAX_STDERR);
    /** How the process ended, once it has. */
    private exit: string | null = null;
    private exited: Promise<void> = Promise.resolve();
    private wake = (): void => undefined;
    private left: number;
    /** What the last look at the processes saw, and how many looks saw the same. */
    private mark = "";
    private same = 0;

    constructor(source: RasSource, options: RasOptions, folder: string) {
        this.source = source;
        this.options = options;
        this.folder = folder;
        this.client = join(folder, "client.mjs");
        this.left = options.limits.time;
        this.talk = new Talk({ token: this.token, language: source.language, inputs: options.inputs, secrets: options.secrets }, this);
        this.printed = new Collector(options.limits.output);
    }

    async start(): Promise<void> {
        const { source, options, folder, client, token } = this;
        const place = join(folder, "s");
        await this.talk.listen(place);
        this.launched = await begun(source, options, { folder, place, client, token });
        const { child } = this.launched;
        child.stdout.on("data", (piece: Buffer) => {
            if (!this.printed.take(piece)) this.stop(`it printed more than ${MAX_PRINTED} characters`);
        });
        child.stderr.setEncoding("utf8").on("data", (piece: string) => {
            this.said.take(piece);
        });
        this.exited = child.over.then(({ code, signal, error }) => {
            const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
            this.exit = error === undefined ? how : `it could not be started: ${error.message}`;
            this.changed();
        });
    }

    get confinement(): Launched["confinement"] {
        return (this.launched as Launched).confinement;
    }

    called(kind: CallKind, args: Fields, answer: (said: Said) => void): void {
        const { calls } = this.options.limits;
        if (this.nextId >= calls) {
            this.stop(`it made more than ${calls} calls`);
            return;
        }
        const call = { id: this.nextId++, kind, args };
        this.open.set(call.id, answer);
        this.fresh.push(call);
        this.changed();
    }

    changed(): void {
        this.wake();
    }

    broken(): void {
        this.stop("it spoke to its run in a way that its own runner does not");
    }

    async step(answers: readonly RasAnswer[], signal: AbortSignal): Promise<RasStep> {
        this.talk.idle = false;
        this.same = 0;
        for (const { id, ...said } of answers) {
            const answer = this.open.get(id);
            this.open.delete(id);
            answer?.(said);
        }
        const began = Date.now();
        const cancel = (): void => this.stop("it was cancelled");
        if (signal.aborted) cancel();
        else signal.addEventListener("abort", cancel, { once: true });
        using _timer = setTimeout(() => this.stop(`it took longer than ${this.left} ms of its own time`), this.left);
        using _looking = setInterval(() => {
            if (this.look()) this.changed();
        }, LOOK_MS);
        try {
            for (;;) {
                if (this.exit !== null) return this.result(this.exit);
                const waits = this.source.language === "bash" ? this.same >= QUIET_LOOKS : this.talk.idle;
                if (this.fresh.length > 0 && this.stopped === null && this.talk.ended === null && waits)
                    return { calls: this.fresh.splice(0), done: false };
                await new Promise<void>((wake) => {
                    this.wake = wake;
                });
            }
        } finally {
            signal.removeEventListener("abort", cancel);
            this.left = Math.max(1, this.left - (Date.now() - began));
        }
    }

    async end(): Promise<void> {
        this.stop("its run is over");
        await this.exited;
        this.clean();
    }

    clean(): void {
        this.talk.close();
        rmSync(this.folder, { recursive: true, force: true });
    }

    private stop(why: string): void {
        this.stopped ??= why;
        this.launched?.kill();
        this.changed();
    }

    /** Looks at the processes; true where a Bash program is quiet. */
    private look(): boolean {
        const { limits } = this.options;
        const commands = this.talk.commands.size;
        const seen = lookAtTree(this.launched?.child.pid ?? 0, this.client);
        // Without /proc: nothing new for a while is taken for quiet.
        const mark = seen === null ? `${this.nextId} ${commands}` : `${seen.mark} ${this.nextId} ${commands} ${this.printed.size}`;
        if (seen !== null && seen.processes > limits.processes) this.stop(`it had more than ${limits.processes} processes`);
        if (seen !== null && seen.memory > limits.memory)
            this.stop(`it took more than ${Math.round(limits.memory / 1_048_576)} MiB of memory`);
        // A command that was started and has not yet spoken will.
        const busy = seen !== null && (seen.running || seen.marked > commands);
        this.same = mark === this.mark && !busy ? this.same + 1 : 0;
        this.mark = mark;
        return this.same >= QUIET_LOOKS;
    }

    private result(exit: string): RasStep {
        const { ended } = this.talk;
        const error = this.stopped ?? ended?.error ?? this.failureOf(exit);
        return {
            calls: [],
            done: true,
            output: this.printed.text(this.options.secrets),
            ...(ended?.value === undefined ? {} : { value: ended.value }),
            ...(error === null ? {} : { error }),
        };
    }

    private failureOf(exit: string): string | null {
        if (this.source.language === "bash" ? exit === "exit code 0" : this.talk.ended !== null) return null;
        const tail = this.said.text(this.options.secrets).trim();
        return `it ended with ${exit === "exit code 0" ? "no word to its run" : exit}${tail === "" ? "" : `:\n${tail}`}`;
    }
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
    const read = [seen, at.folder, ...(options.folders ?? [])];
    // PRO7. Without a sandbox it is where it lies, with all rights.
    const cwd = options.unconfined ? dirname(source.path) : workFolder([seen, ...(options.folders ?? [])], join(at.folder, "work"));
    const write = options.unconfined ? [] : [cwd];
    const base = { installed: true, cwd, write, path: [], room: at.folder, unconfined: options.unconfined };
    if (source.language === "python") {
        const python = await pythonHere(options.env);
        const runner = join(at.folder, "runner.py");
        writeFileSync(runner, PYTHON_RUNNER, { mode: 0o600 });
        const args = ["-u", "-B", runner, source.path];
        const env = { ...variables, PYTHONIOENCODING: "utf-8", PYTHONHASHSEED: "0" };
        return launch({ ...base, command: python.path, args, env, read: [...python.places, ...read] }, options.env, options.children);
    }
    if (source.language === "typescript") {
        const runner = join(at.folder, "runner.mjs");
        writeFileSync(runner, NODE_RUNNER, { mode: 0o600 });
        const heap = Math.max(64, Math.floor(options.limits.memory / 1_048_576));
        const args = ["--disable-warning=ExperimentalWarning", `--max-old-space-size=${heap}`, runner, source.path];
        return launch({ ...base, command: process.execPath, args, env: variables, read }, options.env, options.children);
    }
    mkdirSync(bin, { mode: 0o700 });
    writeFileSync(at.client, BASH_CLIENT, { mode: 0o600 });
    for (const kind of CALL_KINDS) {
        writeFileSync(join(bin, kind), bashCommand(kind, process.execPath, at.client));
        chmodSync(join(bin, kind), 0o700);
    }
    const bash = findCommand("bash", "/", options.env);
    if (bash === null) throw new ToolFail("there is no bash on the PATH", { kind: "unreachable", hint: "install bash" });
    return launch({ ...base, command: bash, args: [source.path], env: variables, path: [bin], read }, options.env, options.children);
}

/** Keeps the beginning of what is printed, whole characters. */
class Collector {
    private readonly decoder = new StringDecoder("utf8");
    private readonly head: Head;

    constructor(max: number) {
        this.head = new Head(max);
    }

    get size(): number {
        return this.head.size;
    }

    /** False where it is too much. */
    take(piece: Buffer): boolean {
        this.head.take(this.decoder.write(piece));
        return this.size <= MAX_PRINTED;
    }

    text(secrets: Scrubber): string {
        const { text, more } = this.head.text(secrets);
        return more ? `${text}\n… ${this.size - text.length} more characters were printed` : text;
    }
}
