/** Every rule of the checker, from the case files: what is reported on which line, and nothing else. */
import { describe, expect, test } from "vitest";
import { CODES, check, SYNTAX_CODES } from "../../src/index.ts";
import { caseFiles, load, readCases, reported } from "./cases.ts";

describe.each(caseFiles())("%s", (name) => {
    test.each(readCases(name).map((one) => [one.title, one] as const))("%s", (_title, one) => {
        const program = check(load(one.files, one.entry));
        expect(reported(program, one.shift, one.notes)).toEqual(one.expected);
    });
});

/** Told of a program form (`src/hostile`), with cases of its own. */
const OF_FORMS: ReadonlySet<string> = new Set(["CHOICE_ASKED"]);

test("every code of the checker has a case", () => {
    const seen = new Set(caseFiles().flatMap((name) => readCases(name).flatMap((one) => one.expected.map((mark) => mark.split(" ")[1]))));
    expect(Object.keys(CODES).filter((code) => !(code in SYNTAX_CODES) && !OF_FORMS.has(code) && !seen.has(code))).toEqual([]);
});
