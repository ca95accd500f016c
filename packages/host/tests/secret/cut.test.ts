/** CUT1: what is told of a longer text has nothing of a secret at its cut. */
import { expect, test } from "vitest";
import { headOf, Tail, tailOf } from "../../src/secret/cut.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

const SECRET = "sk-0123456789abcdefABCDEFGHIJ";
const secrets = createScrubber([{ name: "env:KEY", value: SECRET }]);

test.each([
    ["is short", "a text", "a text"],
    ["is as long as may be told", "0123456789", "0123456789"],
    ["is longer", "0123456789-", "0123456789…"],
    ["is longer by half a character", "012345678😀", "012345678…"],
    ["has a secret behind", `0123456789${SECRET}`, "0123456789…"],
    ["has a secret at the cut", `01234567 ${SECRET}`, "01234567 […"],
])("the beginning of a text that %s", (_, text, told) => expect(headOf(text, 10, secrets)).toBe(told));

test.each([
    ["is short", "a text", "a text"],
    ["is longer", "-0123456789", "…0123456789"],
    ["is longer by half a character", "😀012345678", "…012345678"],
    ["has a secret before", `${SECRET}0123456789`, "…0123456789"],
    ["has a secret at the cut", `${SECRET} 01234567`, "…] 01234567"],
])("the end of a text that %s", (_, text, told) => expect(tailOf(text, 10, secrets)).toBe(told));

test("the end of a text that comes in pieces, whatever the pieces are and however much went before", () => {
    for (const before of [0, 5, 30, 1_000])
        for (const size of [1, 7, 2_000])
            for (let after = 0; after < 70; after++) {
                const whole = "x".repeat(before) + SECRET + "-".repeat(after);
                const tail = new Tail(32);
                for (let at = 0; at < whole.length; at += size) tail.take(whole.slice(at, at + size));
                const told = tail.text(secrets);
                for (let from = 0; from + 4 <= SECRET.length; from++) expect(told).not.toContain(SECRET.slice(from, from + 4));
                expect(told.endsWith("-".repeat(Math.min(after, 32)))).toBe(true);
                expect(told.length).toBeLessThanOrEqual(33);
            }
});
