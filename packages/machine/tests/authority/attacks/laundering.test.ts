/** Ways to lose an origin that are no implicit flows: every one ends at a clause that still sees it. */
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/index.ts";
import { did, formOf, once, outcome, run, said } from "../running.ts";

const program = (body: string, strict = ""): string => `${strict}
import tool Web from "mcp://web"
import tool Mail from "mcp://mail" { arg to: trusted }
import tool Look from "inspect:"
import memory Notes from "file://notes.jsonl"
func same(x) { x }
func typed(x: number) { x }
func one(x: "a" | "b") { x }
func fielded(x: { a: number, b?: string }) { x }
agent Echo { remit { } func back(x) { x } func fail(x) { raise x } }
main agent M { main func(input) { w = Web.get({})  ${body} } }`;

/** `w` is an object of somebody else's. */
const WEB = { name: "a,b", n: 7, list: ["y", "x", "y"], key: "k", json: '{"z":[1]}', deep: { q: { r: "v" } }, on: true };
const answer = (e: { kind: string; request: unknown }): Outcome | undefined => {
    const r = e.request as { tool?: string; arg?: unknown };
    if (r.tool === "Web") return said(WEB, ["tool:Web"]);
    if (e.kind === "remember") return said({ id: "i1", record: r.arg as never }, ["memory:Notes"]);
    return undefined;
};

describe("origins go along", () => {
    test.each([
        ["the value", "w.name"],
        ["its length", "w.name.length()"],
        ["the number of its keys", "w.keys().length()"],
        ["a key", "w.keys()[0]"],
        ["entries", "w.entries()[0].key"],
        ["whether a key is there", 'w.has("name")'],
        ["that a key is absent", 'w.has("nothing")'],
        ["a missing key with a default", 'w.get("nothing") ?? "d"'],
        ["an index into one's own list", '["a", "b", "c", "d", "e", "f", "g", "h"][w.n]'],
        ["an index into one's own object", '{ k: "mine" }[w.key]'],
        ["one's own object's get", '{ k: "mine" }.get(w.key)'],
        ["a key of one's own making", "o = {}  o[w.key] = 1  o.keys()[0]"],
        ["a key overwritten", "o = { k: 1 }  o[w.key] = 2  o.k"],
        ["that a key was made", 'o = {}  o[w.key] = 1  o.has("k")'],
        ["how many keys were made", "o = {}  o[w.key] = 1  o.keys().length()"],
        ["json.text", "json.text(w)"],
        ["json.parse", "json.parse(w.json).z[0]"],
        ["json.parse, a key", "json.parse(w.json).keys()[0]"],
        ["a failed json.parse", "try { json.parse(w.name) } catch e { e.message }"],
        ["text", "text(w.n)"],
        ["number", "number(text(w.n))"],
        ["a failed number", "try { number(w.name) } catch e { e.message }"],
        ["sum", "[1, w.n].sum()"],
        ["comparison", "w.n == 7"],
        ["negation", "not w.on"],
        ["split", 'w.name.split(",")[1]'],
        ["the number of parts", 'w.name.split(",").length()'],
        ["join", 'w.list.join("")'],
        ["a separator", '["a", "b"].join(w.key)'],
        ["unique", "w.list.unique().length()"],
        ["sorting", "w.list.sort_by((x) => x)[0]"],
        ["first", "w.list.first()"],
        ["group_by", "[1].group_by((x) => w.key).keys()[0]"],
        ["map to a constant, counted", "w.list.map((x) => 1).length()"],
        ["slices", '"abcdefgh".slice(0, w.n)'],
        ["index_of", '"abcakd".index_of(w.key)'],
        ["contains", '"abc".contains(w.key)'],
        ["replace", '"k".replace(w.key, "z")'],
        ["match", 'w.name.match("a")'],
        ["a pattern", '"xkx".match(w.key)'],
        ["rounding", "(w.n / 2).round()"],
        ["the larger of two", "w.n.max(0)"],
        ["merge", "{}.merge(w).name"],
        ["without", '{ k: 1 }.without(w.key).has("k")'],
        ["spread", "{ ...w }.keys().length()"],
        ["a list spread", "[...w.list].length()"],
        ["a function", "same(w.name)"],
        ["a contract", "typed(w.n)"],
        ["a literal contract", 'one(w.list[0].replace("y", "a"))'],
        ["a failed contract", "try { typed(w.name) } catch e { e.message }"],
        ["a failed literal", "try { one(w.key) } catch e { e.message }"],
        ["a failed field", "try { fielded(w) } catch e { e.message }"],
        ["an agent", "Echo.back(w.name)"],
        ["an agent's failure", "try { Echo.fail(w.name) } catch e { e.message }"],
        ["a raised message", 'try { raise "x" + w.name } catch e { e.message }'],
        ["a bad operand", "try { w.name - 1 } catch e { e.message }"],
        ["a bad index", "try { [1][w.n] } catch e { e.message }"],
        ["a missing key", "try { {}[w.key].x } catch e { e.message }"],
        ["a parallel for", "(parallel for x in w.list max 9 { 1 }).length()"],
        ["a parallel failure", "try { parallel for x in w.list max 9 { raise x } } catch e { e.message }"],
        ["a loop variable", 'y = ""  for x in w.list max 9 { y = x }  y'],
        ["a memory's answer", "Notes.add({ t: w.name }).record.t"],
        ["inspect:", 'Look.find({ text: "v" }).found'],
        ["inspect: origins", "Look.frame({ index: 0 }).variables[1].text"],
        ["??", "w?.nothing ?? w.name"],
        ["?.", "w.deep?.q?.r"],
        ["the negative", "-w.n"],
        ["-0 and more", "(0 * w.n)"],
    ])("through %s", (_name, expr) => {
        const at = expr.lastIndexOf("  ");
        const [before, last] = at < 0 ? ["", expr] : [expr.slice(0, at), expr.slice(at + 2)];
        const ran = once(formOf(program(`${before}\nt = ${last}\nMail.send({ to: t })`)), { answer });
        expect(did(ran)).not.toContain("Mail.send");
        expect(outcome(ran)).toBe("violation.flow");
    });

    test("in strict code, where others stand tells nothing of what they depend on: they are through with it", () => {
        const text = program(
            "parallel for x in [1, 2] max 2 { if x == 1 { if w.on { Web.slow({}) } } else { s = Look.stack()  Mail.send({ to: text(s.frames) }) } }",
            "flow strict",
        ).replace("{ arg to: trusted }", '{ arg to: from("tool:Look", "user") }');
        const told = [true, false].map((on) => {
            const ran = run(text, { answer: (e) => answer(e) && said({ ...WEB, on }, ["tool:Web"]) });
            return ran.effects.flatMap(({ request }) => ((request as { tool?: string }).tool === "Mail" ? [request] : []));
        });
        // what it has is asked for, then it is called
        expect(told[0]).toHaveLength(2);
        expect(told[1]).toEqual(told[0]);
    });
});
