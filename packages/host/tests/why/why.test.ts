/** Why a value is what it is: chains written by hand, what stands beside them, and runs that did not end well. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auditEvents } from "@remit/machine";
import type { Json } from "@remit/language";
import { openLedger } from "../../src/run/open.ts";
import { whyOf } from "../../src/run/why.ts";
import { FLOWS } from "./flows.ts";
import { NEAR } from "./near.ts";
import { chainOf, type Flow, ran, sourceOf, toolsOf, type World, world } from "./setup.ts";

let at: World;
beforeEach(() => {
    at = world();
});
afterEach(() => at.close());

describe("F38: flows", () => {
    test("there are forty, and forty near-misses", () => {
        expect(FLOWS.length).toBeGreaterThanOrEqual(40);
        expect(NEAR.length).toBeGreaterThanOrEqual(40);
    });
    test.each(FLOWS)("$name", async (flow) => {
        const result = await ran(at, flow);
        expect(result.ok || result.failure).toBe(true);
        expect(await chainOf(at, result.run, flow.of ?? "main/Send.go#0/to")).toEqual(flow.chain);
    });
});

describe("near-misses", () => {
    test.each(NEAR)("$name", async (flow) => {
        const result = await ran(at, flow);
        // Neither refused nor asked about.
        expect(result.ok || result.failure).toBe(true);
        const events = await Array.fromAsync(at.store.events(result.run));
        expect(events.filter((e) => /^(?:ask\.|policy\.denied)/.test(e.kind))).toEqual([]);
        const uses = events.filter((e) => e.kind === "tool.started" && (e.data as { tool: string }).tool === "Send");
        expect(uses.length).toBeGreaterThan(0);
        const last = uses.at(-1)?.path as string;
        expect(await chainOf(at, result.run, `${last}/to`)).toEqual(flow.chain);
        // Nor flagged.
        const program = await at.store.program((await at.store.run(result.run)).program);
        const found = auditEvents(events, program).filter((one) => one.rule === "taint-to-target" || one.rule.startsWith("flow-"));
        expect(found).toEqual([]);
    });
});

describe("runs of every kind", () => {
    // What the checker cannot see: the value goes through a container.
    const DIRTY = 'p = Page.get({})\nx = [p.to + ""].map((v) => v).first()\nSend.go({ to: x })';
    test("a use that was refused", async () => {
        const result = await ran(at, { body: DIRTY });
        expect(result).toMatchObject({ ok: false, failure: { kind: "violation.flow" } });
        expect(at.sent).toEqual([]);
        expect(await chainOf(at, result.run, "main/Send.go#0/to")).toEqual(["1 tool Page.get", "2"]);
    });
    test("a use that another's word chose, whatever stands in it", async () => {
        const body = 'p = Page.get({})\nif p.flag {\nSend.go({ to: "a@x.y" })\n}';
        const result = await ran(at, { body, clauses: "choice go: trusted" });
        expect(result).toMatchObject({ ok: false, failure: { kind: "violation.flow", detail: { choice: true, origins: ["tool:Page"] } } });
        const found = await whyOf(at.store, result.run);
        expect(found.origins).toEqual(["choice:tool:Page"]);
        expect(found.chain[0]).toMatchObject({ what: "tool Page.get" });
    });

    test("a use that is refused by the remit of an agent", async () => {
        const body =
            "p = Page.get({})\nx = try { B.go(p.text) } catch e { e.kind }\nx\n---\nagent B {\nremit { may Other.get }\nfunc go(t) {\nu = t\ns = [Send].first()\ns.go({ body: u })\n}\n}\n";
        const result = await ran(at, { body });
        expect(result).toMatchObject({ ok: true, value: "violation.remit" });
        expect(await chainOf(at, result.run, "main/B.go#0/s.go#0/body")).toEqual(["1 tool Page.get", "8"]);
    });
    test("a memory that is refused", async () => {
        const body =
            "p = Page.get({})\nx = try { B.go(p.text) } catch e { e.kind }\nx\n---\nagent B {\nremit { may Other.get }\nfunc go(t) {\nn = [Notes].first()\nn.add({ text: t })\n}\n}\n";
        const result = await ran(at, { body });
        expect(result).toMatchObject({ ok: true, value: "violation.remit" });
        expect(await chainOf(at, result.run, "main/B.go#0/n.add#0/text")).toEqual(["1 tool Page.get"]);
    });
    test("a use that a person refused, and one that a person waits for", async () => {
        const asked = { body: DIRTY, clauses: "arg to: trusted or ask" };
        const refused = await ran(at, asked);
        expect(refused).toMatchObject({ ok: false, failure: { kind: "denied" } });
        expect(await chainOf(at, refused.run, "main/Send.go#0/to")).toEqual(["1 tool Page.get", "2"]);
        const waits = await ran(at, { ...asked, options: { asks: { park: true, owner: "os:me" } } });
        expect((await at.store.run(waits.run)).status).toBe("waiting");
        expect(await chainOf(at, waits.run, "main/Send.go#0/to")).toEqual(["1 tool Page.get", "2"]);
        const ledger = await openLedger(at.store);
        const [question] = (await at.store.asks.list(waits.run)).filter((one) => one.state === "open");
        expect(question).toBeDefined();
        expect((await ledger.replay(waits.run)).equal).toBe(true);
    });
    test("a call that a model chose: its arguments come from all that the model saw", async () => {
        const replies: Json[] = [{ calls: [{ name: "Page_get", args: {} }] }, { calls: [{ name: "Other_get", args: { q: "x" } }] }, "done"];
        const body = 'o = Book.get({})\nuse o.v as "book"\nx = generate({ input: "Look.", tools: [Page.get, Other.get] })\nx';
        const result = await ran(at, { body, replies });
        expect(result.ok || result.failure).toBe(true);
        expect(await chainOf(at, result.run, "main/generate#0/attempt[0]/turn[0]/call[0]")).toEqual(["1 tool Book.get", "3 model Model"]);
        const second = "main/generate#0/attempt[0]/turn[1]/call[0]";
        // Each part of them, as the console asks for it and as a person writes it.
        for (const part of ["", ":/0", ":/0/q", "/q"])
            expect(await chainOf(at, result.run, `${second}${part}`)).toEqual(["1 tool Book.get", "3 tool Page.get", "3 model Model"]);
        await expect(whyOf(at.store, result.run, `${second}:/0/other`)).rejects.toMatchObject({ kind: "value" });
    });
    test("a run that a limit ended", async () => {
        const result = await ran(at, {
            body: `${DIRTY}\nloop until 1 == 2 max 100000000 {\ny = 1\n}`,
            clauses: "",
            options: { limits: { steps: 5000 } },
        });
        expect(result).toMatchObject({ ok: false, failure: { kind: "limit.steps" } });
        expect(await chainOf(at, result.run, "main/Send.go#0/to")).toEqual(["1 tool Page.get", "2"]);
    });
    test.each([
        ["computed", "loop until 1 == 2 max 1000000000 {\ny = 1\n}"],
        ["waited", "Slow.wait({})"],
    ])("a run whose time was up while it %s", async (_how, last) => {
        const flow: Flow = { body: `${DIRTY}\n${last}`, clauses: "", options: { limits: { time: 300, steps: 1e12 } } };
        const result = await ran(at, flow, sourceOf(flow).replace("\n", '\nimport tool Slow from "host:slow"\n'));
        expect(result).toMatchObject({ ok: false, failure: { kind: "limit.time" } });
        expect(await chainOf(at, result.run, "main/Send.go#0/to")).toEqual(["2 tool Page.get", "3"]);
    });
    test("a run that another process went on with", async () => {
        const flow: Flow = { body: `${DIRTY}\np.to`, clauses: "arg to: trusted or ask", options: { asks: { park: true, owner: "os:me" } } };
        const first = await ran(at, flow);
        expect((await at.store.run(first.run)).status).toBe("waiting");
        const [question] = (await at.store.asks.list(first.run)).filter((one) => one.state === "open");
        await at.store.asks.decide(question?.id ?? "", "once", "os:me");
        const ledger = await openLedger(at.store);
        const result = await (await ledger.resume<Json>(first.run, { tools: toolsOf(at) })).result;
        expect(result.ok || result.failure).toBe(true);
        expect(at.sent).toEqual([{ to: "evil@x.y" }]);
        expect(await chainOf(at, first.run, "main/Send.go#0/to")).toEqual(["1 tool Page.get", "2"]);
        expect(await chainOf(at, first.run, "value")).toEqual(["1 tool Page.get"]);
    });
    test("a run whose spend region ended", async () => {
        const body =
            "p = Page.get({})\nx = try {\nspend 1 calls { Other.get({})  Other.get({}) }\n} catch e { p.text }\nSend.go({ to: x })";
        const result = await ran(at, { body, clauses: "" });
        expect(result.ok || result.failure).toBe(true);
        expect(await chainOf(at, result.run, "main/Send.go#0/to")).toEqual(["1 tool Page.get", "4"]);
    });
    test("what is nowhere in the run, and what stands in the program's own text", async () => {
        const result = await ran(at, { body: 'Send.go({ to: "a@b.c" })' });
        await expect(async () => whyOf(at.store, result.run, "main/Send.go#7/to")).rejects.toThrow("there is no");
        expect(await chainOf(at, result.run, "main/Send.go#0/to")).toEqual([]);
    });
    test("a part that is not there is told: it is not the program's own text", async () => {
        const body = 'p = Page.get({})\nl = [p.text, "own"]\nSend.go({ to: l })\nl[1] = [1]\n{ text: p.text, "a/b": [1] }';
        const { run } = await ran(at, { body, clauses: "" });
        for (const where of [
            "/txet",
            "/text/deeper",
            "a/b",
            "/a~1b/1",
            "/a~1b/00",
            "main/Send.go#0/ot",
            "main/Send.go#0/to/2",
            "main/Send.go#0/to/1/0",
            "main/Send.go#0:/1",
        ])
            await expect(async () => whyOf(at.store, run, where), where).rejects.toThrow(`there is no '${where}' in this run`);
        expect(await chainOf(at, run, "main/Send.go#0/to/1")).toEqual([]);
        expect(await chainOf(at, run, "/a~1b/0")).toEqual([]);
        expect(await chainOf(at, run, "/text")).toEqual(["1 tool Page.get"]);
    });
    test("of a run that failed: the call that was refused, else the failure", async () => {
        const refused = await ran(at, { body: DIRTY });
        expect(refused).toMatchObject({ failure: { kind: "violation.flow" } });
        expect((await whyOf(at.store, refused.run)).use).toBe("main/Send.go#0");
        expect(await chainOf(at, refused.run, "")).toEqual(await chainOf(at, refused.run, "main/Send.go#0"));
        const raised = await ran(at, { body: "p = Page.get({})\nraise p.text" });
        expect(await whyOf(at.store, raised.run)).toMatchObject({ use: "failure", origins: ["tool:Page"] });
        expect((await chainOf(at, raised.run, ""))[0]).toBe("1 tool Page.get");
        const own = await ran(at, { body: 'Page.get({})\nraise "no"' });
        expect(await whyOf(at.store, own.run)).toMatchObject({ use: "failure", chain: [] });
        const limited = await ran(at, { body: "repeat * 500 { n = 1 }", options: { limits: { steps: 100 } } });
        expect(await whyOf(at.store, limited.run)).toMatchObject({ use: "failure", chain: [] });
    });
    test("of a run without an end: its calls, and that it has no value yet", async () => {
        const stopped = await ran(at, { body: "Page.get({})\nSend.go({ to: 1 })", clauses: "go: ask", options: { asks: { park: true } } });
        expect(stopped).toMatchObject({ status: "waiting" });
        await expect(whyOf(at.store, stopped.run)).rejects.toMatchObject({
            failure: { message: `run ${stopped.run} has no value yet`, hint: expect.stringContaining("main/Page.get#0") },
        });
    });
    test("what is shared 2^30 times does not make it hang", async () => {
        const body =
            "p = Page.get({})\nl = [p.text]\ni = 0\nloop until i >= 30 max 40 {\nl = [l, l]\ni += 1\n}\nx = try { Send.go({ to: l }) } catch e { 1 }\np.text";
        const result = await ran(at, { body, clauses: "", options: { limits: { bytes: 1_000_000 } } });
        expect(result).toMatchObject({ ok: false, failure: { kind: "limit.bytes" } });
        expect((await chainOf(at, result.run, "main/Send.go#0/to"))[0]).toBe("1 tool Page.get");
    });
});
