/**
 * Attacks by code that runs under a remit: at the host, at what it was not given, at what others were given, at what it had and lost, and at the
 * gate itself. The checker, which would refuse some of it before, is left out: programs come as forms from elsewhere, too.
 */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, Machine, type ModelTurn, type Outcome } from "../../src/index.ts";
import { OPTIONS } from "../run/forms.ts";
import { did, formOf, once, outcome, run, said, trying } from "./running.ts";

const IMPORTS = `
import tool Repo from "file://workspace"
import tool Mail from "mcp://mail"
import memory Notes from "file://notes.jsonl"
import llm Big from "openai://big"
import llm Own from "openai://own"
`;

/** An agent that may read, list and call Helper; everything else is what it is after. */
const evil = (body: string, more = "", main = "Fixer.go()", remit = "may Repo.read, Repo.list, Helper"): string => `${IMPORTS}
agent Fixer {
    remit { ${remit} }
    model Own
    role "x"
    description "x"
    func go() { ${body} }
    ${more}
}
agent Helper {
    remit { may Mail.send }
    func echo(x) { x }
    func send(m) { m.send({ to: "a" }) }
    func call(f) { f() }
    func keep(box, r) { box.add(r)  1 }
}
agent Other { func go() { Mail.send({ to: "other" }) } }
func plain() { Mail.send({ to: "plain" }) }
func deep() { plain() }
main agent Main { main func(input) { ${main} } }
`;

describe("what is not given cannot be reached by any route", () => {
    test.each([
        ["by name", 'Mail.send({ to: "x" })'],
        ["a variable", 'm = Mail  m.send({ to: "x" })'],
        ["a list", '[Mail][0].send({ to: "x" })'],
        ["an object", '{ m: Mail }.m.send({ to: "x" })'],
        ["an index", 'o = { m: Mail }  o["m"].send({ to: "x" })'],
        ["a nested container", 'o = { l: [{ m: [Mail] }] }  o.l[0].m[0].send({ to: "x" })'],
        ["a spread list", 'x = [...[Mail]]  x[0].send({ to: "x" })'],
        ["a spread object", 'x = { ...{ m: Mail } }  x.m.send({ to: "x" })'],
        ["a choice", 'x = if true { Mail } else { Repo }  x.send({ to: "x" })'],
        ["a default", 'x = none ?? Mail  x.send({ to: "x" })'],
        ["an index assignment", 'x = {}  x["m"] = Mail  x.m.send({ to: "x" })'],
        ["built-ins", 'x = [Mail].map((m) => m).filter((m) => true).concat([Repo]).first()  x.send({ to: "x" })'],
        ["objects' built-ins", 'x = { m: Mail }.merge({ a: 1 }).get("m")  x.send({ to: "x" })'],
        ["a copy", 'x = { l: [Mail] }.entries()[0].value  x[0].send({ to: "x" })'],
        ["a plain function", "plain()"],
        ["a plain function behind another", "deep()"],
        ["a function value", "Helper.call(plain)"],
        ["a function value behind another", "Helper.call(deep)"],
        ["an agent without a remit", "Other.go()"],
        ["an agent as a value", "x = Other  x.go()"],
        ["an agent in a list", "[Other][0].go()"],
        ["somebody else's rights", "Helper.send(Mail)"],
        ["somebody else's rights, in a list", "x = [Mail]  Helper.send(x[0])"],
        ["a value that went through somebody else", 'x = Helper.echo(Mail)  x.send({ to: "x" })'],
        ["narrowing", 'Mail.only(send).send({ to: "x" })'],
        ["narrowing, then handing on", "Helper.send(Mail.only(send))"],
        ["another method of what is given", 'Repo.write({ path: "a", content: "b" })'],
        ["another method of a value", 'r = Repo  r.write({ path: "a", content: "b" })'],
        ["another method, handed on and back", 'r = Helper.echo(Repo)  r.write({ path: "a", content: "b" })'],
        ["the generic call of a server", 'Mail.call({ tool: "send", args: { to: "x" } })'],
        ["a memory", 'Notes.add({ a: "x" })'],
        ["a memory as a value", "n = Notes  n.query({})"],
        ["another model", 'generate({ input: "x", model: Big })'],
        ["a tool for a model", 'generate({ input: "x", tools: [Mail] })'],
        ["a tool for a model, one method", 'generate({ input: "x", tools: [Repo.write] })'],
        ["delegating it to oneself", 'delegate Mail to Fixer { Mail.send({ to: "x" }) }'],
        ["delegating everything to oneself", 'delegate all to Fixer { Mail.send({ to: "x" }) }'],
        ["delegating it to somebody who would", "delegate Mail.send to Helper { 1 }  Helper.send(Mail)"],
        ["catching", 'x = try { Mail.send({ to: "x" }) } catch e { 1 }  Mail.send({ to: x })'],
        ["parallel", 'x = parallel for i in [1, 2] max 2 { Mail.send({ to: "x" }) }  x'],
        ["after what failed", 'x = try { json.parse("{") } catch e { Mail }  x.send({ to: "x" })'],
        ["sorting by what does it", "x = [2, 1].sort_by((n) => if n > 0 { n } else { 0 })  Mail.send({ to: x })"],
        ["names that prototypes have", "Repo.constructor({})"],
        ["names that prototypes have, as a value", "r = Repo  r.toString({})"],
        ["a spend region", 'spend 5 calls { Mail.send({ to: "x" }) }'],
        ["a loop", 'for i in [1] max 1 { Mail.send({ to: "x" }) }'],
    ])("%s", (_name, body) => {
        let offered = 0;
        const models = (e: Effect): Outcome | undefined => {
            if (e.kind === "tool" && (e.request as { op?: string }).op === "describe")
                return said({ methods: ["send", "write"].map((name) => ({ name, input: { type: "object" }, readOnly: true })) }, []);
            if (e.kind !== "model") return undefined;
            // A model that does all it can: it calls whatever it is offered, once.
            const { messages, tools } = e.request as unknown as ModelTurn;
            const calls = messages.some((one) => one.role === "tool")
                ? []
                : (tools ?? []).map(({ name }, i) => ({ id: `c${i}`, name, args: { to: "x", path: "a", content: "b" } }));
            offered += calls.length;
            return said({ text: calls.length === 0 ? "done" : "", calls, finish: calls.length === 0 ? "stop" : "tool", model: "own" }, [
                "model:Own",
            ]);
        };
        const ran = run(evil(body), { answer: models });
        expect(did(ran).filter((one) => !["model", "tool"].includes(one))).toEqual([]);
        // A tool of which nothing was given is not even described; of one of which something was, each call is judged.
        const forModel = /tools: \[Repo/.test(body);
        expect(offered > 0).toBe(forModel);
        expect(ran.result.ok).toBe(forModel);
        if (forModel) expect(ran.events.some((e) => e.kind === "policy.denied")).toBe(true);
        if (!ran.result.ok) expect(ran.result.failure.kind).toMatch(/^(?:violation\.|value$)/);
    });
});

describe("there is no host behind any value", () => {
    const VALUES = ["none", "true", "1", '"s"', "[1]", "{ a: 1 }", "Repo", "Helper", "Own", "Notes", "plain", "input", 'json.parse("{}")'];
    const NAMES = [
        "constructor",
        "__proto__",
        "prototype",
        "toString",
        "valueOf",
        "hasOwnProperty",
        "__defineGetter__",
        "then",
        "call",
        "apply",
    ];
    const HOSTS = [
        "globalThis",
        "process",
        "require",
        "Function",
        "eval",
        "Object",
        "Math",
        "fetch",
        "window",
        "self",
        "module",
        "import_meta",
        "arguments",
        "undefined",
    ];
    test.each(VALUES)("members of %s", (value) => {
        for (const name of NAMES)
            for (const expr of [
                `x.${name}`,
                `x?.${name}`,
                `x["${name}"]`,
                `x.${name}.${name}`,
                `x.${name}()`,
                `x.${name}("return process")`,
            ]) {
                const ran = once(formOf(evil(`x = ${value}  ${trying(expr)}`, "", "try { Fixer.go() } catch e { e.kind }")));
                // Nothing is there, or it is refused.
                expect([expr, ran.result.ok]).toEqual([expr, true]);
                expect([expr, [null, "value", "violation.remit", "violation.capability"].includes(outcome(ran) as string)]).toEqual([
                    expr,
                    true,
                ]);
                expect(did(ran)).toEqual([]);
            }
    });
    test.each(HOSTS)("%s is no name", (name) => {
        for (const expr of [name, `${name}.x`, `${name}("1")`]) {
            const ran = once(formOf(evil(expr)));
            expect([expr, ran.result]).toMatchObject([expr, { ok: false, failure: { kind: "value" } }]);
        }
    });
    test("prototype names in data are data", () => {
        const body = `o = json.parse("{\\"__proto__\\": {\\"a\\": 1}, \\"constructor\\": {\\"prototype\\": {\\"b\\": 2}}}")
            x = {}  x["__proto__"] = { polluted: true }  y = { ...o, ...x }
            [o.keys(), {}?.polluted, {}?.a, y.keys(), y["__proto__"].polluted]`;
        const ran = run(evil(body));
        expect(outcome(ran)).toEqual([["__proto__", "constructor"], null, null, ["__proto__", "constructor"], true]);
        expect(({} as { polluted?: boolean }).polluted).toBe(undefined);
    });
    test("prototype names in the arguments of a call are no names of policies", () => {
        const text = (expr: string): string =>
            `import tool Send from "mcp://send" { arg constructor: trusted, send: ask }\nimport tool Page from "mcp://page"\nmain agent M { main func() { ${trying(expr)} } }`;
        expect(outcome(run(text("Send.go({ a: Page.x({}) })")))).toEqual({ did: "Send.go" });
        expect(outcome(run(text("Send.go({ constructor: Page.x({}) })")))).toBe("violation.flow");
        expect(outcome(run(text('x = {}  x["__proto__"] = { constructor: Page.x({}) }  Send.go(x)')))).toEqual({ did: "Send.go" });
        expect(outcome(run(text("Send.constructor({})")))).toEqual({ did: "Send.constructor" });
    });
});

describe("F25: what is lost stays lost", () => {
    const helper = `func stash(box) { box.add(Repo)  1 }
        func use(box) { box[0].write({ path: "p", content: "c" }) }
        func give() { Repo }
        func useIt(r) { r.write({ path: "p", content: "c" }) }
        func closure() { wrote }
        func wrote() { Repo.write({ path: "p", content: "c" }) }
        func pass(r) { Helper.keep([], r) }`;
    test.each([
        ["an outer list", "box = []  delegate all to Fixer { Fixer.stash(box) }  Fixer.use(box)", "violation.revoked"],
        ["an outer variable", "x = none  delegate all to Fixer { x = Fixer.give() }  Fixer.useIt(x)", "violation.remit"],
        [
            "a returned value, by the user",
            'x = none  delegate all to Fixer { x = Fixer.give() }  x.write({ path: "p", content: "c" })',
            "violation.remit",
        ],
        [
            "by a failure on the way out",
            'box = []  try { delegate all to Fixer { Fixer.stash(box)  raise "x" } } catch e { 1 }  Fixer.use(box)',
            "violation.revoked",
        ],
        [
            "by a loop's break",
            "box = []  for i in [1] max 1 { delegate all to Fixer { Fixer.stash(box)  break } }  Fixer.use(box)",
            "violation.revoked",
        ],
        [
            "in the next pass",
            "box = []  out = 0  for i in [1, 2] max 2 { if i == 2 { out = Fixer.use(box) }  delegate all to Fixer { Fixer.stash(box) } }  out",
            "violation.revoked",
        ],
        [
            "in the next block",
            "box = []  out = 0  delegate all to Fixer { Fixer.stash(box) }  delegate Repo.read to Fixer { out = Fixer.use(box) }  out",
            "violation.revoked",
        ],
        [
            "out of a parallel iteration",
            "xs = parallel for i in [1] max 1 { x = []  delegate all to Fixer { Fixer.stash(x) }  x }  Fixer.use(xs[0])",
            "violation.revoked",
        ],
        ["an argument, after its call", 'box = []  Helper.keep(box, Repo)  box[0].write({ path: "p", content: "c" })', "violation.remit"],
    ])("%s", (_name, main, kind) => {
        const ran = run(evil("1", helper, trying(main)));
        expect(outcome(ran)).toBe(kind);
        expect(did(ran)).toEqual([]);
        const tokens = ran.events.filter((e) => e.kind === "delegate.granted").map((e) => (e.data as { token: number }).token);
        expect(new Set(tokens).size).toBe(tokens.length);
        expect(ran.events.filter((e) => e.kind === "delegate.lifted").length).toBe(tokens.length);
    });
    test("what was delegated without onward is not handed on as an argument either", () => {
        const other = `func go2() { Second.write(Repo) }`;
        const text = (onward: string): string =>
            `${evil("1", other, `x = 0  delegate Repo.write to Fixer ${onward} { x = ${trying("Fixer.go2()")} }  x`, "may Second")}
agent Second { remit {} func write(r) { r.write({ path: "p", content: "c" }) } }`;
        expect(outcome(run(text("")))).toBe("violation.remit");
        expect(outcome(run(text("onward")))).toEqual({ did: "Repo.write" });
    });
    test("F28: what was narrowed stays narrowed, also for who has more by name", () => {
        const text = (expr: string): string => evil(expr, "", trying("Fixer.go()"), "may Repo");
        expect(outcome(run(text('Repo.only(read).write({ path: "a", content: "b" })')))).toBe("violation.remit");
        expect(outcome(run(text('r = Repo.only(read, write in "src/**")  r.write({ path: "etc/a", content: "b" })')))).toBe(
            "violation.remit",
        );
        expect(outcome(run(text('r = Repo.only(read, write in "src/**")  r.write({ path: "src/a", content: "b" })')))).toEqual({
            did: "Repo.write",
        });
        expect(outcome(run(text('r = Repo.only(read).only(write)  r.read({ path: "a" })')))).toBe("violation.remit");
        expect(outcome(run(text('r = Repo.only(read)  Repo.write({ path: "a", content: "b" })')))).toEqual({ did: "Repo.write" });
    });
});

describe("others' grants and budgets", () => {
    test("a sibling's delegation, while it is open", () => {
        const more = `func write() { Repo.write({ path: "p", content: "c" }) }`;
        const main = `xs = parallel for i in [0, 1, 2] max 3 {
            if i == 0 { x = 0  delegate all to Fixer { x = [Fixer.write(), Fixer.write()] }  return x }
            a = ${trying("Fixer.write()")}
            [a, ${trying("Fixer.write()")}]
        }
        xs`;
        const ok = { did: "Repo.write" };
        for (const pick of [() => 0, (w: readonly Effect[]) => w.length - 1]) {
            const ran = run(evil("1", more, main), { options: { concurrency: 3 }, pick });
            expect(outcome(ran)).toEqual([
                [ok, ok],
                ["violation.remit", "violation.remit"],
                ["violation.remit", "violation.remit"],
            ]);
        }
    });
    test.each([
        ["a loop", 'for i in [1, 2, 3, 4, 5, 6] max 6 { Repo.read({ path: "a" }) }'],
        ["a wider region inside", 'spend 100 calls { for i in [1, 2, 3, 4, 5, 6] max 6 { Repo.read({ path: "a" }) } }'],
        ["many at once", 'xs = parallel for i in [1, 2, 3, 4, 5, 6, 7, 8] max 8 { Repo.read({ path: "a" }) }  xs.length'],
        ["catching it", 'for i in [1, 2, 3, 4, 5, 6] max 6 { try { Repo.read({ path: "a" }) } catch e { 1 } }'],
        ["through somebody else", "for i in [1, 2, 3, 4, 5, 6] max 6 { Reader.go() }"],
        ["through somebody who may more", "for i in [1, 2, 3, 4, 5, 6] max 6 { Rich.go() }"],
    ])("a parent's budget: %s", (_name, body) => {
        const text = `${evil(body, "", "Fixer.go()", "may Repo, Reader, Rich  spend 3 calls")}
agent Reader { func go() { Repo.read({ path: "a" }) } }
agent Rich { remit { may Repo  spend 50 calls } func go() { Repo.read({ path: "a" }) } }`;
        const ran = run(text, { options: { concurrency: 8 } });
        expect(outcome(ran)).toBe("limit.calls");
        expect(did(ran).length).toBeLessThanOrEqual(3);
    });
});

describe("the gate holds whatever it is given", () => {
    const gated = `import tool Send from "mcp://send" { arg to: trusted, arg 1: trusted, arg body: from("user") or ask, go: ask, audience: arg to }\nimport tool Page from "mcp://page" { reads: "alice" }\n`;
    const text = (body: string): string => `${gated}main agent M { main func() { ${body} } }`;
    const shared = "x = Page.get({})  l = [x]  i = 0  loop until i >= 30 max 40 { l = [l, l]  i += 1 }";
    test.each([
        ["as the argument", `${shared}  Send.go({ to: l })`],
        ["beside it", `${shared}  Send.go({ to: "alice", body: l })`],
        ["by place", `${shared}  Send.go(l, l)`],
        ["of an agent", `${shared}  E.go(l)`],
        ["endorsed", `${shared}  y = endorse l as trusted because "x"  Send.go({ to: y })`],
    ])("what is shared 2^30 times · %s", (_name, body) => {
        const ran = once(formOf(`${text(body)}\nagent E { remit { may Send } func go(l) { Send.go({ to: l }) } }`), { yes: "once" });
        expect(outcome(ran)).toMatch(/^(?:limit\.bytes|value|violation\.flow)$/);
        expect(did(ran)).not.toContain("Send.go");
    });
    test.each([
        ["10,000 deep", "l = []  i = 0  loop until i >= 10000 max 20000 { l = [l]  i += 1 }  Send.go({ to: l })"],
        ["10,000 deep, as an object", "l = {}  i = 0  loop until i >= 10000 max 20000 { l = { a: l }  i += 1 }  Send.go({ to: l })"],
        ["a cycle", "l = []  l.add(l)  Send.go({ to: l })"],
        ["a cycle through an object", 'o = { to: "alice" }  o.body = o  Send.go(o)'],
        ["a capability inside", 'Send.go({ to: ["alice", Page] })'],
    ])("%s", (_name, body) => {
        for (const mode of ["frames", "closures"] as const) {
            const ran = once(formOf(text(body)), { yes: "once", ...(mode === "frames" ? { options: { mode } } : {}) });
            expect(outcome(ran)).toMatch(/^(?:value|limit\.depth|limit\.bytes|violation\.capability)$/);
            expect(did(ran)).toEqual([]);
        }
    });
    test("what a person cannot be shown whole is not asked about", () => {
        const long = 's = "0123456789abcdef"  i = 0  loop until i >= 21 max 30 { s = s + s  i += 1 }';
        const ran = once(formOf(text(`${long}  Send.go({ to: "alice", body: s })`)), { yes: "once" });
        expect(did(ran)).toEqual([]);
        expect(outcome(ran)).toMatch(/^(?:value|limit\.bytes)$/);
        const deep = "l = []  i = 0  loop until i >= 200 max 300 { l = [l]  i += 1 }";
        const hidden = once(formOf(text(`${deep}  Send.go({ to: "alice", body: l })`)), { yes: "once" });
        expect(did(hidden)).toEqual([]);
        expect(outcome(hidden)).toBe("value");
    });
    test("patterns that take others exponentially long", () => {
        const stars = `${"*a".repeat(40)}*b`;
        const long = `"${"a".repeat(5000)}c"`;
        const body = `Repo.read({ path: ${long} })`;
        expect(outcome(once(formOf(evil(body, "", trying("Fixer.go()"), `may Repo.read in "${stars}"`))))).toBe("violation.remit");
        const parts = `${"**/a/".repeat(40)}b`;
        const path = `"${"a/".repeat(2000)}c"`;
        expect(outcome(once(formOf(evil(`Repo.read({ path: ${path} })`, "", trying("Fixer.go()"), `may Repo.read in "${parts}"`))))).toBe(
            "violation.remit",
        );
        const match = `x = "${"a".repeat(3000)}".match("^(a+)+$b")  x == none`;
        expect(outcome(once(formOf(evil(match))))).toBe(true);
    });
    test("many words against many texts", () => {
        const among = `import tool Send from "mcp://send" { arg to: among("user") }\nimport tool Page from "mcp://page"\n`;
        const body = `l = Page.get({})  Send.go({ to: l })`;
        const words = Array.from({ length: 100_000 }, (_, i) => `w${i}`);
        const ran = once(formOf(`${among}main agent M { main func(input) { ${trying(body)} } }`), {
            answer: (e) => ((e.request as { tool?: string }).tool === "Page" ? said(words as Json, ["tool:Page"]) : undefined),
            options: { input: Array.from({ length: 2000 }, (_, i) => `text number ${i} `.repeat(20)) },
        });
        expect(outcome(ran)).toBe("violation.flow");
    });
    test("delegations leave nothing behind: after 4,000 the saved state is as large as after 40", () => {
        const sizes = [40, 4_000].map((count) => {
            const main = `i = 0  loop until i >= ${count} max 5000 { delegate Repo.read to Fixer { i += 1 } }  Repo.read({ path: "a" })  i`;
            const machine = Machine.start(new Compiled(formOf(evil("1", "", main))), OPTIONS);
            const { events, effects } = machine.advance();
            expect(events.filter((e) => e.kind === "delegate.lifted").length).toBe(count);
            expect(effects.map((e) => e.path)).toEqual(["main/Repo.read#0"]);
            return JSON.stringify(machine.save({ image: true })).length;
        });
        expect(sizes[1]).toBeLessThan((sizes[0] as number) + 50);
    });
    test("narrowing 10,000 times, the same way and in turns", () => {
        const main = (expr: string): string =>
            `r = Repo  i = 0  loop until i >= 10000 max 20000 { ${expr}  i += 1 }  r.read({ path: "a" })`;
        expect(outcome(once(formOf(evil("1", "", main("r = r.only(read, list)")))))).toEqual({ did: "Repo.read" });
        expect(outcome(once(formOf(evil("1", "", main("r = r.only(read, list)  r = r.only(read, write)")))))).toEqual({ did: "Repo.read" });
    });
    test("delegation to oneself, onward, as deep as calls go", () => {
        const more = `func down(n) { if n == 0 { return Repo.read({ path: "a" }) }  x = 0  delegate all to Fixer onward { x = Fixer.down(n - 1) }  x }`;
        expect(outcome(once(formOf(evil("1", more, "Fixer.down(300)", "may Repo, Fixer"))))).toEqual({ did: "Repo.read" });
        const passing = `func down(n, r) { if n == 0 { return r.read({ path: "a" }) }  Pass.down(n - 1, r) }`;
        const second = `agent Pass { remit { may Fixer } func down(n, r) { Fixer.down(n, r.only(read)) } }`;
        expect(outcome(once(formOf(`${evil("1", passing, "Fixer.down(200, Repo)", "may Pass")}\n${second}`)))).toEqual({
            did: "Repo.read",
        });
    });
});
