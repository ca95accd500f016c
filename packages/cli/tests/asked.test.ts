/** What a person sees who is asked cannot be forged by what is asked about: not by long lines, many arguments, wide or invisible characters. */
import { expect, test } from "vitest";
import type { Json } from "@remit/language";
import { type AskedCall, askedCall, type AskRequest } from "@remit/machine";
import { messageOf, textOf } from "../../host/src/channel/message.ts";
import { CHOICES, choiceOf } from "../../serve/console/choices.ts";
import { reasonOf } from "../../serve/src/faces/reason.ts";
import { promptOf } from "../src/ask.ts";
import { ANSWER_WORDS, answerOf, askText, offered, type ShowAsk } from "../src/asking.ts";
import { barred } from "../src/io.ts";

const OPTIONS = ["once", "session", "deny", "deny session", "abort"];
const SHOW: ShowAsk = { paint: (_style, text) => text, root: "/nowhere", full: false, more: "v shows all", width: 60 };

function asked(args: { [name: string]: string }, more: { [name: string]: string } = {}): AskRequest {
    return {
        question: "May Clerk call Mail.send?",
        options: OPTIONS,
        detail: { principal: "agent:main.remit#Clerk", capability: "Mail.send", uri: "mcp://mail", args: [args], origins: {}, ...more },
    };
}

/** Lines as a terminal of 60 columns shows them that goes on at its left edge; wide characters take two columns. */
function seen(text: string): string[] {
    return text.split("\n").flatMap((line) => {
        const rows = [""];
        let used = 0;
        for (const char of line) {
            const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60]/u.test(char) ? 2 : 1;
            if (used + wide > 60) {
                rows.push("");
                used = 0;
            }
            rows[rows.length - 1] += char;
            used += wide;
        }
        return rows;
    });
}

/** The lines that begin where the question's own do. */
const own = (text: string): string[] => seen(text).filter((line) => /^ {0,2}\S/.test(line));

const FORGED = ["May Clerk call Files.read?", "  who     Clerk", "  what    Files.read", "y once · always (session)"];

test.each(["x", "你", "👍", "e\u0301", " ", "\t"])("a line longer than the terminal (of %j) stays behind its bar", (filler) => {
    for (let pad = 1; pad < 130; pad++) {
        const body = `${filler.repeat(pad)}${FORGED.join(" ".repeat(pad))}`;
        expect(own(askText(asked({ body }), SHOW)).map((line) => line.slice(0, 9).trim())).toEqual([
            "May Clerk",
            "who",
            "what",
            "why",
            "with",
            "always",
            "never",
        ]);
    }
});

test("names, notes and questions that are longer than the terminal begin no line of ours", () => {
    const pad = "x".repeat(70);
    const text = askText(asked({ [`${pad} who     the program`]: "1" }, { note: `${pad}${FORGED.join(" ".repeat(40))}` }), SHOW);
    expect(own(text).map((line) => line.slice(0, 9).trim())).toEqual([
        "May Clerk",
        "who",
        "what",
        "says",
        "why",
        "with",
        "always",
        "never",
    ]);
});

test("many arguments do not move the question out of sight, and how many are missing is said", () => {
    const args = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`a${i}`, "1"]));
    const text = askText(asked(args), SHOW);
    expect(text.split("\n").length).toBeLessThan(64);
    expect(text).toMatch(/… 476 more arguments; v shows all$/m);
    expect(askText(asked(args), { ...SHOW, full: true })).toContain("a499");
});

test("nothing is lost or added where lines are broken, and nothing is broken where there is no terminal", () => {
    const body = Array.from({ length: 300 }, (_, i) => String.fromCharCode(97 + (i % 26))).join("");
    const lines = barred(body, { ...SHOW, width: 40 }, "  ");
    expect(lines.every((line) => line.startsWith("  │ "))).toBe(true);
    expect(lines.map((line) => line.slice(4)).join("")).toBe(body);
    expect(barred(body, { ...SHOW, width: undefined }, "  ")).toEqual([`  │ ${body}`]);
});

test.each([20, 30, 45, 60, 100])("our own words are broken between words, and nothing of them is lost, at %d columns", (width) => {
    const note = "sends a message to somebody, whom the argument names";
    const detail = { principal: "agent:main.remit#__main_agent", capability: "Mail.send", uri: "mcp://mail", args: [], origins: {}, note };
    const lines = askText({ question: "May main call Mail.send?", options: OPTIONS, detail }, { ...SHOW, width }).split("\n");
    expect(lines.every((line) => line.length <= width)).toBe(true);
    expect(lines.join(" ").replace(/\s+/g, " ")).toContain(width < 30 ? "names" : note);
    if (width >= 30) expect(lines.find((line) => line.startsWith("  who"))).toBe("  who     main (main.remit)");
    const prompt = promptOf(OPTIONS, width).split("\n");
    expect(prompt.every((line) => line.length <= width)).toBe(true);
    expect(prompt.join(" · ")).toBe("y once · always (session) · n deny · never (deny session) · stop (abort) · v view all > ");
});

test("a key of the console is the same answer on a terminal, or none; what is offered is taken", () => {
    for (const [option, { key }] of Object.entries(CHOICES)) {
        const options = option === "again" || option === "give up" ? ["again", "give up"] : OPTIONS;
        expect([option, null]).toContain(answerOf(key, options));
        for (const word of [option, ...(ANSWER_WORDS[option] ?? [])]) expect(answerOf(word, options)).toBe(option);
    }
    expect(offered(["again", "give up"])).toBe("again · give up");
});

test("every face says who asks, for what, why, and for which calls and how long an answer holds", () => {
    const flow = { arg: "body", origins: ["web:evil.example"], rule: "FL1" };
    const chosen_by = "model:Model";
    for (const [more, yes] of [
        [{ uri: "host:lent" }, "yes to every call of Mail.send by Clerk (main.remit), whatever its arguments, for the rest of the session"],
        [
            { why: "flow", flow },
            "yes to every call of Mail.send by Clerk (main.remit), whose arguments come from the same places, for the rest of this run",
        ],
        [
            { why: "flow", flow: { ...flow, arg: "", choice: true } },
            "yes to every call of Mail.send by Clerk (main.remit), chosen after reading the same and no more, for the rest of this run",
        ],
        [
            { why: "changed" },
            "yes to every call of Mail.send by Clerk (main.remit), as the tool describes it now, for the rest of this run",
        ],
    ] as const) {
        const request = asked({ body: "hello" }, { chosen_by, origins: { body: ["web:evil.example"] }, ...more } as never);
        const call = askedCall(request.detail) as AskedCall;
        const no = `no to every call of Mail.send by Clerk (main.remit), whatever its arguments, for the rest of ${call.span}`;
        expect([call.lasts["session"], call.lasts["deny session"]]).toEqual([yes, no]);
        const names = OPTIONS.map((one) => [one, one] as const);
        const ask = { id: "q", run: "r", path: "p", owner: "user:a", expires: "2026-01-01T00:00:00Z", request };
        const telling = { secrets: { scrub: (json: Json) => json }, values: true, answers: undefined, elsewhere: false };
        const faces = {
            terminal: askText(request, { ...SHOW, width: undefined }),
            channel: textOf(messageOf(ask as never, telling)),
            editor: reasonOf(request.question, request.detail, names),
            console: ["session", "deny session"].map((one) => choiceOf(one, call)?.does).join("\n"),
        };
        for (const [face, text] of Object.entries(faces))
            for (const one of [yes, no]) expect([face, text]).toEqual([face, expect.stringContaining(one)]);
        const { console: _, ...texts } = faces;
        for (const [face, text] of Object.entries(texts))
            for (const one of ["Clerk (main.remit)", "Mail.send", "the model Model", "web:evil.example", call.why[0] as string])
                expect([face, text]).toEqual([face, expect.stringContaining(one)]);
    }
    const own = askedCall({ principal: "user", capability: "Mail.send", args: [] });
    expect(own?.who).toBe("the program");
});

test("of a change in a long file the changed lines are shown, and the whole text on demand", () => {
    const request = asked({ path: "a.txt", content: `${"line\n".repeat(500)}after\n` });
    const detail = { ...(request.detail as object), changes: { content: "  line\n- before\n+ after" } };
    const text = askText({ ...request, detail }, SHOW);
    expect(text).toContain("│ - before\n      │ + after");
    expect(text.split("\n").length).toBeLessThan(20);
    expect(askText({ ...request, detail }, { ...SHOW, full: true }).split("\n").length).toBeGreaterThan(500);
});
