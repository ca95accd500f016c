/**
 * Random program forms that are valid, and what tests compare them by.
 *
 * Why it is long: it is a list of forms.
 */
import fc from "fast-check";
import type { Contract, Json } from "../../src/contract/contract.ts";
import type {
    BoundForm,
    BudgetForm,
    ClauseForm,
    ConfigForm,
    ExprForm,
    FuncForm,
    Program,
    ReadersForm,
    RefForm,
    RemitForm,
    SpendForm,
    StmtForm,
    WithForm,
} from "../../src/form/form.ts";

/** Parameters of every generated function; some are words of the language that may be names. */
export const PARAMS = ["x", "y", "list", "max", "shape", "of", "__odd"] as const;

const name = fc.constantFrom(...PARAMS);
const property = fc.constantFrom("a", "b", "length", "for", "none", "generate", "_x1");
const key = fc.oneof(property, fc.constantFrom("odd key", "", "é", "1", 'q"q', "a\nb"));
const text = fc.oneof(
    fc.string(),
    fc.constantFrom("plain", "a\nb\tc", '"quoted"', "\\", "\u0000", "\ud800", "}{", "// no comment", '"""', " ", "\u2028", "😀"),
);
const decimal = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((n) => (n === 0 ? 0 : n));
const whole = fc.integer({ min: 1, max: 100_000 });

const literal = fc
    .oneof(
        fc.constantFrom<string | number | boolean | null>(true, false, null, 0, 1, -1, 2.5, -0.25, 1e-7, 2 ** 53, 4e-300),
        text,
        fc.integer(),
        decimal,
    )
    .map((value): ExprForm => ({ kind: "literal", value }));

/** Numbers as they may be written, with what they mean. */
const written = fc.tuple(fc.nat(9999), fc.nat(999)).map(([a, b]): ExprForm => {
    const shown = `${a}.${b}0`;
    return { kind: "literal", value: Number(shown), text: shown };
});

const CONTRACTS: readonly Contract[] = [
    { type: "string" },
    { type: "json" },
    { type: "list" },
    { type: "none" },
    { type: "list", item: { type: "optional", of: { type: "number" } } },
    { type: "ref", name: "It" },
    {
        type: "union",
        of: [
            { type: "literal", value: "a" },
            { type: "literal", value: -1 },
            { type: "literal", value: true },
        ],
    },
    { type: "optional", of: { type: "union", of: [{ type: "string" }, { type: "list" }] } },
    { type: "object", fields: [] },
    {
        type: "object",
        fields: [
            { name: "a", contract: { type: "string" }, description: 'say "so"\n' },
            { name: "odd key", contract: { type: "number" }, optional: true },
            { name: "c", contract: { type: "list" }, default: [1, { x: null, "y z": [-2.5] }] },
            { name: "d", contract: { type: "optional", of: { type: "ref", name: "It" } }, optional: true, description: "" },
        ],
    },
];
const contract = fc.constantFrom(...CONTRACTS);

const budget: fc.Arbitrary<BudgetForm> = fc
    .record({ amount: whole, k: fc.boolean(), tokens: fc.boolean(), keep: fc.constantFrom(undefined, "start", "end") })
    .map(({ amount, k, tokens, keep }) => ({
        amount: k ? amount * 1000 : amount,
        unit: tokens ? ("tokens" as const) : ("chars" as const),
        ...(keep === "end" ? { keep } : {}),
        text: `${amount}${k ? "k" : ""}${tokens ? " tokens" : ""}${keep === undefined ? "" : ` keep ${keep}`}`,
    }));

// ---- authority -------------------------------------------------------------------------------------------------------

const word = fc.constantFrom("read", "write", "send", "for", "to", "_x1");
const patterns = fc.array(
    text.filter((one) => one !== ""),
    { minLength: 1, maxLength: 2 },
);
const bound: fc.Arbitrary<BoundForm> = fc.tuple(fc.option(word, { nil: undefined }), patterns).map(([arg, of]) => ({
    ...(arg === undefined ? {} : { arg }),
    patterns: of,
}));
const bounds = fc.option(fc.array(bound, { minLength: 1, maxLength: 2 }), { nil: undefined });
const ref: fc.Arbitrary<RefForm> = fc
    .record({ name: fc.constantFrom("Repo", "Llm", "Mail"), method: fc.option(word, { nil: undefined }), in: bounds })
    .map(plain);
const refs = fc.array(ref, { minLength: 1, maxLength: 3 });
const spend: fc.Arbitrary<SpendForm> = fc
    .record(
        {
            tokens: whole,
            usd: fc.constantFrom(1, 0.5, 2.25),
            time: fc.constantFrom(1, 1500, 2000, 60_000, 7_200_000),
            steps: whole,
            calls: whole,
            turns: whole,
            bytes: whole,
        },
        { requiredKeys: [] },
    )
    .filter((one) => Object.keys(one).length > 0);
const remit: fc.Arbitrary<RemitForm> = fc
    .record({
        grants: fc.array(
            fc.oneof(
                fc.record({ gate: fc.constantFrom("may" as const, "ask" as const, "never" as const), refs }),
                fc.record({
                    gate: fc.constantFrom("may" as const, "ask" as const),
                    refs: fc.constant([]),
                    all: fc.constant(true as const),
                }),
            ),
            { maxLength: 3 },
        ),
        spend: fc.option(spend, { nil: undefined }),
        endorse: fc.constantFrom(undefined, true as const),
        flow: fc.constantFrom(undefined, "strict" as const),
    })
    .map(plain);
const remitUse: fc.Arbitrary<RemitForm> = fc.oneof(remit, fc.constant({ use: "Careful", grants: [] }));
const argument = fc.oneof(word, fc.constantFrom("1", "2"));
const given = fc.option(word, { nil: undefined });
const readers: fc.Arbitrary<ReadersForm> = fc.oneof(
    patterns.map((names) => ({ names })),
    word.map((arg) => ({ arg })),
    fc.constant({ everyone: true as const }),
);
const ask = fc.constantFrom(undefined, true as const);
const clause: fc.Arbitrary<ClauseForm> = fc
    .oneof(
        fc.record({
            kind: fc.constant("gate" as const),
            method: word,
            gate: fc.constantFrom("may" as const, "ask" as const, "never" as const),
        }),
        fc.record({
            kind: fc.constant("arg" as const),
            method: given,
            name: argument,
            from: fc.option(patterns, { nil: undefined }),
            ask,
        }),
        fc.record({ kind: fc.constant("trusted" as const) }),
        fc.record({
            kind: fc.constant("reads" as const),
            method: given,
            readers: fc.oneof(
                readers,
                word.map((result) => ({ result })),
            ),
        }),
        fc.record({ kind: fc.constant("audience" as const), method: given, readers, ask }),
    )
    .map((one) => plain(one) as ClauseForm);

interface Inside {
    readonly loop: boolean;
    readonly lambda: boolean;
    readonly parallel: boolean;
}

/** Fields that are there or not. */
function some<T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
    return fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

/** Expressions without calls, as `use` takes them. */
function data(depth: number): fc.Arbitrary<ExprForm> {
    const leaf: fc.Arbitrary<ExprForm> = fc.oneof(
        literal,
        name.map((of): ExprForm => ({ kind: "name", name: of })),
    );
    if (depth <= 0) return leaf;
    const inner = data(depth - 1);
    return fc.oneof(
        leaf,
        fc.record({ object: inner, name: property }).map((e): ExprForm => ({ kind: "member", ...e })),
        fc.record({ left: inner, right: inner }).map((e): ExprForm => ({ kind: "binary", op: "??", ...e })),
        fc.array(inner, { maxLength: 3 }).map((items): ExprForm => ({ kind: "list", items })),
    );
}

export function expression(depth: number, inside: Inside): fc.Arbitrary<ExprForm> {
    const leaf: fc.Arbitrary<ExprForm> = fc.oneof(
        literal,
        written,
        name.map((of): ExprForm => ({ kind: "name", name: of })),
    );
    if (depth <= 0) return leaf;
    const inner = expression(depth - 1, inside);
    const lambda = fc
        .record({
            params: fc.uniqueArray(fc.constantFrom("a", "b", "item"), { maxLength: 2 }),
            body: expression(depth - 1, { loop: false, lambda: true, parallel: inside.parallel }),
        })
        .map((e): ExprForm => ({ kind: "lambda", ...e }));
    const arg = fc.oneof({ weight: 4, arbitrary: inner }, { weight: 1, arbitrary: lambda }).map((value) => ({ value }));
    const small = block(depth - 1, inside, 2);
    const callee: fc.Arbitrary<ExprForm> = fc
        .record({
            object: fc.oneof(inner, fc.constantFrom<ExprForm>({ kind: "name", name: "Repo" }, { kind: "name", name: "json" })),
            name: property,
        })
        .map((e): ExprForm => ({ kind: "member", ...e }));
    const all: fc.Arbitrary<ExprForm>[] = [
        leaf,
        fc
            .array(
                fc.oneof(
                    inner,
                    inner.map((value) => ({ kind: "spread" as const, value })),
                ),
                { maxLength: 3 },
            )
            .map((items): ExprForm => ({ kind: "list", items })),
        fc
            .array(
                fc.oneof(
                    fc.record({ key, value: inner }).map((e) => ({ kind: "entry" as const, ...e })),
                    inner.map((value) => ({ kind: "spread" as const, value })),
                ),
                { maxLength: 3 },
            )
            .map((entries): ExprForm => ({ kind: "object", entries })),
        fc
            .record({ object: inner, name: property, safe: fc.constantFrom(undefined, true as const) })
            .map(({ safe, ...e }): ExprForm => ({ kind: "member", ...e, ...(safe ? { safe } : {}) })),
        fc.record({ object: inner, index: inner }).map((e): ExprForm => ({ kind: "index", ...e })),
        fc.record({ callee, args: fc.array(arg, { maxLength: 2 }) }).map((e): ExprForm => ({ kind: "call", ...e })),
        inner.map((value): ExprForm => ({ kind: "call", callee: { kind: "name", name: "text" }, args: [{ value }] })),
        fc.record({ op: fc.constantFrom("not" as const, "-" as const), value: inner }).map((e): ExprForm => ({ kind: "unary", ...e })),
        fc
            .record({
                op: fc.constantFrom(...(["or", "and", "??", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"] as const)),
                left: inner,
                right: inner,
            })
            .map((e): ExprForm => ({ kind: "binary", ...e })),
        fc.record({ test: inner, body: small, other: fc.option(small, { nil: undefined }) }).map(
            ({ test, body, other }): ExprForm => ({
                kind: "if.expr",
                branches: [{ test, body }],
                ...(other === undefined ? {} : { otherwise: other }),
            }),
        ),
        fc
            .record({ body: small, handler: small, name: fc.constantFrom(undefined, "failure") })
            .map(({ name: caught, ...e }): ExprForm => ({ kind: "try.expr", ...e, ...(caught === undefined ? {} : { name: caught }) })),
    ];
    all.push(
        fc
            .record({
                object: inner,
                methods: fc.array(fc.record({ method: fc.constantFrom("read", "write", "all"), in: bounds }), {
                    minLength: 1,
                    maxLength: 2,
                }),
            })
            .map((e): ExprForm => plain({ kind: "narrow" as const, ...e })),
    );
    if (!inside.lambda) {
        const limits = some<WithForm>({
            skills: fc.constantFrom(["Triage"], ["Triage", "Triage"]),
            turns: whole,
            steps: whole,
            calls: whole,
            tokens: whole,
            bytes: whole,
            usd: fc.constantFrom(1, 0.5),
            time: fc.constantFrom(1, 1500, 60_000, 7_200_000),
            silence: fc.constantFrom(250, 30_000),
            model: text.filter((one) => one !== ""),
        }).filter((one) => Object.keys(one).length > 0);
        const agent = fc.oneof(
            fc.constant<ExprForm>({ kind: "name", name: "Helper" }),
            name.map((of): ExprForm => ({ kind: "name", name: of })),
        );
        all.push(
            fc
                .record({
                    agent,
                    names: fc.uniqueArray(fc.constantFrom("a", "log", "for", "max", "_x1"), { minLength: 1, maxLength: 3 }),
                    value: inner,
                    limits: fc.option(limits, { nil: undefined }),
                    expects: fc.option(contract, { nil: undefined }),
                })
                .map(
                    ({ agent: of, names, value, limits: most, expects }): ExprForm => ({
                        kind: "call",
                        callee: { kind: "member", object: of, name: "yield" },
                        args: names.map((one) => ({ name: one, value })),
                        ...(most === undefined ? {} : { with: most }),
                        ...(expects === undefined ? {} : { contract: expects }),
                    }),
                ),
            fc.record({ agent, value: inner }).map(
                ({ agent: of, value }): ExprForm => ({
                    kind: "call",
                    callee: { kind: "member", object: of, name: "send" },
                    args: [{ value }],
                }),
            ),
        );
        all.push(
            fc
                .record({ value: inner, readers: fc.option(patterns, { nil: undefined }), because: inner })
                .map(({ readers: who, ...e }): ExprForm => ({ kind: "endorse", ...e, ...(who === undefined ? {} : { readers: who }) })),
        );
        const iteration: Inside = { loop: false, lambda: false, parallel: true };
        const body = fc
            .tuple(block(depth - 1, iteration, 1), expression(depth - 1, iteration))
            .map(([before, value]): StmtForm[] => [...before, { kind: "expr", value }]);
        all.push(
            fc
                .record({ item: fc.constantFrom("each", "in"), list: inner, max: whole, stop: fc.option(whole, { nil: undefined }), body })
                .map(({ stop, ...e }): ExprForm => ({ kind: "parallel", ...e, ...(stop === undefined ? {} : { stop }) })),
        );
        const options = some<{
            max_output: number;
            attempts: number;
            temperature: number;
            think: boolean | "low";
            strict: boolean;
            stream: boolean;
            turns: number;
            timeout: number;
            contract: Contract;
            model: ExprForm;
            tools: ExprForm[];
        }>({
            max_output: whole,
            attempts: whole,
            temperature: fc.constantFrom(0, 0.2, 1),
            think: fc.constantFrom<boolean | "low">(true, false, "low"),
            strict: fc.boolean(),
            stream: fc.boolean(),
            turns: whole,
            timeout: whole,
            contract,
            model: fc.constant<ExprForm>({ kind: "name", name: "Llm" }),
            tools: fc.constantFrom<ExprForm[]>(
                [],
                [
                    { kind: "name", name: "Repo" },
                    { kind: "member", object: { kind: "name", name: "Repo" }, name: "read" },
                ],
            ),
        });
        all.push(fc.tuple(inner, options).map(([input, more]): ExprForm => ({ kind: "generate", input, ...more })));
    }
    return fc.oneof(...all);
}

function block(depth: number, inside: Inside, most: number): fc.Arbitrary<StmtForm[]> {
    return fc.array(statement(depth, inside), { maxLength: most });
}

function statement(depth: number, inside: Inside): fc.Arbitrary<StmtForm> {
    const value = expression(Math.max(0, depth), inside);
    const simple: fc.Arbitrary<StmtForm>[] = [
        value.map((of): StmtForm => ({ kind: "expr", value: of })),
        value.map((of): StmtForm => ({ kind: "raise", value: of })),
        fc
            // In a parallel for, a name of its own for each level: names of the outside are not assigned there.
            .record({ name: inside.parallel ? fc.constant(`deep${depth}`) : fc.constantFrom("fresh", "other"), value })
            .map((e): StmtForm => ({ kind: "assign", target: { kind: "name", name: e.name }, op: "=", value: e.value })),
        fc.record({ object: name, name: property, op: fc.constantFrom("=" as const, "+=" as const), value }).map(
            (e): StmtForm => ({
                kind: "assign",
                target: { kind: "member", object: { kind: "name", name: e.object }, name: e.name },
                op: e.op,
                value: e.value,
            }),
        ),
        fc.record({ object: name, index: value, value }).map(
            (e): StmtForm => ({
                kind: "assign",
                target: { kind: "index", object: { kind: "name", name: e.object }, index: e.index },
                op: "=",
                value: e.value,
            }),
        ),
    ];
    if (!inside.parallel)
        simple.push(
            fc
                .record({ name, value })
                .map((e): StmtForm => ({ kind: "assign", target: { kind: "name", name: e.name }, op: "-=", value: e.value })),
        );
    if (!inside.lambda) {
        simple.push(value.map((of): StmtForm => ({ kind: "return", value: of })));
        const use = some<{ max: BudgetForm; priority: number; label: string; image: true }>({
            max: budget,
            priority: whole,
            label: fc.constantFrom("notes", "two words", "user", "as", 'x"y'),
            image: fc.constant(true as const),
        });
        simple.push(fc.tuple(data(2), use).map(([of, more]): StmtForm => ({ kind: "use", value: of, ...more })));
        simple.push(
            fc.record({ one: data(1), other: data(1), max: fc.option(budget, { nil: undefined }) }).map(
                ({ one, other, max }): StmtForm => ({
                    kind: "use.one",
                    label: "slot",
                    candidates: [
                        { name: "none" },
                        { name: "one", value: one, ...(max === undefined ? {} : { max }) },
                        { name: "empty", value: other, selected: true },
                    ],
                }),
            ),
        );
        simple.push(budget.map((max): StmtForm => ({ kind: "context", max })));
        simple.push(
            fc.constantFrom<StmtForm>(
                { kind: "config", key: "model", value: { kind: "name", name: "Llm" } },
                { kind: "config", key: "role", value: { kind: "literal", value: 'a\n"b"' } },
            ),
        );
    }
    simple.push(fc.constant<StmtForm>({ kind: "debugger" }));
    if (!inside.lambda)
        simple.push(
            fc.record({ value: data(1), result: fc.option(contract, { nil: undefined }), keep: fc.boolean() }).map(
                ({ value: of, result, keep }): StmtForm => ({
                    kind: "define",
                    func: {
                        name: "made",
                        params: PARAMS.map((param) => ({ name: param })),
                        ...(result === undefined ? {} : { result }),
                        effects: [],
                        body: [{ kind: "return", value: of }],
                    },
                    ...(keep ? { keep: true } : {}),
                }),
            ),
        );
    if (inside.loop) simple.push(fc.constantFrom<StmtForm>({ kind: "break" }, { kind: "continue" }));
    if (depth <= 0) return fc.oneof(...simple);
    const body = block(depth - 1, inside, 3);
    const looped = block(depth - 1, { ...inside, loop: true }, 3);
    const branches = fc.array(fc.record({ test: value, body }), { minLength: 1, maxLength: 3 });
    return fc.oneof(
        ...simple,
        fc.record({ times: fc.nat(9), body: looped }).map((s): StmtForm => ({ kind: "repeat", ...s })),
        fc
            .record({ item: fc.constantFrom("each", "use"), list: value, max: whole, body: looped })
            .map((s): StmtForm => ({ kind: "for", ...s })),
        fc.record({ refs, all: fc.boolean(), onward: fc.boolean(), body }).map(
            ({ refs: of, all, onward, body: inner }): StmtForm => ({
                kind: "delegate",
                refs: all ? [] : of,
                ...(all ? { all: true } : {}),
                to: "Helper",
                ...(onward ? { onward: true } : {}),
                body: inner,
            }),
        ),
        fc.record({ spend, body }).map((s): StmtForm => ({ kind: "spend", ...s })),
        fc.record({ until: value, max: fc.nat(9), body: looped }).map((s): StmtForm => ({ kind: "loop", ...s })),
        fc
            .record({ branches, otherwise: fc.option(body, { nil: undefined }) })
            .map(({ otherwise, ...s }): StmtForm => ({ kind: "if", ...s, ...(otherwise === undefined ? {} : { otherwise }) })),
        fc
            .record({ body, handler: body, name: fc.constantFrom(undefined, "failure") })
            .map(({ name: caught, ...s }): StmtForm => ({ kind: "try", ...s, ...(caught === undefined ? {} : { name: caught }) })),
    );
}

const MAIN: Inside = { loop: false, lambda: false, parallel: false };

function func(of: string, main: boolean): fc.Arbitrary<FuncForm> {
    const last: fc.Arbitrary<Json | undefined> = fc.constantFrom<Json | undefined>(undefined, null, -1, "d", [{}], {
        a: [true],
        "b c": null,
    });
    return fc
        .record({
            body: block(3, MAIN, 4),
            result: fc.option(contract, { nil: undefined }),
            first: fc.option(contract, { nil: undefined }),
            last,
        })
        .map(
            ({ body, result, first, last: fallback }): FuncForm => ({
                name: of,
                ...(main ? { main: true } : {}),
                params: PARAMS.map((param, i) => ({
                    name: param,
                    ...(i === 0 && first !== undefined ? { contract: first } : {}),
                    ...(i === PARAMS.length - 1 && fallback !== undefined ? { default: fallback } : {}),
                })),
                ...(result === undefined ? {} : { result }),
                effects: [],
                body,
            }),
        );
}

const SETTINGS: readonly ConfigForm[] = [
    { kind: "config", key: "model", value: { kind: "name", name: "Llm" } },
    { kind: "config", key: "role", value: { kind: "literal", value: "r" } },
    { kind: "config", key: "description", value: { kind: "literal", value: "d" } },
];

export const anyProgram: fc.Arbitrary<Program> = fc
    .record({
        outside: func("helper", false),
        one: func("__main", true),
        two: func("step", false),
        named: fc.boolean(),
        clauses: fc.option(fc.array(clause, { maxLength: 4 }), { nil: undefined }),
        own: fc.option(remitUse, { nil: undefined }),
        narrowed: fc.option(remit, { nil: undefined }),
        careful: remit,
        strict: fc.boolean(),
    })
    .map(({ outside, one, two, named, clauses, own, narrowed, careful, strict }) => ({
        format: "remit-program/1",
        files: [
            {
                file: "helper.remit",
                imports: [
                    { what: "tool", name: "Repo", uri: "file://workspace" },
                    { what: "llm", name: "Llm", uri: "mock:" },
                    { what: "tool", name: "Mail", uri: "mcp://mail" },
                ],
                shapes: [],
                funcs: [],
                agents: [{ name: "Helper", config: [], funcs: [{ name: "__main", main: true, params: [], effects: [], body: [] }] }],
            },
            {
                file: "main.remit",
                ...(strict ? { flow: "strict" as const } : {}),
                remits: [{ name: "Careful", ...careful }],
                imports: [
                    { what: "llm", name: "Llm", uri: "mock:" },
                    {
                        what: "tool",
                        name: "Repo",
                        uri: "file://workspace",
                        ...(clauses === undefined || clauses.length === 0 ? {} : { clauses }),
                    },
                    { what: "file", name: "Doc", uri: './d"oc.md' },
                    { what: "tool", name: "Mail", uri: "mcp://mail" },
                    { what: "skill", name: "Triage", uri: "./skills/triage" },
                    {
                        what: "agent",
                        name: "Helper",
                        uri: "./helper.remit",
                        from: 0,
                        ...(narrowed === undefined ? {} : { remit: narrowed }),
                    },
                ],
                shapes: [{ name: "It", contract: CONTRACTS[4] as Contract }],
                funcs: [{ ...outside, body: [...SETTINGS, ...outside.body] }],
                agents: [
                    {
                        name: named ? "Main" : "__main_agent",
                        main: true,
                        config: [...SETTINGS, { kind: "use", value: { kind: "name", name: "Doc" }, label: "doc" }],
                        funcs: [one, two],
                        ...(own === undefined ? {} : { remit: own }),
                    },
                ],
            },
        ],
        entry: { file: 1, agent: named ? "Main" : "__main_agent", func: "__main" },
    }));

/** The same without places and without keys that hold nothing. */
export function plain<T>(form: T): T {
    return JSON.parse(JSON.stringify(form, (at, value) => (at === "at" ? undefined : value))) as T;
}
