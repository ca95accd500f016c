/**
 * A contract as a grammar in GBNF (llama.cpp's notation): what a local model can write is then JSON that holds the contract.
 *
 * Boundary: from contract to text. Lengths are bounded, so that a small model comes to an end: texts, lists and numbers by `GRAMMAR_LIMITS`.
 *
 * GR1: every text of the grammar is JSON that holds the contract. The reverse is not so: fields come in declared order, and bounds hold.
 * GR2: a shape is one rule, so that shapes may hold themselves.
 */
import type { Contract, Field, Shapes } from "@remit/language";

export const GRAMMAR_LIMITS = { text: 240, items: 12, digits: 9, decimals: 6, names: 8 } as const;

export function grammarOf(contract: Contract, shapes: Shapes): string {
    const rules = new Map<string, string>();
    const shapeRules = new Map<string, string>();
    let made = 0;
    const rule = (name: string, body: string): string => {
        const key = `${name}-${made++}`;
        rules.set(key, body);
        return key;
    };
    const write = (c: Contract): string => {
        switch (c.type) {
            case "string":
                return shared("string");
            case "number":
                return shared("number");
            case "boolean":
                return '("true" | "false")';
            case "none":
                return '"null"';
            case "json":
                return shared("value");
            case "literal":
                return terminal(JSON.stringify(c.value));
            case "list":
                return shortList(c.item === undefined ? shared("value") : write(c.item));
            case "optional":
                return `(${write(c.of)} | "null")`;
            case "union":
                return `(${c.of.map(write).join(" | ")})`;
            case "ref":
                return reference(c.name);
            case "object":
                return object(c.fields);
        }
    };
    const shared = (name: keyof typeof COMMON): string => {
        if (!rules.has(name)) {
            rules.set(name, COMMON[name]);
            if (name === "string") rules.set("char", COMMON.char);
            if (name === "value")
                for (const needed of ["object", "array", "string", "char", "number", "key"] as const) rules.set(needed, COMMON[needed]);
        }
        return name;
    };
    const shortList = (item: string): string => {
        const entry = rule("item", item);
        return `"[" (${entry} (", " ${entry}){0,${GRAMMAR_LIMITS.items - 1}})? "]"`;
    };
    const reference = (name: string): string => {
        const known = shapeRules.get(name);
        if (known !== undefined) return known;
        const target = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
        if (target === undefined) return shared("value");
        const key = `shape-${made++}`;
        shapeRules.set(name, key);
        rules.set(key, write(target));
        return key;
    };
    /** Fields in order; one that may be absent is written or left out, with the comma that belongs to it. */
    const object = (fields: readonly Field[]): string => {
        const tails = new Map<string, string>();
        const tail = (at: number, first: boolean): string => {
            const field = fields[at];
            if (field === undefined) return '""';
            const key = `${at}${first}`;
            const known = tails.get(key);
            if (known !== undefined) return known;
            const entry = `${first ? "" : '", " '}${terminal(`${JSON.stringify(field.name)}: `)} ${write(field.contract)}`;
            const rest = tail(at + 1, false);
            const body = mayBeAbsent(field) ? `(${entry} ${rest}) | ${tail(at + 1, first)}` : `${entry} ${rest}`;
            const name = rule("fields", body);
            tails.set(key, name);
            return name;
        };
        return `"{" ${tail(0, true)} "}"`;
    };
    const root = write(contract);
    return [`root ::= ${root}`, ...[...rules].map(([name, body]) => `${name} ::= ${body}`)].join("\n");
}

const COMMON = {
    char: '[^"\\\\\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
    string: `"\\"" char{0,${GRAMMAR_LIMITS.text}} "\\""`,
    number: `"-"? ("0" | [1-9] [0-9]{0,${GRAMMAR_LIMITS.digits - 1}}) ("." [0-9]{1,${GRAMMAR_LIMITS.decimals}})?`,
    key: '"\\"" char{1,40} "\\": "',
    object: `"{" (key value (", " key value){0,${GRAMMAR_LIMITS.names - 1}})? "}"`,
    array: `"[" (value (", " value){0,${GRAMMAR_LIMITS.items - 1}})? "]"`,
    value: 'object | array | string | number | "true" | "false" | "null"',
} as const;

function mayBeAbsent(field: Field): boolean {
    return field.optional === true || field.default !== undefined;
}

/** A terminal of the grammar: the text, quoted. */
function terminal(text: string): string {
    return `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")}"`;
}
