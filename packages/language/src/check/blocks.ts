/**
 * The blocks of a file: every stage, what flows between them, and that no value of a block is read before the block has run.
 *
 * Boundary: joins and order; a stage is `stages.ts`'s, what a block reaches is its function's (`block-code.ts`).
 *
 * BKS1: the functions made here have no findings of their own but those of authority and labels: what a stage does wrong has been told.
 * BKS2: the value of a block is there for the blocks after it, and for functions that only they reach.
 */
import type { Contract } from "../contract/contract.ts";
import { type Binding, type Checking, type FileScope, type FuncInfo, reporter } from "../scope/model.ts";
import { eachNode } from "../syntax/nodes.ts";
import type { BlockDecl, Expr, Flow } from "../syntax/tree.ts";
import { binding, newFunc } from "./names.ts";
import { blockInput, type Code, functionOf, VERB } from "./block-code.ts";
import { checkStage, contractOfPort, type Port, valueIn, type Within } from "./stages.ts";
import type { Target } from "./stage-targets.ts";

/** A place from which functions are reached, and the number of its block. */
interface Reached {
    readonly func: FuncInfo;
    readonly name: string;
    readonly at: Expr;
    readonly block: number;
}

/** An argument of a stage that names a block. */
interface Direct {
    readonly of: Binding;
    readonly at: Expr;
    readonly block: number;
}

export interface BlockChecks {
    readonly file: FileScope;
    /** Functions that stand for the blocks. */
    readonly funcs: readonly FuncInfo[];
    readonly values: readonly { readonly node: BlockDecl; readonly result: Contract }[];
    readonly reached: readonly Reached[];
    readonly direct: readonly Direct[];
    /** Number of the block at the top level that gives a value its name, or holds the one that does. */
    readonly places: ReadonlyMap<string, number>;
}

/** Before functions are walked. Null for a file without blocks. */
export function checkBlocks(checking: Checking, file: FileScope): BlockChecks | null {
    const blocks = file.tree.items.filter((item) => item.kind === "block");
    const [first] = blocks;
    if (first === undefined) return null;
    const report = reporter(file);
    if (file.name !== checking.entry)
        report("BLOCKS_NOT_RUN", headOf(first), "a program runs the blocks of the file that it starts with, and this file is imported");
    const places = new Map<string, number>();
    for (const [number, block] of blocks.entries()) eachNode(block, (one) => place(one as BlockDecl, number, places));
    const scope = withVerbs(checking, file);
    const reached: Reached[] = [];
    const direct: Direct[] = [];
    // The result of an agent of another file names shapes of that one.
    const named = ![...file.names.values()].some((one) => one.kind === "agent" && one.import !== null);
    const values: { node: BlockDecl; result: Contract }[] = [];
    const funcs = blocks.map((node, block) => {
        const code: Code = { statements: [] };
        const x: Within = {
            checking,
            file,
            report,
            code,
            backend: node.backend,
            read: (of, at) => {
                direct.push({ of, at, block });
            },
            reach: ({ func, name }: Target, at) => {
                if (func !== null) reached.push({ func, name, at, block });
            },
        };
        const port = flow(x, node.body, { kind: "start", value: blockInput(node.range), contract: null });
        values.push({ node, result: named ? (contractOfPort(port) ?? { type: "json" }) : { type: "json" } });
        return newFunc(functionOf(node, block, code), scope, null);
    });
    return { file, funcs, values, reached, direct, places };
}

function place(node: BlockDecl, number: number, places: Map<string, number>): void {
    if (node.kind === "block" && node.name !== undefined && !places.has(node.name.text)) places.set(node.name.text, number);
}

/** From the first word to the bracket. */
function headOf({ range, backend, mode }: BlockDecl): { start: number; end: number } {
    return { start: range.start, end: Math.min(range.end, range.start + backend.length + 1 + mode.length) };
}

/** The names of the file, and under names that cannot be written the code of the verbs. */
function withVerbs(checking: Checking, file: FileScope): FileScope {
    const names = new Map(file.names);
    for (const other of checking.order)
        if (other.prelude)
            for (const func of other.funcs)
                if (checking.verbs.has(func.name))
                    names.set(VERB + func.name, binding("func", VERB + func.name, func.node.range, { func }));
    return { ...file, names };
}

function flow(x: Within, node: Flow, input: Port): Port {
    switch (node.kind) {
        case "pipe":
            return node.stages.reduce((port, one) => flow(x, one, port), input);
        case "fan":
            return { kind: "many", of: node.branches.map((one) => flow(x, one, input)) };
        case "stage":
            return checkStage(x, node, input);
        case "block": {
            const value = valueIn(input, node.range);
            const given: Port = input.kind === "many" ? { kind: "one", value, contract: { type: "list" } } : input;
            const port = flow({ ...x, backend: node.backend }, node.body, given);
            return port.kind === "many" ? { kind: "one", value: valueIn(port, node.range), contract: { type: "list" } } : port;
        }
        case "missing":
            return { kind: "one", value: valueIn(input, node.range), contract: null };
    }
}

// ---- order -----------------------------------------------------------------------------------------------------------

/** A block that reads the value of one, itself or by a function that it reaches. */
interface Read extends Direct {
    /** Of the function; null: the block's own argument. */
    readonly reader: string | null;
    /** Number of the block whose value it is. */
    readonly place: number;
}

/** Once all calls are known: what reads the value of a block which has not run. */
export function checkOrder(checks: readonly BlockChecks[]): void {
    for (const checked of checks) {
        const reads = allReads(checked);
        for (const one of reads) if (one.place >= one.block) tooEarly(checked.file, one, isCircle(reads, one));
    }
}

function allReads({ file, direct, reached, places }: BlockChecks): Read[] {
    if (places.size === 0) return [];
    const known = new Map<FuncInfo, ReadonlySet<Binding>>();
    const byFunctions = reached.flatMap(({ func, name, at, block }) =>
        [...readsOf(func, known)].flatMap((of) => (file.names.get(of.name) === of ? [{ of, at, block, reader: name }] : [])),
    );
    return [...direct.map((one) => ({ ...one, reader: null })), ...byFunctions].map((one) => ({
        ...one,
        place: places.get(one.of.name) ?? -1,
    }));
}

/** Whether the block that is read waits for the one that reads it, through others too. */
function isCircle(reads: readonly Read[], { block, place }: Read): boolean {
    const waits = new Set([place]);
    for (const at of waits) for (const one of reads) if (one.block === at && one.place >= 0) waits.add(one.place);
    return place !== block && waits.has(block);
}

function readsOf(func: FuncInfo, known: Map<FuncInfo, ReadonlySet<Binding>>): ReadonlySet<Binding> {
    const before = known.get(func);
    if (before !== undefined) return before;
    const reads = new Set<Binding>();
    const seen = new Set<FuncInfo>([func]);
    for (const one of seen) {
        for (const block of one.blocks) reads.add(block);
        for (const { callee } of one.calls) seen.add(callee);
    }
    known.set(func, reads);
    return reads;
}

function tooEarly(file: FileScope, { of, at, reader, place, block }: Read, circle: boolean): void {
    const inside = place === block;
    const when = inside
        ? "is what this block gives"
        : circle
          ? "is given by a later block, which waits for this one"
          : "is given by a later block";
    const hint = inside
        ? "pass it on with >=>, or read it in a block after this one"
        : circle
          ? "blocks in a circle cannot run: let one of them take its value from elsewhere"
          : "put that block before this one";
    reporter(file)("BLOCK_ORDER", at.range, reader === null ? `'${of.name}' ${when}` : `'${reader}' reads '${of.name}', which ${when}`, {
        hint,
        related: [{ message: "named here", file: file.name, range: of.range }],
    });
}
