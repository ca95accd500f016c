/** Findings as other tools read them: SARIF against its schema, JUnit read back, baselines with their last day. */
import { readFileSync } from "node:fs";
import type { Json } from "@remit/language";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
    accepting,
    against,
    type AuditFinding,
    baselineOf,
    fingerprint,
    isDay,
    junit,
    merged,
    RULES,
    resolved,
    sarif,
    SEVERITIES,
} from "../../src/index.ts";

const site = { file: "main.remit", line: 3, column: 5, endLine: 3, endColumn: 9 };
const finding = (more: Partial<AuditFinding> = {}): AuditFinding => ({
    rule: "invariant",
    severity: "high",
    message: "Fixer called Repo.write",
    site,
    path: "main/Repo.write#0",
    principal: "Fixer",
    evidence: [{ kind: "event", run: "r1", seq: 4, hash: "aa" }],
    confidence: 1,
    by: "remit",
    ...more,
});

const anyFinding = fc.record({
    rule: fc.oneof(fc.constantFrom(...RULES.map((r) => r.id)), fc.string()),
    severity: fc.constantFrom(...SEVERITIES),
    message: fc.string({ unit: "binary" }),
    site: fc.option(fc.record({ file: fc.string({ minLength: 1 }), line: fc.integer({ min: 1 }), column: fc.integer({ min: 1 }) })),
    path: fc.option(fc.string()),
    principal: fc.option(fc.string()),
    evidence: fc.constant([{ kind: "event", run: "r1", seq: 4 }] as const),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    by: fc.string(),
}) as fc.Arbitrary<AuditFinding>;

describe("F49: SARIF", () => {
    const {
        $schema: _,
        id,
        ...schema
    } = JSON.parse(readFileSync(new URL("./sarif-2.1.0-rtm.5.json", import.meta.url), "utf8")) as { [key: string]: Json };
    // The schema is of draft 4, whose `id` later drafts call `$id`; nothing else in it differs from draft 7.
    const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false, allErrors: true }).compile({
        ...schema,
        $id: String(id),
    });
    const valid = (json: Json): void => {
        validate(JSON.parse(JSON.stringify(json)));
        expect(validate.errors).toBeNull();
    };

    test("the schema says no to what is none", () => {
        expect(validate({ version: "2.1.0", runs: [{ tool: {} }] })).toBe(false);
        expect(validate({ version: "2.0.0", runs: [] })).toBe(false);
    });

    test("nothing, everything and what is suppressed are valid", () => {
        valid(sarif([], { version: "0.1.0" }));
        valid(
            sarif([finding(), finding({ site: null, severity: "note" })], { version: "0.1.0", suppressed: [finding({ principal: null })] }),
        );
    });

    test("whatever a finding says, the document is valid", () => {
        fc.assert(fc.property(fc.array(anyFinding, { maxLength: 4 }), (all) => valid(sarif(all, { version: "0.1.0" }))));
    });

    test.each([
        ["half \ud800 a sign.remit", "half%20%EF%BF%BD%20a%20sign.remit"],
        ["javascript:alert(1)", "./javascript:alert(1)"],
        ["//elsewhere.test/a.remit", ".///elsewhere.test/a.remit"],
        ["what?#1.remit", "what%3F%231.remit"],
    ])("a file called %j is a relative reference, in lines that count from 1", (file, uri) => {
        const log = sarif([finding({ site: { file, line: -3, column: 0.5 } })], { version: "1" });
        valid(log);
        expect(log).toMatchObject({
            runs: [
                {
                    results: [
                        { locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 1, startColumn: 1 } } }] },
                    ],
                },
            ],
        });
    });

    test("a viewer finds severity and position", () => {
        const log = sarif([finding({ site: { ...site, file: "a b/é.remit" } })], { version: "1" }) as never as {
            runs: { results: Json[] }[];
        };
        const result = log.runs[0]?.results[0];
        expect(result).toMatchObject({
            ruleId: "invariant",
            level: "error",
            locations: [
                {
                    physicalLocation: {
                        artifactLocation: { uri: "a%20b/%C3%A9.remit" },
                        region: { startLine: 3, startColumn: 5, endLine: 3, endColumn: 9 },
                    },
                },
            ],
        });
    });
});

describe("F49: JUnit", () => {
    test("failures are what fails; the rest is output; what could not be told is an error", () => {
        const read = xmlOf(junit([finding(), finding({ rule: "endorsed", severity: "note" })], "medium", ["the ledger does not verify"]));
        const suite = read.children[0] as Element;
        expect(suite.attributes).toMatchObject({ failures: "1", errors: "1", tests: String(RULES.length + 1) });
        expect(suite.children.length).toBe(RULES.length + 1);
        const named = (name: string) => suite.children.find((one) => one.attributes["name"] === name) as Element;
        expect(named("invariant").children).toMatchObject([
            {
                name: "failure",
                attributes: { type: "high", message: "Fixer called Repo.write" },
                text: "main.remit:3:5: Fixer called Repo.write",
            },
        ]);
        expect(named("endorsed").children.map((one) => one.name)).toEqual(["system-out"]);
        expect(named("drift").children).toEqual([]);
        expect(named("could not tell").children).toMatchObject([{ name: "error" }]);
    });

    test("whatever a finding says is text, and nothing else", () => {
        fc.assert(
            fc.property(fc.array(anyFinding, { maxLength: 4 }), (all) => {
                const suite = xmlOf(junit(all, "note")).children[0] as Element;
                const failures = suite.children.flatMap((one) => one.children);
                expect(failures.length).toBe(all.length);
                for (const one of failures) expect([one.name, one.children]).toEqual(["failure", []]);
            }),
        );
    });

    test("markup and control characters of a message do not get out", () => {
        const message = `]]></failure><!-- & "x" \u0000\u001b[31m \ud800`;
        const text = junit([finding({ message })], "low");
        expect(text).not.toContain("<!--");
        const failure = (xmlOf(text).children[0] as Element).children.flatMap((one) => one.children)[0];
        expect(failure?.attributes["message"]).toBe(`]]></failure><!-- & "x" \ufffd\ufffd[31m \ufffd`);
    });
});

describe("baselines", () => {
    const accepted = accepting(null, [finding()], "2027-01-31", "known since the move");

    test("a finding is accepted through the last day and not after it", () => {
        expect(against([finding()], accepted, "2027-01-31")).toMatchObject({ open: [], accepted: [finding()] });
        expect(against([finding()], accepted, "2027-02-01")).toMatchObject({ open: [finding()], accepted: [] });
    });

    test("it holds from run to run and from iteration to iteration, not for another place, principal or rule", () => {
        const same = finding({ evidence: [{ kind: "event", run: "r2", seq: 9 }], path: "main/for[7]/Repo.write#0" });
        expect(against([same], accepted, "2027-01-01").open).toEqual([]);
        for (const other of [finding({ principal: "user" }), finding({ rule: "drift" }), finding({ site: { ...site, line: 4 } })])
            expect(against([other], accepted, "2027-01-01").open).toEqual([other]);
        expect(fingerprint(finding({ site: null, path: "main/for[1]/x" }))).toBe(
            fingerprint(finding({ site: null, path: "main/for[2]/x" })),
        );
    });

    test("what was said of a finding before is replaced; the rest stays", () => {
        const two = accepting(accepting(accepted, [finding({ rule: "drift" })], "2027-03-01", "b"), [finding()], "2027-04-01", "c");
        expect(two.accepted.map((one) => [one.rule, one.until, one.reason])).toEqual([
            ["drift", "2027-03-01", "b"],
            ["invariant", "2027-04-01", "c"],
        ]);
        expect(baselineOf(JSON.parse(JSON.stringify(two)) as Json)).toEqual(two);
    });

    test.each([
        null,
        [],
        {},
        { version: 2, accepted: [] },
        { version: 1, accepted: [{ fingerprint: "x", reason: "y" }] },
        { version: 1, accepted: [{ fingerprint: "x", reason: "y", until: "soon" }] },
        { version: 1, accepted: [{ fingerprint: "x", reason: "y", until: "9999-99-99" }] },
    ] as Json[])("%j is no baseline", (json) => expect(baselineOf(json)).toBeNull());

    test("days are those of the calendar", () => {
        for (const day of ["2027-01-31", "2028-02-29", "2000-02-29"]) expect(isDay(day)).toBe(true);
        for (const day of ["2027-02-29", "2100-02-29", "2027-13-01", "2027-00-01", "2027-04-31", "2027-1-1"])
            expect(isDay(day)).toBe(false);
    });
});

describe("F48: evidence", () => {
    const at = {
        event: (run: string, seq: number) => (run === "r1" && seq === 4 ? { hash: "aa" } : null),
        line: (file: string, line: number) => file === "main.remit" && line === 3,
    };
    const event = { kind: "event", run: "r1", seq: 4 } as const;

    test.each([
        ["an event with its hash", finding(), true],
        ["an event without one", finding({ evidence: [event] }), true],
        ["a place", finding({ evidence: [{ kind: "site", site }] }), true],
        ["nothing", finding({ evidence: [] }), false],
        ["an event with another hash", finding({ evidence: [{ ...event, hash: "ab" }] }), false],
        ["an event that is not there", finding({ evidence: [{ ...event, seq: 5 }] }), false],
        ["an event of another run", finding({ evidence: [{ ...event, run: "r2" }] }), false],
        ["a line that is not there", finding({ evidence: [{ kind: "site", site: { ...site, line: 99 } }] }), false],
        ["a good event and one that is not there", finding({ evidence: [event, { ...event, seq: 5 }] }), false],
    ])("%s", (_, one, good) => {
        expect(resolved([one], at)).toEqual(good ? { good: [one], fabricated: [] } : { good: [], fabricated: [one] });
    });

    test("what others say is added, never taken away", () => {
        fc.assert(
            fc.property(fc.array(anyFinding, { maxLength: 4 }), fc.array(anyFinding, { maxLength: 4 }), (rules, others) => {
                const all = merged(rules, others);
                expect(all.slice(0, rules.length)).toEqual(rules);
            }),
        );
    });
});

interface Element {
    readonly name: string;
    readonly attributes: { readonly [name: string]: string };
    readonly children: readonly Element[];
    readonly text: string;
}

/** A strict reader of the XML that is written here: elements, attributes in double quotes, the five entities and character references. */
function xmlOf(text: string): Element {
    let at = 0;
    const wanted = (pattern: RegExp): RegExpExecArray => {
        pattern.lastIndex = at;
        const found = pattern.exec(text);
        if (found === null) throw new Error(`not XML at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`);
        at = pattern.lastIndex;
        return found;
    };
    const plain = (raw: string): string => {
        if (/[<]|&(?!(?:amp|lt|gt|quot|apos|#\d+);)/.test(raw)) throw new Error(`not XML: ${raw}`);
        if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(raw)) throw new Error("a character that XML does not have");
        const names: { [name: string]: string } = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
        return raw.replace(/&(#\d+|\w+);/g, (_, name: string) =>
            name.startsWith("#") ? String.fromCodePoint(Number(name.slice(1))) : (names[name] as string),
        );
    };
    const element = (): Element => {
        const name = wanted(/<([\w-]+)/y)[1] as string;
        const attributes: { [name: string]: string } = {};
        for (;;) {
            const [, key, value, end] = wanted(/\s+([\w-]+)="([^"]*)"|(\/?>)/y);
            if (end === "/>") return { name, attributes, children: [], text: "" };
            if (end === ">") break;
            if (Object.hasOwn(attributes, key as string)) throw new Error(`twice: ${key}`);
            attributes[key as string] = plain(value as string);
        }
        const children: Element[] = [];
        let inner = "";
        for (;;) {
            inner += plain(wanted(/[^<]*/y)[0]);
            if (text.startsWith("</", at)) break;
            children.push(element());
        }
        wanted(new RegExp(`</${name}>`, "y"));
        return { name, attributes, children, text: inner.trim() };
    };
    wanted(/<\?xml version="1\.0" encoding="UTF-8"\?>\s*/y);
    const root = element();
    wanted(/\s*$/y);
    return root;
}
