/**
 * A program as a TypeScript declaration file: what `load` of its path and an import of it give.
 *
 * Boundary: text. The types that it names (`$.EntryOf` and others) are the library's; the rules of input and output are in `starts.ts`.
 *
 * DCL1: whatever a program calls its things, the text is well formed: words of TypeScript get a `$` before them, which no name of a program has.
 * DCL2: the same program gives the same text, so that a check can compare.
 */
import type { Contract, Shapes } from "../contract/contract.ts";
import { inComment, type TypeTextOptions, typescriptType } from "../contract/typescript.ts";
import type { Declared, Start } from "./starts.ts";

export interface DeclareOptions {
    /** The path that `load` is given. */
    readonly path: string;
}

export function declarationsOf(declared: Declared, { path }: DeclareOptions): string {
    const { shapes, starts } = declared;
    const types = typesOf(shapes);
    const parts = [
        `// Written by \`remit types\` from ${inComment(JSON.stringify(path))}. A change of this file is lost when it is written again.`,
        'import type * as $ from "remit-lang";',
        ...Object.keys(shapes).flatMap((name) => types.declared(name)),
        programText(declared, types),
        [
            ...declared.exports.flatMap((name) => exported(name, starts.find((one) => one.name === name) ?? null)),
            "declare const $open: $.Open<$Program>;",
            "export default $open;",
        ].join("\n"),
        `declare module "remit-lang" {\n    interface Programs {\n        readonly ${JSON.stringify(path)}: $Program;\n    }\n}`,
    ];
    return `${parts.filter((one) => one !== "").join("\n\n")}\n`;

    function exported(name: string, start: Start | null): string[] {
        const about = start?.description == null ? [] : [`/** ${inComment(start.description)} */`];
        const type = start === null ? "$.Main<$Program>" : `$.EntryOf<$Program, ${JSON.stringify(start.name)}>`;
        return isReserved(name)
            ? [`declare const $${name}: ${type};`, `export { $${name} as ${name} };`]
            : [...about, `export declare const ${name}: ${type};`];
    }
    function programText({ main, blocks, tools }: Declared, { input, output }: Types): string {
        const wanted = [...tools].map(([name, methods]) => `        readonly ${name}: $.ToolWith<${unionOf(methods)}>;`);
        const entries = starts.flatMap((one) => [
            `        readonly ${JSON.stringify(one.name)}: {`,
            `            readonly input: ${input(one.input, 3)};`,
            `            readonly output: ${output(one.output, 3)};`,
            "        };",
        ]);
        const values = blocks.map((one) => `        readonly ${one.name}: ${output(one.output, 2)};`);
        return [
            "/** What is typed of it: input and output, the tools that its caller brings, what a run can begin with, values of blocks. */",
            "export interface $Program {",
            `    readonly input: ${main === null ? "never" : input(main.input, 1)};`,
            `    readonly output: ${main === null ? "never" : output(main.output, 1)};`,
            ...record("tools", wanted),
            ...record("entries", entries),
            ...record("blocks", values),
            "}",
        ].join("\n");
    }
}

function record(name: string, lines: readonly string[]): string[] {
    return lines.length === 0 ? [`    readonly ${name}: {};`] : [`    readonly ${name}: {`, ...lines, "    };"];
}

function unionOf(texts: readonly string[]): string {
    return texts.length === 0 ? "never" : texts.map((one) => JSON.stringify(one)).join(" | ");
}

interface Types {
    declared(shape: string): string[];
    input(contract: Contract, indent: number): string;
    output(contract: Contract, indent: number): string;
}

/** A shape has a second type where a caller may leave out what a value always has. */
function typesOf(shapes: Shapes): Types {
    const fills = new Set<string>();
    for (let before = -1; fills.size > before; ) {
        before = fills.size;
        for (const [name, contract] of Object.entries(shapes)) if (hasDefault(contract, fills)) fills.add(name);
    }
    const known = (name: string): string => (isReserved(name) || TYPE_NAMES.has(name) ? `$${name}` : name);
    const nameOf =
        (input: boolean) =>
        (name: string): string =>
            Object.hasOwn(shapes, name) ? `${known(name)}${input && fills.has(name) ? "$Input" : ""}` : "$.Json";
    const output: TypeTextOptions = { json: "$.Json", passed: true, nameOf: nameOf(false) };
    const input: TypeTextOptions = { json: "$.Json", nameOf: nameOf(true) };
    const declared = (name: string): string[] => {
        const contract = shapes[name] as Contract;
        const value = `export type ${known(name)} = ${typescriptType(contract, output)};`;
        if (!fills.has(name)) return [value];
        return [value, `/** As a caller gives it. */\nexport type ${known(name)}$Input = ${typescriptType(contract, input)};`];
    };
    return {
        declared,
        input: (contract, indent) => typescriptType(contract, { ...input, indent }),
        output: (contract, indent) => typescriptType(contract, { ...output, indent }),
    };
}

function hasDefault(contract: Contract, shapes: ReadonlySet<string>): boolean {
    switch (contract.type) {
        case "ref":
            return shapes.has(contract.name);
        case "list":
            return contract.item !== undefined && hasDefault(contract.item, shapes);
        case "optional":
            return hasDefault(contract.of, shapes);
        case "union":
            return contract.of.some((one) => hasDefault(one, shapes));
        case "object":
            return contract.fields.some((field) => field.default !== undefined || hasDefault(field.contract, shapes));
        default:
            return false;
    }
}

/** Words that no binding of a module may be called. */
const RESERVED: ReadonlySet<string> = new Set(
    `arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if
    implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof
    undefined var void while with yield`.split(/\s+/),
);
/** Whether a module cannot bind the name, and has to export it under this one from another. */
export function isReserved(name: string): boolean {
    return RESERVED.has(name);
}

/** Names of types that no alias may have. */
const TYPE_NAMES: ReadonlySet<string> = new Set("any bigint boolean never number object string symbol undefined unknown void".split(" "));
