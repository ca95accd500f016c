/**
 * Findings of an audit: what is wrong, where, and what in the ledger shows it.
 *
 * Boundary: shapes and the check that evidence is there. Pure.
 *
 * FI1: a finding without evidence that resolves is none: an auditor that makes one up, a model included, adds nothing.
 * FI2: a finding's fingerprint depends on its rule and its place, not on the run, so that a baseline holds from run to run.
 */
import { canonicalJson, type Json, type Site } from "@remit/language";

export const SEVERITIES = ["note", "low", "medium", "high"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Something in the ledger, or a place in the source. */
export type Evidence =
    | { readonly kind: "event"; readonly run: string; readonly seq: number; readonly hash?: string }
    | { readonly kind: "site"; readonly site: Site };

export interface Finding {
    readonly rule: string;
    readonly severity: Severity;
    readonly message: string;
    readonly site: Site | null;
    /** Path in the run; null for what is seen in the source. */
    readonly path: string | null;
    readonly principal: string | null;
    readonly evidence: readonly Evidence[];
    /** 1: certain, for rules that need no judgement. */
    readonly confidence: number;
    /** Who found it: `remit`, or an agent. */
    readonly by: string;
    readonly detail?: Json;
}

export function severityRank(severity: Severity): number {
    return SEVERITIES.indexOf(severity);
}

/** One that is seen in the source. */
export function findingAt(site: Site, one: Pick<Finding, "rule" | "severity" | "message" | "principal" | "detail">): Finding {
    return { ...one, site, path: null, evidence: [{ kind: "site", site }], confidence: 1, by: "remit" };
}

/** The same for the same mistake at the same place, whatever the run. */
export function fingerprint(finding: Finding): string {
    const { rule, site, principal } = finding;
    const path = finding.path?.replace(/\[[0-9]+\]/g, "[]") ?? null;
    return canonicalJson([rule, principal, site === null ? path : [site.file, site.line], finding.message.replace(/[0-9a-f]{8,}/g, "…")]);
}

/** What resolves evidence: an event of the ledger by run and number, a line of a source file. */
export interface Resolver {
    event(run: string, seq: number): { readonly hash: string } | null;
    line(file: string, line: number): boolean;
}

/** Findings whose evidence is all there, and those that were made up. */
export function resolved(findings: readonly Finding[], at: Resolver): { readonly good: Finding[]; readonly fabricated: Finding[] } {
    const good: Finding[] = [];
    const fabricated: Finding[] = [];
    for (const finding of findings) {
        const holds =
            finding.evidence.length > 0 &&
            finding.evidence.every((one) => {
                if (one.kind === "site") return at.line(one.site.file, one.site.line);
                const event = at.event(one.run, one.seq);
                return event !== null && (one.hash === undefined || one.hash === event.hash);
            });
        (holds ? good : fabricated).push(finding);
    }
    return { good, fabricated };
}

/** What others found is added; nothing that the rules found goes away. */
export function merged(rules: readonly Finding[], others: readonly Finding[]): Finding[] {
    const known = new Set(rules.map(fingerprint));
    return [...rules, ...others.filter((finding) => !known.has(fingerprint(finding)))];
}
