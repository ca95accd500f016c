/**
 * A run of a Re in Act program among others: its program is one that answers the real one, and is not what a reader wants to see.
 *
 * Boundary: from events to names, for projections that are read outside of Remit. The ledger itself tells everything.
 *
 * RA1: the runner is a tool whose scheme is `ras`; what is asked of it is how the program is run and nothing that the program does.
 */
import type { Json } from "@remit/language";
import type { LedgerEvent } from "./events.ts";
import { field, objectIn, textIn } from "./read.ts";

const RUNNER = "ras";

export interface RasRun {
    /** `RIFF_ID` of the program, else its file's name. */
    readonly name: string;
    /** Agents of the program that answers it. */
    readonly answers: (agent: string | undefined) => boolean;
    /** What is asked of the runner, by path. */
    readonly runner: (path: string) => boolean;
    /** What the program was given. */
    readonly inputs: Json | undefined;
}

/** Null for every other run. */
export function rasRunOf(events: Iterable<LedgerEvent>): RasRun | null {
    const paths = new Set<string>();
    let begin: LedgerEvent | null = null;
    let name: string | undefined;
    let agent: string | undefined;
    for (const event of events) {
        if (event.kind === "run.started") agent = textIn(objectIn(field(event, "entry")).agent);
        if (event.kind === "tool.started" && field(event, "scheme") === RUNNER) {
            begin ??= event;
            paths.add(event.path);
        }
        if (event.kind === "tool.ended" && event.path === begin?.path) name ??= textIn(objectIn(field(event, "result")).name);
    }
    if (begin === null) return null;
    const [given] = (field(begin, "args") ?? []) as readonly Json[];
    return {
        name: name ?? nameIn(textIn(field(begin, "uri")) ?? ""),
        // They are called after the one that answers.
        answers: (one) => agent !== undefined && one?.startsWith(agent) === true,
        runner: (path) => paths.has(path),
        inputs: objectIn(given).inputs,
    };
}

/** Of a run that was killed before its program began. */
function nameIn(uri: string): string {
    const file = uri.slice(uri.lastIndexOf("/") + 1).replace(/^ras:/, "");
    return file.replace(/\.[a-z]+$/, "") || "program";
}
