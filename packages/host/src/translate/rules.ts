/**
 * What a program that a model wrote from a request may be: blocks of verbs, and functions that only compute or ask a model.
 *
 * Boundary: looks at the form of a program that compiles. What it may do when it runs is the project's policy and its own plan, which a person sees.
 *
 * TRR1: it imports nothing, so that it has no more authority than the verbs; it calls nothing trusted that is not; it sends no credential and acts for
 *     nobody.
 * TRR2: a path that it names stays in the workspace and is none of a project's own settings; where it reads, writes and fetches stands in its text, so
 *     that a person sees it: no path and no address flows into a stage.
 */
import { isObject, type Json, type Program } from "@remit/language";
import type { Plan, PlanNode } from "@remit/machine";

/** What of the language gives a right, or calls trusted what is not. */
const RIGHTS: ReadonlySet<Json> = new Set(["endorse", "delegate", "define"]);
/** Settings of a project, which decide what programs may do. */
const SETTINGS = /^(?:remit\.json|remit\.lock|package\.json|package-lock\.json|node_modules)$/i;

/** Verbs that reach a place, and the parameter that names it. */
const REACHES: ReadonlyMap<string, "path" | "url"> = new Map([
    ["read", "path"],
    ["save", "path"],
    ["fetch", "url"],
]);

export const NO_BLOCK = "It has no block. Write memory static ( … ) or temporal static ( … ).";

export function problemsOf({ files }: Program, plans: readonly Plan[]): string[] {
    const own = files.at(-1);
    if (own === undefined || plans.length === 0) return [NO_BLOCK];
    const problems: string[] = [];
    for (const { name, uri } of own.imports) problems.push(`It imports ${name} from "${uri}". Take the import out and use verbs alone.`);
    for (const func of [...own.funcs, ...own.agents.flatMap((agent) => agent.funcs)]) {
        const beyond = (func.effects ?? []).filter((one) => one !== "model");
        if (beyond.length > 0)
            problems.push(`The function ${func.name} does more than compute (${beyond.join(", ")}). Use a verb for that.`);
    }
    for (const kind of kindsIn([own.funcs, own.agents] as unknown as Json))
        if (RIGHTS.has(kind)) problems.push(`It uses ${String(kind)}, which a translated program does not. Take it out.`);
    for (const plan of plans) for (const node of plan.nodes) problems.push(...ofNode(node));
    return [...new Set(problems)];
}

function ofNode(node: PlanNode): string[] {
    const at = node.site === null ? node.id : `${node.id} in line ${node.site.line}`;
    const problems: string[] = [];
    if (node.credential !== undefined) problems.push(`${at} names a credential. Take it out; the person adds credentials.`);
    if (node.as !== undefined) problems.push(`${at} names an identity with as:. Take it out.`);
    const what = REACHES.get(node.call);
    if (what !== undefined) {
        const said = node.args.filter(({ name, value }) => (name === undefined || name === what) && typeof value === "string");
        if (said.length === 0) problems.push(`${at} takes its ${what} from what flows in. Write it as a literal: ${node.call} "…".`);
        for (const { value } of what === "path" ? node.args : []) {
            const why = typeof value === "string" ? pathProblem(value) : null;
            if (why !== null) problems.push(`${at} has the path "${String(value)}", which ${why}.`);
        }
    }
    for (const { value } of node.args)
        if (isObject(value) && REACHES.has(String(value["ref"])))
            problems.push(`${at} calls ${String(value["ref"])} with what flows in. Write one stage for each, side by side: ( a <*> b ).`);
    return [...problems, ...(node.plan?.nodes ?? []).flatMap(ofNode)];
}

function pathProblem(path: string): string | null {
    if (/^(?:[/\\~]|[a-z]:)/i.test(path)) return "is not relative; name a file of the workspace";
    const parts = path.split(/[/\\]/);
    if (parts.includes("..")) return "leaves the workspace; name a file inside it";
    if (parts.some((part) => part.startsWith("."))) return "has a part that begins with a dot; name an ordinary file";
    return parts.some((part) => SETTINGS.test(part)) ? "is a setting of the project; name an ordinary file" : null;
}

function kindsIn(form: Json, found: Set<Json> = new Set()): ReadonlySet<Json> {
    if (Array.isArray(form)) for (const one of form) kindsIn(one, found);
    else if (isObject(form)) {
        if (form["kind"] !== undefined) found.add(form["kind"]);
        for (const one of Object.values(form)) kindsIn(one, found);
    }
    return found;
}
