/**
 * V2, V3: labels against a slow reference that boxes every value and keeps a set of origins in each box.
 */
import type { ExprForm, Json, StmtForm } from "@remit/language";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DerivedLabels } from "../../src/value/derive.ts";
import { Labels } from "../../src/value/label.ts";
import { bin, call, func, lit, list, member, name, object, program, runAll, set, stmt } from "../run/forms.ts";

// ---- reference -------------------------------------------------------------------------------------------------------

interface Box {
    readonly l: Set<string>;
    readonly raw: null | boolean | number | string | Box[] | Map<string, Box>;
}

class Wrong {}

const union = (...sets: Iterable<string>[]): Set<string> => new Set(sets.flatMap((s) => [...s]));
const box = (raw: Box["raw"], ...from: Box[]): Box => ({ raw, l: union(...from.map((b) => b.l)) });
const joined = (b: Box, l: Set<string>): Box => ({ raw: b.raw, l: union(b.l, l) });

function ofJson(json: Json): Box {
    if (Array.isArray(json)) return box(json.map(ofJson));
    if (json !== null && typeof json === "object") return box(new Map(Object.entries(json).map(([k, v]) => [k, ofJson(v)])));
    return box(json);
}

function inside(b: Box, seen = new Set<unknown>()): Set<string> {
    const all = union(b.l);
    if (b.raw === null || typeof b.raw !== "object" || seen.has(b.raw)) return all;
    seen.add(b.raw);
    const parts = Array.isArray(b.raw) ? b.raw : [...b.raw.values()];
    return union(all, ...parts.map((p) => inside(p, seen)));
}

function json(b: Box): Json {
    if (Array.isArray(b.raw)) return b.raw.map(json);
    if (b.raw instanceof Map) return Object.fromEntries([...b.raw].map(([k, v]) => [k, json(v)]));
    return b.raw;
}

const truthy = (b: Box): boolean => (Array.isArray(b.raw) ? b.raw.length > 0 : b.raw instanceof Map || Boolean(b.raw));

const sorted = (v: Json): Json =>
    Array.isArray(v)
        ? v.map(sorted)
        : v !== null && typeof v === "object"
          ? Object.fromEntries(
                Object.keys(v)
                    .sort()
                    .map((k) => [k, sorted(v[k] as Json)]),
            )
          : v;

function evaluate(e: ExprForm, env: Map<string, Box>): Box {
    const at = (x: ExprForm): Box => evaluate(x, env);
    switch (e.kind) {
        case "literal":
            return box(e.value);
        case "name":
            return env.get(e.name) as Box;
        case "list": {
            const items: Box[] = [];
            const spread: Box[] = [];
            for (const i of e.items) {
                if (i.kind !== "spread") items.push(at(i));
                else {
                    const from = at(i.value);
                    if (!Array.isArray(from.raw)) throw new Wrong();
                    items.push(...from.raw);
                    spread.push(from);
                }
            }
            return box(items, ...spread);
        }
        case "object": {
            const made = new Map<string, Box>();
            const spread: Box[] = [];
            for (const i of e.entries) {
                if (i.kind === "entry") made.set(i.key, at(i.value));
                else {
                    const from = at(i.value);
                    if (!(from.raw instanceof Map)) throw new Wrong();
                    for (const [k, v] of from.raw) made.set(k, v);
                    spread.push(from);
                }
            }
            return box(made, ...spread);
        }
        case "member": {
            const o = at(e.object);
            if (o.raw instanceof Map) {
                const v = o.raw.get(e.name);
                if (v !== undefined) return joined(v, o.l);
                if (e.safe === true) return box(null, o);
                throw new Wrong();
            }
            if (e.name === "length" && (Array.isArray(o.raw) || typeof o.raw === "string")) return box(o.raw.length, o);
            if (e.safe === true && o.raw === null) return box(null, o);
            throw new Wrong();
        }
        case "index": {
            const o = at(e.object);
            const i = at(e.index);
            if (Array.isArray(o.raw) && typeof i.raw === "number") {
                const item = o.raw[i.raw];
                if (item !== undefined) return joined(item, union(o.l, i.l));
            }
            if (o.raw instanceof Map && typeof i.raw === "string") {
                const v = o.raw.get(i.raw);
                if (v !== undefined) return joined(v, union(o.l, i.l));
            }
            throw new Wrong();
        }
        case "unary": {
            const v = at(e.value);
            if (e.op === "not") return box(!truthy(v), v);
            if (typeof v.raw !== "number") throw new Wrong();
            return box(-v.raw, v);
        }
        case "if.expr": {
            const branch = e.branches[0] as (typeof e.branches)[number];
            const body = truthy(at(branch.test)) ? branch.body : (e.otherwise ?? []);
            return at((body[0] as StmtForm & { kind: "expr" }).value);
        }
        case "binary": {
            const a = at(e.left);
            if (e.op === "??") return a.raw === null ? joined(at(e.right), a.l) : a;
            if (e.op === "and" || e.op === "or") {
                if (truthy(a) === (e.op === "or")) return box(e.op === "or", a);
                const b = at(e.right);
                return box(truthy(b), a, b);
            }
            const b = at(e.right);
            if (e.op === "==" || e.op === "!=") {
                const same = JSON.stringify(sorted(json(a))) === JSON.stringify(sorted(json(b)));
                return { raw: same === (e.op === "=="), l: union(inside(a), inside(b)) };
            }
            const [x, y] = [a.raw, b.raw];
            if (e.op === "+" && (typeof x === "string" || typeof y === "string")) {
                const shown = (r: Box["raw"]): string => (r !== null && typeof r !== "object" ? String(r) : "");
                return box(shown(x) + shown(y), a, b);
            }
            if (typeof x !== "number" || typeof y !== "number") throw new Wrong();
            if ((e.op === "/" || e.op === "%") && y === 0) throw new Wrong();
            const r = { "+": x + y, "-": x - y, "*": x * y, "/": x / y, "%": x % y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y }[
                e.op
            ];
            return box(r, a, b);
        }
        default:
            throw new Error(`the reference knows no ${e.kind}`);
    }
}

// ---- random expressions ----------------------------------------------------------------------------------------------

const VALUES: { [name: string]: Json } = { a: 3, b: "text", c: [1, [2, 3], { k: "v" }], d: { k: 1, m: { n: [5] } }, e: null, z: true };
const NAMES = [...Object.keys(VALUES), "mixed", "shared"];

const expression: fc.Arbitrary<ExprForm> = fc.letrec<{ e: ExprForm }>((tie) => ({
    e: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constantFrom(...NAMES).map(name),
        fc.constantFrom(0, 1, 2, "k", "", null, true).map(lit),
        fc
            .tuple(fc.constantFrom("+", "-", "*", "/", "%", "<", ">=", "==", "!=", "and", "or", "??"), tie("e"), tie("e"))
            .map(([op, l, r]) => bin(op as "+", l, r)),
        fc.tuple(tie("e"), tie("e")).map(([x, y]) => list(x, y)),
        fc.tuple(tie("e"), tie("e")).map(([x, y]): ExprForm => ({ kind: "list", items: [x, { kind: "spread", value: y }] })),
        fc.tuple(tie("e"), tie("e")).map(([k, m]) => object({ k, m })),
        fc.tuple(tie("e"), tie("e")).map(
            ([m, v]): ExprForm => ({
                kind: "object",
                entries: [
                    { kind: "entry", key: "m", value: m },
                    { kind: "spread", value: v },
                ],
            }),
        ),
        fc.tuple(tie("e"), fc.constantFrom("k", "m", "n", "length")).map(([o, n]) => member(o, n)),
        fc.tuple(tie("e"), fc.constantFrom("k", "m")).map(([o, n]): ExprForm => ({ kind: "member", object: o, name: n, safe: true })),
        fc.tuple(tie("e"), tie("e")).map(([o, i]): ExprForm => ({ kind: "index", object: o, index: i })),
        fc.tuple(tie("e"), fc.constantFrom("not", "-")).map(([v, op]): ExprForm => ({ kind: "unary", op: op as "not", value: v })),
        fc
            .tuple(tie("e"), tie("e"), tie("e"))
            .map(([t, y, n]): ExprForm => ({ kind: "if.expr", branches: [{ test: t, body: [stmt(y)] }], otherwise: [stmt(n)] })),
    ),
})).e;

test("F31: what an operator gives has the labels of what it read and no others", () => {
    fc.assert(
        fc.property(fc.array(expression, { minLength: 1, maxLength: 6 }), fc.boolean(), (expressions, pure) => {
            // Each name comes from an origin of its own; `mixed` holds several, `shared` is `c` reached another way and changed since.
            const env = new Map(Object.entries(VALUES).map(([n, v]) => [n, { raw: ofJson(v).raw, l: new Set([`o:${n}`]) }]));
            env.set("mixed", box([env.get("a") as Box, box("own"), env.get("d") as Box]));
            const c = env.get("c") as Box;
            env.set("shared", c);
            (c.raw as Box[]).push(env.get("b") as Box);
            const expected = expressions.map((e) => {
                try {
                    const b = evaluate(e, env);
                    return { json: json(b), labels: [...inside(b)].sort() };
                } catch (error) {
                    if (!(error instanceof Wrong)) throw error;
                    return { json: "wrong", labels: [] };
                }
            });

            const guarded = (e: ExprForm): ExprForm => ({ kind: "try.expr", body: [stmt(e)], name: "f", handler: [stmt(lit("wrong"))] });
            const main: StmtForm[] = Object.keys(VALUES).map((n) => set(n, call(member(name("T"), "get"), lit(n))));
            main.push(
                set("mixed", list(name("a"), lit("own"), name("d"))),
                set("shared", name("c")),
                stmt(call(member(name("shared"), "add"), name("b"))),
            );
            const compute = func("compute", NAMES, [
                ...expressions.map((e, i) => set(`r${i}`, guarded(e))),
                stmt(list(...expressions.map((_, i) => name(`r${i}`)))),
            ]);
            if (pure) main.push(set("all", call("compute", ...NAMES.map(name))));
            expressions.forEach((e, i) => {
                main.push(stmt(call(member(name("T"), "put"), pure ? { kind: "index", object: name("all"), index: lit(i) } : guarded(e))));
            });
            const seen: { json: Json; labels: readonly string[] }[] = [];
            const ran = runAll(program([compute, func("main", [], main)]), {
                answer: (effect) => {
                    const { method, args } = effect.request as { method: string; args: Json[] };
                    if (method === "put") {
                        seen.push({ json: args[0] as Json, labels: effect.labels });
                        return { ok: true, value: null, origins: [] };
                    }
                    return { ok: true, value: VALUES[args[0] as string] as Json, origins: [`o:${args[0] as string}`] };
                },
            });
            expect(ran.result.ok).toBe(true);
            expect(JSON.parse(JSON.stringify(seen))).toEqual(JSON.parse(JSON.stringify(expected)));
        }),
        { numRuns: 1500 },
    );
});

test("[a, b][0] lacks b's labels, and a list holds both", () => {
    const get = (n: string): StmtForm => set(n, call(member(name("T"), "get"), lit(n)));
    const put = (e: ExprForm): StmtForm => stmt(call(member(name("T"), "put"), e));
    const ran = runAll(
        program([
            func(
                "main",
                [],
                [
                    get("a"),
                    get("b"),
                    set("xs", list(name("a"), name("b"))),
                    put({ kind: "index", object: name("xs"), index: lit(0) }),
                    put(name("xs")),
                    put(member(name("xs"), "length")),
                ],
            ),
        ]),
        { answer: (e) => ({ ok: true, value: 1, origins: [`o:${(e.request as { args: string[] }).args[0]}`] }) },
    );
    expect(ran.effects.slice(2).map((e) => e.labels)).toEqual([["o:a"], ["o:a", "o:b"], []]);
});

test("LA8: whether any set says who may read it", () => {
    for (const labels of [new Labels(), new DerivedLabels()]) {
        const page = labels.of(["tool:Page"]);
        const user = labels.of(["user", "onlyme", "x only:"]);
        labels.union(page, user);
        expect(labels.isRestricted).toBe(false);
        labels.of(["tool:Page", 'only:["alice"]']);
        expect(labels.isRestricted).toBe(true);
    }
    const derived = new DerivedLabels();
    derived.derive([derived.of(["user"])], null, "main", "value", ['only:["bob"]', "user"]);
    expect(derived.isRestricted).toBe(true);
});
