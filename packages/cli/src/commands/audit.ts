/** `remit audit`: rules over a run's record, or over a program. Exit 0 clean, 1 findings, 2 it could not be told. */
import { dirname, join } from "node:path";
import {
    auditorsSay,
    auditRun,
    type Audited,
    checkFile,
    type Config,
    doubtsOf,
    loadConfig,
    openLedger,
    profileOfRun,
    shownStore,
    today,
} from "@remit/host";
import { type Json, shownUse, siteOf } from "@remit/language";
import {
    accepting,
    against,
    type AuditFinding,
    type Baseline,
    isDay,
    type Invariant,
    junit,
    type Reached,
    sarif,
    type Severity,
    severityRank,
} from "@remit/machine";
import { atLeast, baselineFrom, findingLines, invariantsFrom, isFile, severityOf, unknownIn } from "../auditing.ts";
import { writeWhole } from "../files.ts";
import { counted, EXIT, paint, plain, printJson, printLines, say, table, UsageError } from "../io.ts";
import { here, secretsNow } from "../here.ts";
import { hostOptions } from "../running.ts";
import { VERSION } from "../version.ts";

type Options = Record<string, unknown>;

/** Nothing is called clean that could not be looked at. */
const UNSURE = 2;

export default async function audit(args: string[], options: Options): Promise<number> {
    const subject = args[0] ?? "last";
    const invariants = invariantsFrom((options["invariant"] as string[] | undefined) ?? []);
    const baseline = baselineFrom(options["baseline"] as string | undefined);
    const keep = keeping(options);
    // A file of a project that is called so stands for no run.
    const ofAFile = subject !== "last" && isFile(subject);
    const forms = ["sarif", "junit", "json"].filter((form) => options[form] === true);
    if (forms.length > 1) throw new UsageError(`--${forms.join(" and --")} are two forms of one answer; use one`);
    if (ofAFile && (options["against"] !== undefined || options["auditor"] !== undefined))
        throw new UsageError("--against and --auditor are about a run, not a file");
    if (ofAFile && options["acceptForeign"] !== undefined) throw new UsageError("--accept-foreign is about a run, not a file");
    let looked: Audited;
    let config: Config;
    try {
        ({ looked, config } = ofAFile ? await ofFile(subject) : await ofRun(subject, invariants, options));
    } catch (error) {
        if (error instanceof UsageError) throw error;
        const { showError } = await import("../failure.ts");
        showError(error);
        return UNSURE;
    }
    const failOn = severityOf(options["failOn"], config);
    const { open, accepted } = against(looked.findings, baseline, today());
    const over = atLeast(open, failOn);
    if (options["sarif"]) printJson(sarif(open, { version: VERSION, suppressed: accepted }), true);
    else if (options["junit"]) process.stdout.write(junit(open, failOn, looked.unsure));
    else if (options["json"])
        printJson(
            {
                findings: open,
                accepted,
                fabricated: looked.fabricated,
                reached: looked.reached,
                unsure: looked.unsure,
                failOn,
            } as unknown as Json,
            true,
        );
    else {
        show(open, accepted.length, failOn, looked.unsure.length > 0);
        showReached(looked.reached);
    }
    for (const why of looked.unsure) say(`could not tell: ${plain(why)}`);
    for (const one of looked.fabricated) say(`left out, its evidence is not there: ${plain(one.message)} (${plain(one.by)})`);
    if (keep !== null && looked.unsure.length === 0) {
        keep(baseline, over);
        return EXIT.ok;
    }
    if (over.length > 0) return EXIT.failed;
    return looked.unsure.length > 0 ? UNSURE : EXIT.ok;
}

/** `--write-baseline`: what fails now is accepted until a day, for a reason. */
function keeping(options: Options): ((before: Baseline | null, findings: readonly AuditFinding[]) => void) | null {
    const { writeBaseline: file, until, reason } = options as { writeBaseline?: string; until?: string; reason?: string };
    if (file === undefined) {
        if (until !== undefined || reason !== undefined) throw new UsageError("--until and --reason are for --write-baseline FILE");
        return null;
    }
    if (until === undefined || reason === undefined || reason.trim() === "")
        throw new UsageError("--write-baseline takes --until DATE and --reason TEXT: what is accepted is accepted for a time and a reason");
    if (!isDay(until) || until < today()) throw new UsageError(`--until takes a day that is to come, such as 2027-01-31, not '${until}'`);
    const known = isFile(file) ? baselineFrom(file) : null;
    return (before, findings) => {
        // What is in the file stays; what `--baseline` named comes with it.
        const all = accepting({ version: 1, accepted: [...(before?.accepted ?? []), ...(known?.accepted ?? [])] }, [], until, reason);
        const unique = new Map(all.accepted.map((one) => [one.fingerprint, one]));
        const made = accepting({ version: 1, accepted: [...unique.values()] }, findings, until, reason);
        writeWhole(file, `${JSON.stringify(made, null, 2)}\n`);
        say(`${file}: ${counted(findings.length, "finding")} accepted until ${until}`);
    };
}

interface Looked {
    readonly looked: Audited;
    readonly config: Config;
}

async function ofRun(id: string, invariants: readonly Invariant[], options: Options): Promise<Looked> {
    const ledger = await openLedger(options["ledger"] as string | undefined);
    try {
        const store = shownStore(ledger.store, secretsNow());
        const info = await ledger.run(id);
        const kept = (await ledger.store.options(info.id)) as { readonly workspace?: string };
        const config = loadConfig({
            env: here().env,
            folder: process.cwd(),
            ...(kept.workspace === undefined ? {} : { workspace: kept.workspace }),
            ...(info.root === "" ? {} : { from: dirname(join(info.root, info.file)) }),
        });
        const program = await store.program(info.program);
        const [wrong] = unknownIn(invariants, program);
        if (wrong !== undefined) throw new UsageError(wrong, "an invariant about what is not there always holds");
        const acceptForeign = options["acceptForeign"] === true;
        const other = options["against"] === undefined ? null : (await ledger.run(String(options["against"]))).id;
        const rules = {
            invariants: [...invariants, ...config.audit.invariants],
            acceptForeign,
            ...(other === null ? {} : { against: await profileOfRun(store, other) }),
        };
        const auditors = (options["auditor"] as string[] | undefined) ?? [];
        const looked = await auditRun(store, info.id, rules);
        // What is compared with says what is not new: it has to be as it was kept too.
        const doubts = other === null || other === info.id ? [] : await doubtsOf(store, other, acceptForeign);
        const found = { ...looked, unsure: [...looked.unsure, ...doubts] };
        if (auditors.length === 0) return { looked: found, config };
        const said = await auditorsSay(ledger.store, info.id, auditors, found.findings, hostOptions(options));
        const all = await auditRun(store, info.id, { ...rules, others: said.findings });
        return { looked: { ...all, unsure: [...found.unsure, ...said.unsure] }, config };
    } finally {
        await ledger.close();
    }
}

/** What the checker says of authority, as findings. */
async function ofFile(file: string): Promise<Looked> {
    const config = loadConfig({ env: here().env, folder: process.cwd(), from: file });
    const checked = await checkFile(file);
    const about = /^(?:REMIT|CLAUSES|DELEGATE|FLOW|ENDORSE|SPEND)_/;
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
    return { looked: { findings, fabricated: [], reached: [], unsure }, config };
}

function show(findings: readonly AuditFinding[], accepted: number, failOn: Severity, unsure: boolean): void {
    const colour = paint(process.stdout);
    const sorted = [...findings].sort((a, b) => severityRank(b.severity) - severityRank(a.severity));
    for (const f of sorted) for (const line of findingLines(f, colour)) printLines(line);
    const known = accepted === 0 ? "" : `, ${accepted} in the baseline`;
    const none = unsure ? "no findings, but not everything could be looked at" : "clean";
    const over = atLeast(findings, failOn).length;
    printLines(findings.length === 0 ? `${none}${known}` : `${counted(findings.length, "finding")}, ${over} at ${failOn} or over${known}`);
}

/** The table of what could have happened, with what did: calls by what chose them and what was in them. */
function showReached(reached: readonly Reached[]): void {
    if (reached.length === 0) return;
    const head = ["who", "use", "data from", "was", "unasked", "after a yes", "not allowed", "refused"];
    const lines = reached.map(({ principal, use, arg, origin, unasked, asked, denied, refused }) => [
        principal,
        shownUse(use),
        origin,
        arg === null ? "what chose it" : `in ${arg}`,
        ...[unasked, asked, denied, refused].map((n) => (n === 0 ? "" : String(n))),
    ]);
    printLines(`\nCalls by what is not trusted:\n${plain(table(lines, head))}`);
}
