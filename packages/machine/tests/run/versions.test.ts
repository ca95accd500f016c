/** SD4: a continuation goes on in the code that it was saved in, and in no other. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { versionOf } from "../../src/compile/version.ts";
import { Compiled, Fail, Machine, type Outcome } from "../../src/index.ts";
import { OPTIONS } from "./forms.ts";
import { body, formOf } from "./text.ts";

const TOOL = 'import tool T from "http://example.test"\n';
const ok = (value: Json): Outcome => ({ ok: true, value, origins: ["tool:T"] });
const print = (json: unknown): Json => JSON.parse(JSON.stringify(json)) as Json;

function imageOf(m: Machine): Json {
    const saved = m.save({ image: true });
    if (!("image" in saved)) throw new Error("no image");
    return print(saved.image);
}

function loading(compiled: Compiled, documents: readonly Json[]): Machine | Fail {
    try {
        return Machine.load(compiled, OPTIONS, documents);
    } catch (error) {
        if (error instanceof Fail) return error;
        throw error;
    }
}

test("a compiler that gives another listing does not go on with it, and performs nothing again", () => {
    const form = formOf(body(`x = T.get(1)\ny = T.get(2)\nx + y`, TOOL));
    const m = Machine.start(new Compiled(form), OPTIONS);
    const performed = m.advance().effects.map((one) => one.path);
    m.resolve("main/T.get#0", ok(1));
    performed.push(...m.advance().effects.map((one) => one.path));
    const image = imageOf(m);

    const refused = loading(new Compiled(form, null, true), [image]);
    if (refused instanceof Machine) {
        // What a build that loads it does: the code before the place that waits runs again.
        refused.resolve("main/T.get#1", ok(2));
        performed.push(...refused.advance().effects.map((one) => one.path));
    }
    expect(performed).toEqual(["main/T.get#0", "main/T.get#1"]);
    expect(refused).toMatchObject({
        kind: "invalid_payload",
        message: expect.stringMatching(
            /^this continuation cannot be loaded: its code of main\.remit is version [0-9a-f]{16}, and this machine compiles that file to version [0-9a-f]{16}$/,
        ),
    });
});

test("every file and way of running that has frames is named", () => {
    const form = formOf({
        "main.remit": `import agent Other from "./other.remit"
${TOOL}main agent A { main func(input) { x = T.get(0)  Other(x) } }`,
        "other.remit": `flow strict
${TOOL}agent Other { main func(x) { T.get(1) } }`,
    });
    const compiled = new Compiled(form);
    const m = Machine.start(compiled, OPTIONS);
    m.advance();
    const file = (name: string): number => form.files.findIndex((one) => one.file === name);
    const named = (): Json =>
        (imageOf(m) as { code: { file: number; strict?: true }[] }).code.map(({ file, strict }) => [file, strict ?? false]);
    expect(named()).toEqual([[file("main.remit"), false]]);
    m.resolve("main/T.get#0", ok(0));
    m.advance();
    expect(named()).toEqual([
        [file("main.remit"), false],
        [file("other.remit"), true],
    ]);
});

test("frames of a file whose version is not named are refused", () => {
    const compiled = new Compiled(formOf(body(`x = T.get(1)\nx`, TOOL)));
    const m = Machine.start(compiled, OPTIONS);
    m.advance();
    const image = imageOf(m) as { [key: string]: Json };
    expect(loading(compiled, [{ ...image, code: [] }])).toMatchObject({
        message: expect.stringContaining("it does not name the version of the compiled code of main.remit"),
    });
    expect(loading(compiled, [image])).toBeInstanceOf(Machine);
});

test("instructions make another version, places in the source do not", () => {
    const version = (statements: string, padded = false): string =>
        versionOf(new Compiled(formOf(body(statements, TOOL)), null, padded), 0, false);
    expect(version(`x = T.get(1)\nx`)).toBe(version(`\n\nx = T.get(1)\nx`));
    expect(version(`x = T.get(1)\nx`)).not.toBe(version(`x = T.get(1)\ny = x\ny`));
    expect(version(`x = T.get(1)\nx`)).not.toBe(version(`x = T.get(1)\nx`, true));
});
