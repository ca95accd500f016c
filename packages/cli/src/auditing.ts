/**
 * What `remit audit` and `remit run --monitor` share: severities, invariants and baselines from options, findings as lines.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { type Config, FAIL_ON, invariantsOf } from "@remit/host";
import type { Program } from "@remit/language";
import { type Json, shownName } from "@remit/language";
import { type AuditFinding, type Baseline, baselineOf, type Invariant, isSeverity, type Severity, severityRank } from "@remit/machine";
import { type paint, plain, UsageError } from "./io.ts";

/** What fails: the option, else what the configuration says. */
export function severityOf(option: unknown, config: Config): Severity {
    if (option === undefined) return config.audit.failOn ?? FAIL_ON;
    const text = String(option);
    if (isSeverity(text)) return text;
    throw new UsageError(`--fail-on takes note, low, medium or high, not '${text}'`);
}

/** Of the command line; `@FILE` has one a line. */
export function invariantsFrom(texts: readonly string[]): readonly Invariant[] {
    const all = texts.flatMap((text) => (text.startsWith("@") ? linesOf(text.slice(1)) : [text]));
    const { invariants, wrong } = invariantsOf(all);
    if (wrong.length > 0) throw new UsageError(`'${wrong[0]}' is no invariant`, 'write: Fixer never Repo.write outside "src/**"');
    return invariants;
}

/** What an invariant names that the program does not have: it would hold whatever the program does. */
export function unknownIn(invariants: readonly Invariant[], program: Program): string[] {
    const agents = new Set(program.files.flatMap((file) => file.agents.map((agent) => shownName(agent.name))));
    const things = new Set(program.files.flatMap((file) => file.imports.map((one) => one.name)));
    return invariants.flatMap((rule) => [
        ...(rule.who === "*" || rule.who === "user" || agents.has(rule.who) ? [] : [`'${rule.text}': there is no agent ${rule.who}`]),
        ...(things.has(rule.tool) ? [] : [`'${rule.text}': there is no import ${rule.tool}`]),
    ]);
}

export function isFile(path: string): boolean {
    return existsSync(path) && statSync(path).isFile();
}

function linesOf(file: string): string[] {
    if (!isFile(file)) throw new UsageError(`there is no file ${file}`);
    return readFileSync(file, "utf8")
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter((line) => line !== "" && !line.startsWith("//"));
}

export function baselineFrom(file: string | undefined): Baseline | null {
    if (file === undefined) return null;
    if (!isFile(file)) throw new UsageError(`there is no baseline ${file}`);
    let json: Json;
    try {
        json = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) as Json;
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new UsageError(`${file} is not JSON: ${error.message}`);
    }
    const made = baselineOf(json);
    if (made === null)
        throw new UsageError(
            `${file} is no baseline`,
            '{"version": 1, "accepted": [{"fingerprint": "…", "reason": "…", "until": "2027-01-31"}]}',
        );
    return made;
}

/** One line, and a second one where events show it. */
export function findingLines(f: AuditFinding, colour: ReturnType<typeof paint>): string[] {
    const ink = { high: "red", medium: "yellow", low: "cyan", note: "dim" } as const;
    const where = f.site === null ? plain(f.path ?? "") : plain(`${f.site.file}:${f.site.line}:${f.site.column}`);
    const by = f.by === "remit" ? "" : ` by ${plain(f.by)}`;
    const first = `${colour(ink[f.severity], f.severity.padEnd(6))} ${where}  ${plain(f.message)}  ${colour("dim", `${plain(f.rule)}${by}`)}`;
    const events = f.evidence.flatMap((e) => (e.kind === "event" ? [`event ${e.seq}`] : []));
    if (events.length === 0) return [first];
    return [first, colour("dim", `       ${events.join(", ")}${f.path === null ? "" : ` at ${plain(f.path)}`}`)];
}

export function atLeast(findings: readonly AuditFinding[], severity: Severity): readonly AuditFinding[] {
    return findings.filter((f) => severityRank(f.severity) >= severityRank(severity));
}
