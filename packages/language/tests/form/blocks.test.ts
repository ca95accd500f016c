/** Blocks as forms: from a source to a form and back (LW2, RS2), and where a program with blocks begins. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validateProgram } from "../../src/answer/validate.ts";
import type { Json } from "../../src/contract/contract.ts";
import type { BlockForm, FlowForm, Program, StageForm, StageValueForm } from "../../src/form/form.ts";
import { lower } from "../../src/form/lower.ts";
import { printForm, raise } from "../../src/form/raise.ts";
import { parse } from "../../src/syntax/parse/parse.ts";
import type { File } from "../../src/syntax/tree.ts";
import { source } from "../../src/text/source.ts";
import { plain } from "./forms.ts";

function lowered(file: File): Program {
    const { file: name } = file.source;
    return lower({ entry: name, files: new Map([[name, file]]), order: [name], links: new Map() });
}
const formOf = (text: string): Program => lowered(parse(source(text, "main.remit")));
const blockOf = (text: string): BlockForm => plain(formOf(text).files[0]?.blocks?.[0] as BlockForm);

const NAMES = ["a", "read", "Repo", "verdict", "list", "max"];
const name = fc.constantFrom(...NAMES);
const maybe = <X>(of: fc.Arbitrary<X>) => fc.option(of, { nil: undefined });
const ref = fc.record({ name, method: maybe(fc.constantFrom("read", "for", "as")) });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const value: fc.Arbitrary<StageValueForm> = fc.oneof(
    json.map((one): StageValueForm => ({ kind: "literal", value: one })),
    fc.constant<StageValueForm>({ kind: "literal", value: 90_000, text: "1.5min" }),
    ref.map((one): StageValueForm => ({ kind: "ref", ...one })),
    fc.array(ref, { minLength: 1, maxLength: 3 }).map((items): StageValueForm => ({ kind: "refs", items })),
);
const options = fc
    .record(
        {
            timeout: fc.constantFrom(1, 1500, 60_000, 7_200_000, 0.5),
            retries: fc.nat(9),
            on_error: fc.constantFrom("fail", "collect", "none"),
            queue: fc.constantFrom("q", "two words"),
            credential: fc.record({
                source: fc.constantFrom("env", "file", "exec", "oauth", "secret"),
                arg: fc.constantFrom("KEY", 'a "b"'),
            }),
            as: fc.constant("user:alice"),
            priority: fc.integer({ min: 1, max: 5 }),
            rate: fc.constantFrom(0.5, 10),
            model: name,
        },
        { requiredKeys: [] },
    )
    .filter((one) => Object.keys(one).length > 0);
const stage: fc.Arbitrary<FlowForm> = fc
    .record({
        call: name,
        method: maybe(fc.constantFrom("read", "if")),
        bare: fc.array(value, { maxLength: 2 }),
        named: fc.array(fc.record({ name, value }), { maxLength: 2 }),
        with: maybe(options),
    })
    .map(({ bare, named, ...one }) => ({ kind: "stage", ...one, args: [...bare.map((of) => ({ value: of })), ...named] }) as StageForm);
const flow: fc.Arbitrary<FlowForm> = fc.letrec<{ flow: FlowForm }>((tie) => {
    const several = { minLength: 2, maxLength: 3 };
    const stages = fc.array(
        tie("flow").filter((one) => one.kind !== "pipe"),
        several,
    );
    return {
        flow: fc.oneof(
            { maxDepth: 3 },
            stage,
            stages.map((all): FlowForm => ({ kind: "pipe", stages: all })),
            fc.array(tie("flow"), several).map((branches): FlowForm => ({ kind: "fan", branches })),
            blockForm(tie("flow")),
        ),
    };
}).flow;

function blockForm(body: fc.Arbitrary<FlowForm>): fc.Arbitrary<BlockForm> {
    return fc.record({
        kind: fc.constant("block"),
        backend: fc.constantFrom("memory", "temporal"),
        mode: fc.constantFrom("static", "dynamic"),
        body,
        name: maybe(fc.constantFrom("v", "as")),
    });
}

describe("blocks as forms", () => {
    test("LW2, RS2: a form is the same after its tree, and after its source", () => {
        const file = { file: "main.remit", imports: [], shapes: [], funcs: [], agents: [] };
        fc.assert(
            fc.property(fc.array(blockForm(flow), { minLength: 1, maxLength: 3 }), (blocks) => {
                const program: Program = { format: "remit-program/1", files: [{ ...file, blocks }], entry: { file: 0, func: "__blocks" } };
                expect(plain(lowered({ ...(raise(program)[0] as File), source: source("", "main.remit") }))).toEqual(plain(program));
                const again = parse(source(printForm(program)[0] as string, "main.remit"));
                expect(again.diagnostics).toEqual([]);
                expect(plain(lowered(again))).toEqual(plain(program));
            }),
            { numRuns: 300 },
        );
    });

    test("what a stage says", () => {
        const text =
            'temporal dynamic ( Repo.read "a" verdict [Search, Repo.list] (max: 5 min, tools: [], deep: { a: [1, "x"] })' +
            ' with { timeout: 2 min, retries: 2, on_error: "collect", credential: env("KEY"), model: Claude } ) as out';
        expect(blockOf(text)).toEqual({
            kind: "block",
            backend: "temporal",
            mode: "dynamic",
            name: "out",
            body: {
                kind: "stage",
                call: "Repo",
                method: "read",
                args: [
                    { value: { kind: "literal", value: "a" } },
                    { value: { kind: "ref", name: "verdict" } },
                    { value: { kind: "refs", items: [{ name: "Search" }, { name: "Repo", method: "list" }] } },
                    { name: "max", value: { kind: "literal", value: 300_000, text: "5min" } },
                    { name: "tools", value: { kind: "literal", value: [] } },
                    { name: "deep", value: { kind: "literal", value: { a: [1, "x"] } } },
                ],
                with: {
                    timeout: 120_000,
                    retries: 2,
                    on_error: "collect",
                    credential: { source: "env", arg: "KEY" },
                    model: "Claude",
                },
            },
        });
    });

    test("places are those of the source", () => {
        const [block] = formOf("memory static (\n    a >=> ( b\n    <*> c )\n)").files[0]?.blocks ?? [];
        const body = block?.body as FlowForm & { kind: "pipe" };
        expect([block?.at, body.stages[0]?.at, body.stages[1]?.at]).toEqual([
            [1, 1, 4, 2],
            [2, 5, 2, 6],
            [2, 11, 3, 12],
        ]);
    });

    test("a program with blocks begins with them, and knows where it would begin without", () => {
        const starts = (text: string) => {
            const { entry, main } = formOf(text);
            return [entry, main];
        };
        const block = "memory static ( echo ) as a";
        expect(starts(block)).toEqual([{ file: 0, func: "__blocks" }, undefined]);
        expect(starts(`main agent A { main func run() { 1 } }\n${block}`)).toEqual([
            { file: 0, func: "__blocks" },
            { file: 0, agent: "A", func: "run" },
        ]);
        expect(starts(`main func() { 1 }\n${block}\n${block}`)).toEqual([
            { file: 0, func: "__blocks" },
            { file: 0, func: "__main" },
        ]);
        expect(starts("main func() { 1 }")).toEqual([{ file: 0, func: "__main" }, undefined]);
    });

    test("its form is a valid one", () => {
        const found = validateProgram(formOf('memory static ( ( echo "a" <*> echo "b" ) >=> merge )'), { authored: true, checked: true });
        expect(found.ok).toBe(true);
    });
});
