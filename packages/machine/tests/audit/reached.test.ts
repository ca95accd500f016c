/** What data of each origin chose in a run, and was in: counts of what happened. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type Effect, type Outcome, type Policy, auditEvents, type LedgerEvent, reachedIn } from "../../src/index.ts";
import { program } from "../authority/choice-programs.ts";
import { type Asked, formOf, once, said } from "../authority/running.ts";

const ask: Policy = { untrusted: { gate: "ask" } };
const LET =
    'import tool Log from "mcp://log" { write: may, choice write: from("tool:Inbox", "tool:Log"), arg text: from("tool:Inbox", "tool:Log", "model:Claude") }\n';

function reached(body: string, more: Asked = {}, policy: Policy = ask): string[] {
    const form = formOf(program(`m = Inbox.read({})\ns = m.subject\n${body}`, LET));
    const answer = (e: Effect): Outcome | undefined =>
        more.answer?.(e) ??
        ((e.request as { tool?: string; op?: string }).tool === "Inbox" && (e.request as { op?: string }).op !== "describe"
            ? said({ yes: true, subject: "s" }, ["tool:Inbox"])
            : undefined);
    const ran = once(form, { ...more, answer, options: { input: { ok: true }, policy } });
    expect(
        auditEvents(ran.events as unknown as LedgerEvent[], form)
            .map(({ message }) => message)
            .join(),
    ).not.toContain("choice:");
    return reachedIn(ran.events, form).map(
        ({ use, arg, origin, unasked, asked, denied, refused }) =>
            `${use} ${arg ?? "chosen"} ${origin} ${unasked} ${asked} ${denied} ${refused}`,
    );
}

const WRITE = 'try { Out.write({ path: "a", content: s }) } catch e { }';

describe("what is counted", () => {
    test.each([
        [
            "a call that a clause lets it choose",
            'if m.yes { Log.write({ text: "b" }) }\nLog.write({ text: m.subject })',
            {},
            ["Log.write chosen tool:Inbox 1 0 0 0", "Log.write text tool:Inbox 1 0 0 0"],
        ],
        ["no", `if m.yes { ${WRITE} }`, {}, ["Out.write chosen tool:Inbox 0 0 1 0", "Out.write content tool:Inbox 0 0 1 0"]],
        ["a yes", WRITE, { yes: "once" }, ["Out.write content tool:Inbox 0 1 0 0"]],
        ["a yes for the session", `${WRITE}\n${WRITE}`, { yes: "session" }, ["Out.write content tool:Inbox 0 2 0 0"]],
        ["what only the user and the program chose", 'if input.ok { Out.write({ path: "a", content: "b" }) }', {}, []],
    ])("%s", (_name, body, more, is) => {
        expect(reached(body, more)).toEqual(is);
    });

    test("what a rule refused", () => {
        expect(reached('Out.write({ path: "a", content: m.subject })', {}, { untrusted: { gate: "never" } })).toEqual([
            "Out.write content tool:Inbox 0 0 0 1",
        ]);
    });

    test("a model's call: by all that it had seen", () => {
        const turns = (e: Effect): Outcome | undefined => {
            const { messages = [], op } = e.request as { messages?: { role: string }[]; op?: string };
            if (e.kind === "tool" && op === "describe") return said({ methods: [{ name: "write", input: { type: "object" } }] }, []);
            if (e.kind !== "model") return undefined;
            const calls = messages.some(({ role }) => role === "tool") ? [] : [{ id: "c", name: "Log_write", args: { text: "x" } as Json }];
            return said({ text: "t", value: "t", calls, finish: calls.length > 0 ? "tool" : "stop", model: "m" }, ["model:Claude"]);
        };
        const loop = 'use s as mail\ngenerate({ input: "Go.", tools: [Log.write] })';
        expect(reached(loop, { answer: turns }, {})).toContain("Log.write chosen tool:Inbox 1 0 0 0");
    });
});
