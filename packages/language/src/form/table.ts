/**
 * The program form as data: every kind of node, its keys and what may stand under each.
 *
 * Boundary: structure only, one table for the types (`form.ts`), the validator, the JSON Schema and the way from a tree (`lower.ts`) and back
 * (`raise.ts`). What depends on more than one node (names in scope, loops around a `break`) is the checker's.
 *
 * TAB1: a key that is not in the table is refused, and so is a kind that is not.
 */
import { PRECEDENCE } from "../syntax/tokens.ts";
import { FORM } from "./form.ts";

export type Rule =
    /** Text of at least `min` code units that matches `pattern`, if there is one. `what` says so to people. `tree`: it is no string in the source. */
    | { readonly rule: "text"; readonly min?: number; readonly pattern?: RegExp; readonly what?: string; readonly tree?: "name" | "label" }
    /** An identifier: the name of a thing that is declared. */
    | { readonly rule: "name" }
    /** An identifier that can stand in an expression and is read as that name there. */
    | { readonly rule: "variable" }
    /** Any text but the names that are refused: keys of objects, names of fields. */
    | { readonly rule: "key" }
    | { readonly rule: "integer"; readonly min: number }
    | { readonly rule: "number"; readonly min?: number; readonly above?: number }
    | { readonly rule: "boolean" }
    | { readonly rule: "one"; readonly of: readonly (string | boolean)[] }
    /** A string, number or boolean; with `expression` none too, and a whole number beyond 2^53 if it is written with a fraction. */
    | { readonly rule: "literal"; readonly expression: boolean }
    | { readonly rule: "json" }
    | { readonly rule: "list"; readonly of: Rule; readonly min?: number; readonly max?: number }
    /** An object of `RECORDS`. */
    | { readonly rule: "record"; readonly of: RecordName }
    /** An object of `NODES` whose kind is in the group. */
    | { readonly rule: "node"; readonly of: GroupName };

export interface Key {
    readonly rule: Rule;
    readonly required: boolean;
    /** What it means, for readers of the schema. */
    readonly says?: string;
}

export type Keys = Readonly<Record<string, Key>>;

function must<const R extends Rule>(rule: R, says?: string) {
    return says === undefined ? ({ rule, required: true } as const) : ({ rule, required: true, says } as const);
}
function may<const R extends Rule>(rule: R, says?: string) {
    return says === undefined ? ({ rule, required: false } as const) : ({ rule, required: false, says } as const);
}
function list<const R extends Rule>(of: R, min = 0): { readonly rule: "list"; readonly of: R; readonly min?: number } {
    return min === 0 ? { rule: "list", of } : { rule: "list", of, min };
}
function group<const G extends GroupName>(of: G) {
    return { rule: "node", of } as const;
}
function record<const N extends RecordName>(of: N) {
    return { rule: "record", of } as const;
}
function one<const V extends readonly (string | boolean)[]>(...of: V) {
    return { rule: "one", of } as const;
}

const NAME = { rule: "name" } as const;
const VARIABLE = { rule: "variable" } as const;
const KEY = { rule: "key" } as const;
const TEXT = { rule: "text" } as const;
const SOME_TEXT = { rule: "text", min: 1 } as const;
const WHOLE = { rule: "integer", min: 0 } as const;
const COUNT = { rule: "integer", min: 1 } as const;
const JSON_VALUE = { rule: "json" } as const;
const FLAG = { rule: "boolean" } as const;
const EXPR = group("expression");
const BLOCK = list(group("statement"));
const BRANCHES = list(record("Branch"), 1);
const CONTRACT = group("contract");
const TRUE = one(true);
const GATE = one("may", "ask", "never");
/** Names in the source that may be places (`1`) or words. */
const METHOD = { rule: "text", min: 1, tree: "name" } as const;
const LABEL = { rule: "text", min: 1, tree: "label" } as const;

/** The place of a node: it is optional everywhere, and changes nothing but messages. */
const AT = { at: may({ rule: "list", of: COUNT, min: 4, max: 4 }, "line, column, end line, end column, from 1") };

/** What `RECORDS` has. */
export type RecordName =
    | ("Program" | "Entry" | "File" | "Import" | "Shape" | "Agent" | "Func" | "Param" | "Budget" | "Branch" | "Candidate" | "Arg" | "Field")
    | ("Remit" | "Grant" | "Ref" | "Bound" | "Among" | "Count" | "Spend" | "With" | "Readers" | "Narrowed")
    | ("StageArg" | "StageName" | "StageWith" | "Credential");

export const RECORDS = {
    Program: {
        format: must(one(FORM)),
        files: must(list(record("File"), 1), "imported files before their importers, the program's own last"),
        entry: may(record("Entry"), "absent for a library of functions; its func is __blocks in a file that has blocks"),
        main: may(record("Entry"), "of a program that begins with its blocks: where it would begin without them"),
    },
    Entry: { file: must(WHOLE, "index into files"), agent: may(NAME), func: must(NAME) },
    File: {
        file: must(SOME_TEXT, "name as shown to people"),
        imports: must(list(record("Import"))),
        shapes: must(list(record("Shape"))),
        funcs: must(list(record("Func"))),
        agents: must(list(record("Agent"))),
        remits: may(list(record("Remit")), "declared by name"),
        flow: may(one("strict"), "control flow carries labels in the code of this file"),
        blocks: may(list(group("block"), 1), "in source order"),
        prelude: may(TRUE, "it holds the code of verbs that blocks of the program use"),
    },
    Import: {
        what: must(one("tool", "llm", "file", "agent", "memory", "skill")),
        name: must(NAME),
        uri: must(SOME_TEXT),
        from: may(WHOLE, "for an agent of the program: index into files of the file that declares it"),
        clauses: may(list(group("clause"))),
        remit: may(record("Remit"), "for an agent: what it is given here, within what its own file gives it"),
        unconfined: may(TRUE, "an external agent that runs without a sandbox, said so"),
        ...AT,
    },
    Shape: { name: must(NAME), contract: must(CONTRACT) },
    Agent: {
        name: must(NAME, "__main_agent where the source gives none"),
        main: may(FLAG),
        config: must(list(group("setting"))),
        funcs: must(list(record("Func"))),
        remit: may(record("Remit"), "absent: the agent runs as user"),
        ...AT,
    },
    Func: {
        name: must(NAME, "__main where the source gives none"),
        main: may(FLAG),
        params: must(list(record("Param"))),
        result: may(CONTRACT),
        effects: must(
            list({ rule: "text", pattern: /^[a-z]+(?::\S+)?$/, what: "an effect such as `model` or `tool:Search.run`" }),
            "sorted; what it can reach, itself or through calls; for readers, the machine finds them again",
        ),
        body: must(BLOCK),
        ...AT,
    },
    Param: { name: must(VARIABLE), contract: may(CONTRACT), default: may(JSON_VALUE) },
    Budget: {
        amount: must({ rule: "number", min: 1 }),
        unit: must(one("chars", "tokens")),
        keep: may(one("end")),
        text: must(
            { rule: "text", pattern: /^\d+(?:\.\d+)?k?(?: tokens)?(?: keep (?:start|end))?$/, what: "a budget such as `4k tokens`" },
            "as written",
        ),
    },
    Branch: { test: must(EXPR), body: must(BLOCK) },
    Candidate: { name: must(NAME), value: may(EXPR, "absent: empty"), max: may(record("Budget")), selected: may(TRUE) },
    Arg: { name: may(NAME), value: must(EXPR) },
    Field: {
        name: must(KEY),
        contract: must(CONTRACT),
        optional: may(FLAG, "may be absent"),
        default: may(JSON_VALUE, "filled in where the field is absent"),
        description: may(TEXT),
    },
    Remit: {
        name: may(NAME, "absent for one that stands inline"),
        use: may(NAME, "a remit of the same file, in place of clauses; grants is empty then"),
        grants: must(list(record("Grant"))),
        spend: may(record("Spend")),
        endorse: may(TRUE, "the right to call a value trusted, or to widen its readers"),
        flow: may(one("strict")),
        ...AT,
    },
    Grant: {
        gate: must(GATE),
        refs: must(list(record("Ref"))),
        all: may(TRUE, "everything that the file imports and declares; refs is empty then"),
        ...AT,
    },
    Ref: {
        name: must(NAME),
        method: may(METHOD, "absent: every method"),
        in: may(list(record("Bound"), 1), "all must hold"),
        counts: may(list(record("Count"), 1), "how often it may be used: all must hold"),
        ...AT,
    },
    Bound: {
        arg: may(METHOD, "absent: the argument that names the resource"),
        patterns: must(list(TEXT, 1), "one of them must match"),
        numbers: may(TRUE, "the patterns are ranges, `0..500`: a JSON number within one of them, both ends included"),
    },
    Among: {
        of: must(NAME, "`input`, or a tool or memory of the file"),
        method: may(METHOD, "of a tool or memory: of its results in the run"),
        path: must(list(METHOD, 1), "names of fields, from the outermost inwards; lists on the way stand for all their items"),
    },
    /** `most` or `by`. Counted of one thing, over all principals. */
    Count: {
        most: may(COUNT, "uses in a run"),
        per: may(one("day"), "of `most`: in any 24 hours, in all runs of the ledger"),
        by: may(METHOD, "an argument, or its place from 1: one use for each value of it"),
    },
    Spend: {
        tokens: may(WHOLE),
        usd: may({ rule: "number", min: 0 }),
        time: may(WHOLE, "milliseconds"),
        steps: may(WHOLE),
        calls: may(WHOLE),
        turns: may(WHOLE),
        bytes: may(WHOLE),
    },
    With: {
        skills: may(list(NAME, 1)),
        turns: may(COUNT),
        steps: may(COUNT),
        calls: may(WHOLE),
        tokens: may(COUNT),
        bytes: may(COUNT),
        usd: may({ rule: "number", min: 0 }),
        time: may({ rule: "number", above: 0 }, "milliseconds"),
        silence: may({ rule: "number", above: 0 }, "milliseconds without a sign of life"),
        model: may(SOME_TEXT, "a wish"),
    },
    /** One of them. */
    Readers: {
        names: may(list(TEXT, 1)),
        arg: may(SOME_TEXT, "an argument of the call names them"),
        result: may(SOME_TEXT, "a field of the result names them"),
        through: may(
            record("Among"),
            "with arg or result: it names no people, but the row of a result in the run whose field has that value",
        ),
        to: may(METHOD, "with through: the field of that row that names people"),
        everyone: may(TRUE),
    },
    Narrowed: { method: must(METHOD), in: may(list(record("Bound"), 1)) },
    StageArg: { name: may(NAME, "those without one come first"), value: must(group("value")) },
    StageName: { name: must(NAME), method: may(NAME), ...AT },
    StageWith: {
        timeout: may({ rule: "number", above: 0 }, "milliseconds"),
        retries: may(WHOLE),
        on_error: may(one("fail", "collect", "none")),
        queue: may(SOME_TEXT),
        credential: may(record("Credential")),
        as: may(SOME_TEXT, "the identity on whose behalf"),
        priority: may(COUNT, "1 comes first"),
        rate: may({ rule: "number", above: 0 }, "a second"),
        model: may(NAME, "an imported llm"),
    },
    Credential: { source: must(one("env", "file", "exec", "oauth", "secret")), arg: must(SOME_TEXT) },
};

const BRANCHING = { branches: must(BRANCHES), otherwise: may(BLOCK) };
const TRYING = { body: must(BLOCK), name: may(VARIABLE, "bound to the failure"), handler: must(BLOCK) };
const EACH = { item: must(VARIABLE), list: must(EXPR), max: must(COUNT), body: must(BLOCK) };
const VALUE = { value: must(EXPR) };

/** Nodes by their discriminator, which is not among the keys. */
export const NODES = {
    statement: {
        config: { key: must(one("model", "role", "description")), ...VALUE, ...AT },
        context: { max: must(record("Budget")), ...AT },
        use: {
            ...VALUE,
            max: may(record("Budget")),
            priority: may(WHOLE, "higher is kept longer"),
            label: may(LABEL),
            image: may(TRUE),
            ...AT,
        },
        "use.one": { label: must(LABEL), priority: may(WHOLE), candidates: must(list(record("Candidate"), 2)), ...AT },
        return: { ...VALUE, ...AT },
        repeat: { times: must(WHOLE), body: must(BLOCK), ...AT },
        for: { ...EACH, ...AT },
        loop: { until: must(EXPR), max: must(WHOLE), body: must(BLOCK), ...AT },
        if: { ...BRANCHING, ...AT },
        try: { ...TRYING, ...AT },
        raise: { ...VALUE, ...AT },
        delegate: { refs: must(list(record("Ref"))), all: may(TRUE), to: must(NAME), onward: may(TRUE), body: must(BLOCK), ...AT },
        spend: { spend: must(record("Spend")), body: must(BLOCK), ...AT },
        /** Only in what an agent answers. */
        define: { func: must(record("Func"), "a function of the running program"), keep: may(TRUE, "written as source for review"), ...AT },
        break: { ...AT },
        continue: { ...AT },
        /** Where a debugger stops; nothing in a run. */
        debugger: { ...AT },
        assign: { target: must(EXPR, "a name, a member or an index"), op: must(one("=", "+=", "-=")), ...VALUE, ...AT },
        expr: { ...VALUE, ...AT },
    },
    expression: {
        literal: {
            value: must({ rule: "literal", expression: true }),
            text: may(
                { rule: "text", pattern: /^-?\d+(?:\.\d+)?$/, what: "a number as written" },
                "where it would be written otherwise (2.50); it changes nothing but how the source is shown",
            ),
            ...AT,
        },
        name: { name: must(VARIABLE), ...AT },
        list: { items: must(list(group("item"))), ...AT },
        object: { entries: must(list(group("entry"))), ...AT },
        member: { object: must(EXPR), name: must({ rule: "name" }), safe: may(TRUE), ...AT },
        index: { object: must(EXPR), index: must(EXPR), ...AT },
        call: {
            callee: must(EXPR, "a name or a member"),
            args: must(list(record("Arg"))),
            with: may(record("With"), "of a yield: its callee is a member called yield"),
            contract: may(CONTRACT, "of a yield: what it must give"),
            ...AT,
        },
        unary: { op: must(one("not", "-", "text"), "text: the value as text(x) gives it"), ...VALUE, ...AT },
        binary: { op: must(one(...(Object.keys(PRECEDENCE) as (keyof typeof PRECEDENCE)[]))), left: must(EXPR), right: must(EXPR), ...AT },
        lambda: { params: must(list(VARIABLE)), body: must(EXPR), ...AT },
        "if.expr": { ...BRANCHING, ...AT },
        "try.expr": { ...TRYING, ...AT },
        generate: {
            input: must(EXPR),
            max_output: may(COUNT, "tokens"),
            attempts: may(COUNT),
            temperature: may({ rule: "number", min: 0 }),
            think: may(one(true, false, "auto", "low", "medium", "high")),
            strict: may(FLAG),
            debug: may(FLAG),
            stream: may(FLAG),
            turns: may(COUNT),
            nudges: may(COUNT, "of a model that says what it is going to do and calls no tool"),
            timeout: may({ rule: "number", above: 0 }, "milliseconds"),
            hide: may(one("untrusted"), "results of tools that are not trusted are shown as references"),
            model: may(EXPR, "the name of an imported llm; instead of the one in scope"),
            tools: may(list(EXPR), "names of imported tools, or members of them"),
            contract: may(CONTRACT),
            ...AT,
        },
        parallel: { ...EACH, stop: may(COUNT, "begins no more iterations once so many have failed"), ...AT },
        /** `Repo.only(read, write in "src/**")`: a narrower handle of the same thing. */
        narrow: { object: must(EXPR), methods: must(list(record("Narrowed"), 1)), ...AT },
        endorse: { ...VALUE, readers: may(list(TEXT, 1), "absent: as trusted"), because: must(EXPR), ...AT },
    },
    part: {
        spread: { ...VALUE, ...AT },
        entry: { key: must(KEY), ...VALUE, ...AT },
    },
    contract: {
        string: {},
        number: {},
        boolean: {},
        json: {},
        none: {},
        list: { item: may(CONTRACT) },
        object: { fields: must(list(record("Field"))) },
        literal: { value: must({ rule: "literal", expression: false }) },
        union: { of: must(list(CONTRACT, 1)) },
        optional: { of: must(CONTRACT) },
        ref: { name: must(NAME, "a shape of the same file") },
    },
    /** What an import says of a tool, model, memory or file; it binds every agent. */
    clause: {
        gate: { method: must(METHOD), gate: must(GATE), ...AT },
        count: { method: must(METHOD), counts: must(list(record("Count"), 1)), ...AT },
        arg: {
            method: may(METHOD),
            name: must(METHOD, "of the argument, or its place from 1"),
            from: may(list(SOME_TEXT, 1), "origins that may be in it; absent: trusted ones, with fields none"),
            fields: may(list(record("Among"), 1), "with among: whole values that stood there may stand here"),
            among: may(TRUE, "also a value that occurred in what came from there, whatever else chose it"),
            addresses: may(TRUE, "only the addresses in it: a text from elsewhere that holds none may stand there"),
            plain: may(TRUE, "as addresses, and of markup, mentions and commands too"),
            ask: may(TRUE, "a refused flow becomes a question that shows the flow"),
            ...AT,
        },
        choice: {
            method: may(METHOD, "absent: every method that does more than read"),
            from: may(list(SOME_TEXT, 1), "origins that may decide that it is called, besides the program's text; absent: trusted ones"),
            any: may(TRUE, "any chooser"),
            ask: may(TRUE, "another choice becomes a question"),
            ...AT,
        },
        trusted: { ...AT },
        untrusted: { ...AT },
        /** Labels that the server states of its results grant as well as restrict. */
        labels: { ...AT },
        /** Who may read what comes from here, and who reads what is sent here. */
        reads: { method: may(METHOD), readers: must(record("Readers")), ...AT },
        audience: { method: may(METHOD), readers: must(record("Readers")), ask: may(TRUE), ...AT },
    },
    flow: {
        pipe: { stages: must(list(group("flow"), 2)), ...AT },
        fan: { branches: must(list(group("flow"), 2)), ...AT },
        stage: {
            call: must(NAME, "a func, agent, tool or verb"),
            method: may(NAME, "of a tool"),
            args: must(list(record("StageArg"))),
            with: may(record("StageWith")),
            ...AT,
        },
        block: {
            backend: must(one("memory", "temporal")),
            mode: must(one("static", "dynamic")),
            body: must(group("flow")),
            name: may(VARIABLE, "what later blocks and functions call its value"),
            ...AT,
        },
    },
    value: {
        literal: {
            value: must(JSON_VALUE),
            text: may(
                { rule: "text", pattern: /^\d+(?:\.\d+)?(?:ms|s|min|h)$/, what: "a time such as `30s`" },
                "a time as written; value is in milliseconds",
            ),
        },
        ref: RECORDS.StageName,
        refs: { items: must(list(record("StageName"))) },
    },
} satisfies Readonly<Record<string, Readonly<Record<string, Keys>>>>;

export type GroupName = "statement" | "setting" | "expression" | "item" | "entry" | "contract" | "clause" | "flow" | "block" | "value";

export interface Group {
    readonly key: "kind" | "type";
    readonly kinds: readonly string[];
    readonly keys: (kind: string) => Keys | undefined;
    /** For messages. */
    readonly what: string;
}

function groupOf(
    what: string,
    key: "kind" | "type",
    of: readonly { readonly table: Readonly<Record<string, Keys>>; readonly kinds: readonly string[] }[],
): Group {
    const all = new Map(of.flatMap(({ table, kinds }) => kinds.map((kind) => [kind, table[kind] as Keys] as const)));
    return { key, kinds: [...all.keys()], keys: (kind) => all.get(kind), what };
}

const every = (table: Readonly<Record<string, Keys>>) => ({ table, kinds: Object.keys(table) });

/** What may stand in a place that takes nodes. */
export const GROUPS: Readonly<Record<GroupName, Group>> = {
    statement: groupOf("a statement", "kind", [every(NODES.statement)]),
    setting: groupOf("a line of an agent's head", "kind", [{ table: NODES.statement, kinds: ["config", "context", "use", "use.one"] }]),
    expression: groupOf("an expression", "kind", [every(NODES.expression)]),
    item: groupOf("an item of a list", "kind", [every(NODES.expression), { table: NODES.part, kinds: ["spread"] }]),
    entry: groupOf("an entry of an object", "kind", [every(NODES.part)]),
    contract: groupOf("a contract", "type", [every(NODES.contract)]),
    clause: groupOf("a clause", "kind", [every(NODES.clause)]),
    flow: groupOf("a part of a block", "kind", [every(NODES.flow)]),
    block: groupOf("a block", "kind", [{ table: NODES.flow, kinds: ["block"] }]),
    value: groupOf("an argument of a stage", "kind", [every(NODES.value)]),
};

/** Names that are read as something else in an expression, whatever is in scope. */
export const NEVER_VARIABLES: ReadonlySet<string> = new Set(["true", "false", "none", "not", "generate", "parallel"]);

/** A key of a node with its rule. `tree`: what a tree calls it. */
export interface Row {
    readonly key: string;
    readonly tree: string;
    readonly rule: Rule;
    readonly required: boolean;
}

/** `placed`: it has a place. */
export interface Rows {
    readonly rows: readonly Row[];
    readonly placed: boolean;
}

/** Keys that a tree calls otherwise. */
const IN_TREE: Readonly<Record<string, string>> = { in: "bounds", with: "options", spend: "amounts" };

function rowsOf(keys: Keys): Rows {
    const rows = Object.entries(keys)
        .filter(([key]) => key !== "at")
        .map(([key, { rule, required }]) => ({ key, tree: IN_TREE[key] ?? key, rule, required }));
    return { rows, placed: "at" in keys };
}

/** Rows of the nodes of a program by kind, and of records by name. */
export const NODE_ROWS: ReadonlyMap<string, Rows> = new Map(
    [NODES.statement, NODES.expression, NODES.part, NODES.clause, NODES.flow].flatMap((table) =>
        Object.entries(table).map(([kind, keys]) => [kind, rowsOf(keys)] as const),
    ),
);
export const RECORD_ROWS: ReadonlyMap<string, Rows> = new Map(Object.entries(RECORDS).map(([name, keys]) => [name, rowsOf(keys)] as const));
