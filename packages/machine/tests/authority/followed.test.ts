/**
 * `addresses` by what programs that people read with really follow: three Markdown renderers, a mail and chat autolinker, and the WHATWG URL parser
 * (`oracles.ts`). `REMIT_TEST_TIMES=10` looks at 10,000 hostile texts; a browser's DOM is asked by `followed-by-chromium.ts`.
 */
import { expect, test } from "vitest";
import { addressesIn } from "../../src/authority/addresses.ts";
import { cases } from "../cases.ts";
import { followedIn } from "./oracles.ts";
import { dice, glued, harmless, hostile, thrown } from "./texts.ts";

const SEED = Number(process.env["REMIT_TEST_SEED"] ?? 1);

test("whatever one of them follows in a hostile text is an address", () => {
    const runs = cases(1000);
    const roll = dice(SEED);
    let led = 0;
    for (let n = 0; n < runs; n++) {
        const text = hostile(roll);
        const followed = followedIn(text);
        if (followed === null) continue;
        led++;
        expect(addressesIn(text), `${followed.by} follows ${JSON.stringify(text)} to ${followed.to}`).not.toEqual([]);
    }
    // Else the test would hold of a rule that finds nothing.
    expect(led).toBeGreaterThan(runs / 4);
});

test("whatever one of them links of names with full stops is an address", () => {
    const roll = dice(SEED);
    let led = 0;
    for (let n = 0; n < cases(20_000); n++) {
        const text = glued(roll);
        const followed = text.includes(".") ? followedIn(text) : null;
        if (followed === null) continue;
        led++;
        expect(addressesIn(text), `${followed.by} follows ${JSON.stringify(text)} to ${followed.to}`).not.toEqual([]);
    }
    expect(led).toBeGreaterThan(100);
});

test("whatever one of them follows in signs of links in any order is an address", () => {
    const runs = cases(4000);
    const roll = dice(SEED);
    let led = 0;
    for (let n = 0; n < runs; n++) {
        const text = thrown(roll);
        const followed = followedIn(text);
        if (followed === null) continue;
        led++;
        expect(addressesIn(text), `${followed.by} follows ${JSON.stringify(text)} to ${followed.to}`).not.toEqual([]);
    }
    expect(led).toBeGreaterThan(runs / 40);
});

test.each(['See [now]( <f\ttp:/evil/x y> "t")', "[now]\n\n[now]: <fi\tle:[::1]>"])("a tab in a destination: %j", (text) => {
    expect(followedIn(text)).not.toBeNull();
    expect(addressesIn(text)).not.toEqual([]);
});

test.each(["x\\//127.1", "\u00b2\\//7.1", "a\\\\//1.1 b"])("two slashes behind a backslash in a word: %j", (text) => {
    expect(followedIn(text)).not.toBeNull();
    expect(addressesIn(text)).not.toEqual([]);
});

test.each(["1www.s/@", "-1www.https/@ now"])("`www.` within a word that has a sign of mails: %j", (text) => {
    expect(followedIn(text)).not.toBeNull();
    expect(addressesIn(text)).not.toEqual([]);
});

test("of harmless texts at most one in a hundred is asked about", () => {
    const runs = cases(200);
    const roll = dice(SEED);
    const asked: string[] = [];
    for (let n = 0; n < runs; n++) {
        const text = harmless(roll);
        expect(followedIn(text), text).toBeNull();
        if (addressesIn(text).length > 0) asked.push(text);
    }
    expect(asked.length, JSON.stringify(asked.slice(0, 3))).toBeLessThanOrEqual(runs / 100);
});
