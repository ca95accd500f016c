/** The skill that teaches a model to answer a yield: short, valid, and every sample of it is right. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dirname } from "node:path";
import { encode } from "gpt-tokenizer";
import { validate } from "skills-ref";
import { describe, expect, test } from "vitest";
import { MODULE, SKILL, skillModule } from "../../scripts/protocol-skill.ts";
import { readAnswer } from "../../src/answer/answer.ts";
import { BUILTINS } from "../../src/scope/builtins.ts";
import { PROTOCOL_SKILL } from "../../src/protocol/skill.ts";

const document = readFileSync(SKILL, "utf8");
const samples = [...PROTOCOL_SKILL.text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((found) => ({
    tag: found[1] as string,
    text: found[2] as string,
}));
const answers = samples.filter(({ tag, text }) => tag === "remit" || text.includes('"body"'));
const paramsOf = (text: string): string[] =>
    /func answer\(agent, ([^)]*)\)/.exec(text)?.[1]?.split(", ") ??
    [...text.matchAll(/\{ "name": "(\w+)" \}/g)].map((one) => one[1] as string).filter((name) => name !== "agent");

test("the module is what the skill says", () => {
    expect(readFileSync(MODULE, "utf8")).toBe(skillModule(document));
    expect(document.endsWith(`\n${PROTOCOL_SKILL.text}\n`)).toBe(true);
    expect(PROTOCOL_SKILL).toMatchObject({ name: "remit-yield", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test("it is a valid Agent Skill", async () => {
    expect(await validate(dirname(fileURLToPath(SKILL)))).toEqual([]);
});

test("it costs less than 2,000 tokens", () => {
    expect(encode(document).length).toBeLessThan(2000);
});

describe("its samples", () => {
    test("are four answers and a handshake", () => {
        expect(answers.map((one) => one.tag)).toEqual(["remit", "remit", "remit", "json"]);
        expect(samples.length).toBe(5);
    });

    test.each(answers.map((one) => [paramsOf(one.text).join(", "), one] as const))("answer(agent, %s)", (_, { tag, text }) => {
        const read = readAnswer(`I read the log.\n\n\`\`\`${tag}\n${text}\`\`\`\n`, [], {
            params: paramsOf(text),
            file: "the answer",
            bytes: 65536,
        });
        expect(read).toMatchObject({ ok: true, answer: { func: "answer", form: tag === "remit" ? "source" : "program" } });
    });

    test("the handshake has the fields of the protocol", () => {
        const handshake = JSON.parse(samples[0]?.text ?? "") as { [key: string]: unknown };
        expect(Object.keys(handshake)).toEqual(["format", "session", "turn", "skills", "params", "expects", "limits"]);
        expect(handshake).toMatchObject({ format: "remit-yield/1" });
    });
});

test("every built-in method it names is one, and it names them all", () => {
    const table = [...PROTOCOL_SKILL.text.matchAll(/^\| (string|list|object|number) \| (.*) \|$/gm)];
    expect(table).toHaveLength(4);
    for (const [, on, cells = ""] of table) {
        const named = [...cells.matchAll(/`([^`]*)`/g)]
            .flatMap((code) =>
                (code[1] as string).startsWith("{") ? [] : [...(code[1] as string).replace(/\([^)]*\)/g, "()").matchAll(/[a-z_]+/g)],
            )
            .map((one) => one[0]);
        const known = BUILTINS.filter((row) => row.on === on).map((row) => row.name);
        expect(named.filter((name) => !known.includes(name))).toEqual([]);
        expect(known.filter((name) => !named.includes(name) && name !== "summary" && !(on === "string" && name === "join"))).toEqual([]);
    }
});

test("what a model gets wrong is told in words", () => {
    const read = readAnswer("```remit\nfunc answer(agent, log) {\n    fetch(log)\n}\n```", [], {
        params: ["log"],
        file: "the answer",
        bytes: 65536,
    });
    expect(read).toMatchObject({ ok: false, kind: "syntax", errors: [expect.stringContaining("there is no function 'fetch'")] });
});
