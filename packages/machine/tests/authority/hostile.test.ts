/**
 * What hostile data could do (`remit check --authority --assume-hostile`), against the machine: programs run with one answer of a hostile tool and with
 * another, with no to every question. A call that is made in one run and not in the other has to stand in the table.
 */
import { hostileUses } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Policy } from "../../src/index.ts";
import { DECIDED, DECIDED_THROUGH, program } from "./choice-programs.ts";
import { MAILS, POLICIES, unlisted, unlistedAt } from "./hostile-oracle.ts";
import { hostileProgram } from "./hostile-programs.ts";
import { waysProgram } from "./hostile-ways.ts";
import { cases } from "../cases.ts";
import { blocksProgram } from "./hostile-blocks.ts";
import { formOf } from "./running.ts";

const FIRST = 0;
const SEEDS = 40;

describe("a mail that decides", () => {
    const rows = [...DECIDED, ...DECIDED_THROUGH].map(
        ([name, body, more = ""]) => [name, formOf(program(`m = Inbox.read({})\n${body}`, more))] as const,
    );

    test.each(rows)("is listed: %s", (_name, form) => {
        const chooses = (policy: Policy): string[] =>
            hostileUses(form, ["Inbox.read"], { policy }).uses.flatMap(({ tool, method, choice }) =>
                choice === null ? [] : [`${tool}.${method}`],
            );
        expect(chooses({}).filter((use) => /^(?:Out\.write|Own\.\*|Far\.yield)$/.test(use))).not.toEqual([]);
        // The policy asks about all of them, and the table says so.
        expect(chooses({ untrusted: { gate: "never" } }).filter((use) => use.startsWith("Out.write"))).toEqual([]);
    });

    test("is listed wherever two mails make a difference", () => {
        let found = 0;
        for (const [name, form] of rows)
            for (const policy of POLICIES) {
                const { all, not } = unlisted(form, "Inbox", MAILS, policy);
                found += all;
                expect([name, not]).toEqual([name, []]);
            }
        expect(found).toBeGreaterThan(rows.length / 2);
    });
});

test("of two calls that data chooses between, what is the same in both is not listed", () => {
    const form = formOf(
        program(
            'm = Inbox.read({})\nif m.yes { Own.save({ id: input.t, grade: "red", by: "me" }) } else { Own.save({ id: input.t, grade: "green", by: "me" }) }',
        ),
    );
    const { uses } = hostileUses(form, ["Inbox.read"]);
    expect(uses.map(({ choice, args }) => [choice !== null, args.map(({ name, how }) => `${how} ${name}`)])).toEqual([
        [true, ["picks grade"]],
        [true, ["picks grade"]],
    ]);
});

const KEPT = 'import tool Store from "mcp://store" { trusted }\nimport memory Notes from "file://notes.jsonl" { trusted }\n';

test.each([
    ["what a trusted tool keeps", 'Store.save({ subject: m.subject })\nOut.write({ path: "a", content: text(Store.load({}).subject) })'],
    ["what a trusted memory keeps", 'Notes.add({ text: m.subject })\nOut.write({ path: "a", content: text(Notes.query({})) })'],
    ["what a file keeps", 'Out.write({ path: "a", content: m.subject })\nOwn.save({ text: Out.read({ path: "a" }).subject })'],
    ["a failure in a function that is caught outside", "try { risky() } catch e { }"],
    ["which of two calls is made", 'if m.yes { Own.save({ id: "i", grade: "red" }) } else { Own.save({ id: "i", grade: "green" }) }'],
    ["an argument that one of two calls has", 'if m.yes { Own.save({ id: "i", grade: "red" }) } else { Own.save({ id: "i" }) }'],
    ["in which pass of a loop a call is made", 'for x in ["a", "b"] max 3 { if (x == "a") == m.yes { Own.save({ id: x }) } }'],
    ["which call of a function is made", 'if m.yes { save("a") } else { save("b") }'],
    ["in which pass of a loop a function is called", 'for x in ["a", "b"] max 3 { if (x == "a") == m.yes { save(x) } }'],
    [
        "what is sent before and after a change",
        'o = { k: "a" }\nif m.yes { Own.save({ id: o.k }) }\no.k = "b"\nif not m.yes { Own.save({ id: o.k }) }',
    ],
    [
        "what is sent before and after a change elsewhere",
        'o = { k: "a" }\nif m.yes { Own.save({ id: o.k }) }\nrenamed(o)\nif not m.yes { Own.save({ id: o.k }) }',
    ],
    [
        "what an iteration returns",
        'r = parallel for x in [1, 2] max 3 { if x == 1 { return m }\n2 }\nOut.write({ path: "a", content: r[0].subject })',
    ],
    ["a return behind a call in the same loop", 'for x in ["a", "b"] max 3 { Own.save({ id: x })\nif m.yes { return 1 } }'],
    ["a return in a loop inside the loop of a call", 'repeat * 2 { Own.save({ id: "i" })\nrepeat * 2 { if m.yes { return 1 } } }'],
    ["a break of the loop around a handler", 'repeat * 2 { Own.save({ id: "i" })\ntry { if m.yes { raise "no" } } catch e { break } }'],
    ["a return inside an expression before a call in it", 'z = [if m.yes { return 1 } else { 2 }, Own.save({ id: "i" })]'],
    ["a return in an argument", 'Own.save({ id: if m.yes { return 1 } else { "i" } })'],
    ["a return of a loop whose condition is a call", 'loop until Own.save({ id: "i" }) == 7 max 3 { if m.yes { return 1 } }'],
    ["a return before a loop", 'if m.yes { return 1 }\nrepeat * 2 { Own.save({ id: "i" }) }'],
    ["a return in one of several branches", 'if input.ok { if m.yes { return 1 } }\nOwn.save({ id: "i" })'],
    ["a return in a handler", 'try { if m.yes { raise "no" } } catch e { return 1 }\nOwn.save({ id: "i" })'],
    ["a return in a called function", 'ended(m.yes)\nOwn.save({ id: "x" })'],
    [
        "a return in an iteration before a call in it",
        'z = parallel for x in [1, 2] max 3 { if m.yes { return 1 }\nOwn.save({ id: "x" })\n2 }',
    ],
    ["which function of a list is called", "all = [save, renamed]\nall[m.n - 1]({})"],
    ["which function a condition gives", "(if m.yes { first } else { second })()"],
    ["what is in a raised list", 'o = [[m.subject]]\ntry { raise o } catch e { Out.write({ path: "a", content: text(e.detail) }) }'],
    ["a contract of what is passed", 'o = { k: m.record.amount }\ntry { taken(o)\nOut.write({ path: "a", content: "b" }) } catch e { }'],
    ["a contract of a result", 'o = { k: m.record.amount }\ntry { given(o)\nOut.write({ path: "a", content: "b" }) } catch e { }'],
])("is listed: %s", (_name, body) => {
    const more = `${KEPT}func taken(o: { k: number }) { 1 }\nfunc given(o) -> { k: number } { o }
func save(x) { Own.save({ id: x }) }\nfunc first() { Own.save({ id: "1" }) }\nfunc second() { Own.save({ id: "2" }) }\nfunc renamed(o) { o.k = "b" }
func ended(yes) { repeat * 2 { Own.save({ id: "f" })\nif yes { return 1 } } }
func risky() { x = Inbox.read({}).record.amount.trim()\nOut.write({ path: "a", content: "b" }) }\n`;
    const form = formOf(program(`m = Inbox.read({})\n${body}`, more));
    const { all, not } = unlisted(form, "Inbox", MAILS, {});
    expect([all > 0, not]).toEqual([true, []]);
});

/** Of two stages, and what else there is. */
const FAILS = 'func read() { Inbox.read({}).record.amount.trim()\n"v" }\n';
const SAVES = 'func save(x) { Own.save({ id: "t", x: x })\nx }\n';
test.each([
    ["that a stage failed, and gives none", 'read with { on_error: "none" } >=> save', FAILS],
    [
        "what a stage does before and behind what may fail",
        'three >=> map each with { on_error: "none" }',
        `func three() { [1, 2, 3] }\nfunc each(x) { if x == 1 { Inbox.read({}).record.amount.trim() }\nOwn.save({ id: "u" }) }\n`,
    ],
    [
        "that a branch of a block with a name ended",
        'texts >=> when "contains R" >=> plain ) as named\nmemory static ( later',
        'func texts() { Inbox.read({}).subject }\nfunc plain(x) { 1 }\nfunc later() { if named == none { Own.save({ id: "t" }) } }\n',
    ],
    [
        "what a block with a name gave that stands in another one",
        "texts >=> memory static ( texts ) as named ) as all\nmemory static ( later",
        'func texts() { Inbox.read({}).subject }\nfunc later() { Own.save({ id: "t", x: named }) }\n',
    ],
    [
        "that a branch of such a block ended",
        'texts >=> temporal static ( texts >=> when "contains R" >=> plain ) as named ) as all\nmemory static ( later',
        'func texts() { Inbox.read({}).subject }\nfunc plain(x) { 1 }\nfunc later() { if named == none { Own.save({ id: "t" }) } }\n',
    ],
    [
        "that such a block did not begin",
        'texts >=> when "contains R" >=> temporal static ( plain ) as named ) as all\nmemory static ( later',
        'func texts() { Inbox.read({}).subject }\nfunc plain(x) { 1 }\nfunc later() { if named == none { Own.save({ id: "t" }) } }\n',
    ],
    [
        "what a block that runs elsewhere does",
        'texts >=> temporal static ( memory static ( when "contains R" >=> save ) )',
        "func texts() { Inbox.read({}).subject }\n",
    ],
    ["how many items a function is called for", "items >=> map save", "func items() { Inbox.read({}).items }\n"],
])("is listed of blocks: %s", (_name, body, more) => {
    const form = formOf(`import tool Inbox from "mcp://inbox"\nimport tool Own from "mcp://own" { trusted }
${more}${SAVES}memory static ( ${body} )`);
    const { all, not } = unlisted(form, "Inbox", MAILS, {});
    expect([all > 0, not]).toEqual([true, []]);
});

test("a call that hostile data may make fail is listed as chosen by it where its stage tries again", () => {
    const chosen = (options: string): boolean[] => {
        const form = formOf(`import tool Inbox from "mcp://inbox"\nimport tool Own from "mcp://own" { trusted }
func texts() { Inbox.read({}).subject }\nmemory static ( texts >=> Own.save${options} )`);
        return hostileUses(form, ["Inbox"]).uses.map(({ choice }) => choice !== null);
    };
    expect(chosen("")).toEqual([false]);
    expect(chosen(" with { retries: 2 }")).toEqual([true]);
});

test("whatever two mails make a difference in stands in the table: random blocks", () => {
    const found = Array.from({ length: 40 }, (_, seed) => {
        const { all, not } = unlistedAt(blocksProgram(seed), {});
        expect([seed, not]).toEqual([seed, []]);
        return all;
    });
    expect(sum(found)).toBeGreaterThan(40);
});

test("whatever two mails make a difference in stands in the table: random blocks of which parts run elsewhere", () => {
    const found = Array.from({ length: cases(30) }, (_, seed) => {
        const { all, not } = unlistedAt(blocksProgram(seed, true), seed % 3 === 2 ? { untrusted: { gate: "never" } } : {});
        expect([seed, not]).toEqual([seed, []]);
        return all;
    });
    expect(sum(found)).toBeGreaterThan(30);
});

test("whatever two mails make a difference in stands in the table, at its line: random ways out", () => {
    const found = Array.from({ length: cases(100) }, (_, seed) => {
        const { all, not } = unlistedAt(waysProgram(seed), POLICIES[seed % POLICIES.length] ?? {});
        expect([seed, not]).toEqual([seed, []]);
        return all;
    });
    expect(sum(found)).toBeGreaterThan(60);
});

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);

test.each([
    ["before a return", 'Own.save({ id: "i" })\nif m.yes { return 1 }'],
    ["before a loop with a return", 'Own.save({ id: "i" })\nrepeat * 2 { if m.yes { return 1 } }'],
    ["in a loop before a return behind it", 'repeat * 2 { Own.save({ id: "i" }) }\nif m.yes { return 1 }'],
    ["in a loop before one with a break", 'repeat * 2 { Own.save({ id: "i" }) }\nrepeat * 2 { if m.yes { break } }'],
    ["behind a loop with a break", 'repeat * 2 { if m.yes { break } }\nOwn.save({ id: "i" })'],
    ["before a return of an iteration", 'z = parallel for x in [1, 2] max 3 { Own.save({ id: "i" })\nif m.yes { return 1 }\n2 }'],
    ["behind an iteration's return", 'z = parallel for x in [1, 2] max 3 { if m.yes { return 1 }\n2 }\nOwn.save({ id: "i" })'],
    ["behind a return", 'if input.ok { return 1 } else { return 2 }\nif m.yes { Own.save({ id: "i" }) }'],
    ["behind a break", 'repeat * 2 { break\nif m.yes { Own.save({ id: "i" }) } }'],
])("is not listed: %s", (_name, body) => {
    const form = formOf(program(`m = Inbox.read({})\n${body}`));
    const { all, not } = unlisted(form, "Inbox", MAILS, {});
    expect([all, not]).toEqual([0, []]);
    expect(hostileUses(form, ["Inbox.read"]).uses.filter(({ tool }) => tool === "Own")).toEqual([]);
});

test("of a tool that a remit gives method by method no other is listed", () => {
    const of = (remit: string): string[] => {
        const form = formOf(
            program(
                `m = Inbox.read({})\nClerk.go(m)`,
                `agent Clerk { remit { ${remit} }\nfunc go(m) { Own.call({ tool: m.subject, args: {} }) } }\n`,
            ),
        );
        const { uses, stopped } = hostileUses(form, ["Inbox.read"]);
        return [...uses, ...stopped].filter(({ tool }) => tool === "Own").map(({ method }) => method);
    };
    expect(of("may Own.find  ask Own.drop").sort()).toEqual(["drop", "find"]);
    expect(of("may Own")).toContain("*");
    expect(of("may Out.read")).toContain("*");
});

test("whatever two mails make a difference in stands in the table: random programs", () => {
    let found = 0;
    let unseen = 0;
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
        const form = formOf(hostileProgram(seed));
        for (const policy of [{}, { untrusted: { gate: "ask" } }] as const) {
            const { all, not } = unlisted(form, "Inbox", MAILS, policy);
            if (!("untrusted" in policy)) found += all;
            else unseen += all;
            expect([seed, policy, not]).toEqual([seed, policy, []]);
        }
    }
    expect(found).toBeGreaterThan(SEEDS / 2);
    expect(unseen).toBeGreaterThan(0);
});
