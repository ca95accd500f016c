/**
 * Case tables: a rule, a program, what must come of it.
 */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type Expected, type Setting, inMain, play, summary } from "./harness.ts";

/** Rule; statements of a main function (or a whole program); what must come of it; what it is given. */
export type Row = readonly [rule: string, text: string, expected: Expected, setting?: Setting & { readonly before?: string }];

/** The value of statements. */
export const is = (value: Json): Expected => ({ value });
/** `kind: message`; a message that ends in `…` is only begun. */
export const fails = (failure: string): Expected => ({ fails: failure });
/** Codes of the errors, in order of place. */
export const refused = (codes: string): Expected => ({ codes });
/** Runs to its end, whatever the value. */
export const runs: Expected = { codes: "" };

const WHOLE = /^\s*(?:\/\/[^\n]*\n\s*)*(?:import\s+\w+\s|(?:main\s+)?agent\b\s*\w*\s*\{|(?:main\s+)?func\s*\w*\s*\(|shape\s+\w+\s*\{)/;

export function rules(section: string, rows: readonly Row[]): void {
    describe(section, () => {
        for (const [rule, text, expected, setting = {}] of rows)
            test(rule, async () => {
                const { before, ...given } = setting;
                const played = await play(WHOLE.test(text) ? text : inMain(text, before), given);
                expect(summary(played, expected)).toEqual(expected);
            });
    });
}
