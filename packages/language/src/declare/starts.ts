/**
 * What a caller outside a program can begin: its main func, the main func of each agent, and every function.
 *
 * Boundary: contracts and names. Text is made of them in `declare.ts`; how input becomes arguments is the machine's (`run/entry.ts` there), and said
 * here once more as a contract.
 */
import type { CheckedProgram, FunctionInfo } from "../check/check.ts";
import type { Contract, Field, Shapes } from "../contract/contract.ts";
import { contractOf, literalOf } from "../contract/from-tree.ts";
import { type Entry, entryOf, shown } from "../syntax/entry.ts";
import type { File, Func, Param } from "../syntax/tree.ts";

/** One function that a run can begin with. Names in its contracts are shapes of the file. */
export interface Start {
    /** `Triage`, `Triage.place`, `place`; `main` where it has no name of its own. */
    readonly name: string;
    readonly input: Contract;
    readonly output: Contract;
    /** Of the func, or of its agent. */
    readonly description: string | null;
}

export interface Declared {
    readonly shapes: Shapes;
    /** What a run begins with where its caller names nothing; null where the file has no entry. */
    readonly main: Pick<Start, "input" | "output"> | null;
    /** Values of the blocks that have a name. */
    readonly blocks: readonly { readonly name: string; readonly output: Contract }[];
    readonly starts: readonly Start[];
    /** Names that an import of the program gives. */
    readonly exports: readonly string[];
    /** Tools that the calling program brings (`host:`), by import name, with the methods that are called. */
    readonly tools: ReadonlyMap<string, readonly string[]>;
}

/** Of the file that the program begins with. */
export function declaredOf(checked: CheckedProgram): Declared {
    const file = checked.files.get(checked.entry) as File;
    const shapes: { [name: string]: Contract } = {};
    for (const item of file.items) if (item.kind === "shape") shapes[item.name.text] = contractOf(item.contract);
    const info = (func: Func): FunctionInfo | undefined => checked.info.functions.get(func);
    const startOf = (name: string, func: Func, description: string | null): Start => ({
        name,
        input: inputOf(func.params),
        output: info(func)?.result() ?? { type: "json" },
        description,
    });
    const starts = file.items.flatMap((item): Start[] => {
        if (item.kind === "func") return [startOf(nameOf(item), item, null)];
        if (item.kind !== "agent") return [];
        const agent = item.name === undefined ? "main" : shown(item.name.text);
        const said = item.config.find((one) => one.kind === "config" && one.key === "description");
        const description = said?.kind === "config" && said.value.kind === "string" ? said.value.value : null;
        return item.funcs.map((func) => (func.main ? startOf(agent, func, description) : startOf(`${agent}.${nameOf(func)}`, func, null)));
    });
    const blocks = checked.info.blocks.filter((one) => one.file === checked.entry);
    const entry = entryOf(file);
    return {
        shapes,
        main: blocks.length > 0 ? ofBlocks(blocks.map((one) => one.result)) : entry === null ? null : ofEntry(entry, startOf),
        blocks: blocks.flatMap(({ node, result }) => (node.name === undefined ? [] : [{ name: node.name.text, output: result }])),
        starts,
        exports: exportedNames(file),
        tools: toolsOf(checked),
    };
}

/** The name under which an import gives what a run begins with. */
const MAIN = "main";

/**
 * What an import of a program exports beside the default, which opens it: agents with a main func, functions of the file, and as `main` what a run
 * begins with. None is called `then`: an `import()` would call it, as it calls that of a promise.
 */
export function exportedNames(file: File): string[] {
    const names = file.items.flatMap((item) => {
        if (item.kind === "func") return [nameOf(item)];
        const begins = item.kind === "agent" && item.funcs.some((one) => one.main);
        return begins ? [item.name === undefined ? MAIN : shown(item.name.text)] : [];
    });
    if (entryOf(file) !== null || file.items.some((item) => item.kind === "block")) names.push(MAIN);
    return [...new Set(names)].filter((name) => name !== "default" && name !== "then");
}

function nameOf(func: Func): string {
    return func.name === undefined ? "main" : shown(func.name.text);
}

function ofEntry({ func }: Entry, startOf: (name: string, func: Func, description: null) => Start): Pick<Start, "input" | "output"> {
    const { input, output } = startOf("main", func, null);
    return { input, output };
}

/** All blocks: the value of the only one, or a list of all. */
function ofBlocks(results: readonly Contract[]): Pick<Start, "input" | "output"> {
    const [only] = results;
    return { input: { type: "json" }, output: results.length === 1 && only !== undefined ? only : { type: "list" } };
}

/** What a run of the function takes as its input. */
function inputOf(params: readonly Param[]): Contract {
    const [only] = params;
    if (only === undefined) return { type: "none" };
    if (params.length === 1) {
        const contract = contractOfParam(only);
        if (!isScalar(contract)) return contract;
    }
    return { type: "object", fields: params.map(fieldOf) };
}

function contractOfParam({ contract }: Param): Contract {
    return contract === undefined ? { type: "json" } : contractOf(contract);
}

function fieldOf(param: Param): Field {
    const contract = contractOfParam(param);
    const fallback = param.default === undefined ? undefined : literalOf(param.default);
    return {
        name: param.name.text,
        contract,
        ...(contract.type === "optional" ? { optional: true as const } : {}),
        ...(fallback === undefined ? {} : { default: fallback }),
    };
}

/** A lone parameter of these takes its field of the input. */
const SCALARS: ReadonlySet<Contract["type"]> = new Set(["string", "number", "boolean", "list", "literal"]);

function isScalar(contract: Contract): boolean {
    return contract.type === "optional" ? isScalar(contract.of) : SCALARS.has(contract.type);
}

function toolsOf(checked: CheckedProgram): ReadonlyMap<string, readonly string[]> {
    const tools = new Map<string, Set<string>>();
    for (const [name, file] of checked.files)
        if (name !== checked.prelude)
            for (const item of file.items)
                if (item.kind === "import" && item.what === "tool" && item.uri.value.startsWith("host:")) {
                    const methods = tools.get(item.name.text) ?? new Set();
                    const prefix = `tool:${item.name.text}.`;
                    for (const of of checked.info.functions.values())
                        if (of.file === name)
                            for (const effect of of.effects) if (effect.startsWith(prefix)) methods.add(effect.slice(prefix.length));
                    tools.set(item.name.text, methods);
                }
    return new Map([...tools].map(([name, methods]) => [name, [...methods].sort()]));
}
