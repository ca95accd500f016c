/**
 * What every prompt of a program is made of, without running it.
 *
 * Boundary: reads what `check` found. The order is that of a prompt: outer `use`s first, then as declared.
 */
import type { ContractNode, Expr, Use, UseOneOf } from "../syntax/tree.ts";
import { type Site, siteOf } from "../text/source.ts";
import type { CheckedProgram } from "./check.ts";
import { valuesOf } from "./context.ts";
import type { GenerateSite } from "./model.ts";
import { shown } from "./names.ts";

/** One context item of a prompt; with several candidates, one of them is chosen at run time. */
export interface SurfaceItem {
    /** As written in the source. */
    readonly source: string;
    readonly label: string | null;
    /** As written: `4k tokens keep end`. */
    readonly budget: string | null;
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
    const text = (part: { readonly range: { readonly start: number; readonly end: number } }): string =>
        source.text.slice(part.range.start, part.range.end);
    const uses: (Use | UseOneOf)[] = [];
    for (let one = site.uses; one !== null; one = one.before) uses.unshift(one.node);
    const option = (key: string): Expr | undefined => node.options.find((one) => one.key.text === key)?.value;
    const input = option("input");
    const model = option("model") ?? site.config.model?.value;

    const read = new Set<string>();
    for (const use of uses) for (const value of valuesOf(use)) names(value, read);
    if (input !== undefined) names(input, read);
    const inScope = func.locals.filter((local) => local.start < site.at && local.end > site.at).map((local) => local.name);
    for (const binding of func.file.names.values()) if (binding.kind === "file") inScope.push(binding.name);

    return {
        site: siteOf(source, node.range),
        agent: func.agent === null ? null : shown(func.agent.name),
        func: shown(func.name),
        model: model?.kind === "ident" ? model.name : null,
        role: literal(site.config.role?.value),
        description: literal(site.config.description?.value),
        items: uses.map((use) => ({
            source:
                use.kind === "use"
                    ? text(use.value)
                    : (use.candidates.find((one) => one.selected) ?? use.candidates[0])?.value === undefined
                      ? "empty"
                      : text((use.candidates.find((one) => one.selected) ?? use.candidates[0])?.value as Expr),
            label: use.label?.text ?? null,
            budget:
                use.kind === "use"
                    ? (use.max?.text ?? null)
                    : ((use.candidates.find((one) => one.selected) ?? use.candidates[0])?.max?.text ?? null),
            from: siteOf(source, use.range),
            ...(use.kind === "use"
                ? {}
                : {
                      candidates: use.candidates.map((one) => ({
                          name: one.name.text,
                          source: one.value === undefined ? null : text(one.value),
                          budget: one.max?.text ?? null,
                          selected: one.selected,
                      })),
                  }),
        })),
        instruction: input === undefined ? null : text(input),
        instructionTakesData: site.data !== 0,
        contract: node.contract === undefined ? null : text(node.contract as ContractNode),
        notInPrompt: [...new Set(inScope)].filter((name) => !read.has(name)),
    };
}

function literal(value: Expr | undefined): string | null {
    return value?.kind === "string" ? value.value : null;
}

/** Adds the names that an expression reads. */
function names(e: Expr, into: Set<string>): void {
    switch (e.kind) {
        case "ident":
            into.add(e.name);
            return;
        case "member":
            names(e.object, into);
            return;
        case "index":
            names(e.object, into);
            names(e.index, into);
            return;
        case "unary":
        case "paren":
            names(e.value, into);
            return;
        case "binary":
            names(e.left, into);
            names(e.right, into);
            return;
        case "call":
            names(e.callee, into);
            for (const arg of e.args) names(arg.value, into);
            return;
        case "list":
            for (const item of e.items) names(item.kind === "spread" ? item.value : item, into);
            return;
        case "object":
            for (const entry of e.entries) names(entry.value, into);
            return;
        case "if.expr":
            for (const branch of e.branches) {
                names(branch.test, into);
                for (const s of branch.body.statements) if (s.kind === "expr") names(s.value, into);
            }
            for (const s of e.otherwise?.statements ?? []) if (s.kind === "expr") names(s.value, into);
            return;
        default:
            return;
    }
}
