/** `remit audit`: rules over a run's record, or over a program. Exit 0 clean, 1 findings, 2 it could not be told. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { auditRun, checkFile, invariantsOf, openLedger } from "@remit/host";
import { type Json, siteOf } from "@remit/language";
import {
    against,
    type AuditFinding,
    type Baseline,
    baselineOf,
    type Invariant,
    isSeverity,
    junit,
    sarif,
    type Severity,
    severityRank,
} from "@remit/machine";
import { counted, EXIT, paint, plain, print, printJson, say, UsageError } from "../io.ts";

const UNSURE = 2;

export default async function audit(args: string[], options: Record<string, unknown>): Promise<number> {
    const failOn = severityOf(String(options["failOn"] ?? "medium"));
    const baseline = baselineFrom(options["baseline"] as string | undefined);
    const invariants = invariantsFrom((options["invariant"] as string[] | undefined) ?? []);
    const subject = args[0] ?? "last";
    let looked: { findings: readonly AuditFinding[]; fabricated: readonly AuditFinding[]; unsure: readonly string[] };
    try {
        looked = isFile(subject) ? await ofFile(subject) : await ofRun(subject, invariants, options);
    } catch (error) {
        const { showError } = await import("../failure.ts");
        showError(error);
        return UNSURE;
    }
    const today = new Date().toISOString().slice(0, 10);
    const { open, accepted } = against(looked.findings, baseline, today);
    const over = open.filter((f) => severityRank(f.severity) >= severityRank(failOn));
    if (options["sarif"]) printJson(sarif(open, { version: VERSION, suppressed: accepted }), true);
    else if (options["junit"]) process.stdout.write(junit(open, failOn));
    else if (options["json"])
        printJson({ findings: open, accepted, fabricated: looked.fabricated, unsure: looked.unsure, failOn } as unknown as Json, true);
    else show(open, accepted.length, failOn);
    for (const why of looked.unsure) say(`could not tell: ${plain(why)}`);
    for (const one of looked.fabricated) say(`left out, its evidence is not there: ${plain(one.message)} (${plain(one.by)})`);
    if (over.length > 0) return EXIT.failed;
    return looked.unsure.length > 0 ? UNSURE : EXIT.ok;
}

const VERSION = "0.1.0";

function isFile(subject: string): boolean {
    return existsSync(subject) && statSync(subject).isFile();
}

async function ofRun(id: string, invariants: readonly Invariant[], options: Record<string, unknown>) {
    const ledger = await openLedger(options["ledger"] as string | undefined);
    try {
        return auditRun(ledger.store, ledger.run(id).id, { invariants });
    } finally {
        ledger.close();
    }
}

/** What the checker says of authority, as findings. */
async function ofFile(file: string) {
    const checked = await checkFile(file);
    const about = /^(?:REMIT|DELEGATE|FLOW|ENDORSE|SPEND)_/;
    const unsure = checked.diagnostics.some((d) => d.severity === "error" && !about.test(d.code))
        ? [`${file} has errors that remit check shows`]
        : [];
    const findings = checked.diagnostics
        .filter((d) => about.test(d.code))
        .map((d): AuditFinding => {
            const source = checked.checked.files.get(d.file)?.source;
            const site = source === undefined ? null : siteOf(source, d.range);
            const severity: Severity = d.severity === "error" ? "high" : d.severity === "warning" ? "low" : "note";
            return {
                rule: d.code.toLowerCase().replaceAll("_", "-"),
                severity,
                message: d.message,
                site,
                path: null,
                principal: null,
                evidence: site === null ? [] : [{ kind: "site", site }],
                confidence: 1,
                by: "remit",
            };
        });
    return { findings, fabricated: [], unsure };
}

function show(findings: readonly AuditFinding[], accepted: number, failOn: Severity): void {
    const colour = paint(process.stdout);
    const ink = { high: "red", medium: "yellow", low: "cyan", note: "dim" } as const;
    const sorted = [...findings].sort((a, b) => severityRank(b.severity) - severityRank(a.severity));
    for (const f of sorted) {
        const where = f.site === null ? plain(f.path ?? "") : plain(`${f.site.file}:${f.site.line}:${f.site.column}`);
        print(`${colour(ink[f.severity], f.severity.padEnd(6))} ${where}  ${plain(f.message)}  ${colour("dim", f.rule)}`);
        const events = f.evidence.flatMap((e) => (e.kind === "event" ? [`event ${e.seq}`] : []));
        if (events.length > 0) print(colour("dim", `       ${events.join(", ")}${f.path === null ? "" : ` at ${plain(f.path)}`}`));
    }
    const over = findings.filter((f) => severityRank(f.severity) >= severityRank(failOn)).length;
    const known = accepted === 0 ? "" : `, ${accepted} in the baseline`;
    print(findings.length === 0 ? `clean${known}` : `${counted(findings.length, "finding")}, ${over} at ${failOn} or over${known}`);
}

function severityOf(text: string): Severity {
    if (isSeverity(text)) return text;
    throw new UsageError(`--fail-on takes note, low, medium or high, not '${text}'`);
}

function invariantsFrom(texts: readonly string[]): readonly Invariant[] {
    const all = texts.flatMap((text) => (text.startsWith("@") ? linesOf(text.slice(1)) : [text]));
    const { invariants, wrong } = invariantsOf(all);
    if (wrong.length > 0) throw new UsageError(`'${wrong[0]}' is no invariant`, 'write: Fixer never Repo.write outside "src/**"');
    return invariants;
}

function linesOf(file: string): string[] {
    if (!isFile(file)) throw new UsageError(`there is no file ${file}`);
    return readFileSync(file, "utf8")
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter((line) => line !== "" && !line.startsWith("//"));
}

function baselineFrom(file: string | undefined): Baseline | null {
    if (file === undefined) return null;
    if (!isFile(file)) throw new UsageError(`there is no baseline ${file}`);
    let json: Json;
    try {
        json = JSON.parse(readFileSync(file, "utf8")) as Json;
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
