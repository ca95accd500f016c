/** The published schema of the handshake: it takes what yields send, and nothing that is said otherwise. Every run of `handing.ts` is held against it too. */
import { readFileSync } from "node:fs";
import { type Json, PROGRAM_SCHEMA_ID, readAnswer } from "@remit/language";
import { describe, expect, test } from "vitest";
import { validates } from "../../../language/tests/contract/evaluate.ts";
import { answer, end, failed, handshakes, once, withFixer, wrongHandshake } from "../run/handing.ts";

type Document = { [key: string]: Json };

const print = (value: unknown): Document => JSON.parse(JSON.stringify(value)) as Document;

const PROGRAM = withFixer(
    `x = Fixer.yield(log: input, repo: Repo.only(read), gone: Gone, notes: Notes, helper: Helper, look: look, brain: M) with { skills: [Triage], steps: 5000, time: 1 min, turns: 3, bytes: 900 } -> { d: string }
     return [x, Helper.yield(n: 1)]`,
    `import tool Repo from "file://workspace"\nimport tool Gone from "mcp://gone"\nimport memory Notes from "file://n.jsonl"
     import llm M from "mock://m"\nimport skill Triage from "./skills/triage"
     func look(at: { path: string }, most: number = 3) -> list[string] { [at.path] }
     agent Helper { main func(x) { "func answer(agent, n) { n }" } func half(n: number) { n / 2 } }`,
);
const RAN = once(PROGRAM, {
    options: {
        input: { a: [1, null, "x"] },
        skills: { "0/Triage": { name: "triage", description: "Sorts.", sha256: "ab", text: "# Sort it" } },
    },
    world: (e) => {
        const r = e.request as { op?: string; tool?: string };
        return r.op === "describe" && r.tool === "Gone" ? failed("unreachable", "gone") : undefined;
    },
    agents: [
        answer('return { d: agent.send("x") + text(agent.yield(more: 1)) }', "log", "repo", "gone", "notes", "helper", "look", "brain"),
        "y",
        answer("return more", "more"),
    ],
});
const SENT = handshakes(RAN);

/** Places of a document that are objects of the handshake itself, not JSON of somebody else. */
function objectsIn(value: Json, way: readonly (string | number)[] = []): (readonly (string | number)[])[] {
    if (value === null || typeof value !== "object") return [];
    if (Array.isArray(value)) return value.flatMap((item, i) => objectsIn(item, [...way, i]));
    const here = way[way.length - 1] === "skills" ? [] : [way];
    const open = ["value", "contract", "expects", "input", "output"];
    return [...here, ...Object.keys(value).flatMap((key) => (open.includes(key) ? [] : objectsIn(value[key] as Json, [...way, key])))];
}

function at(document: Document, way: readonly (string | number)[]): Document {
    return way.reduce<Document>((found, step) => found[step as string] as Document, document);
}

describe("the handshake", () => {
    test("the run hands over what there is to hand over, on first and further turns, to agents outside and of the program", () => {
        expect(end(RAN)).toEqual([{ d: "y1" }, 1]);
        expect(SENT.map((one) => one.turn)).toEqual([0, 2, 0]);
        expect(((SENT[0] as Document).params as Document[]).map((one) => one.kind ?? "data")).toEqual([
            "data",
            "tool",
            "tool",
            "memory",
            "agent",
            "func",
            "llm",
        ]);
        expect(SENT[0]).toMatchObject({ limits: { steps: 5000, seconds: 60, turns: 3, bytes: 900 }, skills: { protocol: {}, triage: {} } });
        for (const document of SENT) expect(wrongHandshake(document)).toBe("");
    });

    test("with an unknown key in any of its objects it is refused, and without any that it must have", () => {
        for (const document of SENT)
            for (const way of objectsIn(document)) {
                const more = print(document);
                at(more, way).unheard_of = 1;
                expect(wrongHandshake(more), way.join("/")).not.toBe("");
            }
        const must = ["format", "session", "turn", "skills", "params", "expects", "limits", "answer"];
        for (const key of must) {
            const { [key]: _, ...rest } = SENT[0] as Document;
            expect(wrongHandshake(rest), key).not.toBe("");
        }
        for (const [way, keys] of [
            [
                ["params", 0],
                ["name", "contract", "value", "origins"],
            ],
            [
                ["params", 1],
                ["name", "kind", "handle"],
            ],
            [
                ["params", 1, "handle", 0],
                ["method", "gate"],
            ],
            [["params", 5, "call"], ["gate"]],
            [["limits"], ["turns", "bytes"]],
            [["answer"], ["forms", "signature", "schema"]],
            [["skills", "triage"], ["inline"]],
        ] as const)
            for (const key of keys) {
                const less = print(SENT[0]);
                delete at(less, way)[key];
                expect(wrongHandshake(less), `${way.join("/")}/${key}`).not.toBe("");
            }
    });

    test.each<readonly [string, readonly (string | number)[], Json]>([
        ["another version", ["format"], "remit-yield/2"],
        ["a session without a path", ["session"], ""],
        ["a turn below none", ["turn"], -1],
        ["half a turn", ["turn"], 0.5],
        ["skills as a list", ["skills"], []],
        ["a name that is none", ["params", 0, "name"], "a b"],
        ["origins that are no texts", ["params", 0, "origins"], [1]],
        ["a contract that is none", ["params", 0, "contract"], "string"],
        ["a kind that is none", ["params", 1, "kind"], "file"],
        ["a gate that is none", ["params", 1, "handle", 0, "gate"], "never"],
        ["a method without a name", ["params", 1, "handle", 0, "method"], ""],
        ["a reason that is none", ["params", 2, "unavailable"], "tired"],
        ["a signature that is none", ["params", 5, "call", "signature"], 5],
        ["what is expected as a text", ["expects"], "any"],
        ["no turns left", ["limits", "turns"], 0],
        ["a form that is none", ["answer", "forms"], ["prose"]],
    ])("%s", (_, way, value) => {
        const changed = print(SENT[0]);
        at(changed, way.slice(0, -1))[way[way.length - 1] as string] = value;
        expect(wrongHandshake(changed)).not.toBe("");
    });
});

describe("the answer as program form", () => {
    const [id = "", pointer = ""] = ((SENT[0] as Document).answer as { schema: string }).schema.split("#");
    const published = JSON.parse(
        readFileSync(new URL("../../../language/schema/program-form-1.json", import.meta.url), "utf8"),
    ) as Document;
    const schema: Document = { $ref: `#${pointer}`, $defs: published.$defs as Json };

    test("its schema is a definition of the published one", () => {
        expect(id).toBe(PROGRAM_SCHEMA_ID);
        expect(published.$id).toBe(PROGRAM_SCHEMA_ID);
        expect(
            pointer
                .split("/")
                .slice(1)
                .reduce<Json>((found, key) => (found as Document)[key] as Json, published),
        ).toMatchObject({ type: "object" });
    });

    test.each<readonly [string, boolean, Json]>([
        ["a function", true, {}],
        ["without a body", false, { body: null }],
        ["with an unknown key", false, { unheard_of: 1 }],
        ["with a name that is refused", false, { name: "__proto__" }],
        ["with a statement that is none", false, { body: [{ kind: "goto" }] }],
    ])("%s", (_, isRight, change) => {
        const func = {
            name: "answer",
            params: [{ name: "agent" }, { name: "n" }],
            effects: [],
            body: [{ kind: "return", value: { kind: "name", name: "n" } }],
            ...(change as Document),
        };
        const read = readAnswer(`\`\`\`json\n${JSON.stringify(func)}\n\`\`\``, [], { params: ["n"], file: "x", bytes: 9_000 });
        expect([read.ok, validates(func as Json, schema)]).toEqual([isRight, isRight]);
    });
});
