/**
 * What every prompt of a program is made of, without running it.
 *
 * Boundary: reads what `check` found. The order is that of a prompt: outer `use`s first, then as declared.
 */
import { eachNode } from "../syntax/nodes.ts";
import type { ContractNode, Expr, Node, Spread, Use, UseOneOf } from "../syntax/tree.ts";
import { type Site, siteOf, type Source } from "../text/source.ts";
import type { CheckedProgram } from "./check.ts";
import { valuesOf } from "./context.ts";
import type { GenerateSite } from "../scope/model.ts";
import { shown } from "../syntax/entry.ts";

/** One context item of a prompt; with several candidates, one of them is chosen at run time. */
export interface SurfaceItem {
    /** As written in the source. */
    readonly source: string;
    readonly label: string | null;
    /** As written: `4k tokens keep end`. */
    readonly budget: string | null;
    /** `use image`: it goes into the prompt as a picture or file, not as text. */
    readonly image: boolean;
    /** As declared; null where none is, which counts as 0. */
    readonly priority: number | null;
    readonly from: Site;
    readonly candidates?: readonly {
        readonly name: string;
        readonly source: string | null;
        readonly budget: string | null;
        readonly selected: boolean;
    }[];
}

export interface PromptSurface {
    readonly site: Site;
    /** Null in a function beside the agents. */
    readonly agent: string | null;
    readonly func: string;
    /** Name of the imported llm. */
    readonly model: string | null;
    readonly role: string | null;
    readonly description: string | null;
    readonly items: readonly SurfaceItem[];
    /** `context max` in force, as written: the bound of all items together. */
    readonly contextMax: string | null;
    /**
     * As written: `Repo`, `Repo.read`. The model is shown the name, the description and the schema of the arguments of each method, and
     * then every call that it makes with what came of it. `uri` is null for a tool that a variable holds.
     */
    readonly tools: readonly { readonly source: string; readonly uri: string | null }[];
    /** Tries in all. Each after the first also shows the model what was wrong with its last answer. */
    readonly attempts: number;
    /** The other options (`temperature: 0`, `turns: 4`), as written and in their order. */
    readonly options: readonly string[];
    /** The instruction as written; null where there is none. */
    readonly instruction: string | null;
    /** It takes in more than the source's own text. */
    readonly instructionTakesData: boolean;
    /** As written; null for free text. */
    readonly contract: string | null;
    /** Parameters, variables and file imports in scope that no item and not the instruction reads. */
    readonly notInPrompt: readonly string[];
}

/** Every `generate` of the program, by file and place. */
export function promptSurfaces(checked: CheckedProgram): PromptSurface[] {
    return checked.info.generates.map(surface);
}

function surface(site: GenerateSite): PromptSurface {
    const { func, node } = site;
    const { source } = func.file.tree;
    const text = (part: Node): string => source.text.slice(part.range.start, part.range.end);
    const uses: (Use | UseOneOf)[] = [];
    for (let one = site.uses; one !== null; one = one.before) uses.unshift(one.node);
    const option = (key: string): Expr | undefined => node.options.find((one) => one.key.text === key)?.value;
    const input = option("input");
    const offered = option("tools");
    const attempts = option("attempts");
    const model = option("model") ?? site.config.model?.value;

    const read = new Set<string>();
    for (const use of uses) for (const value of valuesOf(use)) names(value, read);
    if (input !== undefined) names(input, read);
    const inScope = localsAt(site);
    for (const binding of func.file.names.values()) if (binding.kind === "file") inScope.push(binding.name);

    return {
        site: siteOf(source, node.range),
        agent: func.agent === null ? null : shown(func.agent.name),
        func: shown(func.name),
        model: model?.kind === "ident" ? model.name : null,
        role: literal(site.config.role?.value),
        description: literal(site.config.description?.value),
        items: uses.map((use) => item(use, source, text)),
        contextMax: site.config.context?.max.text ?? null,
        tools: offered?.kind === "list" ? offered.items.map((one) => ({ source: text(one), uri: uriOf(site, one) })) : [],
        attempts: attempts?.kind === "number" ? attempts.value : 1,
        options: node.options.filter((one) => !SHOWN_APART.has(one.key.text)).map(text),
        instruction: input === undefined ? null : text(input),
        instructionTakesData: site.data !== 0,
        contract: node.contract === undefined ? null : text(node.contract as ContractNode),
        notInPrompt: [...new Set(inScope)].filter((name) => !read.has(name)),
    };
}

/** Options that have a field of their own. */
const SHOWN_APART: ReadonlySet<string> = new Set(["input", "model", "tools", "attempts"]);

function item(use: Use | UseOneOf, source: Source, text: (part: Node) => string): SurfaceItem {
    const common = { label: use.label?.text ?? null, priority: use.priority?.value ?? null, from: siteOf(source, use.range) };
    if (use.kind === "use") return { ...common, source: text(use.value), budget: use.max?.text ?? null, image: use.image };
    const taken = use.candidates.find((one) => one.selected) ?? use.candidates[0];
    return {
        ...common,
        source: taken?.value === undefined ? "empty" : text(taken.value),
        budget: taken?.max?.text ?? null,
        image: false,
        candidates: use.candidates.map((one) => ({
            name: one.name.text,
            source: one.value === undefined ? null : text(one.value),
            budget: one.max?.text ?? null,
            selected: one.selected,
        })),
    };
}

/** Where an offered tool comes from. A variable of the name of an import hides it. */
function uriOf(site: GenerateSite, offered: Expr | Spread): string | null {
    const object = offered.kind === "member" ? offered.object : offered;
    if (object.kind !== "ident" || localsAt(site).includes(object.name)) return null;
    return site.func.file.names.get(object.name)?.import?.uri.value ?? null;
}

function localsAt(site: GenerateSite): string[] {
    return site.func.locals.filter((local) => local.start < site.at && local.end > site.at).map((local) => local.name);
}

function literal(value: Expr | undefined): string | null {
    return value?.kind === "string" ? value.value : null;
}

/** Adds the names that an expression reads. */
function names(e: Expr, into: Set<string>): void {
    eachNode(e, (node) => {
        const of = node as Expr;
        if (of.kind === "ident") into.add(of.name);
    });
}
