/**
 * Findings for other tools: SARIF 2.1.0 (OASIS) and JUnit XML.
 *
 * Boundary: findings in, documents out. Pure.
 */
import type { Json } from "@remit/language";
import { type Finding, fingerprint, SEVERITIES, type Severity, severityRank } from "./finding.ts";
import { RULES } from "./rules.ts";

/** SARIF section 3.27.10: note, warning, error. */
const LEVELS: { readonly [S in Severity]: string } = { note: "note", low: "warning", medium: "warning", high: "error" };
/** Property `security-severity` as code scanners read it: 0 to 10. */
const SCORES: { readonly [S in Severity]: string } = { note: "1.0", low: "3.0", medium: "5.5", high: "8.5" };

export function sarif(findings: readonly Finding[], more: { readonly version: string; readonly suppressed?: readonly Finding[] }): Json {
    const suppressed = new Set((more.suppressed ?? []).map(fingerprint));
    const all = [...findings, ...(more.suppressed ?? [])];
    const ids = [...new Set([...RULES.map((r) => r.id), ...all.map((f) => f.rule)])];
    return {
        $schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [
            {
                tool: {
                    driver: {
                        name: "remit",
                        version: more.version,
                        rules: ids.map((id) => {
                            const row = RULES.find((r) => r.id === id);
                            const severity = row?.severity ?? "medium";
                            return {
                                id,
                                shortDescription: { text: row?.summary ?? id },
                                defaultConfiguration: { level: LEVELS[severity] },
                                properties: { "security-severity": SCORES[severity], tags: ["security"] },
                            };
                        }),
                    },
                },
                columnKind: "utf16CodeUnits",
                results: all.map((finding): Json => {
                    const { site } = finding;
                    return {
                        ruleId: finding.rule,
                        ruleIndex: ids.indexOf(finding.rule),
                        level: LEVELS[finding.severity],
                        message: { text: finding.message },
                        ...(site === null
                            ? {}
                            : {
                                  locations: [
                                      {
                                          physicalLocation: {
                                              artifactLocation: { uri: uriOf(site.file) },
                                              region: {
                                                  startLine: place(site.line),
                                                  startColumn: place(site.column),
                                                  ...(site.endLine === undefined ? {} : { endLine: place(site.endLine) }),
                                                  ...(site.endColumn === undefined ? {} : { endColumn: place(site.endColumn) }),
                                              },
                                          },
                                      },
                                  ],
                              }),
                        partialFingerprints: { "remit/v1": fingerprint(finding) },
                        ...(suppressed.has(fingerprint(finding)) ? { suppressions: [{ kind: "external" }] } : {}),
                        properties: {
                            severity: finding.severity,
                            confidence: finding.confidence,
                            by: finding.by,
                            path: finding.path,
                            principal: finding.principal,
                            evidence: finding.evidence as unknown as Json,
                        },
                    };
                }),
            },
        ],
    };
}

/** A relative reference (RFC 3986, section 4.2), whatever the file is called: its name comes from a record that others may have written. */
function uriOf(file: string): string {
    const path = encodeURI(file.replace(/\p{Surrogate}/gu, "\ufffd"))
        .replaceAll("?", "%3F")
        .replaceAll("#", "%23");
    return /^(?:[^/]*:|\/\/)/.test(path) ? `./${path}` : path;
}

/** SARIF section 3.30: lines and columns count from 1. */
function place(n: number): number {
    return Number.isSafeInteger(n) && n > 0 ? n : 1;
}

/**
 * One test case a rule; each finding at or over `failOn` is a failure of its rule's case, others are its output. What could not be told is an
 * error of a case of its own.
 */
export function junit(findings: readonly Finding[], failOn: Severity, unsure: readonly string[] = []): string {
    const rules = [...new Set([...RULES.map((r) => r.id), ...findings.map((f) => f.rule)])];
    const fails = (f: Finding): boolean => severityRank(f.severity) >= severityRank(failOn);
    const failures = findings.filter(fails).length;
    const cases = rules.map((rule) => {
        const own = findings.filter((f) => f.rule === rule);
        const lines = own.map((f) => {
            const where = f.site === null ? (f.path ?? "") : `${f.site.file}:${f.site.line}:${f.site.column}`;
            const text = `${where}: ${f.message}`;
            return fails(f)
                ? `      <failure type="${xml(f.severity)}" message="${xml(f.message)}">${xml(text)}</failure>\n`
                : `      <system-out>${xml(`${f.severity}: ${text}`)}</system-out>\n`;
        });
        const head = `    <testcase classname="remit.audit" name="${xml(rule)}"`;
        return lines.length === 0 ? `${head}/>\n` : `${head}>\n${lines.join("")}    </testcase>\n`;
    });
    const errors = unsure.map(
        (why) => `    <testcase classname="remit.audit" name="could not tell">\n      <error message="${xml(why)}"/>\n    </testcase>\n`,
    );
    cases.push(...errors);
    return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite name="remit audit" tests="${cases.length}" failures="${failures}" errors="${errors.length}">\n${cases.join("")}  </testsuite>\n</testsuites>\n`;
}

/** XML 1.0 text; characters that XML cannot hold show as U+FFFD. */
function xml(text: string): string {
    return text
        .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
        .replace(/&/g, "&amp;")
        .replace(/</g, "&lt;")
        .replace(/>/g, "&gt;")
        .replace(/"/g, "&quot;")
        .replace(/\n/g, "&#10;");
}

// ---- baseline --------------------------------------------------------------------------------------------------------

/** Findings that are known and accepted, each until a day. */
export interface Baseline {
    readonly version: 1;
    readonly accepted: readonly {
        readonly fingerprint: string;
        readonly reason: string;
        /** `2027-01-31`, the last day. */
        readonly until: string;
        /** For people. */
        readonly rule?: string;
        readonly message?: string;
    }[];
}

/** A baseline that accepts these findings too; what it said of them before is replaced. */
export function accepting(baseline: Baseline | null, findings: readonly Finding[], until: string, reason: string): Baseline {
    const prints = new Set(findings.map(fingerprint));
    const kept = (baseline?.accepted ?? []).filter((one) => !prints.has(one.fingerprint));
    const fresh = new Map(
        findings.map((f) => [fingerprint(f), { fingerprint: fingerprint(f), rule: f.rule, message: f.message, reason, until }]),
    );
    return { version: 1, accepted: [...kept, ...fresh.values()] };
}

/** A day that is in the calendar, `2027-01-31`. */
export function isDay(text: string): boolean {
    const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
    if (found === null) return false;
    const [year, month, day] = found.slice(1).map(Number) as [number, number, number];
    const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
    return days !== undefined && day >= 1 && day <= days;
}

/** What a baseline says of findings on a day (`2026-11-21`); null where it is none. */
export function baselineOf(json: Json): Baseline | null {
    if (json === null || typeof json !== "object" || Array.isArray(json) || json.version !== 1 || !Array.isArray(json.accepted))
        return null;
    const good = json.accepted.every(
        (one) =>
            one !== null &&
            typeof one === "object" &&
            !Array.isArray(one) &&
            typeof one.fingerprint === "string" &&
            typeof one.reason === "string" &&
            typeof one.until === "string" &&
            isDay(one.until),
    );
    return good ? (json as unknown as Baseline) : null;
}

export function against(
    findings: readonly Finding[],
    baseline: Baseline | null,
    today: string,
): { readonly open: Finding[]; readonly accepted: Finding[] } {
    const accepted = new Set((baseline?.accepted ?? []).filter((one) => one.until >= today).map((one) => one.fingerprint));
    return {
        open: findings.filter((f) => !accepted.has(fingerprint(f))),
        accepted: findings.filter((f) => accepted.has(fingerprint(f))),
    };
}

export function isSeverity(text: string): text is Severity {
    return (SEVERITIES as readonly string[]).includes(text);
}
