/**
 * What a program says about authority, before it runs: grants that are used, uses that nothing gives, delegations that do something.
 *
 * Boundary: what the text tells for certain. What is decided at a call is the machine's; both take a thing for the same by what it is and
 * where it leads.
 *
 * AY1: REMIT_DENIED, DELEGATE_DENIED and ENDORSE_DENIED are told only of places that would be refused whenever they are reached.
 */
import { nameText } from "../syntax/strings.ts";
import { fix } from "../text/fix.ts";
import { methodName } from "../authority/thing.ts";
import { remitsOfProject } from "../authority/project.ts";
import type { RemitForm } from "../form/form.ts";
import { isEndorse, remitForm } from "../form/lower.ts";
import type { Block, Delegate, Ref, RemitBody, RemitUse } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { checkOrigins } from "./origins.ts";
import { type Place, placeOfProject } from "./flow/rules.ts";
import { checkFolders } from "./folders.ts";
import { checkFlows } from "./flows.ts";
import { isOutside } from "./handover.ts";
import {
    type AgentScope,
    type Binding,
    type Checking,
    type Extra,
    type FileScope,
    type FuncInfo,
    reporter,
    type Report,
} from "../scope/model.ts";
import { shown } from "../syntax/entry.ts";
import { suggestion } from "./names.ts";
import { checkNever } from "./never.ts";
import { checkClauses, keyOf, trusting } from "./things.ts";
import { checkAmounts, checkDeclarations, checkRef, GRANTABLE, known } from "./remits.ts";
import { type Through, type Use, type Uses, usesOf, within } from "../scope/uses.ts";

/** One remit that binds an agent, and the file whose names it uses. */
interface Applied {
    readonly form: RemitForm;
    readonly file: FileScope;
    /** It is named and not there, which has been reported. */
    readonly unsaid?: true;
    /** Where the project says it. */
    readonly project?: Place;
}

export function checkAuthority(checking: Checking, funcs: readonly FuncInfo[]): void {
    const said =
        checking.project !== null ||
        checking.order.some(
            (file) =>
                file.tree.items.some(
                    (item) =>
                        item.kind === "remit" ||
                        item.kind === "flow" ||
                        (item.kind === "import" && (item.clauses ?? item.remit) !== undefined),
                ) || file.agents.some((agent) => agent.node.remit !== undefined),
        );
    const uses = new Map<FuncInfo, Uses>();
    if (!said && !checking.order.some((file) => /\b(?:delegate|spend)\b/.test(file.tree.source.text))) return;
    const through: Through = new Map();
    for (const func of funcs) uses.set(func, usesOf(func, through));
    const a: Whole = { checking, uses, remits: new Map(), delegated: [], passed: new Set() };
    for (const file of checking.order) checkDeclarations(a, file);
    checkClauses(checking);
    checkOrigins(checking);
    checkFolders(checking);
    for (const [func, found] of uses) {
        const report = reporter(func);
        for (const spend of found.spends) checkAmounts(report, spend.amounts);
        for (const delegate of found.delegates) checkDelegateNames(a, func, delegate);
    }
    if (said) checkFlows(checking, funcs, trusting(checking));
    collect(a);
    for (const [func, found] of uses) for (const delegate of found.delegates) checkDelegate(a, func, found, delegate);
    for (const file of checking.order) for (const agent of file.agents) checkAgentRemit(a, agent);
    checkNever(checking, uses);
    for (const file of checking.order) checkNamed(a, file);
}

interface Whole {
    readonly checking: Checking;
    readonly uses: ReadonlyMap<FuncInfo, Uses>;
    /** Remits that bind an agent; absent for one that runs as `user`. */
    readonly remits: Map<AgentScope, Applied[]>;
    readonly delegated: { readonly to: AgentScope; readonly all: boolean; readonly keys: ReadonlySet<string> }[];
    /** Keys of what is passed to some agent. */
    readonly passed: Set<string>;
}

// ---- agents ----------------------------------------------------------------------------------------------------------

function resolve(file: FileScope, use: RemitUse | undefined, names: FileScope): Applied | null {
    if (use === undefined) return null;
    if (use.kind === "remit.body") return applied(use, names);
    const named = file.remits.get(use.name.text);
    // A name that means nothing gives nothing, and has been reported.
    return named === undefined ? { form: { grants: [] }, file } : applied(named.body, file);
}

function applied(body: RemitBody, file: FileScope): Applied {
    const unsaid = body.clauses.length === 0 && body.range.start === body.range.end;
    return { form: remitForm(body), file, ...(unsaid ? { unsaid } : {}) };
}

function collect(a: Whole): void {
    const add = (agent: AgentScope, one: Applied | null): void => {
        if (one !== null) a.remits.set(agent, [...(a.remits.get(agent) ?? []), one]);
    };
    for (const file of a.checking.order) {
        for (const agent of file.agents) add(agent, resolve(file, agent.node.remit, file));
        for (const binding of file.names.values())
            if (binding.kind === "agent" && binding.import?.remit !== undefined && binding.agent !== null)
                add(binding.agent, resolve(file, binding.import.remit, binding.agent.file));
    }
    const { project } = a.checking;
    if (project !== null)
        for (const file of a.checking.order)
            for (const agent of file.agents)
                for (const form of remitsOfProject(project.policy, agent.name))
                    add(agent, { form, file, project: placeOfProject(project, form.site) });
    for (const [func, found] of a.uses) {
        for (const use of found.uses) if (use.toAgent !== undefined) a.passed.add(keyOf(use.binding, func.file));
        for (const node of found.delegates) {
            const to = func.file.names.get(node.to.text)?.agent;
            if (to == null) continue;
            const keys = node.refs.flatMap((ref) => {
                const binding = func.file.names.get(ref.name.text);
                return binding === undefined ? [] : [keyOf(binding, func.file)];
            });
            a.delegated.push({ to, all: node.all, keys: new Set(keys) });
        }
    }
}

/** The functions that run as an agent: its own, and plain ones that they call. */
function reached(a: Whole, agent: AgentScope): FuncInfo[] {
    const found = new Set<FuncInfo>();
    const queue = [...agent.funcs.values()].flatMap((one) => (one.func === null ? [] : [one.func]));
    for (let func = queue.pop(); func !== undefined; func = queue.pop()) {
        if (found.has(func)) continue;
        found.add(func);
        for (const { callee } of a.uses.get(func)?.calls ?? []) if (callee.agent === null || callee.agent === agent) queue.push(callee);
    }
    return [...found];
}

type Answer = "may" | "perhaps" | "no" | "never";

/** What a remit says of a use, as far as the text tells. */
function answer(remit: Applied, agent: AgentScope, key: string, method: string | null): Answer {
    let best: Answer = "no";
    for (const node of agent.node.config)
        if (node.kind === "config" && node.key === "model" && node.value.kind === "ident") {
            const model = agent.file.names.get(node.value.name);
            if (model !== undefined && keyOf(model, agent.file) === key) best = "may";
        }
    for (const grant of remit.form.grants) {
        if (grant.all === true) {
            if (grant.gate === "never") return "never";
            best = "may";
            continue;
        }
        for (const ref of grant.refs) {
            const binding = remit.file.names.get(ref.name);
            if (binding === undefined || keyOf(binding, remit.file) !== key) continue;
            const covers = ref.method === undefined || ref.method === method;
            const isBound = (ref.in ?? []).length > 0;
            if (grant.gate === "never") {
                if (covers && !isBound) return "never";
            } else if (covers) best = !isBound ? "may" : best === "may" ? best : "perhaps";
            else if (method === null || folds(binding)) best = best === "may" ? best : "perhaps";
        }
    }
    return best;
}

/** The strictest of all remits of an agent, and where the project says it, where that alone does. */
function answers(
    a: Whole,
    agent: AgentScope,
    key: string,
    method: string | null,
): { readonly said: Answer; readonly by: Place | undefined } {
    const all = (a.remits.get(agent) ?? []).map((remit) => ({ said: answer(remit, agent, key, method), by: remit.project }));
    for (const said of ["never", "no", "perhaps"] as const) {
        const found = all.filter((one) => one.said === said);
        if (found.length > 0) return { said, by: found.every((one) => one.by !== undefined) ? found[0]?.by : undefined };
    }
    return { said: "may", by: undefined };
}

/** As a finding tells it. */
function projectSays(by: Place | undefined): Extra {
    if (by === undefined) return {};
    const { file, range, line } = by;
    return { related: [{ message: `the project's policy (line ${line})`, file, range }] };
}

/** Verbs of http are the same in either case. */
function folds(binding: Binding): boolean {
    return methodName(binding.import?.uri.value ?? "", "A") === "a";
}

function givenElsewhere(a: Whole, agent: AgentScope, key: string): boolean {
    return a.passed.has(key) || a.delegated.some((one) => one.to === agent && (one.all || one.keys.has(key)));
}

function nameOf(use: Use): string {
    return use.method === null ? use.binding.name : `${use.binding.name}.${nameText(use.method)}`;
}

function checkAgentRemit(a: Whole, agent: AgentScope): void {
    const remits = a.remits.get(agent);
    if (remits === undefined || remits.some((remit) => remit.file.broken) || agent.file.broken) return;
    const funcs = reached(a, agent);
    const name = shown(agent.name);
    const unsaid = remits.some((remit) => remit.unsaid === true);
    // What a name that is not there was to give has been told at that name.
    const misnamed = agent.file.diagnostics.some(({ code, range }) => code === "REMIT_REFERENCE" && isInRemit(agent, range));
    for (const func of funcs) {
        const found = a.uses.get(func) as Uses;
        const report = reporter(func);
        for (const use of found.uses) {
            if (use.how !== "call" || !GRANTABLE.has(use.binding.kind)) continue;
            if (use.binding.agent === agent) continue;
            const key = keyOf(use.binding, func.file);
            const { said, by } = answers(a, agent, key, methodAsked(use));
            if (said === "never")
                report(
                    "REMIT_DENIED",
                    use.range,
                    `${by === undefined ? "the" : "the project's"} remit of ${name} says never to ${nameOf(use)}`,
                    {
                        hint: "take the call or the `never` out",
                        ...projectSays(by),
                    },
                );
            else if (said === "no" && !unsaid && !misnamed && !givenElsewhere(a, agent, key))
                report(
                    "REMIT_DENIED",
                    use.range,
                    by === undefined
                        ? `nothing gives ${nameOf(use)} to ${name}`
                        : `the project's remit of ${name} does not name ${nameOf(use)}`,
                    by === undefined
                        ? {}
                        : { hint: "name it in the project's remit as well, or pass it as an argument", ...projectSays(by) },
                );
        }
        if (!remits.every((remit) => remit.form.endorse === true))
            for (const node of found.endorses)
                report("ENDORSE_DENIED", { start: node.range.start, end: node.range.start + 7 }, `${name} has no right to endorse`, {
                    hint: "write `may endorse` in its remit, or let the caller endorse the value",
                });
    }
}

/** The place stands in the remit of an agent, or in one that is declared beside it. */
function isInRemit({ node, file }: AgentScope, { start }: Range): boolean {
    const declared = [...file.remits.values()].map(({ range }) => range);
    return [...(node.remit === undefined ? [] : [node.remit.range]), ...declared].some((one) => start >= one.start && start < one.end);
}

/** Who calls an agent of the program, or hands control to it, uses its main func. */
function methodAsked({ binding, method }: Use): string | null {
    const { agent } = binding;
    const isMain = method === null || (HANDOVERS.has(method) && agent?.funcs.has(method) === false);
    return binding.kind === "agent" && isMain ? (agent?.main?.name ?? method) : method;
}

const HANDOVERS: ReadonlySet<string> = new Set(["send", "yield"]);

// ---- grants that are not used ----------------------------------------------------------------------------------------

/** Grants of the remits that a file declares, by name or in an agent. */
function checkNamed(a: Whole, file: FileScope): void {
    if (file.broken) return;
    const report = reporter(file);
    const ofTools = holdsTools(a, file);
    for (const agent of file.agents) if (agent.node.remit?.kind === "remit.body") checkGrants(a, report, file, agent.node.remit, [agent]);
    const held = Map.groupBy(file.agents, ({ node }) => nameOfRemit(node));
    const taken = new Set([...file.names.values()].map((one) => nameOfRemit(one.import)));
    for (const item of file.tree.items) {
        if (item.kind !== "remit") continue;
        const holders = held.get(item.name.text) ?? [];
        const isImported = taken.has(item.name.text);
        if (file.policies.has(item.name.text) || (ofTools && speaksOfTools(item.body, file))) continue;
        if (holders.length === 0 && !isImported)
            report("REMIT_UNUSED", item.name.range, `no agent has the remit '${item.name.text}'`, {
                hint: "leave it out, or write its name in an agent",
            });
        else if (!isImported) checkGrants(a, report, file, item.body, holders);
    }
}

function nameOfRemit(held: { readonly remit?: RemitUse | RemitBody } | null): string | null {
    return held?.remit?.kind === "remit.use" ? held.remit.name.text : null;
}

/** A file that does nothing itself: a Re in Act program takes its tools from it, and names its remits as policies. */
function holdsTools(a: Whole, file: FileScope): boolean {
    if ([...file.names.values()].some((one) => one.kind === "agent")) return false;
    return file.funcs.every((func) => a.uses.get(func)?.uses.length === 0 && func.generates.length === 0);
}

function speaksOfTools({ clauses }: RemitBody, file: FileScope): boolean {
    return clauses.every(
        (clause) => clause.kind !== "remit.grant" || clause.grant.refs.every((ref) => file.names.get(ref.name.text)?.kind === "tool"),
    );
}

function checkGrants(a: Whole, report: Report, file: FileScope, body: RemitBody, holders: readonly AgentScope[]): void {
    const funcs = new Set(holders.flatMap((agent) => reached(a, agent)));
    const all = [...funcs].map((func) => ({ func, found: a.uses.get(func) as Uses }));
    const uses = all.flatMap(({ func, found }) => found.uses.map((use) => ({ use, key: keyOf(use.binding, func.file) })));
    const onward = all.flatMap(({ func, found }) =>
        found.delegates.flatMap((node) =>
            node.all
                ? ["*"]
                : node.refs.flatMap((ref) =>
                      func.file.names.has(ref.name.text) ? [keyOf(func.file.names.get(ref.name.text) as Binding, func.file)] : [],
                  ),
        ),
    );
    for (const clause of body.clauses) {
        if (clause.kind !== "remit.grant" || clause.grant.gate === "never") continue;
        if (clause.grant.all && clause.grant.gate === "may" && !onward.includes("*"))
            allTooWide(report, clause.grant.range, file, new Set([...uses.map((one) => one.key), ...onward]), holders);
        for (const ref of clause.grant.refs) {
            if (isEndorse(ref)) {
                if (!all.some(({ found }) => found.endorses.length > 0)) report("REMIT_UNUSED", ref.range, "nothing is endorsed");
                continue;
            }
            const binding = file.names.get(ref.name.text);
            if (binding === undefined || !GRANTABLE.has(binding.kind)) continue;
            const key = keyOf(binding, file);
            if (onward.includes("*") || onward.includes(key)) continue;
            const mine = uses.filter((one) => one.key === key).map((one) => one.use);
            const web = folds(binding);
            const same = (use: Use): boolean =>
                use.method === null ||
                ref.method === undefined ||
                (web ? use.method.toLowerCase() === ref.method.text.toLowerCase() : use.method === ref.method.text);
            const holds = (use: Use): boolean =>
                use.binding.kind === "agent" && use.how === "call"
                    ? methodAsked(use) === ref.method?.text || ref.method === undefined
                    : same(use);
            if (!mine.some(holds)) {
                const what = ref.method === undefined ? ref.name.text : `${ref.name.text}.${ref.method.text}`;
                report(
                    "REMIT_UNUSED",
                    ref.range,
                    `${holders.map((one) => shown(one.name)).join(", ")} never ${holders.length > 1 ? "use" : "uses"} ${what}`,
                );
            } else if (clause.grant.gate === "may" && ref.method === undefined) tooWide(report, ref, binding, mine);
        }
    }
}

/** `may all` where some of what the file imports is not used. */
function allTooWide(report: Report, range: Range, file: FileScope, keys: ReadonlySet<string>, holders: readonly AgentScope[]): void {
    const things = [...file.names.values()].filter((one) => one.import !== null && GRANTABLE.has(one.kind));
    const used = things.filter((one) => keys.has(keyOf(one, file))).map((one) => one.name);
    if (things.length === 0 || used.length === things.length) return;
    const who = holders.map((one) => shown(one.name)).join(", ");
    if (used.length === 0) report("REMIT_UNUSED", range, `${who} ${holders.length > 1 ? "use" : "uses"} nothing of what the file imports`);
    else
        report("REMIT_TOO_WIDE", range, `of all that the file imports only ${used.join(", ")} ${used.length > 1 ? "are" : "is"} used`, {
            hint: `write may ${used.join(", ")}`,
        });
}

function tooWide(report: Report, ref: Ref, binding: Binding, uses: readonly Use[]): void {
    if (binding.kind !== "tool" && binding.kind !== "memory") return;
    if (uses.some((use) => use.method === null)) return;
    const web = folds(binding);
    const used = [...new Set(uses.map((use) => (web ? (use.method as string).toLowerCase() : (use.method as string))))].sort();
    const methods = known(binding);
    if (methods?.every((one) => used.includes(one)) === true) return;
    // A server has its generic `call` besides: a principal that uses it may use anything.
    if (used.includes("call") && methods === null) return;
    const narrow = used.map((method) => `${ref.name.text}.${nameText(method)}`).join(", ");
    report("REMIT_TOO_WIDE", ref.range, `only ${narrow} ${used.length > 1 ? "are" : "is"} used`, {
        hint: `write ${narrow}`,
        ...(ref.bounds.length > 0 || ref.counts !== undefined ? {} : { fixes: [fix(`write ${narrow}`, ref.range, narrow)] }),
    });
}

// ---- delegation ------------------------------------------------------------------------------------------------------

function checkDelegateNames(a: Whole, func: FuncInfo, node: Delegate): void {
    const report = reporter(func);
    for (const ref of node.refs) {
        checkRef(a, report, func.file, ref);
        const [count] = ref.counts ?? [];
        if (count !== undefined)
            report("REMIT_BOUND", count.range, "uses are counted in a run, not in a block", {
                hint: "write it in a remit, or at the import",
            });
    }
    const { text, range } = node.to;
    if (text === "") return;
    const found = func.file.names.get(text);
    if (found === undefined || found.kind !== "agent") {
        if (found === undefined && func.file.broken) return;
        const agents = [...func.file.names.values()].filter((one) => one.kind === "agent").map((one) => one.name);
        report(
            "REMIT_REFERENCE",
            range,
            found === undefined ? `there is no agent '${text}' here` : `'${text}' is a ${found.kind}, and only an agent is delegated to`,
            suggestion(a.checking, text, range, agents),
        );
        return;
    }
    found.used = true;
}

function checkDelegate(a: Whole, func: FuncInfo, found: Uses, node: Delegate): void {
    const to = func.file.names.get(node.to.text);
    if (to?.kind !== "agent" || (to.agent === null && (to.import === null || !isOutside(to.import)))) return;
    const report = reporter(func);
    const head = { start: node.range.start, end: node.range.start + 8 };
    const giver = func.agent;
    if (giver !== null && a.remits.has(giver) && !giver.file.broken)
        for (const ref of node.refs) {
            const binding = func.file.names.get(ref.name.text);
            if (binding === undefined || !GRANTABLE.has(binding.kind)) continue;
            const key = keyOf(binding, func.file);
            if (binding.agent === giver) continue;
            const { said, by } = answers(a, giver, key, ref.method?.text ?? null);
            if (said === "never" || (said === "no" && !givenElsewhere(a, giver, key)))
                report(
                    "DELEGATE_DENIED",
                    ref.range,
                    `${shown(giver.name)} does not have ${ref.name.text}${ref.method === undefined ? "" : `.${ref.method.text}`} itself`,
                    projectSays(by),
                );
        }
    if (to.agent !== null && !a.remits.has(to.agent)) {
        if (!to.agent.file.broken && !func.file.broken)
            report("DELEGATE_TO_USER", node.to.range, `${node.to.text} has no remit, and may do what its file imports anyhow`, {
                hint: "leave the block out, or give the agent a remit",
            });
        return;
    }
    if (!callsIn(a, func, found, node.body, to.agent)) report("DELEGATE_UNUSED", head, `${node.to.text} is not called in this block`);
}

/** Whether a block, or a function it calls, names the agent; null for one outside the program. A yield or `agent()` is a call of it. */
function callsIn(a: Whole, func: FuncInfo, found: Uses, block: Block, agent: AgentScope | null): boolean {
    const names = (use: Use): boolean => use.binding.agent === agent || (use.binding.kind === "agent" && use.binding.agent === null);
    // `agent("…")` may name no agent and mean the only one there is.
    if (agent === null && /\bagent\s*\(/.test(func.file.tree.source.text.slice(block.range.start, block.range.end))) return true;
    if (found.uses.some((use) => within(use.range, block) && (names(use) || use.binding.kind === "agent"))) return true;
    const seen = new Set<FuncInfo>([func]);
    const queue = found.calls.filter((one) => within(one.range, block)).map((one) => one.callee);
    for (let callee = queue.pop(); callee !== undefined; callee = queue.pop()) {
        // A function called from here may get the agent as a value.
        if (seen.has(callee)) continue;
        seen.add(callee);
        if ((agent !== null && callee.agent === agent) || callee.passed.some((one) => one?.kind === "agent")) return true;
        const inside = a.uses.get(callee);
        if (inside?.uses.some((use) => use.binding.kind === "agent") === true) return true;
        queue.push(...(inside?.calls ?? []).map((one) => one.callee));
    }
    // One that is held in a variable.
    return func.locals.some((local) => local.type.cap?.kind === "agent");
}
