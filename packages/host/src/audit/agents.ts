/**
 * Auditors that are agents: a Remit program gets the findings of the rules and the trace of the run, and says what else is wrong.
 *
 * Boundary: starts it as an ordinary run with a record of its own, under its own remits; reads its answer. Adds findings, takes none away.
 *
 * AGE4: what it is given carries the origin `run:ID`: others wrote it. It counts as untrusted wherever a clause asks.
 * AGE5: a finding counts where its evidence is in the ledger; one that does not end, or answers with something else, is told as such and never
 *     as clean.
 *
 * AGE6: with `import tool State from "host:state"` it looks at the run as it ended, with `inspect:`'s methods; it changes nothing there.
 *
 * Its input: `{ run, program, findings, trace, left_out }`. Its value: a list of `{ rule, severity, message, events?, at?, confidence? }`, or
 * `{ findings: […] }`; `events` are numbers of the trace, `at` is `{ file, line }`.
 */
import { surroundingsOf } from "../config/setting.ts";
import { basename } from "node:path";
import type { Json, Program, Site } from "@remit/language";
import { type AuditFinding, type Evidence, type LedgerEvent, SEVERITIES, type Severity } from "@remit/machine";
import { lookingBack } from "../debug/looking.ts";
import { knownSecrets } from "../secret/known.ts";
import type { LedgerStore } from "../ledger/store.ts";
import { LoadError } from "../load/error.ts";
import { RemitError } from "../failure/error.ts";
import { clipped } from "../input/clipped.ts";
import { load } from "../run/program.ts";
import type { LoadOptions } from "../run/setup.ts";

export interface AgentsSaid {
    /** Evidence is not looked at yet. */
    readonly findings: readonly AuditFinding[];
    /** Why it cannot be told; empty where every auditor answered. */
    readonly unsure: readonly string[];
    /** Runs of the auditors. */
    readonly runs: readonly string[];
}

/** Kinds of events that an auditor gets; prompts and replies are left to the findings' evidence. */
const SHOWN = /^(?:run|tool|memory|agent|ask|delegate|policy|budget|failure|generate\.(?:started|ended))/;
const MAX_EVENTS = 2_000;
const MAX_TEXT = 1_000;
const MAX_FINDINGS = 200;

/** `files`: programs of auditors. `found`: what the rules found. */
export async function auditorsSay(
    store: LedgerStore,
    id: string,
    files: readonly string[],
    found: readonly AuditFinding[],
    options: Omit<LoadOptions, "ledger"> = {},
): Promise<AgentsSaid> {
    const info = await store.run(id);
    // Before anything is cut, so that no beginning of a secret is left.
    const scrubber = knownSecrets(surroundingsOf(options).env);
    const clean = (json: Json): Json => clipped(scrubber.scrub(json), { text: MAX_TEXT });
    const input = inputOf(info.id, await store.program(info.program), await Array.fromAsync(store.events(info.id)), found, clean);
    const findings: AuditFinding[] = [];
    const unsure: string[] = [];
    const runs: string[] = [];
    for (const file of files) {
        const name = basename(file);
        let program: Awaited<ReturnType<typeof load>>;
        try {
            const tools = { State: lookingBack(store, info.id, scrubber), ...options.tools };
            program = await load(file, { ...options, tools, ledger: store, inputOrigins: [`run:${info.id}`] });
        } catch (error) {
            // What cannot begin has not looked at anything; what the rules found stands.
            if (!(error instanceof RemitError || error instanceof LoadError)) throw error;
            unsure.push(`auditor ${name} cannot begin: ${error.message}`);
            continue;
        }
        try {
            const result = await program.run(input).result;
            runs.push(result.run);
            const read = result.ok ? readFindings(result.value as Json, { run: info.id, by: `${name} (run ${result.run})` }) : null;
            if (read !== null) findings.push(...read);
            else if (result.ok) unsure.push(`auditor ${name} did not answer with findings (run ${result.run})`);
            else unsure.push(`auditor ${name} did not answer (run ${result.run}): ${result.failure?.message ?? result.status}`);
        } catch (error) {
            if (!(error instanceof RemitError)) throw error;
            unsure.push(`auditor ${name} cannot begin: ${error.message}`);
        } finally {
            await program.close();
        }
    }
    return { findings, unsure, runs };
}

function inputOf(
    run: string,
    program: Program,
    events: readonly LedgerEvent[],
    found: readonly AuditFinding[],
    clean: (json: Json) => Json,
): Json {
    const told = events.filter((event) => SHOWN.test(event.kind));
    const trace = told
        .slice(0, MAX_EVENTS)
        .map(({ seq, kind, path, principal, site, labels, data }) => ({ seq, kind, path, principal, site, labels, data: clean(data) }));
    return {
        run,
        program: program.files.map((file) => file.file),
        findings: clean(found as unknown as Json),
        trace: trace as unknown as Json,
        left_out: events.length - trace.length,
    };
}

type Data = { readonly [key: string]: Json };

/** Null where it is no list of findings. A finding names its rule below `agent/`: no auditor speaks in the name of a rule. */
export function readFindings(said: Json, about: { readonly run: string; readonly by: string }): AuditFinding[] | null {
    const list = isData(said) ? said["findings"] : said;
    if (!Array.isArray(list) || list.length > MAX_FINDINGS) return null;
    const out: AuditFinding[] = [];
    for (const one of list) {
        if (!isData(one)) return null;
        const { rule, severity, message, events = [], at = null, confidence = 0.5 } = one;
        if (typeof message !== "string" || message === "" || typeof severity !== "string" || typeof confidence !== "number") return null;
        if (!(SEVERITIES as readonly string[]).includes(severity) || !Array.isArray(events)) return null;
        const site = siteIn(at);
        if (site === undefined) return null;
        const evidence = events.map((seq): Evidence => ({ kind: "event", run: about.run, seq: typeof seq === "number" ? seq : -1 }));
        out.push({
            rule: `agent/${typeof rule === "string" && /^[\w-]{1,60}$/.test(rule) ? rule : "finding"}`,
            severity: severity as Severity,
            message: message.slice(0, MAX_TEXT),
            site,
            path: null,
            principal: null,
            evidence: site === null ? evidence : [...evidence, { kind: "site", site }],
            confidence: Math.min(Math.max(confidence, 0), 0.99),
            by: about.by,
        });
    }
    return out;
}

/** Undefined where it is no place. */
function siteIn(at: Json): Site | null | undefined {
    if (at === null) return null;
    if (!isData(at)) return undefined;
    const { file, line, column = 1 } = at;
    if (typeof file !== "string" || !Number.isSafeInteger(line) || !Number.isSafeInteger(column)) return undefined;
    return { file, line: line as number, column: column as number };
}

function isData(json: Json): json is Data {
    return json !== null && typeof json === "object" && !Array.isArray(json);
}
