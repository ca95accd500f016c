/**
 * What is the same for every walk over a function, and which function a call names.
 *
 * Boundary: one function and the names of its file.
 */
import type { Call, Generate } from "../../syntax/tree.ts";
import { type Project, remitsOfProject } from "../../authority/project.ts";
import type { Binding, FuncInfo, GenerateSite, UseEntry } from "../../scope/model.ts";
import { ownNames } from "../../scope/uses.ts";
import type { Aliases } from "./classes.ts";

/** What is the same for every walk over a function. */
export interface Known {
    readonly loose: ReadonlySet<string>;
    /** What a name holds has all that the name carries (AL7). */
    readonly covered: (name: string) => boolean;
    readonly sites: ReadonlyMap<Generate, GenerateSite>;
    /** Functions that it calls by name. */
    readonly callees: ReadonlySet<FuncInfo>;
    readonly ofAgent: ReadonlySet<UseEntry>;
    /** Parameters that stay what was passed, by name. */
    readonly fixed: ReadonlyMap<string, number>;
    /** Control flow carries labels in it, whatever calls it. */
    readonly strict: boolean;
}

export function knownOf(func: FuncInfo, aliases: Aliases, strict: boolean): Known {
    const own = ownNames(func);
    const callees = new Set([...aliases.callees(func), ...func.calls.map((edge) => edge.callee)]);
    const ofAgent = new Set<UseEntry>();
    for (let use = func.agent?.uses ?? null; use !== null; use = use.before) ofAgent.add(use);
    const fixed = new Map(func.node.params.flatMap(({ name }, i) => (own.get(name.text) === 1 ? [[name.text, i] as const] : [])));
    return {
        loose: aliases.loose(func),
        covered: (name) => aliases.isCovered(func, name),
        sites: new Map(func.generates.map((site) => [site.node, site])),
        callees,
        ofAgent,
        fixed,
        strict,
    };
}

/** Whether its own text, or the project, says `flow strict`: as the machine has it, but for what imports of an agent say of it. */
export function isStrict({ file, agent }: FuncInfo, project: Project | null): boolean {
    if (project?.policy.strict === true || file.tree.items.some((item) => item.kind === "flow")) return true;
    if (agent === null) return false;
    const { remit } = agent.node;
    if (remit === undefined) return false;
    if (project !== null && remitsOfProject(project.policy, agent.name).some((one) => one.flow === "strict")) return true;
    const body = remit.kind === "remit.body" ? remit : file.remits.get(remit.name.text)?.body;
    return body?.clauses.some((clause) => clause.kind === "remit.flow") === true;
}

/** The function that a call names; what else of the file it uses; null where the text does not tell. */
export function calledBy(func: FuncInfo, { callee }: Call, own: { has(name: string): boolean }): FuncInfo | Binding | null {
    const object = callee.kind === "member" ? callee.object : callee;
    if (object.kind !== "ident" || own.has(object.name)) return null;
    const found = func.agent?.funcs.get(object.name) ?? func.file.names.get(object.name);
    if (found === undefined) return null;
    if (callee.kind === "member") return found.agent?.funcs.get(callee.name.text)?.func ?? (found.kind === "file" ? null : found);
    return found.func ?? found.agent?.main ?? found;
}
