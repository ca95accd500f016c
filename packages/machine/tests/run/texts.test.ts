/** LT1, LT2: large texts stand in a continuation once, a turn of a conversation writes what is new in it, and what is loaded goes on the same. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, joined, Machine, type MachineEvent, type ModelTurn, type Outcome } from "../../src/index.ts";
import { LARGE_TEXT, referred, restored } from "../../src/value/texts.ts";
import { OPTIONS } from "./forms.ts";
import { formOf } from "./text.ts";

const print = (json: unknown): Json => JSON.parse(JSON.stringify(json)) as Json;
const sizeOf = (json: unknown): number => JSON.stringify(json).length;

/** A text of so many units, another for each seed. */
function text(units: number, seed: number): string {
    let out = "";
    for (let n = seed * 1_000_003; out.length < units; n++) out += `${n.toString(36)} reads line ${n}\n`;
    return out.slice(0, units);
}

const agent = (body: string): string => `
import llm M from "mock://m"
import tool T from "http://example.test"
main agent A { model M role "a reader" description "Reads." main func(input) {
${body}
} }`;

const TURNS = 51;
const RESULT = 8_000;
const CONVERSATION = agent(`generate({ input: "Look at all.", tools: [T], turns: ${TURNS + 1} })`);

/** The model calls the tool in each turn but the last. */
function answer({ kind, path, request }: Effect): Outcome {
    const { op } = request as { op?: Json };
    if (op === "describe")
        return { ok: true, value: { methods: [{ name: "get", input: { type: "object" }, readOnly: true }] }, origins: ["tool:T"] };
    if (kind === "tool")
        return { ok: true, value: text(RESULT, path.length * 1000 + Number(/turn\[(\d+)/.exec(path)?.[1])), origins: ["tool:T"] };
    const { messages } = request as unknown as ModelTurn;
    const n = messages.filter(({ role }) => role === "tool").length;
    const calls = n < TURNS - 1 && path.includes("generate") ? [{ id: `c${n}`, name: "T_get", args: { n } }] : [];
    const value = { text: calls.length > 0 ? "" : "seen", finish: calls.length > 0 ? "tool" : "stop", model: "m", calls };
    return { ok: true, value, origins: ["model:M"] };
}

interface Told {
    readonly documents: Json[];
    /** Bytes of all documents, those among them that an image took the place of. */
    readonly written: number;
    readonly events: MachineEvent[];
    readonly result: unknown;
    readonly loads: number;
}

/** Saved as text at each step, and where `isCut` says so loaded from what was saved since the last image. */
function ran(source: string, isCut: (step: number) => boolean = () => false): Told {
    const compiled = new Compiled(formOf(source, true));
    let machine = Machine.start(compiled, { ...OPTIONS, limits: { steps: 1_000_000 } });
    let documents: Json[] = [];
    let written = 0;
    let loads = 0;
    const events: MachineEvent[] = [];
    for (let step = 0; step < 1000; step++) {
        const advanced = machine.advance();
        events.push(...advanced.events);
        if (advanced.state === "done") return { documents, written, events, result: advanced.result, loads };
        const saved = machine.save();
        written += sizeOf(saved);
        if ("image" in saved) documents = [print(saved.image)];
        else documents.push(print(saved.delta));
        if (isCut(step)) {
            loads++;
            const before = machine.pending;
            machine = Machine.load(compiled, { ...OPTIONS, limits: { steps: 1_000_000 } }, documents);
            expect(print(machine.pending)).toEqual(print(before));
        }
        const next = machine.pending[0] as Effect;
        machine.resolve(next.path, answer(next));
    }
    throw new Error("the run does not end");
}

describe("large texts", () => {
    const json = fc.letrec<{ json: Json }>((tie) => ({
        json: fc.oneof(
            { maxDepth: 4 },
            fc.string({ maxLength: 12 }),
            fc.constantFrom<Json>(null, true, 1, { $text: 1 }, { $plain: { $text: 1 } }, { $text: "x".repeat(9) }),
            fc.array(tie("json"), { maxLength: 4 }),
            fc.dictionary(fc.constantFrom("a", "value", "of", "$text", "$plain", "__proto__"), tie("json"), { maxKeys: 3 }),
        ),
    })).json;

    test("any JSON comes back, also what looks like a reference", () => {
        fc.assert(
            fc.property(json, (given) => {
                const texts: string[] = [];
                const held = referred(given, "$text", (one) => texts.push(one) - 1, 5);
                expect(restored(print(held), "$text", (id) => texts[id as number] as string)).toEqual(print(given));
            }),
        );
    });

    test("51 turns with results of 8 kB write them once, and again in each image", () => {
        const { written } = ran(CONVERSATION);
        expect(written / ((TURNS - 1) * RESULT)).toBeLessThan(4);
    });

    test("a turn writes what is new, however long the conversation is", () => {
        const { documents } = ran(CONVERSATION);
        const deltas = documents.slice(1).map(sizeOf);
        expect(Math.max(...deltas)).toBeLessThan(RESULT + 6_000);
    });

    test("cut anywhere, loaded and gone on with, a conversation is the same", () => {
        const whole = ran(CONVERSATION);
        fc.assert(
            fc.property(fc.infiniteStream(fc.boolean()), (cuts) => {
                const cut = ran(CONVERSATION, () => cuts.next().value);
                expect(print([cut.result, cut.events])).toEqual(print([whole.result, whole.events]));
            }),
            { numRuns: 5 },
        );
        expect(ran(CONVERSATION, () => true).loads).toBeGreaterThan(TURNS);
    });
});

test("what an effect gave is kept once, also where it is no text", () => {
    const rows = Array.from({ length: 100 }, (_, n) => ({ n, text: text(60, n) }));
    const names: string[] = [];
    const name = (one: string): number => (names.includes(one) ? names.indexOf(one) : names.push(one) - 1);
    const given = { outcome: { ok: true, value: rows }, event: { result: rows, args: [1] }, messages: [{ role: "tool", result: rows }] };
    const held = referred(given, "$text", name);
    expect(names).toEqual([JSON.stringify(rows)]);
    expect(sizeOf(held)).toBeLessThan(300);
    expect(restored(held, "$text", (id) => names[id as number] as string)).toEqual(given);
});

describe("a prompt's parts", () => {
    const long = text(20 * LARGE_TEXT, 7);
    const source = (use: string): string => agent(`log = T.get({})\nuse ${use} as "log"\nx = generate({ input: "Go" })\nT.get({ x: x })`);

    function first(use: string, value: Json): { turn: Effect; events: MachineEvent[]; image: string; request: ModelTurn } {
        const machine = Machine.start(new Compiled(formOf(source(use), true)), OPTIONS);
        const events = [...machine.advance().events];
        machine.resolve((machine.pending[0] as Effect).path, { ok: true, value, origins: ["tool:T"] });
        events.push(...machine.advance().events);
        const turn = machine.pending[0] as Effect;
        return {
            turn,
            events,
            image: JSON.stringify((machine.save() as { image: Json }).image),
            request: turn.request as unknown as ModelTurn,
        };
    }

    test("a text that is used stands in image, request and events as one text", () => {
        const { turn, events, image, request } = first("log", long);
        expect(image.split(JSON.stringify(long).slice(1, -1))).toHaveLength(2);
        expect(image.length).toBeLessThan(JSON.stringify(long).length + 8_000);
        const parts = request.messages.flatMap((message) => (message.role === "user" ? message.content : []));
        expect(parts.map((part) => part.type === "text" && part.text === long)).toEqual([false, true, false]);
        expect(JSON.stringify(events.filter(({ kind }) => kind === "generate.started"))).toContain(JSON.stringify(long));
        expect(turn.labels).toEqual(["tool:T"]);
    });

    test("what the model reads is the same text as in one part", () => {
        const { request } = first("log", long);
        const small = first("log", "SHORT").request;
        const read = ({ messages }: ModelTurn): string =>
            joined((messages[1] as { content: Parameters<typeof joined>[0] }).content)
                .map((part) => (part.type === "text" ? part.text : ""))
                .join("|");
        const untagged = (one: string): string => one.replace(/item-[0-9a-f]+/g, "item");
        expect(untagged(read(request)).replace(long, "SHORT")).toBe(untagged(read(small)));
        expect(small.messages).toHaveLength(2);
        expect((small.messages[1] as { content: unknown }).content).toHaveLength(1);
    });

    test("a value that is used is rendered once", () => {
        const { image } = first(
            "log",
            Array.from({ length: 400 }, (_, n) => ({ n, text: text(200, n) })),
        );
        const rendered = 400 * 240;
        expect(image.length).toBeLessThan(2.6 * rendered);
    });
});

test("LT1: a text that left with an image and comes back is written again", () => {
    const compiled = new Compiled(
        formOf(
            agent('i = 0\nloop until i > 11 max 40 {\ns = T.get("big")\nt = T.get("a")\ns = ""\nt = T.get("b")\ni = i + 1\n}\ni'),
            false,
        ),
    );
    const large = text(2 * LARGE_TEXT, 1);
    const machine = Machine.start(compiled, OPTIONS);
    let documents: Json[] = [];
    let without = 0;
    for (let { state } = machine.advance(); state !== "done"; { state } = machine.advance()) {
        const saved = machine.save({ spent: 0 });
        const isImage = "image" in saved;
        documents = isImage ? [print(saved.image)] : [...documents, print(saved.delta)];
        if (isImage && !Object.hasOwn(saved.image as object, "texts")) without++;
        Machine.load(compiled, OPTIONS, documents);
        const [{ path, request }] = machine.pending as [Effect];
        const isDescribed = (request as { op?: Json }).op === "describe";
        const value = isDescribed
            ? { methods: [{ name: "get", input: { type: "object" }, readOnly: true }] }
            : JSON.stringify(request).includes('"big"')
              ? large
              : "small";
        machine.resolve(path, { ok: true, value, origins: ["tool:T"] });
    }
    expect(without).toBeGreaterThan(1);
});
