/**
 * What `--assume-hostile` lists of tool loops, against the machine: a model that knows what it would see without the attacker, and does all that its tools let it
 * as soon as it sees anything else. What is listed is reached, and what is reached is listed.
 */
import { hostileUses, type Json, type Program } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, ModelTurn, Outcome, Policy } from "../../src/index.ts";
import { formOf, once, said } from "./running.ts";

/** What the hostile tool gives, and what it says of itself. */
interface World {
    readonly gives: Json;
    readonly says: string;
}

const CLEAN: World = { gives: "mine", says: "Reads." };
const WORLDS: readonly World[] = [
    { ...CLEAN, gives: "evil" },
    { ...CLEAN, gives: "e".repeat(30_000) },
    { ...CLEAN, says: "Evil." },
];

const TOOL = /^(?:Out|Own|Inbox)_/;

/** `knows`: what the model saw in a run without the attacker, turn by turn. */
function play(form: Program, world: World, policy: Policy, pinned: readonly string[], knows: readonly string[] | null) {
    const saw: string[] = [];
    const answer = (e: Effect): Outcome | undefined => {
        const r = e.request as { op?: string; tool?: string; method?: string };
        if (r.op === "describe") {
            const description = r.tool === "Inbox" ? world.says : "Works.";
            const methods = ["read", "write"].map((name) => ({ name, description, input: { type: "object" }, readOnly: name === "read" }));
            return {
                ok: true,
                value: { methods, ...(pinned.includes(r.tool ?? "") ? { pinned: description !== "Evil." } : {}) },
                origins: [`tool:${r.tool}`],
            };
        }
        if (e.kind !== "model") return r.tool === "Inbox" ? said(world.gives, ["tool:Inbox"]) : undefined;
        const turn = e.request as unknown as ModelTurn;
        const seen = JSON.stringify([turn.messages, turn.tools]);
        const isOther = knows !== null && seen !== knows[saw.length];
        saw.push(seen);
        const nth = turn.messages.filter(({ role }) => role === "assistant").length;
        const tools = (turn.tools ?? []).map(({ name }) => name).filter((name) => TOOL.test(name));
        const word = isOther ? "other" : "same";
        const calls =
            nth === 0
                ? tools.map((name) => [name, { path: word, content: word }] as const)
                : nth > 1
                  ? []
                  : tools.flatMap((name) => [
                        [name, { path: "{{r1}}", content: "by path" }] as const,
                        [name, { path: "by content", content: "{{r1}}" }] as const,
                        [name, { path: `written ${word}`, content: `written ${word}` }] as const,
                        ...(isOther ? [[name, { path: "chosen", content: "chosen" }] as const] : []),
                    ]);
        const more = calls.map(([name, args], i) => ({ id: `c${i}`, name, args }));
        const value: Json =
            more.length > 0
                ? { text: "", calls: more, finish: "tool", model: "m" }
                : { text: word, value: word, finish: "stop", model: "m" };
        return { ok: true, value, origins: [] };
    };
    const ran = once(form, { answer, options: { input: { t: "k" }, policy } });
    const calls = ran.effects.flatMap((e) => {
        const {
            op,
            tool,
            method,
            args = [],
        } = e.request as { op?: string; tool?: string; method?: string; args?: { [name: string]: Json }[] };
        return e.kind === "tool" && op !== "describe" ? [{ use: `${tool}.${method}`, args: args[0] ?? {} }] : [];
    });
    return { saw, calls };
}

/** Uses that do more than read, and arguments of them, that a run has and a run without the attacker has not. */
function reached(form: Program, policy: Policy, pinned: readonly string[]): Set<string> {
    const clean = play(form, CLEAN, policy, pinned, null);
    const found = new Set<string>();
    for (const world of WORLDS)
        for (const { use, args } of play(form, world, policy, pinned, clean.saw).calls) {
            if (use.endsWith(".read")) continue;
            if (args.path === "chosen") found.add(`${use} called`);
            else
                for (const [name, value] of Object.entries(args))
                    if (!clean.calls.some((one) => one.use === use && JSON.stringify(one.args[name]) === JSON.stringify(value)))
                        found.add(`${use} ${name}`);
        }
    return found;
}

/** A use whose choice is listed is listed with all that is in it. */
function listed(form: Program, hostile: string, policy: Policy, pinned: readonly string[]): Set<string> {
    const { uses } = hostileUses(form, [hostile], {
        policy,
        reads: (_tool, _uri, method) => method === "read",
        descriptions: ({ name }) => (pinned.includes(name) ? "pinned" : "said"),
    });
    const all = uses.flatMap(({ tool, method, choice, args }) =>
        [...(choice === null ? [] : ["called"]), ...args.map(({ name }) => name)].map((one) => `${tool}.${method} ${one}`),
    );
    return new Set(all.filter((one) => !/\.(?:read|\*) /.test(one)));
}

const program = (tools: string, { clauses = "", body = "LOOP", hide = ', hide: "untrusted"', model = "" } = {}): Program =>
    formOf(`
import tool Inbox from "mcp://inbox"
import tool Own from "mcp://own" { trusted }
import tool Out from "mcp://out" { write: may${clauses} }
import llm Claude from "mock://m" { ${model} }
main agent M { model Claude  role "r"  description "d"
main func(input) {\n${body.replace("LOOP", `generate({ input: "Do it.", tools: [${tools}]${hide} })`)} } }`);

/** `more`: what the table lists too much. */
const ROWS: [name: string, form: Program, more?: RegExp][] = [
    ["a loop that hides", program("Inbox.read, Out.write")],
    ["a loop that shows", program("Inbox.read, Out.write", { hide: "" })],
    ["a loop beside the mail", program("Out.write", { body: "m = Inbox.read({})\nLOOP" })],
    ["a loop before the mail", program("Own.read, Out.write", { body: "x = LOOP\nInbox.read({})\nx" })],
    // Where the prompt always carries the mail's origin, no call is chosen by the size of a hidden result alone.
    ["a loop with the mail in its prompt", program("Out.write", { body: "m = Inbox.read({})\nuse m as mail\nLOOP" }), /called/],
    ["a clause that lets the mail choose", program("Inbox.read, Out.write", { clauses: ', choice write: from("tool:Inbox")' })],
    ["a clause that lets nothing choose", program("Inbox.read, Out.write", { clauses: ", choice write: trusted" })],
    ["a model that may look", program("Inbox.read, Out.write", { model: "look: may" })],
    ["what a loop gives", program("Inbox.read", { body: 'x = LOOP\nOut.write({ path: "a", content: x })' }), /called/],
    ["what a loop decides", program("Inbox.read", { body: 'x = LOOP\nif x == "same" { } else { Out.write({ path: "chosen" }) }' })],
];
const POLICIES: readonly Policy[] = [{}, { untrusted: { gate: "ask" } }];
const PINS: readonly (readonly string[])[] = [[], ["Inbox", "Own", "Out"]];

describe("what is listed of a loop is reached, and what is reached is listed", () => {
    test.each(ROWS)("%s", (...[, form, more]) => {
        for (const policy of POLICIES)
            for (const pinned of PINS)
                for (const hostile of ["Inbox", "Inbox.read"]) {
                    const table = listed(form, hostile, policy, pinned);
                    const found = reached(form, policy, pinned);
                    const covers = (one: string): boolean => table.has(one) || table.has(one.replace(/ \w+$/, " called"));
                    const about = [policy, pinned, hostile];
                    expect([...about, [...found].filter((one) => !covers(one))]).toEqual([...about, []]);
                    const much = [...table].filter((one) => !found.has(one) && !/\*$/.test(one) && more?.test(one) !== true);
                    expect([...about, much]).toEqual([...about, []]);
                }
    });

    test("both happen: a loop of unpinned tools does nothing unseen where the policy asks, and one of pinned tools does it by the size of a result", () => {
        const [, form] = ROWS[0] as (typeof ROWS)[number];
        const [none, asks] = POLICIES as [Policy, Policy];
        const [own, all] = PINS as [string[], string[]];
        expect([reached(form, none, own), reached(form, asks, own), reached(form, asks, all)].map((one) => [...one].sort())).toEqual([
            ["Out.write called", "Out.write content", "Out.write path"],
            [],
            ["Out.write called", "Out.write content", "Out.write path"],
        ]);
    });
});

test("what lets a loop's choice in stands beside it: sizes, or what a trusted tool keeps", () => {
    const choiceOf = (form: Program, policy: Policy): string[] | undefined =>
        hostileUses(form, ["Inbox.read"], { policy, descriptions: () => "pinned" })
            .uses.find(({ tool, method }) => `${tool}.${method}` === "Out.write")
            ?.choice?.bounds.flatMap(({ kind, text }) => (kind === "allowed" ? [] : [kind === "way" ? text : kind]));
    const clauses = ", choice write: trusted";
    const body = "Own.save({ text: Inbox.read({}) })\nLOOP";
    expect(choiceOf(program("Own.read, Out.write", { clauses, body }), {})).toEqual(["by way of what Own keeps"]);
    // A tool whose methods are not known keeps nothing unseen: where the policy asks about what does more than read, only what reads passes.
    expect(choiceOf(program("Inbox.read, Own, Out.write", { clauses }), { untrusted: { gate: "ask" } })).toEqual(["shape"]);
});
