/** What is not there decides, too: an item that a budget left out, and an answer that did not come in time (LANGUAGE 5). */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { did, outcome, run } from "./running.ts";

const IMPORTS = `import tool Inbox from "mcp://inbox"
import tool Out from "file://out" { write: may }
import llm M from "openai://m"
main agent A { model M  role "r"  description "d"
`;

/** The mail says this; the model says yes, and where it has tools writes once. */
function ran(body: string, mail: Json, pick?: (waiting: readonly Effect[]) => number): [readonly string[], Json] {
    const answer = ({ kind, request }: Effect): Outcome | undefined => {
        const { op, tool, tools = [], messages = [] } = request as { op?: string; tool?: string; tools?: Json[]; messages?: Json[] };
        if (kind === "model") {
            const calls =
                tools.length > 0 && messages.length < 3 ? [{ id: "c", name: "Out_write", args: { path: "a", content: "b" } }] : [];
            return { ok: true, value: { text: "yes", value: { go: true }, calls, finish: "stop", model: "m" }, origins: ["model:M"] };
        }
        return tool === "Inbox" && op === "call" ? { ok: true, value: mail, origins: ["tool:Inbox"] } : undefined;
    };
    const made = run(`${IMPORTS}main func() {\n${body}\n1 } }\n`, {
        answer,
        ...(pick === undefined ? {} : { pick }),
        options: { policy: { untrusted: { gate: "never" } } },
    });
    return [did(made).filter((one) => one.includes("write")), outcome(made)];
}

const branch = 'v = generate({ input: "Is it there?" }) -> { go: boolean }\nif v.go { Out.write({ path: "a", content: "b" }) }';

describe("an item that a budget leaves out", () => {
    test.each([
        ["a number, whole", "m = Inbox.read({})\nuse m.n max 3 as n", { n: 1_234_567 }],
        ["an item of a list", 'm = Inbox.read({})\nxs = ["rule", m.t, "other rule"]\nuse xs max 20 as rules', { t: "x".repeat(50) }],
        [
            "under a total",
            'm = Inbox.read({})\ncontext max 200\nuse m.n as n\nuse "what is asked" priority 1 as asked',
            { n: Number("1".repeat(300)) },
        ],
    ])("still chose what the model says: %s", (_name, body, mail) => {
        expect(ran(`${body}\n${branch}`, mail)).toEqual([[], "violation.flow"]);
    });

    test("and what it calls", () => {
        const loop = 'm = Inbox.read({})\nuse m.n max 3 as n\ngenerate({ input: "If nothing is there, write.", tools: [Out] })';
        expect(ran(loop, { n: 1_234_567 })[0]).toEqual([]);
        expect(ran(loop.replace("m.n max 3", '"1" max 3'), { n: 1_234_567 })[0]).toEqual(["Out.write"]);
    });
});

test("that an answer does not come in time was chosen by whoever does not give it (LIC1)", () => {
    const late = (read: string): [readonly string[], Json] =>
        ran(
            `late = false\ntry { spend 1 s { ${read} } } catch e { late = true }\nif late { Out.write({ path: "a", content: "b" }) }`,
            {},
            (waiting) =>
                Math.max(
                    waiting.findIndex(({ path }) => path.endsWith("/time")),
                    0,
                ),
        );
    expect(late("Inbox.read({})")).toEqual([[], "violation.flow"]);
});
