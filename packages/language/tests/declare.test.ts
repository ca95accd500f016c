/** Programs as TypeScript declarations: what they say, and that they say no more than is true. */
import { describe, expect, test } from "vitest";
import { check } from "../src/check/check.ts";
import type { Contract } from "../src/contract/contract.ts";
import { showContract } from "../src/contract/show.ts";
import { declarationsOf } from "../src/declare/declare.ts";
import { declaredOf, type Declared } from "../src/declare/starts.ts";
import { loadProgram } from "../src/load/program.ts";

function declared(text: string, others: { readonly [file: string]: string } = {}): Declared {
    const files = { "main.remit": text, ...others };
    const read = (name: string) => files[name as "main.remit"] ?? null;
    const checked = check(loadProgram("main.remit", { read, resolve: (_from, uri) => uri.replace("./", "") }));
    expect(checked.diagnostics.filter((one) => one.severity === "error").map((one) => one.message)).toEqual([]);
    return declaredOf(checked);
}

const shown = (contract: Contract | undefined): string => (contract === undefined ? "nothing" : showContract(contract));

test("a program with everything, byte for byte", () => {
    const text = `import tool Weather from "host:weather"
shape City { name: string "its */ name", size: number = 3 }
shape any { city: City? }
func delete(n: number, by: number = 1) { n - by }
main agent Forecast {
    description "Tells
the sky."
    func sky(city: City) -> "clear" | "grey" { Weather.now(city).sky }
    main func(input: { at: any, days?: number }) { { at: input.at, sky: sky(input.at.city) } }
}
`;
    expect(
        declarationsOf(declared(text), { path: "src/sky.remit" }),
    ).toBe(`// Written by \`remit types\` from "src/sky.remit". A change of this file is lost when it is written again.

import type * as $ from "remit-lang";

export type City = {
    /** its *\\/ name */
    name: string;
    /** Default: 3. */
    size: number;
};

/** As a caller gives it. */
export type City$Input = {
    /** its *\\/ name */
    name: string;
    /** Default: 3. */
    size?: number;
};

export type $any = {
    city: City | null;
};

/** As a caller gives it. */
export type $any$Input = {
    city: City$Input | null;
};

/** What is typed of it: input and output, the tools that its caller brings, what a run can begin with, values of blocks. */
export interface $Program {
    readonly input: {
        at: $any$Input;
        days?: number;
    };
    readonly output: {
        at: $any;
        sky: "clear" | "grey";
    };
    readonly tools: {
        readonly Weather: $.ToolWith<"now">;
    };
    readonly entries: {
        readonly "delete": {
            readonly input: {
                n: number;
                /** Default: 1. */
                by?: number;
            };
            readonly output: number;
        };
        readonly "Forecast.sky": {
            readonly input: City$Input;
            readonly output: "clear" | "grey";
        };
        readonly "Forecast": {
            readonly input: {
                at: $any$Input;
                days?: number;
            };
            readonly output: {
                at: $any;
                sky: "clear" | "grey";
            };
        };
    };
    readonly blocks: {};
}

declare const $delete: $.EntryOf<$Program, "delete">;
export { $delete as delete };
/** Tells the sky. */
export declare const Forecast: $.EntryOf<$Program, "Forecast">;
export declare const main: $.Main<$Program>;
declare const $open: $.Open<$Program>;
export default $open;

declare module "remit-lang" {
    interface Programs {
        readonly "src/sky.remit": $Program;
    }
}
`);
});

describe("what a run takes, by the parameters of its function", () => {
    test.each([
        ["main func() { 1 }", "none"],
        ["main func(a) { 1 }", "json"],
        ["main func(a: number) { 1 }", "{ a: number }"],
        ["main func(a: list[string]?) { 1 }", "{ a?: list[string]? }"],
        ["main func(a: number = 2) { 1 }", "{ a: number = 2 }"],
        ["main func(input { a: string }) { 1 }", "{ a: string }"],
        ['main func(a, b: string = "x") { 1 }', '{ a: json, b: string = "x" }'],
    ])("%s", (text, input) => {
        expect(shown(declared(text).main?.input)).toBe(input);
    });
});

describe("what a run gives, where nothing declares it", () => {
    test.each([
        ['main func() { "a".upper() }', "string"],
        ["main func(a) { if a.b { return 1 }  return none }", "number?"],
        ["main func(a) { { n: 1, inner: { s: `{a}`, b: a.x == 1 } } }", "{ n: number, inner: { s: string, b: boolean } }"],
        ['main func(a) { raise "no" }', "json"],
        // RSL1: an assignment, here or elsewhere, may have put something else there
        ["main func(a) { x = { n: 1 }  x.n = a  x }", "{ n: json }"],
        ["func f(x, a) { x.n = a  x }\nmain func(a) { x = { n: 1, m: 2 }  f(x, a)  x }", "{ n: json, m: number }"],
        ['func f(x, k, a) { x[k] = a }\nmain func(a) { x = { n: 1 }  f(x, "n", a)  x }', "{}"],
        ["shape V { n: number }\nmain func(v: V) { v }", "V"],
        ["shape V { n: number }\nfunc f(x, a) { x.n = a }\nmain func(v: V, a) { f(v, a)  v }", "{}"],
    ])("%s", (text, output) => {
        expect(shown(declared(text).main?.output)).toBe(output);
    });

    test("a shape of another file has no name here", () => {
        const other = "shape V { n: number, next: V? }\nagent Other { main func() -> V { { n: 1, next: none } } }\n";
        const text = 'import agent Other from "./other.remit"\nshape V { other: string }\nmain func() { Other() }\n';
        expect(shown(declared(text, { "other.remit": other }).main?.output)).toMatch(/^\{ n: number, next: \{ n: number, next: /);
    });

    test("blocks: one value, or a list of all, and each that has a name", () => {
        const one = declared('func size(t: string) -> number { t.length }\nmemory static ( echo "a" >=> size ) as length\n');
        expect([shown(one.main?.output), one.blocks.map(({ name, output }) => [name, shown(output)])]).toEqual([
            "number",
            [["length", "number"]],
        ]);
        const two = declared('memory static ( echo "a" )\nmemory static ( echo "b" )\n');
        expect([shown(two.main?.output), two.blocks, two.exports]).toEqual(["list", [], ["main"]]);
    });
});

test("a path cannot end the comment that it stands in", () => {
    const text = declarationsOf(declared("func f() { 1 }\n"), { path: "a\u2028declare const evil: 1; // \n.remit" });
    // In a string it is a letter like any other; a comment ends there.
    expect(text.split("\n")[0]).not.toMatch(/[\r\u2028\u2029]/);
});

test("the tools that the caller brings are those of all files, with the methods that are called", () => {
    const other = 'import tool Stock from "host:stock"\nagent Other { main func() { Stock.left({}) } }\n';
    const text = `import agent Other from "./other.remit"
import tool Mail from "host:mail"
import tool Disk from "file://workspace"
main func() { Mail.send({})  Mail.list({})  Disk.list({})  Other() }
`;
    expect(Object.fromEntries(declared(text, { "other.remit": other }).tools)).toEqual({ Stock: ["left"], Mail: ["list", "send"] });
});
