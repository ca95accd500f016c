/**
 * Where a run may ask or refuse because of who decides: uses whose choice may come from what is not trusted, and is not let through.
 *
 * Boundary: a program form with the texts of its files in, notes out; what may decide is `hostile.ts`'s, with all that is not trusted as hostile.
 *
 * HOC1: nothing is looked for where no rule asks who decides: that is what a policy `untrusted` and `choice` clauses do. Of a tool loop the checker says more.
 */
import { nameText } from "../syntax/strings.ts";
import { trustedOrigins } from "../authority/clauses.ts";
import type { ProjectPolicy } from "../authority/project.ts";
import { isOutside } from "../authority/schemas.ts";
import { CODES } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Program } from "../form/form.ts";
import type { Range, Site, Source } from "../text/source.ts";
import { hostileUses } from "./hostile.ts";
import type { HostileStop } from "./table.ts";

/** Files of a program whose texts are known, by name. */
type Sources = ReadonlyMap<string, { readonly source: Source }>;

export function choicesAsked(program: Program, policy: ProjectPolicy, sources: Sources): Diagnostic[] {
    if (!asksWho(program, policy)) return [];
    const { stopped } = hostileUses(program, untrusted(program), { policy });
    const found = new Map<string, Diagnostic>();
    for (const stop of stopped) {
        if (stop.of !== "choice" || stop.by !== "program" || stop.site === null) continue;
        const key = `${stop.site.file}:${stop.site.line}:${stop.site.column} ${stop.tool}.${stop.method}`;
        const range = rangeOf(sources, stop.site);
        if (range !== null && !found.has(key)) found.set(key, noteOf(program, stop, { file: stop.site.file, range }, sources));
    }
    return [...found.values()];
}

function asksWho({ files }: Program, policy: ProjectPolicy): boolean {
    const clauses = [
        ...files.flatMap(({ imports }) => imports.flatMap((one) => one.clauses ?? [])),
        ...Object.values(policy.clauses ?? {}).flat(),
    ];
    return policy.untrusted !== undefined || clauses.some((one) => one.kind === "choice" && one.any !== true);
}

/** Everything that gives data which is not trusted. */
function untrusted(program: Program): string[] {
    const trusted = trustedOrigins(program);
    const names = program.files.flatMap(({ imports }) =>
        imports.flatMap(({ what, name, uri }) =>
            (what === "tool" && !trusted.has(`tool:${name}`)) ||
            (what === "memory" && !trusted.has(`memory:${name}`)) ||
            (what === "agent" && isOutside(uri))
                ? [name]
                : [],
        ),
    );
    return [...new Set(names)];
}

function noteOf(
    program: Program,
    { tool, method, from, outcome, rule, clause, decides }: HostileStop,
    { file, range }: Pick<Diagnostic, "file" | "range">,
    sources: Sources,
): Diagnostic {
    const at = clause === null ? "" : `, ${clause.file}:${clause.line}`;
    const related = decides.flatMap((site) => {
        const place = rangeOf(sources, site);
        return place === null || (site.file === file && place.start === range.start)
            ? []
            : [{ message: "it decides here", file: site.file, range: place }];
    });
    return {
        code: "CHOICE_ASKED",
        severity: CODES.CHOICE_ASKED.severity,
        message: `what comes from ${from.join(", ")} may decide whether ${tool}.${method} is called: the run then ${outcome === "asks" ? "asks" : "refuses it"} (${rule}${at})`,
        file,
        range,
        hint: `decide by what is trusted, as a planner does that a reader only fills in for; or let it choose, with \`choice ${nameText(method)}: from(${originsOf(program, from)})\` at the import of ${tool}`,
        ...(related.length === 0 ? {} : { related }),
    };
}

/** As a clause lists them, with what may choose without it. */
function originsOf({ files }: Program, from: readonly string[]): string {
    const kinds = new Map(files.flatMap(({ imports }) => imports.map(({ name, what }) => [name, what] as const)));
    const names = new Set(from.map((one) => /^\w+/.exec(one)?.[0] ?? one));
    return ["trusted", ...[...names].map((name) => `${kinds.get(name) ?? "tool"}:${name}`)].map((one) => JSON.stringify(one)).join(", ");
}

function rangeOf(sources: Sources, { file, line, column, endLine = line, endColumn = column }: Site): Range | null {
    const source = sources.get(file)?.source;
    if (source === undefined) return null;
    const at = (l: number, c: number): number => {
        let from = 0;
        for (let n = 1; n < l; n++) from = source.text.indexOf("\n", from) + 1;
        return from + c - 1;
    };
    return { start: at(line, column), end: at(endLine, endColumn) };
}
