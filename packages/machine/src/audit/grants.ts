/**
 * Grants of remits against what a run used.
 *
 * Boundary: pure; a program form and the names of what was used in, findings out.
 */
import { type AgentForm, type FileForm, type GrantForm, type Program, type RemitForm, shownName, siteAt } from "@remit/language";
import { type Finding, findingAt } from "./finding.ts";

/** What a run used, and what it asked about: `agent:main.remit#Fixer Repo` to its methods, `agent:main.remit#Fixer Repo.write`. */
export interface Used {
    readonly methods: ReadonlyMap<string, ReadonlySet<string>>;
    /** Whether or not a person said yes: it was not given for nothing. */
    readonly asked: ReadonlySet<string>;
}

/** The findings `broad-grant` and `unused-grant`. */
export function grants(program: Program, used: Used): Finding[] {
    return program.files.flatMap((file) =>
        file.agents.flatMap((agent) =>
            (remitOf(agent.remit, file.remits ?? [])?.grants ?? []).flatMap((grant) => {
                if (grant.gate === "never") return [];
                return grant.all === true ? ofAll(file, agent, grant, used) : ofSome(file, agent, grant, used);
            }),
        ),
    );
}

function ofAll(file: FileForm, agent: AgentForm, grant: GrantForm, used: Used): Finding[] {
    const site = siteAt(file.file, grant.at);
    if (site === null) return [];
    const principal = shownName(agent.name);
    const did = file.imports.flatMap(({ name }) =>
        [...(used.methods.get(`${idOf(file, agent)} ${name}`) ?? [])].map((m) => (m === "" ? name : `${name}.${m}`)),
    );
    const told = `${principal} has all that its file names and used`;
    if (did.length === 0) return [findingAt(site, { rule: "unused-grant", severity: "note", message: `${told} nothing of it`, principal })];
    return [findingAt(site, { rule: "broad-grant", severity: "low", message: `${told} ${did.sort().join(", ")}`, principal })];
}

function ofSome(file: FileForm, agent: AgentForm, grant: GrantForm, used: Used): Finding[] {
    const id = idOf(file, agent);
    const principal = shownName(agent.name);
    return grant.refs.flatMap((ref) => {
        const site = siteAt(file.file, ref.at ?? grant.at);
        const isTool = file.imports.some((i) => i.name === ref.name && (i.what === "tool" || i.what === "memory"));
        if (site === null || !isTool) return [];
        const methods = used.methods.get(`${id} ${ref.name}`) ?? new Set<string>();
        const what = ref.method === undefined ? ref.name : `${ref.name}.${ref.method}`;
        const isUsed = ref.method === undefined ? methods.size > 0 : methods.has(ref.method);
        if (!isUsed) {
            if (used.asked.has(`${id} ${what}`)) return [];
            return [
                findingAt(site, {
                    rule: "unused-grant",
                    severity: "note",
                    message: `${principal} has ${what} and did not use it`,
                    principal,
                }),
            ];
        }
        if (ref.method !== undefined) return [];
        const message = `${principal} has all of ${what} and used ${[...methods].sort().join(", ")}`;
        return [findingAt(site, { rule: "broad-grant", severity: "low", message, principal })];
    });
}

function idOf(file: FileForm, agent: AgentForm): string {
    return `agent:${file.file}#${agent.name}`;
}

export function remitOf(use: RemitForm | undefined, named: readonly RemitForm[]): { readonly grants: readonly GrantForm[] } | null {
    if (use === undefined) return null;
    return use.use === undefined ? use : (named.find((r) => r.name === use.use) ?? null);
}
