/** H10, HS2: what an agent's own uses gave it is among who chose its next ones and the function that it answers with, and among what its words carry. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { compileProgram, Conductor, type Decision, type Effect, Machine, type News, type StartOptions } from "../../src/index.ts";
import { opOf } from "../../src/effect/effect.ts";
import { OPTIONS } from "../run/forms.ts";
import { answer, METHODS, reply, said } from "../run/handing.ts";
import { formOf } from "../run/text.ts";

const source = (body: string, out = '{ choice write: from("agent:Fixer") }', may = 'In.read in "x/**"', flow = ""): string => `${flow}
import tool In from "file://in"
import tool Out from "file://out" ${out}
import agent Fixer from "acp://x" { remit { may ${may}  may Out.write } }

main func() {
${body}
}
`;
const YIELD = "Fixer.yield(a: 1)";
const TURN = "main/Fixer.yield#0/turn[0]";

/** One part of a run whose commits are kept at once: what is begun and told upon each news. */
class Part {
    private readonly conductor: Conductor;
    private at = 0;
    readonly begun: Effect[] = [];
    readonly told: Json[] = [];
    end: Extract<Decision, { kind: "ended" }>["end"] | null = null;

    constructor(text: string, options: Partial<StartOptions> = {}) {
        const machine = Machine.start(compileProgram(formOf(text, true)), { ...OPTIONS, ...options });
        this.conductor = new Conductor(machine, { saves: false });
        this.hear();
    }

    hear(...news: News[]): this {
        for (let next = news, again = true; again; ) {
            const commits: News[] = [];
            again = false;
            for (const one of this.conductor.next(++this.at, next)) {
                if (one.kind === "commit") commits.push({ kind: "committed", n: one.n });
                else if (one.kind === "begin" && opOf(one.effect.request) === "describe")
                    commits.push({ kind: "outcome", path: one.effect.path, outcome: said(METHODS, []) });
                else if (one.kind === "begin") this.begun.push(one.effect);
                else if (one.kind === "down") this.told.push(one.down as unknown as Json);
                else if (one.kind === "ended") this.end = one.end;
                if (one.kind === "compute") again = true;
            }
            again ||= commits.length > 0;
            next = commits;
        }
        return this;
    }

    use(tool: string, method: string, path: string, make = true): this {
        const args: Json[] = [method === "write" ? { path, content: "x" } : { path }];
        return this.hear({ kind: "up", path: TURN, up: { n: 1, use: { tool, method, args }, make } });
    }

    outcome(path: string, value: Json, origins: string[]): this {
        return this.hear({ kind: "outcome", path, outcome: { ok: true, value, origins } });
    }

    answers(text: string): this {
        return this.outcome(TURN, reply(text) as unknown as Json, ["agent:Fixer"]);
    }

    get paths(): string[] {
        return this.begun.map(({ path }) => path);
    }
}

/** It reads, by the tool or with its own eyes, or does not. */
const READS: { readonly [how: string]: (part: Part) => Part } = {
    "made for it": (part) => part.use("In", "read", "x/a").outcome(`${TURN}/hand[0]`, "do it", ["tool:In"]),
    "made by itself": (part) => part.use("In", "read", "x/a", false),
};
const WRITES = answer('Out.write({ path: "b", content: "c" })\nreturn 1', "a");
const kind = ({ end }: Part): string | undefined => (end?.status === "failed" ? end.failure.kind : end?.status);

describe.each(Object.keys(READS))("a read that is %s", (how) => {
    const read = READS[how] as (part: Part) => Part;

    test("is among who chose what it does next with its own hands", () => {
        expect(new Part(source(YIELD)).use("Out", "write", "b").paths).toEqual([TURN, `${TURN}/hand[0]`]);
        const part = read(new Part(source(YIELD)));
        const before = part.paths.length;
        part.use("Out", "write", "b");
        expect(part.paths).toHaveLength(before);
        expect(part.told.at(-1)).toMatchObject({ outcome: { ok: false, failure: { kind: "violation.remit" } } });
        const both = source(YIELD, '{ choice write: from("agent:Fixer", "tool:In") }');
        expect(read(new Part(both)).use("Out", "write", "b").paths).toContain(`${TURN}/hand[1]`);
    });

    test("and of the function that it answers with", () => {
        const write = `${TURN}/answer/Out.write#0`;
        expect(new Part(source(YIELD)).answers(WRITES).paths).toContain(write);
        const part = read(new Part(source(YIELD))).answers(WRITES);
        expect([kind(part), part.paths.includes(write)]).toEqual(["violation.flow", false]);
    });

    test("is shown to the person whom untrusted: ask asks", () => {
        const options = { policy: { untrusted: { gate: "ask" } } } as const;
        const part = read(new Part(source(YIELD, ""), options)).use("Out", "write", "b");
        expect(part.begun.at(-1)).toMatchObject({ kind: "ask", labels: ["agent:Fixer", "tool:In"] });
        const later = read(new Part(source(YIELD, ""), options)).answers(WRITES);
        expect(JSON.stringify(later.begun.at(-1)?.request)).toContain("tool:In");
    });

    test("is what strict code says its value came from", () => {
        const value = (part: Part): unknown => part.begun.at(-1)?.labels;
        const told = source(`v = ${YIELD}\nOut.write({ path: "v", content: v })`, "", 'In.read in "x/**"', "flow strict");
        expect(value(new Part(told).answers(answer("return 1", "a")))).toEqual(["agent:Fixer"]);
        expect(value(read(new Part(told)).answers(answer("return 1", "a")))).toEqual(["agent:Fixer", "tool:In"]);
    });
});

test("what it may read without a ruling it may have read", () => {
    const open = source(YIELD, undefined, "In.read");
    expect(kind(new Part(open).answers(WRITES))).toBe("violation.flow");
    expect(kind(new Part(open.replace("may In.read  ", "")).answers(WRITES))).toBe(undefined);
});

test("what a server states of what its hands were given restricts what they do next", () => {
    const text = source(YIELD, '{ audience: "all", choice write: from("agent:Fixer", "tool:In") }');
    const given = (claims?: { private: true }): Part => {
        const part = new Part(text).use("In", "read", "x/a");
        const outcome = { ok: true as const, value: "v", origins: ["tool:In"], ...(claims === undefined ? {} : { claims }) };
        return part.hear({ kind: "outcome", path: `${TURN}/hand[0]`, outcome }).use("Out", "write", "b");
    };
    expect(given().paths).toContain(`${TURN}/hand[1]`);
    expect(given({ private: true }).paths).not.toContain(`${TURN}/hand[1]`);
});
