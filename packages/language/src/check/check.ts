/**
 * Checks a loaded program: every rule that the text alone can tell, all files in one pass.
 *
 * Boundary: takes trees, gives diagnostics and what the later phases want to know. Nothing is thrown, whatever the trees hold.
 *
 * CK1: diagnostics are in the order of files and places, and the same program gives the same ones.
 */
import type { Project } from "../authority/project.ts";
import type { Contract } from "../contract/contract.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { LoadedProgram } from "../load/program.ts";
import type { BlockDecl, Define, Func, File as TreeFile } from "../syntax/tree.ts";
import { checkAuthority } from "./authority.ts";
import { checkAgentUse, checkBudget, checkConfig } from "./context.ts";
import { checkReach, settleEffects } from "./effects.ts";
import { type BlockChecks, checkBlocks, checkOrder } from "./blocks.ts";
import { checkEntry, checkStart } from "./entry.ts";
import { checkInstructions, visit } from "./functions.ts";
import {
    type AgentScope,
    type Checking,
    type FileScope,
    type FuncInfo,
    type GenerateSite,
    type Pending,
    report,
    reporter,
} from "../scope/model.ts";
import { firstMistakes, namesOnce, trusted } from "./mistakes.ts";
import { declareFile, newFunc } from "./names.ts";
import { membersOf } from "./outside.ts";
import { resultOf } from "./results.ts";
import { checkUnlooked } from "./unlooked.ts";
import { eachNode } from "../syntax/nodes.ts";
import { NATIVE_VERBS } from "../verbs/native.ts";
import { FROM_FIELD, FROM_LIST, MAY_CHANGE, MAY_GROW } from "../scope/types.ts";

/** What is known of one function. */
export interface FunctionInfo {
    readonly file: string;
    /** Null for a function beside the agents. */
    readonly agent: string | null;
    readonly name: string;
    readonly node: Func;
    /** Sorted: `model`, `tool:Name.method`, `memory:Name.add`, `agent:Name`; itself or through calls. */
    readonly effects: readonly string[];
    /** Names of the parameters that it changes. */
    readonly mutates: readonly string[];
    /** What it gives; names in it are shapes of its file. Made when asked for. */
    readonly result: () => Contract;
}

/** What is known of the value of a block at the top level. */
export interface BlockInfo {
    readonly file: string;
    readonly node: BlockDecl;
    /** `json` where nothing is known. */
    readonly result: Contract;
}

export interface CheckInfo {
    readonly functions: ReadonlyMap<Func, FunctionInfo>;
    /** Every `generate` with what is in force at it; read with `promptSurfaces`. */
    readonly generates: readonly GenerateSite[];
    /** In the order of the source. */
    readonly blocks: readonly BlockInfo[];
}

export interface CheckedProgram {
    readonly entry: string;
    readonly files: ReadonlyMap<string, TreeFile>;
    /** Imported files before their importers. */
    readonly order: readonly string[];
    readonly links: LoadedProgram["links"];
    readonly prelude?: string;
    /** Texts of the files that describe tools, by name. */
    readonly descriptions: ReadonlyMap<string, string>;
    /** Everything found, from reading on: by file in `order`, then by place. */
    readonly diagnostics: readonly Diagnostic[];
    readonly info: CheckInfo;
}

/** Near names looked for in one check. */
const MAX_SUGGESTIONS = 500;

export interface CheckProgramOptions {
    /** It is what an agent answered a yield with. */
    readonly answer?: boolean;
    /** What the project that it runs in says besides. */
    readonly project?: Project | null;
}

export function check(program: LoadedProgram, { answer = false, project = null }: CheckProgramOptions = {}): CheckedProgram {
    const files = new Map<string, FileScope>();
    for (const name of program.order) {
        const tree = program.files.get(name);
        if (tree !== undefined) files.set(name, declareFile(tree, { ...program, prelude: name === program.prelude }));
    }
    const order = [...files.values()];
    const checking: Checking = {
        files,
        order,
        entry: program.entry,
        queue: [],
        assigned: new Set(),
        anyAssigned: false,
        itemsAssigned: false,
        objectsChange: false,
        listsChange: false,
        writes: new Set(),
        answer,
        project,
        verbs: program.verbs ?? NATIVE_VERBS,
        members: membersOf(program),
        readOnly: program.readOnly,
        suggestions: MAX_SUGGESTIONS,
        depth: 0,
    };
    link(program, files);
    for (const file of order) {
        checkEntry(file);
        for (const agent of file.agents) checkAgent(checking, agent);
    }
    const start = files.get(program.entry);
    if (start !== undefined) checkStart(start);

    const blocks = order.flatMap((file) => checkBlocks(checking, file) ?? []);

    const funcs = order.flatMap((file) => file.funcs);
    for (const func of funcs) if (func.state === "new") visit(checking, func);
    for (let func = checking.queue.shift(); func !== undefined; func = checking.queue.shift()) {
        func.queued = false;
        visit(checking, func);
    }
    checkOrder(blocks);
    settleEffects(checking, funcs);
    checkReach(checking, funcs);
    checkInstructions(funcs);
    // What is wrong with a stage has been told; what follows is about authority.
    for (const func of blocks.flatMap((one) => one.funcs)) Object.assign(func, { diagnostics: [], pending: [] });
    checkAuthority(checking, funcs);
    for (const func of funcs) settlePending(checking, func);
    checkUnlooked(funcs);
    for (const file of order) {
        for (const agent of file.agents) checkAgentUses(agent);
        checkImports(file);
    }

    if (answer) for (const file of order) checkDefined(checking, file);
    const found: Diagnostic[] = firstMistakes(program);
    for (const file of order) {
        if (file.prelude) continue;
        const sound = trusted(file);
        for (const one of file.diagnostics) if (sound(one)) found.push(one);
        for (const func of file.funcs) for (const one of namesOnce(func.diagnostics)) if (sound(one)) found.push(one);
    }
    return {
        entry: program.entry,
        files: program.files,
        order: program.order,
        links: program.links,
        ...(program.prelude === undefined ? {} : { prelude: program.prelude }),
        descriptions: new Map([...(program.described ?? new Map()).values()].map(({ file, text }) => [file, text])),
        diagnostics: sorted(found, program.order),
        info: infoOf(checking, funcs, blocks),
    };
}

function infoOf(checking: Checking, funcs: readonly FuncInfo[], blocks: readonly BlockChecks[]): CheckInfo {
    return {
        functions: new Map(funcs.map((func) => [func.node, functionInfo(func, checking)])),
        generates: funcs.flatMap((func) => func.generates),
        blocks: blocks.flatMap(({ file, values }) => values.map((one) => ({ file: file.name, ...one }))),
    };
}

function sorted(found: Diagnostic[], order: readonly string[]): Diagnostic[] {
    const rank = new Map(order.map((name, i) => [name, i]));
    return found.sort(
        (a, b) => (rank.get(a.file) ?? -1) - (rank.get(b.file) ?? -1) || a.range.start - b.range.start || a.range.end - b.range.end,
    );
}

/** Imported agents are those of the files that were found for them. */
function link(program: LoadedProgram, files: ReadonlyMap<string, FileScope>): void {
    for (const [name, links] of program.links)
        for (const [imported, target] of links) {
            const binding = files.get(name)?.names.get(imported);
            if (binding?.kind === "agent" && binding.import !== null) binding.agent = files.get(target)?.names.get(imported)?.agent ?? null;
        }
}

function checkAgent(checking: Checking, agent: AgentScope): void {
    const { file } = agent;
    const tell = reporter(file);
    for (const node of agent.node.config) {
        if (node.kind === "config") {
            checkConfig(tell, checking, file, null, node);
            agent.config = { ...agent.config, [node.key]: node };
        } else if (node.kind === "context") {
            checkBudget(tell, node.max);
            agent.config = { ...agent.config, context: node };
        } else checkAgentUse(tell, checking, agent, node);
    }
}

function checkAgentUses(agent: AgentScope): void {
    const { file } = agent;
    for (let use = agent.uses; use !== null; use = use.before) {
        if (!agent.generates) report(file, "UNUSED_USE", use.node.range, "no function of the agent has a `generate`");
        else if (use.twin !== null)
            report(
                file,
                "DUPLICATE_LABEL",
                use.node.label?.range ?? use.node.range,
                `another item of the same prompts is labelled '${use.node.label?.text}'`,
            );
    }
}

/** Functions that an answer defines for the rest of the run: closed, they see their parameters and the built-ins. */
function checkDefined(checking: Checking, file: FileScope): void {
    // Most answers define nothing: then the tree is not gone through.
    if (!file.tree.source.text.includes("define")) return;
    for (const { node } of [...file.funcs])
        eachNode(node.body, (one) => {
            if (one.kind !== "define") return;
            const closed: FileScope = { ...file, names: new Map(), agents: [], funcs: [], diagnostics: [] };
            const func = newFunc((one as unknown as Define).func, closed, null);
            visit(checking, func);
            file.diagnostics.push(...closed.diagnostics, ...func.diagnostics);
        });
}

function checkImports(file: FileScope): void {
    if (file.broken) return;
    for (const one of file.names.values())
        if (one.import !== null && !one.used) report(file, "UNUSED_IMPORT", one.range, `'${one.name}' is not used in this file`);
}

/** Keeps what still holds now that every change of an object in the program has been seen. */
function settlePending(checking: Checking, func: FuncInfo): void {
    for (const one of func.pending) {
        const found = mayBeUntrue(checking, one) ? one.otherwise : one.diagnostic;
        if (found !== undefined) func.diagnostics.push(found);
    }
}

function mayBeUntrue(checking: Checking, { property, soft }: Pending): boolean {
    if (property !== null && (checking.anyAssigned || checking.assigned.has(property))) return true;
    if ((soft & FROM_FIELD) !== 0 && checking.objectsChange) return true;
    if ((soft & FROM_LIST) !== 0 && checking.listsChange) return true;
    if ((soft & MAY_CHANGE) !== 0 && checking.itemsAssigned) return true;
    return (soft & (MAY_GROW | MAY_CHANGE)) !== 0 && (checking.anyAssigned || checking.assigned.size > 0);
}

function functionInfo(func: FuncInfo, checking: Checking): FunctionInfo {
    const effects = [...func.effects].filter((effect) => effect !== "parallel").sort();
    const mutates: string[] = [];
    if (func.mutates !== 0)
        func.node.params.forEach((param, i) => {
            if ((func.mutates & (1 << Math.min(i, 30))) !== 0) mutates.push(param.name.text);
        });
    const { file, agent, name, node } = func;
    return { file: file.name, agent: agent?.name ?? null, name, node, effects, mutates, result: () => resultOf(func, checking) };
}
