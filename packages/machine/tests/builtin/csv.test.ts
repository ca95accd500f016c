/** `csv.parse` and `csv.text`: RFC 4180, where the text is wrong, and labels. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { call, callGlobal, failure, labelled, list, object, origins, own, plain, runtime, TOOL, value } from "./support.ts";

const parse = (text: string, ...separator: Json[]): Json => {
    const rt = runtime();
    return plain(rt, callGlobal(rt, "csv", "parse", text, ...separator.map((one) => value(rt, one))));
};
const text = (rows: Json): Json => {
    const rt = runtime();
    return plain(rt, callGlobal(rt, "csv", "text", value(rt, rows)));
};

describe("csv.parse", () => {
    const TABLES: readonly (readonly [string, Json])[] = [
        ["", []],
        ["a,b", []],
        ["a,b\n", []],
        [
            "a,b\r\n1,2\r\n3,4",
            [
                { a: "1", b: "2" },
                { a: "3", b: "4" },
            ],
        ],
        ["a,b\n1,2\n", [{ a: "1", b: "2" }]],
        ["a\r1\r", [{ a: "1" }]],
        ['a,b\n"1,1","2\r\n2"\n', [{ a: "1,1", b: "2\r\n2" }]],
        ['a\n"say ""hi"""\n', [{ a: 'say "hi"' }]],
        ['"a,1","b"\n"",\n', [{ "a,1": "", b: "" }]],
        ["a, b\n 1 , 2\n", [{ a: " 1 ", " b": " 2" }]],
        ["\ufeffa\n1\n", [{ a: "1" }]],
        ["a\n\n", [{ a: "" }]],
        [",x\n1,2\n", [{ "": "1", x: "2" }]],
        ["10,2\nx,y\n", [{ "10": "x", "2": "y" }]],
    ];
    test.each(TABLES)("%j", (from, rows) => {
        expect(parse(from)).toEqual(rows);
    });

    test("fields are separated by what is given, and by nothing else", () => {
        for (const one of [",", ";", "\t", "|"]) {
            const other = one === "," ? ";" : ",";
            const rows = parse(`a${one}b\n1${other}5${one}"x${one}y"\n`, one);
            expect(rows).toEqual([{ a: `1${other}5`, b: `x${one}y` }]);
        }
        expect(failure(() => parse("a;b\n1;2;3\n", ";"))).toMatch(/more than 2 fields stand in this row at line 2, column 5$/);
        for (const one of ["", ";;", '"', "\n", "."])
            expect(failure(() => parse("a\n", one))).toMatch(/^value: csv\.parse: .* separates no fields$/);
    });

    test("a table with another separator says what to write", () => {
        const hint = (text: string, ...separator: Json[]): string | undefined => {
            try {
                parse(text, ...separator);
            } catch (error) {
                return (error as { hint?: string }).hint;
            }
            return undefined;
        };
        expect(hint("day;amount\n1;2,50\n")).toBe('the first row has no `,`; where `;` separates the fields, write csv.parse(text, ";")');
        expect(hint("day;amount\n1;2\n", { separator: ";" })).toMatch(/^write csv\.parse\(text, ";"\); the separators are /);
        expect(hint("day\tamount\n1\t2,50\n")).toContain('where tab separates the fields, write csv.parse(text, "\\t")');
        expect(hint("day,amount\n1,2;50;\n,,\n", ";")).toContain('where `,` separates the fields, write csv.parse(text, ",")');
        expect(hint("a,b;c\n1,2,3\n")).toMatch(/^a field with separators/);
    });

    test("columns keep their order, those that look like numbers included; __proto__ is a name like any other", () => {
        const rt = runtime();
        const rows = callGlobal(rt, "csv", "parse", "b,2,__proto__,1\nw,x,y,z\n");
        expect(plain(rt, call(rt, call(rt, rows, "first"), "keys"))).toEqual(["b", "2", "__proto__", "1"]);
        expect(call(rt, call(rt, rows, "first"), "get", "__proto__")).toBe("y");
    });

    const WRONG: readonly (readonly [string, RegExp])[] = [
        ["a,b\n1,2\n3\n", /1 of 2 fields stand in this row at line 3, column 1$/],
        ["a,b\n1,2,3\n", /more than 2 fields stand in this row at line 2, column 5$/],
        ['a,b\n"1\n1",2\n3\n', /1 of 2 fields stand in this row at line 4, column 1$/],
        ["a,b\n\n", /1 of 2 fields stand in this row at line 2, column 1$/],
        ['a\nx"y\n', /a quote stands in a field that does not begin with one at line 2, column 2$/],
        ['a\n"x"y\n', /something stands behind the quotes that end a field at line 2, column 4$/],
        ['a,b\n1,"x\ny', /the text ends inside the quotes that begin at line 2, column 3$/],
        ["a,b,a\n1,2,3\n", /the column "a" is named twice at line 1, column 1$/],
    ];
    test.each(WRONG)("%j is a failure", (from, message) => {
        expect(failure(() => parse(from))).toMatch(message);
        expect(failure(() => parse(from))).toMatch(/^value: csv\.parse: /);
    });

    test("any text ends in rows or a failure, and says what is no text", () => {
        const piece = fc.constantFrom('"', ",", "\n", "\r", "a", '""', " ");
        fc.assert(
            fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
                const said = failure(() => parse(pieces.join("")));
                expect(said === "no failure" || said.startsWith("value: csv.parse: ")).toBe(true);
            }),
            { numRuns: 2000 },
        );
        const rt = runtime();
        expect(failure(() => callGlobal(rt, "csv", "parse", 7))).toBe("value: csv.parse: text must be a string, not a number");
        expect(failure(() => callGlobal(rt, "csv", "parse", TOOL))).toMatch(/^violation\.capability: /);
    });

    test("rows and failures carry the labels of the text and the separator, and nothing else does", () => {
        const rt = runtime();
        const separated = callGlobal(rt, "csv", "parse", "a;b\n1;2\n", labelled(rt, ";", "tool:Web"));
        expect(own(rt, separated)).toEqual(["tool:Web"]);
        const rows = callGlobal(rt, "csv", "parse", labelled(rt, "a\n1\n", "tool:Web"));
        expect(own(rt, rows)).toEqual(["tool:Web"]);
        expect(own(rt, call(rt, rows, "first"))).toEqual(["tool:Web"]);
    });

    test("rows are charged before there are many", () => {
        const rt = runtime(10_000);
        expect(failure(() => callGlobal(rt, "csv", "parse", `a,b,c\n${"1,2,3\n".repeat(1000)}`))).toMatch(/^limit\.bytes: /);
    });
});

describe("csv.text", () => {
    const ROWS: readonly (readonly [Json, string])[] = [
        [[], ""],
        [[{}], ""],
        [[{ a: 1, b: true }, { a: null }], "a,b\r\n1,true\r\n,\r\n"],
        [[{ a: "x" }, { b: 'say "hi", or\nnot' }], 'a,b\r\nx,\r\n,"say ""hi"", or\nnot"\r\n'],
    ];
    test.each(ROWS)("%j", (rows, made) => {
        expect(text(rows)).toBe(made);
    });

    test("CSV3: what it writes of texts is read back as it was", () => {
        const field = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', ",", "\r", "\n", "\ufeff", " ") }));
        const table = fc
            .tuple(
                fc.uniqueArray(field, { minLength: 1, maxLength: 4 }),
                fc.array(fc.array(field, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
            )
            .map(([names, rows]) => rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] as string]))));
        fc.assert(
            fc.property(table, (rows) => {
                expect(parse(text(rows) as string)).toEqual(rows);
            }),
        );
    });

    test("what is no table is a failure", () => {
        expect(failure(() => text([{ a: [1] }]))).toMatch(/^value: csv\.text: "a" of a row is a list/);
        expect(failure(() => text(["a"]))).toMatch(/^value: csv\.text: every row must be an object, not a string/);
        const rt = runtime();
        expect(failure(() => callGlobal(rt, "csv", "text", list(rt, object(rt, { a: TOOL }))))).toMatch(/^violation\.capability: /);
    });

    test("the text carries the labels of every field, row and list", () => {
        const rt = runtime();
        const rows = list(rt, labelled(rt, object(rt, { a: labelled(rt, "x", "model:M"), b: 1 }), "tool:Web"));
        expect(origins(rt, callGlobal(rt, "csv", "text", labelled(rt, rows, "file:a"))).toSorted()).toEqual([
            "file:a",
            "model:M",
            "tool:Web",
        ]);
    });
});
