/** A model that says what it is going to do and calls no tool: what counts as that, and what a `generate` with `nudges` makes of it. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { isNarration, NUDGE } from "../../src/prompt/narration.ts";
import { runtime } from "../builtin/support.ts";
import { calls, drive, inOrder, OK, ok, reply, says, setup, text } from "./support.ts";

describe("only an intention", () => {
    test.each([
        "Let me navigate to your profile…",
        "I'll click the button now.",
        "I will now open the pricing tab and look for the cheapest plan.",
        "Let me navigate to the pricing tab",
        "Sure! First, let me take a screenshot of the page.",
        "The page has loaded. Now I'm going to fill in the form.",
        "Clicking the button now.",
        "Navigating to https://shop.example/pricing ...",
        "Okay, let me go ahead and check the cart.",
        "Ich klicke jetzt auf den Knopf.",
        "Alles klar, ich werde die Seite öffnen.",
        "Je vais cliquer sur le bouton.",
        "Voy a abrir la página.",
        "Ora apro la pagina.",
        "",
        "  \n",
    ])("%j", (said) => expect(isNarration(said)).toBe(true));

    test.each([
        "The shop opens at nine.",
        "Done. The cheapest slot is booked: Tuesday, 9:00.",
        "I booked the slot. Let me know if you need anything else!",
        "I will summarize: the site sells checks and opens at 9.",
        "The shop is going to open in May.",
        "Which size do you want?",
        "Done. Would you like me to also check shipping?",
        "I'll need your password for that.",
        "I'm happy with the result.",
        "Ich finde die Seite gut.",
        "Opening hours: nine to five.",
        `${"A long answer that holds something. ".repeat(30)}I will now stop.`,
    ])("an answer: %j", (said) => expect(isNarration(said)).toBe(false));
});

describe("nudges", () => {
    const tools = [{ name: "Repo", uri: "file://workspace", file: "a.remit" }];
    const described = ok({ methods: [{ name: "read", input: { type: "object" }, readOnly: true }] });
    const read = (id: string) => ({ id, name: "Repo_read", args: {} });
    const plain = { attempts: 1, strict: false, debug: false, stream: false, turns: 10 };
    const options = { ...plain, nudges: 2 };
    const narrated = text("Let me read the file.");
    const asked = (ran: ReturnType<typeof drive>): number => ran.turns.length;

    test("it is told so, and calls the tool then", () => {
        const ran = drive(
            setup({ tools, options }),
            runtime(),
            inOrder(described, narrated, calls(read("1")), ok("content"), text("Read.")),
        );
        expect(ran.value).toBe("Read.");
        expect(ran.turns[1]?.messages.slice(-2)).toEqual([
            { role: "assistant", content: "Let me read the file." },
            { role: "user", content: [{ type: "text", text: NUDGE }] },
        ]);
        const attempts = ran.events.filter(({ kind }) => kind === "generate.attempt").map(({ data }) => data as { [key: string]: Json });
        expect(attempts.map(({ nudged = false }) => nudged)).toEqual([true, false, false]);
    });

    test("twice in a row at most, then what it says is the answer; a call between begins anew", () => {
        const thrice = drive(setup({ tools, options }), runtime(), inOrder(described, narrated, narrated, narrated));
        expect(thrice.value).toBe("Let me read the file.");
        expect(asked(thrice)).toBe(3);
        const between = [narrated, narrated, calls(read("1")), ok("content"), narrated, narrated, text("Read.")];
        const ran = drive(setup({ tools, options }), runtime(), inOrder(described, ...between));
        expect(ran.value).toBe("Read.");
        expect(asked(ran)).toBe(6);
    });

    test("nothing said is nothing done: it is told so without an empty message", () => {
        const ran = drive(setup({ tools, options }), runtime(), inOrder(described, text(""), text("Done.")));
        expect(ran.value).toBe("Done.");
        expect(ran.turns[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
    });

    test.each([
        ["it was not asked for", setup({ tools, options: plain }), [described, narrated]],
        ["there is no tool", setup({ options }), [narrated]],
        ["its last turn is used", setup({ tools, options: { ...options, turns: 1 } }), [described, narrated]],
        ["its answer was cut off", setup({ tools, options }), [described, reply({ text: "Let me read the file.", finish: "length" })]],
    ])("not where %s", (_, given, answers) => {
        expect(drive(given, runtime(), inOrder(...answers)).value).toBe("Let me read the file.");
    });

    test("not where a contract says what an answer is", () => {
        expect(drive(setup({ tools, options, contract: OK }), runtime(), inOrder(described, says({ ok: true }))).value).toEqual({
            ok: true,
        });
    });
});
