/** The projection explain: every character that a model was shown, at every attempt and turn (EP1), and its printed form. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { CONTRACT_HEAD, type Explanation, explainRun, explainText, redactEvent, type ShownMessage } from "../../src/index.ts";
import { list, object, runtime } from "../builtin/support.ts";
import { calls, drive, inOrder, OK, ok, says, setup } from "../prompt/support.ts";
import { event, sample, seal, sha256 } from "./support.ts";

const events = seal(sample());
const redacted = events.map((one) => redactEvent(one, ["content"], sha256));

describe("explain", () => {
    /** Every message of every turn. */
    const messagesOf = (all: readonly Explanation[]): ShownMessage[] => all.flatMap((one) => one.turns.flatMap((turn) => turn.messages));
    const layers = (message: ShownMessage | undefined): string[] =>
        (message?.pieces ?? [])
            .filter((one) => one.layer !== "layout")
            .map((one) => `${one.layer}: ${message?.text.slice(one.from, one.to)}`);

    test("covers every character of every message of every turn, in order, with why it is there", () => {
        const all = explainRun(events);
        expect(all.flatMap((one) => one.turns.map((turn) => turn.exact))).toEqual([true, true, true, true]);
        for (const message of messagesOf(all)) {
            let at = 0;
            for (const piece of message.pieces) {
                expect(piece.from).toBe(at);
                expect(piece.layer).not.toBe("unknown");
                at = piece.to;
            }
            expect(at).toBe(message.text.length);
        }
        const user = all[0]?.turns[0]?.messages[1];
        const item = user?.pieces.find((piece) => piece.layer === "context");
        expect(user?.text.slice(item?.from, item?.to)).toBe('[\n  "alpha",\n  "beta"\n]');
        expect(item).toMatchObject({
            why: "item 0 (log): its beginning kept, 23 of 34 characters (max 25)",
            origins: ["file:log"],
            item: 0,
        });
        expect(all[0]?.items[0]).toMatchObject({
            label: "build log",
            source: "log",
            declared: { line: 4 },
            origins: ["file:log"],
            shown: true,
        });
        expect(all[0]?.unused).toEqual(["secret"]);
    });

    test("messages are those that were sent, at every turn", () => {
        const sent = events.flatMap((one) => {
            const { messages } = one.data as unknown as { messages: { content?: string | { text?: string }[]; result?: Json }[] };
            if (one.kind !== "generate.attempt") return [];
            return messages.map(({ content, result }) =>
                content === undefined
                    ? JSON.stringify(result)
                    : typeof content === "string"
                      ? content
                      : content.map((part) => part.text).join(""),
            );
        });
        const shown = messagesOf(explainRun(events)).filter((one) => one.role !== "assistant");
        expect(shown.map((one) => one.text)).toEqual(sent);
    });

    test("a further attempt shows what it was told, and why", () => {
        const [, second] = explainRun(events)[0]?.turns ?? [];
        expect(second).toMatchObject({ attempt: 1, turn: 0, because: "LLM provider did not return JSON: Sure" });
        expect(layers(second?.messages[1])).toContain("feedback: LLM provider did not return JSON: Sure");
        const text = explainText(explainRun(events));
        expect(text).toContain("  attempt 2, because LLM provider did not return JSON: Sure\n");
        expect(text).toMatch(/ {2}user +0–\d+ +as in attempt 1\n {2}user +\d+–\d+ +feedback +wording/);
        expect(text).toMatch(/feedback +what was wrong with it; from model:Claude\n {6}LLM provider did not return JSON: Sure\n/);
    });

    test.each(["string", "object", "other"] as const)("feedback is found in an instruction that is: %s", (kind) => {
        const rt = runtime();
        const given = { string: "Do it.", object: object(rt, { a: "b" }), other: list(rt, "a", "b") }[kind];
        const prompt = setup({ contract: OK, instruction: given, options: { attempts: 3, strict: false, debug: false, stream: false } });
        const path = "main/generate#0";
        const { events: made } = drive(prompt, rt, inOrder(says({ ok: "perhaps" }), says({ no: 1 }), says({ ok: true })));
        const sealed = seal(made.map((one) => event(one.kind, one.suffix === "" ? path : `${path}/${one.suffix}`, one.data)));
        const [one] = explainRun(sealed);
        expect(one?.turns.map((turn) => turn.exact)).toEqual([true, true, true]);
        const answers = one?.turns.flatMap(
            (turn) => turn.messages[1]?.pieces.filter((piece) => piece.why === "the answer that was refused") ?? [],
        );
        expect(answers).toHaveLength(2);
        expect(answers?.[0]?.origins).toEqual(["model:Claude"]);
    });

    test("the turns of a tool loop show the model's call, its result and where that is from", () => {
        const [, looped] = explainRun(events);
        expect(looped?.tools).toEqual([{ name: "Repo_read", source: "Repo.read", uri: "file://.", description: null, input: {} }]);
        const [, second] = looped?.turns ?? [];
        expect(second).toMatchObject({ attempt: 0, turn: 1, carried: 2, because: null });
        expect(second?.messages.map((one) => one.role)).toEqual(["assistant", "tool"]);
        expect(layers(second?.messages[0])).toEqual(['reply: {"id":"1","name":"Repo_read","args":{"path":"a"}}']);
        expect(second?.messages[1]?.pieces).toEqual([
            { from: 0, to: 11, layer: "result", why: "result of Repo.read, whole", origins: ["tool:Repo"] },
        ]);
        const text = explainText(explainRun(events));
        expect(text).toContain("  tool Repo_read: Repo.read of file://., as it describes itself");
        expect(text).toContain("  attempt 1, turn 2\n  the 2 messages of attempt 1 again, then\n");
        expect(text).toMatch(/tool +0–11 +result +result of Repo.read, whole; from tool:Repo\n {6}"text of a"/);
        const chosen = JSON.parse(JSON.stringify(looped).replaceAll('["tool:Repo"]', '["choice:tool:Repo","user"]')) as Explanation;
        expect(explainText([chosen])).toContain("result of Repo.read, whole; from user; tool:Repo decided over it\n");
    });

    test("after tool calls, a further attempt, a call that was not allowed and one that could not be made are told as what they are", () => {
        const rt = runtime();
        const described = ok({
            methods: [
                { name: "read", description: "Reads.", input: { type: "object", required: ["path"] }, readOnly: true },
                { name: "write", input: {}, readOnly: false },
            ],
        });
        const prompt = setup({
            contract: OK,
            tools: [{ name: "Repo", uri: "file://.", file: "main.remit" }],
            options: { attempts: 2, strict: false, debug: false, stream: false },
        });
        const outcomes = inOrder(
            described,
            calls({ id: "1", name: "Repo_read", args: {} }, { id: "2", name: "Repo_write", args: { path: "a" } }),
            ok("deny"),
            says({ ok: "perhaps" }),
            says({ ok: true }),
        );
        const path = "main/generate#0";
        const { events: made } = drive(prompt, rt, outcomes);
        const [one] = explainRun(
            seal(made.map((each) => event(each.kind, each.suffix === "" ? path : `${path}/${each.suffix}`, each.data))),
        );
        expect(one?.turns.map(({ attempt, turn, carried, exact }) => ({ attempt, turn, carried, exact }))).toEqual([
            { attempt: 0, turn: 0, carried: 0, exact: true },
            { attempt: 0, turn: 1, carried: 2, exact: true },
            { attempt: 1, turn: 0, carried: 5, exact: true },
        ]);
        expect(one?.turns[1]?.messages.map((message) => message.pieces.map((piece) => piece.why))).toEqual([
            ["a call that the model made before", "between calls", "a call that the model made before"],
            ["why Repo_read was not called"],
            ["that Repo_write was not allowed"],
        ]);
        expect(one?.turns[2]?.messages.map((message) => message.role)).toEqual(["assistant", "user"]);
        expect(layers(one?.turns[2]?.messages[1])).toContain('feedback: {\n  "ok": "perhaps"\n}');
    });

    test("leaves out the schema where the model was bound to it instead of being shown it", () => {
        const shown = explainRun(events)[0]?.turns;
        const unseen = events.map((event) => {
            const data = event.data as { readonly [key: string]: Json };
            if (event.kind !== "generate.attempt") return event;
            return { ...event, data: { ...data, reply: { ...(data.reply as object), without: "contract" } as Json } };
        });
        const [explained] = explainRun(unseen);
        const bound = explained?.turns;
        for (const at of [0, 1]) {
            expect([shown?.[at]?.bound, bound?.[at]?.bound, bound?.[at]?.exact]).toEqual([false, true, true]);
            const [full, cut] = [shown?.[at]?.messages[1], bound?.[at]?.messages[1]];
            expect(full?.text.startsWith(`${cut?.text}\n\n${CONTRACT_HEAD}\n{`)).toBe(true);
            expect(cut?.pieces.at(-1)?.to).toBe(cut?.text.length);
        }
        expect(bound?.[0]?.messages[1]?.pieces.at(-1)?.layer).toBe("instruction");
        expect(explainText(explained === undefined ? [] : [explained])).toContain("schema of the contract is not in it");
    });

    test("one generate by its path, and as text", () => {
        expect(explainRun(events, "main/for[0]/generate#1").map((one) => one.label)).toEqual(["Main.main[1]"]);
        expect(explainRun(events, "nowhere")).toEqual([]);
        const text = explainText(explainRun(events));
        expect(text).toContain('use log as "build log"  main.remit:4:5');
        expect(text).toContain("in scope and not used: secret");
    });

    test("says so where it cannot know", () => {
        expect(explainRun(redacted)[0]?.turns.map((turn) => turn.exact)).toEqual([false, false]);
        expect(explainText(explainRun(redacted))).toContain("cannot be explained piece by piece");
    });
});
