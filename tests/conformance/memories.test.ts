/**
 * Five programs in AgentScript's spelling that keep a memory, each of another kind: a store of answers, lessons of a reviewer, a profile, a glossary
 * and a handover between agents of two files. Each is run twice on one folder: what the second run does differently is what the first one learned.
 */
import { readFileSync } from "node:fs";
import type { Json } from "@remit/language";
import type { ModelTurn } from "@remit/machine";
import { expect, test } from "vitest";
import { folderWith, type Played, play, type Replies, seenBy } from "./harness.ts";

const textOf = (name: string): string => readFileSync(new URL(`memories/${name}`, import.meta.url), "utf8");

/** Both runs of a program on one folder. */
async function twice(name: string, replies: Replies, inputs: readonly [Json, Json]): Promise<readonly [Played, Played]> {
    const folder = folderWith({ "agents/clerk.as": textOf("agents/clerk.as") });
    const run = async (input: Json): Promise<Played> => {
        const played = await play(textOf(name), { folder, name, input, replies });
        expect({ codes: played.codes, failure: played.failure }).toEqual({ codes: [], failure: undefined });
        return played;
    };
    return [await run(inputs[0]), await run(inputs[1])];
}

test("answers: a question that was answered is found by the text of its record, and no model is asked", async () => {
    const [first, second] = await twice(
        "answers.as",
        (_turn, index) => (index === 0 ? "In the cellar." : { fail: { kind: "model", message: "asked again" } }),
        [{ question: "Where is the MAIN valve?" }, { question: "where is the main VALVE?" }],
    );
    expect([first.value, first.turns.length]).toEqual([{ answer: "In the cellar.", asked: true }, 1]);
    expect([second.value, second.turns.length]).toEqual([{ answer: "In the cellar.", asked: false }, 0]);
});

test("lessons: what a reviewer said in the first run is in the first prompt of the second, which needs one draft", async () => {
    const lesson = "Notes name the version.";
    const reply = (turn: ModelTurn): Json => {
        const seen = seenBy(turn);
        if (seen.includes("Is the note good?")) return seen.includes("1.2") ? { good: true, lesson: "" } : { good: false, lesson };
        return seen.includes(lesson) ? "Faster since 1.2" : "Faster";
    };
    const [first, second] = await twice("lessons.as", reply, [{ change: "cache" }, { change: "index" }]);
    expect(first.value).toEqual({ text: "Faster since 1.2", drafts: 2 });
    expect(second.value).toEqual({ text: "Faster since 1.2", drafts: 1 });
    expect(first.prompts[0]?.items[1]?.text).not.toContain(lesson);
    expect(second.prompts[0]?.items[1]?.text).toContain(lesson);
});

test("profile: what one guest likes is found on the second visit, and nothing of another guest", async () => {
    const reply = (turn: ModelTurn): Json => {
        const seen = seenBy(turn);
        if (seen.includes("List what the guest")) return { likes: seen.includes("tea") ? ["tea"] : [] };
        return seen.includes('\\"tea\\"') ? "Tea is ready." : "What may it be?";
    };
    const [first, second] = await twice("profile.as", reply, [
        { guest: "ada", said: "I love tea" },
        { guest: "ada", said: "good evening" },
    ]);
    expect(first.value).toEqual({ offer: "What may it be?", visits: 0 });
    expect(second.value).toEqual({ offer: "Tea is ready.", visits: 1 });
    const other = { folder: second.folder, name: "profile.as", input: { guest: "bob", said: "good evening" }, replies: reply };
    expect((await play(textOf("profile.as"), other)).value).toEqual({ offer: "What may it be?", visits: 0 });
});

test("glossary: a term that was explained in the first run is not explained in the second", async () => {
    const [first, second] = await twice("glossary.as", (turn) => `meaning of ${seenBy(turn).includes("tare") ? "tare" : "gross"}`, [
        { terms: ["tare", "tare"] },
        { terms: ["gross", "tare"] },
    ]);
    expect([first.value, first.turns.length]).toEqual([{ new: 1, newest_first: ["tare"] }, 1]);
    expect([second.value, second.turns.length]).toEqual([{ new: 1, newest_first: ["gross", "tare"] }, 1]);
});

test("shift: what an agent of another file wrote in the first run is what the second run begins with", async () => {
    const reply = (turn: ModelTurn): Json => (seenBy(turn).includes("Write the handover") ? "pump 3 leaks" : "carry on");
    const [first, second] = await twice("shift.as", reply, [{ report: "quiet" }, { report: "busy" }]);
    expect([first.value, second.value]).toEqual([
        { plan: "carry on", left: "nothing" },
        { plan: "carry on", left: "pump 3 leaks" },
    ]);
    expect(second.prompts[0]?.items.map((item) => item.text)).toEqual(["pump 3 leaks", "busy"]);
});
