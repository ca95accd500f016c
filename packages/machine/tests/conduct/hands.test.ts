/** H10, HS2: what an agent's own uses gave it is among who chose its next ones and the function that it answers with, and among what its words carry. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import {
    compileProgram,
    Conductor,
    type Decision,
    type Effect,
    type LedgerEvent,
    Machine,
    type MachineEvent,
    madeIn,
    type News,
    type StartOptions,
} from "../../src/index.ts";
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
    readonly events: MachineEvent[] = [];
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
                if (one.kind === "commit") {
                    this.events.push(...(one.batch.events ?? []));
                    commits.push({ kind: "committed", n: one.n });
                }
                if (one.kind === "begin" && opOf(one.effect.request) === "describe")
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

    /** After two seconds. */
    late(): this {
        this.at += 2000;
        return this.hear({ kind: "time" });
    }

    use(tool: string, method: string, path: string, make = true, turn = TURN): this {
        const args: Json[] = [method === "write" ? { path, content: "x" } : { path }];
        return this.hear({ kind: "up", path: turn, up: { n: 1, use: { tool, method, args }, make } });
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

    test("is among all that came, on which in strict code a count that is used up depends (LIC1)", () => {
        const body = `v = ${YIELD}
if v == 1 { x = Out.read({ path: "x" }) }
late = "in time"
try { y = Out.read({ path: "y" }) } catch e { late = "late" }
Out.write({ path: "v", content: late })`;
        const told = read(new Part(source(body, "{ read: at most 1 }", 'In.read in "x/**"', "flow strict"))).answers(
            answer("return 2", "a"),
        );
        const { labels } = told.outcome("main/Out.read#1", "y", ["tool:Out"]).begun.at(-1) as Effect;
        expect([told.paths.at(-1), labels]).toEqual(["main/Out.write#0", ["agent:Fixer", "tool:In", "tool:Out"]]);
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

test("which the record keeps for a turn that is told again after a crash", () => {
    const part = new Part(source(YIELD)).use("In", "read", "x/a");
    const outcome = {
        ok: true as const,
        value: { t: "v" },
        origins: ["tool:In"],
        parts: { "/t": ["file:b"] },
        claims: { private: true, untrusted: true },
    } as const;
    part.hear({
        kind: "outcome",
        path: `${TURN}/hand[0]`,
        outcome: { ...outcome, origins: [...outcome.origins], parts: { "/t": ["file:b"] } },
    });
    const turn = part.begun.findLast(({ path }) => path === TURN) as Effect;
    const { made, read } = madeIn(turn, part.events as readonly MachineEvent[] as readonly LedgerEvent[]);
    expect(made).toMatchObject([{ outcome: { parts: outcome.parts, claims: outcome.claims } }]);
    expect(read).toContainEqual({ tool: "In", origins: ["agent:Fixer", "file:b", "tool:In"], claims: outcome.claims });
});

test("also of one that failed", () => {
    const claims = { untrusted: true } as const;
    const part = new Part(source(YIELD)).use("In", "read", "x/a");
    const failure = { kind: "tool", message: "the page says: eve", site: null } as const;
    part.hear({ kind: "outcome", path: `${TURN}/hand[0]`, outcome: { ok: false, failure, claims } });
    const turn = part.begun.findLast(({ path }) => path === TURN) as Effect;
    const { made, read } = madeIn(turn, part.events as readonly MachineEvent[] as readonly LedgerEvent[]);
    expect([made, read?.find(({ tool }) => tool === "In")?.claims]).toEqual([[], claims]);
});

test("and of one whose failure says where it comes from", () => {
    const part = new Part(source(YIELD)).use("In", "read", "x/a");
    const failure = { kind: "tool", message: "eve says so", site: null } as const;
    part.hear({ kind: "outcome", path: `${TURN}/hand[0]`, outcome: { ok: false, failure, origins: ["lent:eve"] } });
    const turn = part.begun.findLast(({ path }) => path === TURN) as Effect;
    const { read } = madeIn(turn, part.events as readonly MachineEvent[] as readonly LedgerEvent[]);
    expect(read?.find(({ tool }) => tool === "In")?.origins).toEqual(["lent:eve", "tool:In"]);
});

test("that a time is up while it is at work may come of what it read by then (LIC1)", () => {
    const body = `late = false
try { spend 1 s { v = ${YIELD} } } catch e { late = true }
if late { Out.write({ path: "a", content: "b" }) }`;
    const late = (out: string): unknown => kind(new Part(source(body, out)).use("In", "read", "x/a", false).late());
    expect(late('{ choice write: from("agent:Fixer") }')).toBe("violation.flow");
    expect(late('{ choice write: from("agent:Fixer", "tool:In") }')).toBe(undefined);
});

describe("a turn that begins again in its session, which its agent takes up", () => {
    const NEXT = TURN.replace("[0]", "[1]");
    /** Its agent answers its first turn wrongly, reads in the second, and its process is gone. */
    const gone = (repeatable: boolean): Part => {
        const part = new Part(source(YIELD)).answers("no function").use("In", "read", "x/a", true, NEXT);
        part.outcome(`${NEXT}/hand[0]`, "do it", ["tool:In"]);
        return part.hear({ kind: "lost", path: NEXT, repeatable });
    };

    test("what it read before counts when it goes on", () => {
        const part = gone(true);
        expect(part.paths.filter((path) => path === NEXT)).toHaveLength(2);
        part.use("Out", "write", "b", true, NEXT);
        expect(part.told.at(-1)).toMatchObject({ outcome: { ok: false, failure: { kind: "violation.remit" } } });
    });

    test("or where a person says what it gave", () => {
        const part = gone(false).hear({ kind: "known", path: NEXT, said: { answer: "done", value: WRITES } });
        expect(kind(part)).toBe("violation.flow");
    });

    test("as far as the record tells it, and what its remit lets it use unrecorded", () => {
        const { begun, events } = gone(false);
        const turn = begun.findLast(({ path }) => path === NEXT) as Effect;
        const read = (one: Effect): unknown => madeIn(one, events as readonly MachineEvent[] as readonly LedgerEvent[]).read;
        expect(read({ ...turn, request: { ...(turn.request as { [key: string]: Json }), hands: [] } })).toEqual([
            { tool: "In", origins: ["agent:Fixer", "tool:In"] },
        ]);
        expect(read(turn)).toEqual([
            { tool: "Out", origins: ["tool:Out"] },
            { tool: "In", origins: ["agent:Fixer", "tool:In"] },
        ]);
    });
});
