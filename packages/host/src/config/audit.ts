/**
 * What a project's configuration says of audits: invariants that must hold, and from which severity on findings fail.
 *
 * Boundary: texts to rules, and several files to one. What a finding is, is the machine's.
 *
 * AI3: without trust a file can only make an audit stricter: add invariants, and fail on `medium` or less.
 */
import { type Invariant, parseInvariant, type Severity, severityRank } from "@remit/machine";
import type { AuditFile } from "./rules.ts";

export interface AuditConfig {
    readonly invariants: readonly Invariant[];
    /** Null: no file says. */
    readonly failOn: Severity | null;
}

/** What fails an audit by default. */
export const FAIL_ON: Severity = "medium";

export function auditProblems(file: AuditFile | undefined): readonly { readonly key: string; readonly message: string }[] {
    return (file?.invariants ?? []).flatMap((text, i) =>
        parseInvariant(text) === null
            ? [{ key: `audit.invariants[${i}]`, message: `'${text}' is no invariant; write: Fixer never Repo.write outside "src/**"` }]
            : [],
    );
}

/** Says something that counts only with trust. */
export function loosens(file: AuditFile | undefined): boolean {
    return file?.failOn !== undefined && severityRank(file.failOn) > severityRank(FAIL_ON);
}

/** All invariants that any file says, and the strictest severity. */
export function joinedAudit(
    files: readonly { readonly trusted: boolean; readonly content: { readonly audit?: AuditFile } }[],
): AuditConfig {
    const invariants = new Map<string, Invariant>();
    let failOn: Severity | null = null;
    for (const { trusted, content } of files) {
        for (const text of content.audit?.invariants ?? []) {
            const made = parseInvariant(text);
            if (made !== null) invariants.set(made.text, made);
        }
        const said = content.audit?.failOn;
        if (said === undefined || (!trusted && loosens(content.audit))) continue;
        if (failOn === null || severityRank(said) < severityRank(failOn)) failOn = said;
    }
    return { invariants: [...invariants.values()], failOn };
}
