/** `remit snapshot`: a moment of a recorded run as one JSON document; with a second run or moment, what differs. Nothing is performed. */
import { secretsNow } from "../here.ts";
import { readFileSync } from "node:fs";
import { type DebugSession, debugRun, diffSnapshots, moved, type Snapshot, snapshotOf, type Target } from "@remit/host";
import type { Json } from "@remit/language";
import { EXIT, plainLine, print, printJson, say, UsageError } from "../io.ts";
import { openRun, ranByMachine } from "../ledger.ts";

export default async function snapshot(args: string[], options: Record<string, unknown>): Promise<number> {
    const { store, run } = await openRun(args[0] as string, options);
    try {
        ranByMachine(run.id, "snapshot");
        const session = await debugRun(store, run.id);
        const at = options["at"];
        const stop = moved(session.goTo(typeof at === "string" ? targetOf(at) : lastOf(session)));
        if (stop.reason === "diverged") say(`The record does not fit the program: ${plainLine(stop.message ?? "")}`);
        const made = snapshotOf(session, secretsNow());
        const against = options["against"];
        if (typeof against === "string") return differences(read(against), made, options);
        if (options["json"]) printJson(made as unknown as Json);
        else print(textOf(made));
        return EXIT.ok;
    } finally {
        await store.close();
    }
}

function lastOf(session: DebugSession): Target {
    return { kind: session.info.status === "failed" ? "failure" : "end" };
}

/** `start`, `end`, `failure`, a number of steps, or a path. */
function targetOf(text: string): Target {
    if (text === "start" || text === "end" || text === "failure") return { kind: text };
    return /^[0-9]{1,12}$/.test(text) ? { kind: "step", step: Number(text) } : { kind: "path", path: text };
}

function read(file: string): Json {
    try {
        return JSON.parse(readFileSync(file, "utf8")) as Json;
    } catch (error) {
        throw new UsageError(`${file} cannot be read as a snapshot`, error instanceof Error ? error.message : undefined);
    }
}

/** Exit code 0 where they are equal, 1 where they differ, as diff(1) has it. */
function differences(before: Json, after: Snapshot, options: Record<string, unknown>): number {
    const found = diffSnapshots(before, after as unknown as Json);
    if (options["json"]) printJson(found as unknown as Json);
    else
        for (const { at, before: x, after: y } of found) {
            if (x !== undefined) print(`- ${plainLine(`${at}: ${JSON.stringify(x)}`)}`);
            if (y !== undefined) print(`+ ${plainLine(`${at}: ${JSON.stringify(y)}`)}`);
        }
    return found.length === 0 ? EXIT.ok : EXIT.failed;
}

function textOf(s: Snapshot): string {
    const lines = [`run ${s.run}  ${s.state}  ${s.moment.steps} steps`];
    for (const thread of s.threads) {
        lines.push(`thread ${thread.id}  ${thread.state}${thread.waiting === null ? "" : `  waits for ${thread.waiting}`}`);
        for (const frame of thread.frames) {
            const { site } = frame;
            lines.push(
                `  ${frame.name}  as ${s.principals[frame.principal]?.name ?? frame.principal}${site === null ? "" : `  ${site.file}:${site.line}`}`,
            );
            for (const scope of frame.scopes.filter((one) => one.name !== "imports"))
                for (const v of scope.variables) {
                    const from = [...v.origins, ...v.inside];
                    lines.push(`    ${v.name} = ${v.text}${from.length === 0 ? "" : `  (${from.join(", ")})`}`);
                }
        }
    }
    for (const [token, d] of Object.entries(s.delegations))
        lines.push(`delegation ${token}: ${d.things.join(", ")} from ${d.from} to ${d.to}`);
    for (const effect of s.pending) lines.push(`pending ${(effect as { path: string }).path}`);
    return lines.map((line) => " ".repeat(line.length - line.trimStart().length) + plainLine(line.trimStart())).join("\n");
}
