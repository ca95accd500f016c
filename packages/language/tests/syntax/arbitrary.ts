/**
 * Random trees of everything the grammar can say. Each is one that some text parses to: where a construct could not stand bare (a lambda as
 * an operand, `-x` at the start of a statement) the generator puts the parentheses that a writer would have to put.
 *
 * Why it is long: every construct of the grammar once, which refer to one another.
 */
import fc from "fast-check";
import type { tree } from "../../src/index.ts";
import { needsParens } from "../../src/syntax/print/literals.ts";
import { backendBlocks } from "./arbitrary-blocks.ts";
import { POSTFIX_PRECEDENCE, PRECEDENCE, UNARY_PRECEDENCE, WORDS } from "../../src/syntax/tokens.ts";

const range = { start: 0, end: 0 };

const PLAIN = ["a", "b", "c", "foo", "Bar", "_x1", "list", "string", "one", "test", "shape", "q2k", "a_rather_long_name_for_a_variable"];
const plain = fc.constantFrom(...PLAIN);
const anyWord = fc.oneof(plain, fc.constantFrom(...WORDS, "constructor", "__proto__"));
const name = (text: string): tree.Name => ({ range, text });
const plainName = plain.map(name);
const wordName = anyWord.map(name);
/** As servers name methods, arguments and fields. */
const toolName = fc.oneof(wordName, fc.constantFrom("list-issues", "10", "a.b", 'quo"te', "x: never\nsend").map(name));

const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc
        .array(fc.constantFrom("a", " ", "\n", '"', '"""', "\\", "'", "\t", "\r", "    ", "x\n", "\ud800", "😀", "//", "{"), {
            maxLength: 8,
        })
        .map((parts) => parts.join("")),
    fc.constantFrom("a plain sentence of some length, as prompts have it", "x"),
);
const stringLit: fc.Arbitrary<tree.StringLit> = fc.record({
    kind: fc.constant("string"),
    range: fc.constant(range),
    value: text,
    style: fc.constantFrom("double", "single", "block"),
});
const integer = fc.oneof(fc.nat(20), fc.constantFrom(1000, 2 ** 53)).map(String);
const numberText = fc.oneof(
    integer,
    fc.tuple(fc.nat(99), fc.nat(999)).map(([whole, rest]) => `${whole}.${rest}`),
);
const numberOf = (written: string): tree.NumberLit => ({ kind: "number", range, value: Number(written), text: written });
const numberLit = numberText.map(numberOf);
const count = integer.map(numberOf);

const budget: fc.Arbitrary<tree.Budget> = fc
    .tuple(numberText, fc.constantFrom("", "k", "m"), fc.boolean(), fc.boolean())
    .map(([digits, suffix, tokens, end]): tree.Budget => {
        const written = `${digits}${suffix}${tokens ? " tokens" : ""}${end ? " keep end" : ""}`;
        const amount = suffix === "k" ? Number(`${digits}e3`) : Number(digits);
        return { range, text: written, amount, unit: tokens ? "tokens" : "chars", keep: end ? "end" : "start", suffix };
    });

function paren(value: tree.Expr): tree.Expr {
    return { kind: "paren", range, value };
}
function wrap(value: tree.Expr, least: number): tree.Expr {
    return needsParens(value, least) ? paren(value) : value;
}
function leftmost(node: tree.Expr): tree.Expr {
    if (node.kind === "binary") return leftmost(node.left);
    if (node.kind === "member" || node.kind === "index" || node.kind === "narrow") return leftmost(node.object);
    return node.kind === "call" ? leftmost(node.callee) : node;
}
/** An expression that may begin a statement. */
function atStart(node: tree.Expr): tree.Expr {
    const first = leftmost(node);
    const taken = first.kind === "if.expr" || first.kind === "try.expr" || (first.kind === "unary" && first.op === "-");
    return taken ? paren(node) : node;
}

type Ties = {
    expr: tree.Expr;
    block: tree.Block;
    stmt: tree.Stmt;
    contract: tree.ContractNode;
    literal: tree.Expr;
};

const list = <X>(of: fc.Arbitrary<X>, maxLength = 3) => fc.array(of, { maxLength });
const maybe = <X>(of: fc.Arbitrary<X>) => fc.option(of, { nil: undefined });
const kind = <K extends string>(value: K) => ({ kind: fc.constant(value), range: fc.constant(range) });

const label: fc.Arbitrary<tree.Label> = fc.oneof(
    text.map((written) => ({ range, text: written, quoted: true })),
    anyWord.map((written) => ({ range, text: written, quoted: false })),
);

// ---- authority ---------------------------------------------------------------------------------------------------

/** Names of methods: none that a random body gives to a value, which would make `.only(name)` a call. */
const METHODS = ["read", "write", "send", "only", "patch_all"];
const methodName = fc.constantFrom(...METHODS).map(name);
/** Names that begin no clause of a remit. */
const thing = fc.constantFrom(...PLAIN, "Repo", "endorse").map(name);

const quoted = stringLit.map((one): tree.StringLit => ({ ...one, style: "double" }));
const patterns = { range: fc.constant(range), patterns: fc.array(quoted, { minLength: 1, maxLength: 2 }) };
const span = fc
    .tuple(fc.integer({ min: -99, max: 99 }), fc.nat(9))
    .map(([low, size]): tree.StringLit => ({ kind: "string", range, value: `${low / 4}..${low / 4 + size}`, style: "double" }));
const bound = fc.oneof(
    fc.record({ ...patterns, arg: maybe(toolName), numbers: fc.constant(false) }),
    fc.record({ ...patterns, arg: wordName, patterns: fc.array(span, { minLength: 1, maxLength: 2 }), numbers: fc.constant(true) }),
);
const often = fc.oneof(
    fc
        .tuple(fc.nat(999), maybe(fc.constant("day" as const)))
        .map(([value, per]): tree.Count => ({ range, most: { kind: "number", range, value, text: String(value) }, per })),
    fc.oneof(toolName, fc.constantFrom("1", "2").map(name)).map((by): tree.Count => ({ range, by })),
);
const counts = fc.array(often, { minLength: 1, maxLength: 2 });
const ref = fc.record({ range: fc.constant(range), name: thing, method: maybe(toolName), bounds: list(bound, 2), counts: maybe(counts) });
const refs = fc.array(ref, { minLength: 1, maxLength: 3 });
const amount: fc.Arbitrary<tree.Amount> = fc
    .tuple(
        fc.nat(9999),
        fc.constantFrom("", "k", "M"),
        fc.constantFrom("tokens", "usd", "steps", "calls", "turns", "bytes", "ms", "s", "min", "h"),
        fc.boolean(),
    )
    .map(([digits, factor, unit, glued]): tree.Amount => {
        const time = new Map([
            ["ms", 1],
            ["s", 1000],
            ["min", 60_000],
            ["h", 3_600_000],
        ]).get(unit);
        const size = factor === "" ? 1 : factor === "k" ? 1e3 : 1e6;
        return {
            range,
            meter: time === undefined ? (unit as tree.Amount["meter"]) : "time",
            amount: digits * size * (time ?? 1),
            text: `${digits}${factor}${glued && factor === "" ? "" : " "}${unit}`,
        };
    });
const amounts = fc.array(amount, { minLength: 1, maxLength: 3 });
const remitBody: fc.Arbitrary<tree.RemitBody> = fc.record({
    ...kind("remit.body"),
    clauses: list(
        fc.oneof(
            fc.tuple(fc.constantFrom("may", "ask", "never"), fc.boolean(), refs).map(
                ([gate, all, some]): tree.RemitGrant => ({
                    kind: "remit.grant",
                    range,
                    grant: { range, gate: gate as tree.Grant["gate"], all, refs: all ? [] : some },
                }),
            ),
            fc.record({ ...kind("remit.spend"), amounts }),
            fc.record(kind("remit.flow")),
        ) as fc.Arbitrary<tree.RemitBody["clauses"][number]>,
        4,
    ),
});
const remitUse: fc.Arbitrary<tree.RemitUse> = fc.oneof(remitBody, fc.record({ ...kind("remit.use"), name: plainName }));
const through = fc.record({
    range: fc.constant(range),
    at: fc.record({ range: fc.constant(range), of: plainName, method: toolName, path: fc.array(toolName, { minLength: 1, maxLength: 2 }) }),
    to: toolName,
});
const readers = fc.oneof(
    fc.record({ ...kind("readers.names"), names: fc.array(quoted, { minLength: 1, maxLength: 2 }) }),
    fc.record({ ...kind("readers.everyone") }),
    fc.record({ ...kind("readers.arg"), name: toolName }),
    fc.record({ ...kind("readers.result"), name: toolName, through: maybe(through) }),
) as fc.Arbitrary<tree.Readers>;
const field = fc.oneof(
    fc.record({ range: fc.constant(range), of: fc.constant(name("input")), path: fc.array(toolName, { minLength: 1, maxLength: 2 }) }),
    fc.record({ range: fc.constant(range), of: plainName, method: toolName, path: fc.array(toolName, { minLength: 1, maxLength: 2 }) }),
);
const argName = fc.oneof(toolName, fc.constantFrom("1", "2").map(name));
const clause = fc.oneof(
    fc.record({ ...kind("clause.gate"), method: toolName, gate: fc.constantFrom("may", "ask", "never").map(name) }),
    fc.record({ ...kind("clause.gate"), method: plainName, gate: plainName }),
    fc.record({ ...kind("clause.count"), method: toolName, counts }),
    fc.record({
        ...kind("clause.arg"),
        method: maybe(toolName),
        name: argName,
        from: maybe(fc.array(quoted, { minLength: 1, maxLength: 2 })),
        addresses: maybe(fc.constant(true)),
        ask: fc.boolean(),
    }),
    fc.record({
        ...kind("clause.arg"),
        method: maybe(toolName),
        name: argName,
        from: maybe(fc.array(quoted, { minLength: 1, maxLength: 2 })),
        plain: fc.constant(true),
        ask: fc.boolean(),
    }),
    fc.record({
        ...kind("clause.arg"),
        method: maybe(toolName),
        name: argName,
        from: fc.array(quoted, { minLength: 1, maxLength: 2 }),
        among: fc.constant(true),
        fields: maybe(fc.array(field, { minLength: 1, maxLength: 2 })),
        addresses: maybe(fc.constant(true)),
        ask: fc.boolean(),
    }),
    fc.record({
        ...kind("clause.choice"),
        method: maybe(toolName),
        from: maybe(fc.array(quoted, { minLength: 1, maxLength: 2 })),
        ask: fc.boolean(),
    }),
    fc.record({ ...kind("clause.choice"), method: maybe(toolName), any: fc.constant(true), ask: fc.constant(false) }),
    fc.record(kind("clause.trusted")),
    fc.record(kind("clause.untrusted")),
    fc.record(kind("clause.labels")),
    fc
        .record({
            ...kind("clause.readers"),
            which: fc.constantFrom("reads", "audience"),
            method: maybe(toolName),
            readers,
            ask: fc.boolean(),
        })
        .map((one) => ({ ...one, ask: one.ask && one.which === "audience" })),
) as fc.Arbitrary<tree.ImportClause>;

const ties = fc.letrec<Ties>((tie) => {
    const expr = tie("expr");
    const block = tie("block");
    const contract = tie("contract");
    const spread = fc.record({ ...kind("spread"), value: expr });
    const isName = (key: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(key);
    const entry = fc
        .tuple(fc.oneof(anyWord, text), fc.boolean(), expr)
        .map(([key, quoted, value]): tree.ObjectEntry => ({ kind: "entry", range, key: name(key), quoted: quoted || !isName(key), value }));
    const branch = fc.record({ test: expr, body: block });
    const branches = { branches: fc.array(branch, { minLength: 1, maxLength: 2 }), otherwise: maybe(block) };
    const attempt = { body: block, name: maybe(plainName), handler: block };
    const iteration = { item: plainName, list: expr, max: count, body: block };
    const option: fc.Arbitrary<tree.GenerateOption> = fc.oneof(
        fc.tuple(fc.constantFrom("input", "attempts", "tools", "a", "for"), expr).map(([key, value]) => ({ range, key: name(key), value })),
        budget
            .filter((one) => !one.text.includes("keep"))
            .map((one) => ({
                range,
                key: name("max_output"),
                value: { kind: "number", range, value: one.amount, text: one.text } as const,
                budget: { ...one, unit: "tokens" } as const,
            })),
        fc.tuple(fc.nat(99), fc.constantFrom(["ms", 1], ["s", 1000], ["min", 60_000], ["h", 3_600_000])).map(([amount, [unit, factor]]) => {
            const milliseconds = amount * (factor as number);
            const written = `${amount}${unit}`;
            return {
                range,
                key: name("timeout"),
                value: { kind: "number", range, value: milliseconds, text: written } as const,
                duration: { range, text: written, milliseconds },
            };
        }),
    );
    /** Options of a yield: one that is a time is written with its unit. */
    const handed: fc.Arbitrary<tree.GenerateOption> = fc.oneof(
        fc.tuple(fc.constantFrom("turns", "skills", "model", "a"), expr).map(([key, value]) => ({ range, key: name(key), value })),
        fc
            .tuple(fc.nat(99), fc.constantFrom(["ms", 1], ["s", 1000], ["min", 60_000]), fc.constantFrom("time", "silence"))
            .map(([amount, [unit, factor], key]) => {
                const milliseconds = amount * (factor as number);
                const written = `${amount}${unit}`;
                return {
                    range,
                    key: name(key),
                    value: { kind: "number", range, value: milliseconds, text: written } as const,
                    duration: { range, text: written, milliseconds },
                };
            }),
    );
    const leaf: fc.Arbitrary<tree.Expr> = fc.oneof(
        stringLit,
        numberLit,
        fc.record({ ...kind("bool"), value: fc.boolean() }),
        fc.record(kind("none")),
        fc.record({ ...kind("ident"), name: plain }),
    );
    const field = fc
        .record({
            range: fc.constant(range),
            name: fc.oneof(anyWord, text).map(name),
            optional: fc.boolean(),
            type: maybe(contract),
            default: maybe(tie("literal")),
            description: maybe(stringLit),
        })
        .filter((one) => isName(one.name.text) || one.type !== undefined);
    return {
        expr: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            leaf,
            fc.record({ ...kind("list"), items: list(fc.oneof(expr, spread)) }),
            fc.record({ ...kind("object"), entries: list(fc.oneof(entry, spread)) }),
            fc.record({ ...kind("member"), object: expr.map((e) => wrap(e, POSTFIX_PRECEDENCE)), name: wordName, safe: fc.boolean() }),
            fc.record({ ...kind("index"), object: expr.map((e) => wrap(e, POSTFIX_PRECEDENCE)), index: expr }),
            fc.record({
                ...kind("call"),
                // `x.only(none)` is the narrowing to a method of that name.
                callee: expr.map((e) => wrap(e, POSTFIX_PRECEDENCE)).filter((e) => e.kind !== "member" || e.name.text !== "only"),
                args: list(fc.record({ range: fc.constant(range), name: maybe(wordName), value: expr })),
            }),
            fc.record({
                ...kind("call"),
                callee: fc.record({
                    ...kind("member"),
                    object: expr.map((e) => wrap(e, POSTFIX_PRECEDENCE)),
                    name: fc.constant(name("yield")),
                    safe: fc.constant(false),
                }),
                args: list(fc.record({ range: fc.constant(range), name: wordName, value: expr })),
                options: maybe(fc.array(handed, { minLength: 1, maxLength: 3 })),
                contract: maybe(contract),
            }),
            fc.record({ ...kind("unary"), op: fc.constantFrom("not", "-"), value: expr.map((e) => wrap(e, UNARY_PRECEDENCE)) }),
            fc.tuple(fc.constantFrom(...(Object.keys(PRECEDENCE) as tree.BinaryOp[])), expr, expr).map(
                ([op, left, right]): tree.Binary => ({
                    kind: "binary",
                    range,
                    op,
                    left: wrap(left, PRECEDENCE[op]),
                    right: wrap(right, PRECEDENCE[op] + 1),
                }),
            ),
            expr.map(paren),
            fc.record({ ...kind("lambda"), params: list(plainName), body: expr }),
            fc.record({ ...kind("if.expr"), ...branches }),
            fc.record({ ...kind("try.expr"), ...attempt }),
            fc.record({
                ...kind("narrow"),
                object: expr.map((e) => wrap(e, POSTFIX_PRECEDENCE)),
                // With names of values alone it is a call of a method of that name: these are the names of none.
                methods: fc.array(fc.record({ method: methodName.map(({ text }) => name(`${text}_own`)), bounds: list(bound, 2) }), {
                    minLength: 1,
                    maxLength: 3,
                }),
            }),
            fc
                .record({
                    ...kind("endorse"),
                    value: expr,
                    readers: maybe(fc.array(quoted, { minLength: 1, maxLength: 2 })),
                    because: expr,
                })
                .map((e): tree.Expr => ({ ...e, value: spoken(e.value) }) as tree.Expr),
            fc.record({ ...kind("generate"), options: list(option), contract: maybe(contract) }),
            fc.record({ ...kind("parallel"), ...iteration, stop: maybe(iteration.max) }),
        ) as fc.Arbitrary<tree.Expr>,
        block: fc.record({ range: fc.constant(range), statements: list(tie("stmt")) }),
        stmt: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            expr.map((value): tree.Stmt => ({ kind: "expr", range, value: atStart(value) })),
            config(expr),
            fc.record({ ...kind("context"), max: budget }),
            use(expr),
            useOne(expr),
            fc.record({ ...kind("return"), value: expr }),
            fc.record({ ...kind("raise"), value: expr }),
            fc.record(kind("break")),
            fc.record(kind("continue")),
            fc.record(kind("debugger")),
            fc
                .tuple(expr, fc.constantFrom("=", "+=", "-="), expr)
                .map(([target, op, value]): tree.Stmt => ({ kind: "assign", range, target: settable(target), op, value }) as tree.Stmt),
            fc.record({ ...kind("repeat"), times: count, body: block }),
            fc.record({ ...kind("for"), ...iteration }),
            fc.record({ ...kind("loop"), until: expr, max: count, body: block }),
            fc.record({ ...kind("if"), ...branches }),
            fc.record({ ...kind("try"), ...attempt }),
            fc
                .record({ ...kind("delegate"), all: fc.boolean(), refs, to: plainName, onward: fc.boolean(), body: block })
                .map((s): tree.Stmt => ({ ...s, refs: s.all ? [] : s.refs }) as tree.Stmt),
            fc.record({ ...kind("spend"), amounts, body: block }),
            fc.record({ name: plainName, params: list(plainName), result: maybe(contract), body: block, keep: fc.boolean() }).map(
                ({ name: of, params, result, body, keep }): tree.Stmt => ({
                    kind: "define",
                    range,
                    keep,
                    func: {
                        kind: "func",
                        range,
                        main: false,
                        name: of,
                        params: params.map((param) => ({ range, name: param })),
                        ...(result === undefined ? {} : { result }),
                        body,
                    },
                }),
            ),
        ) as fc.Arbitrary<tree.Stmt>,
        contract: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            fc.record({
                ...kind("c.name"),
                name: fc.constantFrom("string", "number", "boolean", "json", "none", "list", "Verdict").map(name),
            }),
            fc.record({
                ...kind("c.literal"),
                value: fc.oneof(
                    text,
                    fc.integer({ min: -9, max: 9 }).map((n) => n + 0.5),
                    fc.integer({ min: -9, max: -1 }),
                    fc.boolean(),
                ),
            }),
            fc.record({ ...kind("c.list"), item: contract }),
            fc.record({ ...kind("c.object"), fields: list(field) }),
            fc.record({ ...kind("c.union"), members: fc.array(contract, { minLength: 2, maxLength: 3 }) }),
            fc.record({ ...kind("c.optional"), of: contract }),
        ) as fc.Arbitrary<tree.ContractNode>,
        literal: fc.oneof(
            { depthSize: "small", withCrossShrink: true },
            leaf.filter((one) => one.kind !== "ident"),
            numberLit.map((value): tree.Expr => ({ kind: "unary", range, op: "-", value })),
            fc.record({ ...kind("list"), items: list(tie("literal")) }),
            fc.record({
                ...kind("object"),
                entries: list(fc.record({ ...kind("entry"), key: wordName, quoted: fc.boolean(), value: tie("literal") })),
            }),
        ) as fc.Arbitrary<tree.Expr>,
    };
});

/** What can be assigned to and does not begin another statement. */
function settable(target: tree.Expr): tree.Expr {
    const bare = atStart(target);
    return bare.kind === "member" || bare.kind === "index" || bare.kind === "paren" ? bare : { kind: "ident", range, name: "a" };
}

/** What can stand right behind the word `endorse`. */
function spoken(value: tree.Expr): tree.Expr {
    const first = leftmost(value);
    return ["string", "number", "list", "object", "ident", "bool", "none"].includes(first.kind) ? value : paren(value);
}

function config(expr: fc.Arbitrary<tree.Expr>): fc.Arbitrary<tree.Config> {
    return fc
        .tuple(fc.constantFrom("model", "role", "description"), expr)
        .map(
            ([key, value]): tree.Config =>
                ({ kind: "config", range, key, value: key === "model" ? wrap(value, POSTFIX_PRECEDENCE) : value }) as tree.Config,
        );
}

function use(expr: fc.Arbitrary<tree.Expr>): fc.Arbitrary<tree.Use> {
    const spoken = expr.map((value) => (leftmost(value).kind === "unary" ? paren(value) : value));
    return fc.record({
        ...kind("use"),
        image: fc.constant(false),
        value: spoken,
        max: maybe(budget),
        priority: maybe(count),
        label: maybe(label),
    });
}

function useOne(expr: fc.Arbitrary<tree.Expr>): fc.Arbitrary<tree.UseOneOf> {
    const candidate = fc
        .record({ range: fc.constant(range), name: wordName, value: maybe(expr), max: maybe(budget), selected: fc.boolean() })
        .map((one) => (one.value === undefined ? { ...one, max: undefined } : one));
    return fc.record({
        ...kind("use.one"),
        candidates: fc.array(candidate, { minLength: 1, maxLength: 3 }),
        priority: maybe(count),
        label,
    });
}

const func: fc.Arbitrary<tree.Func> = fc
    .record({
        ...kind("func"),
        main: fc.boolean(),
        name: maybe(plainName),
        params: list(
            fc.record({ range: fc.constant(range), name: plainName, contract: maybe(ties.contract), default: maybe(ties.literal) }),
        ),
        result: maybe(ties.contract),
        body: ties.block,
    })
    .map((one) => ({ ...one, name: one.main ? one.name : (one.name ?? name("f")) }));

const agent: fc.Arbitrary<tree.Agent> = fc
    .record({
        ...kind("agent"),
        main: fc.boolean(),
        name: maybe(plainName),
        config: list(fc.oneof(config(ties.expr), use(ties.expr), useOne(ties.expr), fc.record({ ...kind("context"), max: budget }))),
        funcs: list(func, 2),
        remit: maybe(remitUse),
    })
    .map((one) => ({ ...one, name: one.main ? one.name : (one.name ?? name("A")) }));

/** No braces are written for none. */
function ofAgent(clauses: readonly { readonly kind: string }[] = []): readonly { readonly kind: string }[] | undefined {
    const left = clauses.filter((one) => one.kind === "clause.choice");
    return left.length === 0 ? undefined : left;
}

const imported: fc.Arbitrary<tree.Import> = fc
    .record({
        ...kind("import"),
        what: fc.constantFrom("tool", "llm", "file", "agent", "memory", "skill"),
        name: plainName,
        uri: stringLit,
        clauses: maybe(list(clause)),
        remit: maybe(remitUse),
        unconfined: fc.boolean(),
    })
    .map(
        (one) =>
            ({
                ...one,
                uri: one.what === "agent" ? { ...one.uri, value: "./a.remit" } : one.uri,
                clauses: one.what === "agent" ? ofAgent(one.clauses) : one.what === "skill" ? undefined : one.clauses,
                remit: one.what === "agent" ? one.remit : undefined,
                unconfined: one.what === "agent" && one.unconfined ? true : undefined,
            }) as tree.Import,
    );

export const expression: fc.Arbitrary<tree.Expr> = ties.expr;

/** Files whose ranges are all empty: what the printer sees of a tree that no text stands behind. */
export const file: fc.Arbitrary<tree.File> = list(
    fc.oneof(
        imported,
        func,
        agent,
        fc.record({ ...kind("shape"), name: plainName, contract: ties.contract }),
        fc.record({ ...kind("remit"), name: plainName, body: remitBody }),
        fc.record(kind("flow")),
        backendBlocks({ literal: ties.literal, string: stringLit, word: anyWord, plain }),
    ) as fc.Arbitrary<tree.Item>,
    3,
).map((items) => ({ source: { file: "<random>", text: "", lineStarts: [0] }, items, comments: [], diagnostics: [] }));
