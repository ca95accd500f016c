/**
 * The code of verbs as one file of a program: what the blocks of the program use of it, and nothing else.
 *
 * Boundary: texts and trees. The file is checked and lowered like any other; its imports are its own.
 *
 * PRL1: the text is the same for a registry whatever a program uses of it, so that places in it are.
 * PRL2: declarations of one name are one declaration; two that differ are refused when the text is made.
 */
import type { Contract } from "../contract/contract.ts";
import { showContract, showJson } from "../contract/show.ts";
import { VERBS_FILE } from "../form/form.ts";
import { eachNode } from "../syntax/nodes.ts";
import { parse } from "../syntax/parse/parse.ts";
import type { File, Flow, Item } from "../syntax/tree.ts";
import { source } from "../text/source.ts";
import type { Registry, Verb, VerbParam } from "./verb.ts";

const FILES = new WeakMap<Registry, File>();

/** The code of all verbs of a registry. */
export function preludeOf(registry: Registry): File {
    let file = FILES.get(registry);
    if (file === undefined) {
        file = parse(source(textOf(registry), VERBS_FILE));
        const [wrong] = file.diagnostics;
        if (wrong !== undefined) throw new Error(`the code of a verb cannot be read: ${wrong.message}`);
        FILES.set(registry, file);
    }
    return file;
}

/** What the verbs of these names need of it; null where none of them has code. `name`: what the file is called in the program. */
export function preludeFor(registry: Registry, used: Iterable<string>, name: string): File | null {
    const whole = preludeOf(registry);
    const items = new Map(whole.items.map((item) => [nameOf(item), item]));
    const needed = new Set<Item>();
    const queue = [...used].filter((verb) => registry.has(verb));
    for (let verb = queue.pop(); verb !== undefined; verb = queue.pop()) {
        const item = items.get(verb);
        if (item === undefined || needed.has(item)) continue;
        needed.add(item);
        eachNode(item, (node) => queue.push(...namesIn(node)));
    }
    if (needed.size === 0) return null;
    return { ...whole, source: { ...whole.source, file: name }, items: whole.items.filter((item) => needed.has(item)) };
}

function namesIn(node: { readonly kind: string }): string[] {
    const of = node as { readonly kind: string; readonly name?: string | { readonly text: string } };
    if (of.kind === "ident" && typeof of.name === "string") return [of.name];
    return of.kind === "c.name" && typeof of.name === "object" ? [of.name.text] : [];
}

function nameOf(item: Item): string {
    return item.kind === "flow" ? "" : (item.name?.text ?? "");
}

/** Names that the stages of a block call, `map`'s and others' arguments included. */
export function namesInFlow(flow: Flow): Set<string> {
    const names = new Set<string>();
    eachNode(flow, (node) => {
        if (node.kind === "stage") names.add((node as unknown as { call: { text: string } }).call.text);
        for (const name of namesIn(node)) names.add(name);
    });
    return names;
}

// ---- the text --------------------------------------------------------------------------------------------------------

function textOf(registry: Registry): string {
    const imports = new Set<string>();
    const others = new Map<string, string>();
    for (const verb of registry.values()) {
        const code = verb.code ?? (verb.uri === undefined ? "" : callOf(verb, verb.uri));
        for (const item of parse(source(code, verb.name)).items) {
            const text = code.slice(item.range.start, item.range.end);
            if (item.kind === "import") imports.add(text);
            else if ((others.get(nameOf(item)) ?? text) !== text) throw new Error(`two verbs declare '${nameOf(item)}', and not the same`);
            else others.set(nameOf(item), text);
        }
    }
    return `${[...imports].join("\n")}\n\n${[...others.values()].join("\n\n")}\n`;
}

/** A verb of the host: a tool with one method. */
function callOf({ name, params, result }: Verb, uri: string): string {
    const used = params.filter((param) => param.unused !== true);
    const given = used.map((param) => `${param.name}: ${param.name}`).join(", ");
    const gives = result.type === "json" ? "" : ` -> ${showContract(result)}`;
    const body = `Verb_${name}.call(${used.length === 0 ? "{}" : `{ ${given} }`})`;
    return `import tool Verb_${name} from ${JSON.stringify(uri)}\n\nfunc ${name}(${params.map(paramText).join(", ")})${gives} {\n    ${body}\n}\n`;
}

function paramText({ name, contract, default: fallback, optional }: VerbParam): string {
    const type: Contract = optional === true && contract.type !== "json" ? { type: "optional", of: contract } : contract;
    const value = fallback !== undefined ? ` = ${showJson(fallback)}` : optional === true ? " = none" : "";
    return `${name}: ${showContract(type)}${value}`;
}
