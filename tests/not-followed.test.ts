/**
 * How much of strict code the checker does not follow to its end, by what it says itself (`FLOW_NOT_FOLLOWED`): of the programs that hold strict mode to
 * its word, of the examples and of the templates, each made strict and with a clause that makes the checker follow what flows.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { check, loadProgram } from "@remit/language";
import fc from "fast-check";
import { expect, test } from "vitest";
import * as containers from "../packages/machine/tests/authority/container-programs.ts";
import * as control from "../packages/machine/tests/authority/strict-programs.ts";
import { cases } from "../packages/machine/tests/cases.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const seed = 20;

interface Found {
    readonly functions: number;
    readonly notFollowed: number;
}

/** Of each program as a file of its own, or with the files that it imports. */
function lookedAt(texts: readonly string[], name = "main.remit", read: (file: string) => string | null = () => null): Found {
    let [functions, notFollowed] = [0, 0];
    for (const text of texts) {
        const loaded = loadProgram(name, {
            read: (file) => (file === name ? text : read(file)),
            resolve: (from, uri) => (uri.endsWith(".remit") ? normalize(join(dirname(from), uri)) : null),
        });
        const { diagnostics, info } = check(loaded);
        functions += info.functions.size;
        notFollowed += diagnostics.filter(({ code }) => code === "FLOW_NOT_FOLLOWED").length;
    }
    return { functions, notFollowed };
}

const clause = (text: string): string => text.replace(/^(import tool \w+ from "[^"]*")[^\n]*$/gm, "$1 { arg v: trusted }");

function holds({ functions, notFollowed }: Found, atLeast: number): void {
    expect(functions).toBeGreaterThan(atLeast);
    expect(notFollowed / functions).toBeLessThanOrEqual(0.05);
}

test("the checker follows generated strict code to its end", () => {
    const numRuns = cases(150);
    holds(lookedAt(fc.sample(containers.program, { numRuns, seed }).map(([all, caught]) => clause(containers.whole(all, caught)))), 1000);
    holds(lookedAt(fc.sample(control.block, { numRuns, seed }).map((body) => clause(control.whole(body)))), 500);
});

test.each(["examples/*/*.remit", "packages/cli/templates/**/*.remit", "bench/injection/worlds/**/*.remit"])("and that of %s", (glob) => {
    const found = globSync(glob, { cwd: root }).map((file) => {
        const text = `flow strict\n${clause(readFileSync(join(root, file), "utf8"))}`;
        return lookedAt([text], file, (other) => readFileSync(join(root, other), "utf8"));
    });
    const sum = (of: keyof Found): number => found.reduce((all, one) => all + one[of], 0);
    holds({ functions: sum("functions"), notFollowed: sum("notFollowed") }, 9);
});
