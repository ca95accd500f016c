/**
 * `remit run` of a program that hands control to a real agent, whose model is played on loopback: the command in a process of its own that the test
 * watches while it runs, with a folder, a configuration and a ledger of its own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { type AgentName, startOf, type StartOptions } from "../../../host/tests/agent/real/agents.ts";
import { type ModelServer, modelServer, type Rule } from "../../../host/tests/agent/real/models/server.ts";
import { alive, type Process, processesBelow } from "../../../host/tests/agent/real/processes.ts";
import { BIN, type Ran, room, type Room } from "../remit.ts";

export interface Running {
    readonly child: ChildProcess;
    readonly ended: Promise<Ran>;
    /** Resolves when both streams so far fit. */
    until(fits: (seen: string) => boolean): Promise<void>;
    /** Resolves when the model was asked this by the agent at its work. */
    asked(text: string): Promise<void>;
    /** Processes below it now. */
    processes(): Process[];
}

export interface Place extends AsyncDisposable {
    readonly at: Room;
    readonly model: ModelServer;
    run(how: { env?: Record<string, string>; terminal?: boolean }, ...args: string[]): Running;
    /** The only run of the ledger: what it is called, and its events. */
    run1(): { readonly id: string; readonly events: readonly LedgerEvent[] };
    /** What `trace verify` and `replay` say of it. */
    judged(): { readonly sound: boolean; readonly equal: boolean; readonly said: string };
}

export async function place(
    name: AgentName,
    rules: (folder: string) => readonly Rule[],
    start: Omit<StartOptions, "model"> = {},
): Promise<Place> {
    const at = room();
    const model = await modelServer(rules(at.folder));
    const { command, args, env } = startOf(name, { model: model.url, ...start });
    at.write(
        "remit.json",
        JSON.stringify({ agents: { [name]: { command: [command, ...args], env, endpoints: [model.url], graceMs: 2_000 } } }),
    );
    const begun: ChildProcess[] = [];
    const run: Place["run"] = ({ env: more = {}, terminal = false }, ...words) => {
        const line = [BIN, ...words];
        const quoted = [process.execPath, ...line].map((one) => `'${one.replaceAll("'", "'\\''")}'`).join(" ");
        const [program, list] = terminal ? ["script", ["-qec", `${quoted} > out.json`, "/dev/null"]] : [process.execPath, line];
        const child = spawn(program, list, { cwd: at.folder, env: { ...at.env, ...(terminal ? { TERM: "xterm" } : {}), ...more } });
        begun.push(child);
        let out = "";
        let err = "";
        const lookers = new Set<() => void>();
        const heard = (): void => {
            for (const look of [...lookers]) look();
        };
        child.stdout.setEncoding("utf8").on("data", (piece: string) => {
            out += piece;
            heard();
        });
        child.stderr.setEncoding("utf8").on("data", (piece: string) => {
            err += piece;
            heard();
        });
        const ended = new Promise<Ran>((done) =>
            child.once("close", (code) =>
                done({ code, out: terminal ? readFileSync(join(at.folder, "out.json"), "utf8") : out, err: terminal ? out : err }),
            ),
        );
        return {
            child,
            ended,
            until: (fits) =>
                new Promise((done, fail) => {
                    const look = (): void => {
                        if (!fits(out + err)) return;
                        lookers.delete(look);
                        done();
                    };
                    lookers.add(look);
                    void ended.then(() => fail(new Error(`it ended before that: ${out}${err}`)));
                    look();
                }),
            asked: async (text) => {
                const heard = model.until((one) => one.user.includes(text) && one.tools.length > 0).then(() => true);
                if (!(await Promise.race([heard, ended.then(() => false)]))) throw new Error(`it ended before that: ${out}${err}`);
            },
            processes: () => processesBelow(child.pid as number),
        };
    };
    const run1: Place["run1"] = () => {
        const { out, err } = at.remit("runs", "--json");
        const runs = JSON.parse(out) as { id: string }[];
        if (runs.length !== 1) throw new Error(`there are ${runs.length} runs: ${err}`);
        const id = (runs[0] as { id: string }).id;
        const { out: lines } = at.remit("trace", id, "--ndjson");
        return {
            id,
            events: lines
                .split("\n")
                .filter((line) => line !== "")
                .map((line) => JSON.parse(line) as LedgerEvent),
        };
    };
    return {
        at,
        model,
        run,
        run1,
        judged: () => {
            const { id } = run1();
            const verified = at.remit("trace", "verify", id);
            const replayed = at.remit("replay", id);
            const said = [verified, replayed].map(({ out, err }) => out + err).join("");
            return {
                sound: verified.code === 0 && verified.out.includes("sound"),
                equal: replayed.code === 0 && replayed.out.includes("equal"),
                said,
            };
        },
        [Symbol.asyncDispose]: async () => {
            for (const child of begun) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
            await model.close();
            at.clear();
        },
    };
}

/** Resolves when none of them runs any more; they end with what started them. */
export async function gone(processes: readonly Process[]): Promise<void> {
    while (alive(processes).length > 0) await new Promise((done) => setTimeout(done, 20));
}

/** A program whose agent `Fixer` is this one, with a remit. */
export function withAgent(name: AgentName, remit: string, main: string): string {
    return `import tool Repo from "file://workspace"
import agent Fixer from "acp://${name}" {
    remit {
        ${remit}
    }
}

main func(log: string) {
${main}
}
`;
}

export function resultOf(ran: Ran): Json {
    if (ran.code !== 0) throw new Error(`it ended with ${ran.code}: ${ran.err}`);
    return JSON.parse(ran.out) as Json;
}
