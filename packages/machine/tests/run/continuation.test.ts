/** M6, M7: what a continuation holds, how much is written, and what is refused. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { Compiled, type Effect, Fail, Machine, type Outcome } from "../../src/index.ts";
import { OPTIONS } from "./forms.ts";
import { body, formOf, runText } from "./text.ts";

const TOOL = 'import tool T from "http://example.test"\n';
const ok = (value: Json): Outcome => ({ ok: true, value, origins: ["tool:T"] });
const print = (json: unknown): Json => JSON.parse(JSON.stringify(json)) as Json;

function started(statements: string): { m: Machine; compiled: Compiled } {
    const compiled = new Compiled(formOf(body(statements, TOOL)));
    const m = Machine.start(compiled, OPTIONS);
    m.advance();
    return { m, compiled };
}

function imageOf(m: Machine): { [key: string]: Json } {
    const saved = m.save({ image: true });
    if (!("image" in saved)) throw new Error("no image");
    return print(saved.image) as { [key: string]: Json };
}

describe("what is saved", () => {
    test("sharing and cycles stay", () => {
        const ran = runText(
            body(
                `xs = [1]  o = { a: xs, b: xs, n: none }  o.self = o  T.get(1)  o.a.add(2)  return [o.b, o.self.self.a.length, o.self == o]`,
                TOOL,
            ),
            { saving: true, unchecked: true },
        );
        expect(print(ran.result)).toMatchObject({ ok: true, value: [[1, 2], 2, true] });
    });

    test("numbers that JSON has no text for", () => {
        const ran = runText(body(`z = -0 * 1  x = 1  repeat * 400 { x = x * 10 }  T.get(1)  y = 1 / z  y == x`, TOOL), {
            saving: true,
            unchecked: true,
        });
        expect(ran.result).toMatchObject({ ok: false, failure: { message: "division by zero" } });
        const big = runText(body(`x = 1  repeat * 400 { x = x * 10 }  T.get(1)  x > 5`, TOOL), { saving: true });
        expect(big.result).toMatchObject({ ok: true, value: true });
    });

    test("a list that grows costs what it grows by, and images keep the whole in bounds", () => {
        const { m } = started(`xs = []  repeat * 2000 { r = T.get(1)  xs.add(r) }  xs.length`);
        let written = 0;
        let images = 0;
        let largest = 0;
        for (let i = 0; i < 2000; i++) {
            const saved = m.save();
            const text = JSON.stringify(saved);
            written += text.length;
            if ("image" in saved) images++;
            else largest = Math.max(largest, text.length);
            m.resolve((m.pending[0] as Effect).path, ok("x".repeat(20)));
            m.advance();
        }
        expect(largest).toBeLessThan(2000);
        expect(images).toBeLessThan(60);
        expect(written).toBeLessThan(5_000_000);
    });

    test("capabilities are names, and imports come back", () => {
        const source = `${TOOL}import file F from "f.json"\nmain agent A { main func(input) { o = { t: T }  o.t.get(1)  F.x } }`;
        const ran = runText(source, {
            saving: true,
            unchecked: true,
            options: { imports: { "0/F": { json: { x: 5 }, origins: ["file:f.json"] } } },
        });
        expect(ran.result).toEqual({ ok: true, value: 5, origins: ["file:f.json"] });
    });

    test("what an ended iteration made belongs to the one around it, also when read from deltas", () => {
        const statements = `parallel for x in [1] max 1 {
            r = parallel for y in [1, 2] max 2 { made = [y]  T.get(1)  made }
            T.get(2)
            r[0].add(9)
            r
        }`;
        for (const saving of [true, 2, 3, 4, 5]) {
            const ran = runText(body(statements, TOOL), { saving });
            expect(print(ran.result)).toMatchObject({ ok: true, value: [[[1, 9], [2]]] });
        }
    });

    test("the shape of the document", () => {
        const { m } = started(`x = { a: 1 }\nT.get(x)`);
        const image = imageOf(m);
        expect(image).toMatchObject({ version: 1, engine: "remit-machine/1", program: "hash", run: "run", form: "image" });
        expect(image.fibers).toMatchObject([
            {
                id: 0,
                parent: null,
                waiting: "main/T.get#0",
                frames: [{ pc: 1, path: "main", principal: "user", site: { file: "main.remit" } }],
            },
        ]);
        expect(image.asked).toMatchObject([{ effect: { path: "main/T.get#0", kind: "tool" }, fiber: 0 }]);
    });
});

describe("what is refused", () => {
    const { m, compiled } = started("T.get(1)  T.get(2)");
    const image = imageOf(m);
    const asking = (change: { [key: string]: Json }): Json => {
        const doc = structuredClone(image) as { asked: { effect: { [key: string]: Json } }[] };
        Object.assign(doc.asked[0]?.effect as object, change);
        return doc as unknown as Json;
    };
    const load = (document: Json, options: { programHash?: string; run?: string } = {}): string => {
        try {
            Machine.load(compiled, { ...OPTIONS, ...options }, [document]);
            return "loaded";
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            return `${error.kind}: ${error.message}`;
        }
    };
    test.each<readonly [string, Json, RegExp]>([
        ["another version", { ...image, version: 2 }, /its version is 2, this machine reads 1/],
        ["another engine", { ...image, engine: "other/1" }, /its engine is other\/1/],
        ["another program", { ...image, program: "x" }, /it belongs to program x, not hash/],
        ["another run", { ...image, run: "x" }, /it belongs to run x, not run/],
        ["a field of a later version", { ...image, clocks: [] }, /it has a field 'clocks'/],
        ["a field that is not there", (({ budgets: _, ...rest }) => rest)(image as { [key: string]: Json }), /it has no field 'budgets'/],
        ["an effect of a later kind", asking({ kind: "dream" }), /of the effect it waits for its kind is "dream"/],
        ["an effect with a later field", asking({ colour: 1 }), /of the effect it waits for it has a field 'colour'/],
        [
            "an outcome with a later field",
            { ...image, inbox: [{ path: "main/T.get#0", outcome: { ok: true, value: 1, origins: [], signed: "x" } }] },
            /of an outcome in it it has a field 'signed'/,
        ],
        ["no object", [1], /it is no object/],
        ["a delta first", { ...image, form: "delta" }, /the first document is no image/],
    ])("%s", (_, document, message) => {
        expect(load(document)).toMatch(/^invalid_payload: /);
        expect(load(document)).toMatch(message);
    });

    test("a frame that does not fit, an object that is missing", () => {
        const frame = (change: { [key: string]: Json }): Json => {
            const doc = structuredClone(image) as { fibers: { frames: { [key: string]: Json }[] }[] };
            Object.assign(doc.fibers[0]?.frames[0] as object, change);
            return doc as unknown as Json;
        };
        expect(load(frame({ pc: 999 }))).toMatch(/a frame does not fit/);
        expect(load(frame({ fn: 999 }))).toMatch(/a frame does not fit/);
        expect(load(frame({ locals: [{ r: 77 }, null, null, null, null] }))).toMatch(/object 77 is missing/);
        expect(load(image)).toBe("loaded");
    });

    test("deltas out of order", () => {
        m.resolve((m.pending[0] as Effect).path, ok(1));
        m.advance();
        const first = print(m.save()) as { delta: Json };
        const second = print(m.save()) as { delta: Json };
        expect(() => Machine.load(compiled, OPTIONS, [image, second.delta])).toThrow(Fail);
        expect(Machine.load(compiled, OPTIONS, [image, first.delta, second.delta]).pending.map((e) => e.path)).toEqual(["main/T.get#1"]);
    });
});

test("a debugger sees fibers, frames and variables", () => {
    const { m } = started(`x = { a: 1 }\ny = parallel for p in [1, 2] max 5 { q = p + 1\n T.get(q) }`);
    const { threads } = m.inspect();
    expect(threads.map((t) => [t.name, t.waiting])).toEqual([
        ["main", "main/parallel#0"],
        ["main/parallel[0]", "main/parallel[0]/T.get#0"],
        ["main/parallel[1]", "main/parallel[1]/T.get#0"],
    ]);
    expect(threads[2]?.stackFrames[0]?.variables).toEqual(
        expect.arrayContaining([
            { name: "x", value: { a: 1 }, origins: [] },
            { name: "p", value: 2, origins: [] },
            { name: "q", value: 3, origins: [] },
        ]),
    );
});
