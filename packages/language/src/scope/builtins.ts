/**
 * The built-in functions and methods as the checker sees them: names, numbers of arguments, where a lambda stands, what changes.
 *
 * Boundary: data only. The machine has a table of its own with the code of each; a test of its says that the two agree.
 *
 * BU1: `on` is the kind of the receiver; `global` is called by its bare name, those of a namespace as `json.name(…)`.
 * BU2: a built-in of the table has an effect where its row says `effect`; those of `HANDOVERS` are effects.
 */

/** Names that hold functions, and are no values: outermost like the functions. */
export type Namespace = "json" | "csv" | "time";

export type BuiltinOn = "string" | "list" | "object" | "number" | "global" | Namespace;

export type BuiltinResult = "string" | "number" | "boolean" | "list" | "object" | "any";

/**
 * What the result shares with the receiver: nothing (`fresh`), it is the receiver (`self`), one of its items (`item`), or a new
 * container that holds its items (`items`); or it is what its lambda made, of an item or of the argument behind the lambda (`made`).
 */
export type BuiltinShares = "fresh" | "self" | "item" | "items" | "made";

export interface BuiltinRow {
    readonly on: BuiltinOn;
    readonly name: string;
    /** Least and most number of arguments. */
    readonly min: number;
    readonly max: number;
    readonly result: BuiltinResult;
    readonly shares: BuiltinShares;
    /** Place of the argument that may be a lambda. */
    readonly lambda?: number;
    /** Changes its receiver. */
    readonly mutates?: true;
    /** It is an effect of this kind. */
    readonly effect?: "clock";
    /** Can be read without a call. */
    readonly property?: true;
}

const ANY_NUMBER = 255;

export const BUILTINS: readonly BuiltinRow[] = [
    { on: "string", name: "length", min: 0, max: 0, result: "number", shares: "fresh", property: true },
    { on: "string", name: "trim", min: 0, max: 0, result: "string", shares: "fresh" },
    { on: "string", name: "split", min: 0, max: 1, result: "list", shares: "fresh" },
    { on: "string", name: "join", min: 1, max: 1, result: "string", shares: "fresh" },
    { on: "string", name: "lines", min: 0, max: 0, result: "list", shares: "fresh" },
    { on: "string", name: "lower", min: 0, max: 0, result: "string", shares: "fresh" },
    { on: "string", name: "upper", min: 0, max: 0, result: "string", shares: "fresh" },
    { on: "string", name: "contains", min: 1, max: 1, result: "boolean", shares: "fresh" },
    { on: "string", name: "starts_with", min: 1, max: 1, result: "boolean", shares: "fresh" },
    { on: "string", name: "ends_with", min: 1, max: 1, result: "boolean", shares: "fresh" },
    { on: "string", name: "replace", min: 2, max: 2, result: "string", shares: "fresh" },
    { on: "string", name: "slice", min: 1, max: 2, result: "string", shares: "fresh" },
    { on: "string", name: "index_of", min: 1, max: 2, result: "any", shares: "fresh" },
    { on: "string", name: "match", min: 1, max: 2, result: "any", shares: "fresh" },

    { on: "list", name: "length", min: 0, max: 0, result: "number", shares: "fresh", property: true },
    { on: "list", name: "summary", min: 0, max: 0, result: "list", shares: "fresh", property: true },
    { on: "list", name: "add", min: 1, max: 1, result: "list", shares: "self", mutates: true },
    { on: "list", name: "map", min: 1, max: 1, result: "list", shares: "items", lambda: 0 },
    { on: "list", name: "filter", min: 1, max: 1, result: "list", shares: "items", lambda: 0 },
    { on: "list", name: "find", min: 1, max: 1, result: "any", shares: "item", lambda: 0 },
    { on: "list", name: "reduce", min: 2, max: 2, result: "any", shares: "made", lambda: 0 },
    { on: "list", name: "sort_by", min: 1, max: 2, result: "list", shares: "items", lambda: 0 },
    { on: "list", name: "slice", min: 1, max: 2, result: "list", shares: "items" },
    { on: "list", name: "concat", min: 1, max: ANY_NUMBER, result: "list", shares: "items" },
    { on: "list", name: "join", min: 0, max: 1, result: "string", shares: "fresh" },
    { on: "list", name: "unique", min: 0, max: 0, result: "list", shares: "items" },
    { on: "list", name: "first", min: 0, max: 0, result: "any", shares: "item" },
    { on: "list", name: "last", min: 0, max: 0, result: "any", shares: "item" },
    { on: "list", name: "sum", min: 0, max: 0, result: "number", shares: "fresh" },
    { on: "list", name: "any", min: 0, max: 1, result: "boolean", shares: "fresh", lambda: 0 },
    { on: "list", name: "all", min: 0, max: 1, result: "boolean", shares: "fresh", lambda: 0 },
    { on: "list", name: "group_by", min: 1, max: 1, result: "object", shares: "items", lambda: 0 },

    { on: "object", name: "keys", min: 0, max: 0, result: "list", shares: "fresh" },
    { on: "object", name: "values", min: 0, max: 0, result: "list", shares: "items" },
    { on: "object", name: "entries", min: 0, max: 0, result: "list", shares: "items" },
    { on: "object", name: "has", min: 1, max: 1, result: "boolean", shares: "fresh" },
    { on: "object", name: "get", min: 1, max: 2, result: "any", shares: "item" },
    { on: "object", name: "merge", min: 1, max: ANY_NUMBER, result: "object", shares: "items" },
    { on: "object", name: "without", min: 1, max: ANY_NUMBER, result: "object", shares: "items" },

    { on: "number", name: "round", min: 0, max: 1, result: "number", shares: "fresh" },
    { on: "number", name: "floor", min: 0, max: 0, result: "number", shares: "fresh" },
    { on: "number", name: "ceil", min: 0, max: 0, result: "number", shares: "fresh" },
    { on: "number", name: "abs", min: 0, max: 0, result: "number", shares: "fresh" },
    { on: "number", name: "min", min: 1, max: ANY_NUMBER, result: "number", shares: "fresh" },
    { on: "number", name: "max", min: 1, max: ANY_NUMBER, result: "number", shares: "fresh" },

    { on: "global", name: "text", min: 1, max: 1, result: "string", shares: "fresh" },
    { on: "global", name: "number", min: 1, max: 1, result: "number", shares: "fresh" },
    { on: "global", name: "min", min: 1, max: ANY_NUMBER, result: "number", shares: "fresh" },
    { on: "global", name: "max", min: 1, max: ANY_NUMBER, result: "number", shares: "fresh" },

    { on: "json", name: "parse", min: 1, max: 1, result: "any", shares: "fresh" },
    { on: "json", name: "text", min: 1, max: 2, result: "string", shares: "fresh" },

    { on: "csv", name: "parse", min: 1, max: 2, result: "list", shares: "fresh" },
    { on: "csv", name: "text", min: 1, max: 1, result: "string", shares: "fresh" },

    { on: "time", name: "now", min: 0, max: 0, result: "string", shares: "fresh", effect: "clock" },
    { on: "time", name: "parse", min: 1, max: 2, result: "object", shares: "fresh" },
    { on: "time", name: "text", min: 1, max: 2, result: "string", shares: "fresh" },
    { on: "time", name: "add", min: 2, max: 3, result: "string", shares: "fresh" },
    { on: "time", name: "between", min: 2, max: 4, result: "number", shares: "fresh" },
];

const UNITS = ["years", "months", "weeks", "days", "hours", "minutes", "seconds"];

/** What a built-in takes as its argument `at`: these texts alone, or an object of these fields. By the kind of the receiver and the name. */
export const BUILTIN_TAKES: ReadonlyMap<
    string,
    { readonly at: number; readonly texts?: readonly string[]; readonly fields?: readonly string[] }
> = new Map([
    ["time.add", { at: 1, fields: UNITS }],
    ["time.between", { at: 2, texts: UNITS }],
    ["list.sort_by", { at: 1, texts: ["ascending", "descending"] }],
    ["csv.parse", { at: 1, texts: [",", ";", "\t", "|"] }],
]);

/** Built-in functions that hand over control, by name: outermost like the others, and effects. */
export const HANDOVERS: ReadonlyMap<string, { readonly min: number; readonly max: number }> = new Map([
    ["agent", { min: 1, max: 2 }],
    ["reason", { min: 2, max: 3 }],
    ["act", { min: 1, max: 2 }],
]);

function rowsOf(on: BuiltinOn): ReadonlyMap<string, BuiltinRow> {
    return new Map(BUILTINS.filter((row) => row.on === on).map((row) => [row.name, row]));
}

/** By receiver, then by name. */
export const BUILTINS_ON: Readonly<Record<BuiltinOn, ReadonlyMap<string, BuiltinRow>>> = {
    string: rowsOf("string"),
    list: rowsOf("list"),
    object: rowsOf("object"),
    number: rowsOf("number"),
    global: rowsOf("global"),
    json: rowsOf("json"),
    csv: rowsOf("csv"),
    time: rowsOf("time"),
};

const NAMESPACES: ReadonlySet<string> = new Set<Namespace>(["json", "csv", "time"]);

export function isNamespace(name: string): name is Namespace {
    return NAMESPACES.has(name);
}

/** Rows that have a receiver, by method name: for a receiver of unknown kind. */
export const METHODS: ReadonlyMap<string, readonly BuiltinRow[]> = methods();

function methods(): Map<string, BuiltinRow[]> {
    const found = new Map<string, BuiltinRow[]>();
    for (const row of BUILTINS) {
        if (row.on === "global" || isNamespace(row.on)) continue;
        const rows = found.get(row.name);
        if (rows === undefined) found.set(row.name, [row]);
        else rows.push(row);
    }
    return found;
}
