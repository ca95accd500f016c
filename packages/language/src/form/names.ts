/**
 * The names of a form: what each file declares and imports, that each name stands for one thing, and where the program begins.
 *
 * Boundary: declarations; bodies are walked in `walk.ts`. The structure has been checked.
 *
 * D2: a file sees its own imports, agents, functions and shapes, and nothing of any other file.
 */
import { compileTests } from "../contract/check.ts";
import type { Contract, Shapes } from "../contract/contract.ts";
import { endlessShapes } from "../contract/endless.ts";
import { CONTRACT_NAMES } from "../contract/from-tree.ts";
import { setOwn } from "../contract/open.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import type { Errors, Place } from "./errors.ts";
import type { FileForm, FuncForm, ImportForm, Program } from "./form.ts";

export interface Named {
    readonly kind: ImportForm["what"] | "func" | "shape";
    readonly imported: boolean;
    readonly func?: FuncForm;
}

export interface FileNames {
    readonly names: ReadonlyMap<string, Named>;
    readonly contracts: Contracts;
    /** Names of the file's remits. */
    readonly remits?: ReadonlySet<string>;
    /** It is what an agent answered: a variable may be a function that was handed over. */
    readonly answer?: boolean;
}

/** The shapes of a file, and how to test values against contracts over them. */
export interface Contracts {
    readonly shapes: Shapes;
    readonly test: (contract: Contract) => (value: unknown) => boolean;
}

export function contractsOver(shapes: Shapes): Contracts {
    return { shapes, test: compileTests(shapes, { internal: true }) };
}

export const below = (place: Place | null, key: string | number, index?: number): Place =>
    index === undefined ? { up: place, key } : { up: { up: place, key }, key: index };

/** Reads what a file declares and adds what is wrong with it. `index`: the file's place in the program. */
export function declareFile(program: Program, index: number, errors: Errors): FileNames {
    const file = program.files[index] as FileForm;
    const place = below(null, "files", index);
    const names = new Map<string, Named>();
    const shapes: { [name: string]: Contract } = {};
    file.imports.forEach((form, i) => {
        const at = below(place, "imports", i);
        if (names.has(form.name)) errors.add("DUPLICATE_IMPORT", below(at, "name"), `'${form.name}' is imported twice`);
        else names.set(form.name, { kind: form.what, imported: true });
        checkFrom(program, index, form, at, errors);
    });
    file.agents.forEach((form, i) => {
        const at = below(below(place, "agents", i), "name");
        const other = names.get(form.name);
        if (other !== undefined)
            errors.add(
                other.imported ? "DUPLICATE_BINDING" : "DUPLICATE_AGENT",
                at,
                `'${form.name}' is the name of something else in this file`,
            );
        else names.set(form.name, { kind: "agent", imported: false });
    });
    atMostOneMain(file.agents, "DUPLICATE_MAIN_AGENT", below(place, "agents"), errors);
    declareFuncs(file.funcs, names, place, errors);
    file.shapes.forEach((form, i) => {
        const at = below(below(place, "shapes", i), "name");
        if (CONTRACT_NAMES.includes(form.name)) errors.add("DUPLICATE_BINDING", at, `'${form.name}' is a contract of the language`);
        else if (names.has(form.name)) errors.add("DUPLICATE_BINDING", at, `'${form.name}' is the name of something else in this file`);
        else {
            names.set(form.name, { kind: "shape", imported: false });
            setOwn(shapes, form.name, form.contract);
        }
    });
    const endless = new Set(endlessShapes(shapes));
    const contracts = contractsOver(shapes);
    file.shapes.forEach((form, i) => {
        const at = below(place, "shapes", i);
        if (endless.has(form.name)) errors.add("ENDLESS_SHAPE", at, `'${form.name}' requires a value of itself`);
        checkContract(form.contract, contracts, below(at, "contract"), errors);
    });
    const remits = new Set((file.remits ?? []).flatMap((one) => (one.name === undefined ? [] : [one.name])));
    return { names, contracts, remits };
}

function checkFrom(program: Program, index: number, form: ImportForm, at: Place, errors: Errors): void {
    if (form.from === undefined) return;
    if (form.what !== "agent") errors.add("FORM_REFERENCE", below(at, "from"), "only an agent is imported from a file of the program");
    else if (form.from >= index) errors.add("FORM_REFERENCE", below(at, "from"), "an imported file comes before the files that import it");
    else if (program.files[form.from]?.agents.some((agent) => agent.name === form.name) !== true)
        errors.add("IMPORT_AGENT_MISSING", below(at, "from"), `file ${form.from} declares no agent '${form.name}'`);
}

/** Functions of a file or of an agent, into `names`. */
export function declareFuncs(funcs: readonly FuncForm[], names: Map<string, Named>, place: Place, errors: Errors): void {
    funcs.forEach((form, i) => {
        const other = names.get(form.name);
        const at = below(below(place, "funcs", i), "name");
        if (other === undefined) names.set(form.name, { kind: "func", imported: false, func: form });
        else if (other.kind === "func") errors.add("DUPLICATE_FUNCTION", at, `two functions are called '${form.name}'`);
        else errors.add("DUPLICATE_BINDING", at, `'${form.name}' is the name of something else in this file`);
    });
    atMostOneMain(funcs, "DUPLICATE_MAIN_FUNC", below(place, "funcs"), errors);
}

function atMostOneMain(
    of: readonly { readonly name: string; readonly main?: boolean }[],
    code: "DUPLICATE_MAIN_AGENT" | "DUPLICATE_MAIN_FUNC",
    place: Place,
    errors: Errors,
): void {
    let found = false;
    of.forEach((one, i) => {
        if (one.main !== true) return;
        if (found) errors.add(code, below(below(place, i), "main"), `'${one.name}' is a second main`);
        found = true;
    });
}

export function checkEntry(program: Program, errors: Errors): void {
    const { entry } = program;
    if (entry === undefined) return;
    const at = below(null, "entry");
    const file = program.files[entry.file];
    if (file === undefined) {
        errors.add("FORM_REFERENCE", below(at, "file"), `there is no file ${entry.file}`);
        return;
    }
    const agent = entry.agent === undefined ? undefined : file.agents.find((one) => one.name === entry.agent);
    if (entry.agent !== undefined && agent === undefined)
        errors.add("FORM_REFERENCE", below(at, "agent"), `file ${entry.file} has no agent '${entry.agent}'`);
    else if (!(agent ?? file).funcs.some((func) => func.name === entry.func))
        errors.add("FORM_REFERENCE", below(at, "func"), `there is no function '${entry.func}' there`);
}

/** Names and defaults in a contract, and fields that are declared twice. */
export function checkContract(c: Contract, contracts: Contracts, place: Place, errors: Errors): void {
    switch (c.type) {
        case "ref":
            if (!Object.hasOwn(contracts.shapes, c.name))
                errors.add(
                    "UNKNOWN_CONTRACT_TYPE",
                    below(place, "name"),
                    withHint(`there is no shape '${c.name}'`, c.name, Object.keys(contracts.shapes)),
                );
            return;
        case "list":
            if (c.item !== undefined) checkContract(c.item, contracts, below(place, "item"), errors);
            return;
        case "optional":
            checkContract(c.of, contracts, below(place, "of"), errors);
            return;
        case "union":
            c.of.forEach((member, i) => {
                checkContract(member, contracts, below(place, "of", i), errors);
            });
            return;
        case "object": {
            const seen = new Set<string>();
            c.fields.forEach((field, i) => {
                const at = below(place, "fields", i);
                if (seen.has(field.name))
                    errors.add("DUPLICATE_CONTRACT_FIELD", below(at, "name"), `the field '${field.name}' is declared twice`);
                seen.add(field.name);
                checkContract(field.contract, contracts, below(at, "contract"), errors);
                if (field.default !== undefined && !contracts.test(field.contract)(field.default))
                    errors.add(
                        "INVALID_CONTRACT_DEFAULT",
                        below(at, "default"),
                        `the default of '${field.name}' does not hold its contract`,
                    );
            });
            return;
        }
        default:
            return;
    }
}

export function withHint(message: string, name: string, known: Iterable<string>): string {
    const hint = didYouMean(name, known);
    return hint === undefined ? message : `${message}; ${hint}`;
}
