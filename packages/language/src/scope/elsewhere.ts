/**
 * Built-in methods by the names that other languages give them.
 *
 * Boundary: names in, names or a sentence out; the checker and the machine say the same of a method that there is not.
 */
import { nearest } from "../diagnostics/nearest.ts";
import { BUILTINS_ON } from "./builtins.ts";

const ELSEWHERE: { readonly [name: string]: readonly string[] } = {
    push: ["add"],
    append: ["add"],
    insert: ["add"],
    includes: ["contains", "has"],
    indexOf: ["index_of"],
    toUpperCase: ["upper"],
    toLowerCase: ["lower"],
    strip: ["trim"],
    startsWith: ["starts_with"],
    endsWith: ["ends_with"],
    replaceAll: ["replace"],
    substring: ["slice"],
    splitlines: ["lines"],
    fold: ["reduce"],
    some: ["any"],
    every: ["all"],
    sort: ["sort_by"],
    sorted: ["sort_by"],
    groupBy: ["group_by"],
    items: ["entries"],
    hasOwnProperty: ["has"],
    extend: ["concat"],
    assign: ["merge"],
};

const CSV = 'write csv.parse(text), or csv.parse(text, ";") where another sign separates the fields';

/** What is no method here and is said in another way, by the kind of value. */
const WRITTEN: ReadonlyMap<string, string> = new Map([
    ["list contains", "write any((item) => item == …)"],
    ["list includes", "write any((item) => item == …)"],
    ["string csv", CSV],
    ["string parse_csv", CSV],
    ["list forEach", "write a `for` loop"],
]);

function rowsOf(kind: string): ReadonlyMap<string, unknown> {
    return Object.hasOwn(BUILTINS_ON, kind) ? BUILTINS_ON[kind as keyof typeof BUILTINS_ON] : new Map();
}

/** The method of such a value that another language calls `name`. */
export function builtinMeant(name: string, kind: string): string | undefined {
    const rows = rowsOf(kind);
    return Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name]?.find((one) => rows.has(one)) : undefined;
}

/** How what another language calls `name` is written here, where no method does it. */
export function builtinWritten(name: string, kind: string): string | undefined {
    const written = WRITTEN.get(`${kind} ${name}`);
    if (written !== undefined || kind !== "object" || BUILTINS_ON.list.get(name)?.lambda === undefined) return written;
    return `it is a method of a list: write .values() or .entries() after the object, then .${name}(…)`;
}

/** The sentence for a method that such a value has not; undefined where no other comes near. */
export function builtinHint(name: string, kind: string): string | undefined {
    const written = builtinWritten(name, kind);
    if (written !== undefined) return written;
    const found = builtinMeant(name, kind) ?? nearest(name, rowsOf(kind).keys());
    return found === null ? undefined : `did you mean '${found}'?`;
}
