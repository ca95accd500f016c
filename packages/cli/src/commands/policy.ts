/** `remit policy suggest`: clauses for review, from a program and its runs. Nothing is written. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { checkFile, LedgerError, type Suggestion, suggestPolicy, type UnreadableRun } from "@remit/host";
import { source } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { showDiagnostics } from "../diagnostics.ts";
import { counted, EXIT, paint, plain, print, printJson, say, UsageError } from "../io.ts";
import { openForShowing } from "../ledger.ts";
import { sayUnreadable } from "./runs.ts";

const DEFAULT_RUNS = 20;

export default async function policy(args: string[], options: Record<string, unknown>): Promise<number> {
    const [verb, file] = args;
    if (verb !== "suggest") throw new UsageError(`there is no 'policy ${plain(verb ?? "")}'`, "write: remit policy suggest main.remit");
    if (file === undefined) throw new UsageError("policy suggest needs a program", "write: remit policy suggest main.remit");
    const most = options["runs"] === undefined ? DEFAULT_RUNS : Number(options["runs"]);
    if (!Number.isInteger(most) || most < 0)
        throw new UsageError("--runs is a whole number", "write --runs 20, or --runs 0 for the program alone");
    const { form, project, diagnostics, texts } = await checkFile(file);
    if (form === null) {
        showDiagnostics([...diagnostics], new Map([...texts].map(([name, text]) => [name, source(text, name)])), { notes: false });
        return EXIT.failed;
    }
    const runs = most === 0 ? [] : await runsOf(file, most, options);
    const found = suggestPolicy(form, project?.policy ?? null, runs);
    if (options["json"]) {
        printJson(found as never);
        return EXIT.ok;
    }
    show(found);
    const from = runs.length === 0 ? "the program alone" : `the program and ${counted(runs.length, "run")} that went well`;
    say(`${counted(found.length, "clause")} from ${from}. Nothing is written: read each, and keep what is meant.`);
    return EXIT.ok;
}

/** Events of the newest runs of a program that are done. */
async function runsOf(file: string, most: number, options: Record<string, unknown>): Promise<LedgerEvent[][]> {
    const store = await openForShowing(options);
    if (store === null) return [];
    const unreadable: UnreadableRun[] = [];
    try {
        const all = await store.runs(undefined, (one) => unreadable.push(one));
        const path = realpathSync(file);
        const done = all.filter(({ status, root, file: name }) => status === "done" && join(root, name) === path).slice(0, most);
        const found: LedgerEvent[][] = [];
        for (const run of done)
            try {
                found.push(await Array.fromAsync(store.events(run.id)));
            } catch (error) {
                if (!(error instanceof LedgerError)) throw error;
                unreadable.push({ id: run.id, error });
            }
        sayUnreadable(unreadable);
        return found;
    } finally {
        await store.close();
    }
}

function show(found: readonly Suggestion[]): void {
    const colour = paint(process.stdout);
    const clauses: { [uri: string]: string[] } = Object.create(null);
    for (const { uri, tool, clause, why, opens } of found) {
        print(`${colour("bold", plain(`${tool}: ${clause}`))}`);
        for (const one of why) print(`  why: ${plain(one)}`);
        for (const one of opens) print(`  leaves open: ${plain(one)}`);
        clauses[uri] = [...(clauses[uri] ?? []), clause];
    }
    if (found.length === 0) return;
    print("\nAs the policy of remit.json:\n");
    print(plain(JSON.stringify({ policy: { clauses } }, null, 4)));
}
