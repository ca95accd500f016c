/** A turn whose agent's question is left for later: when it is held, what is asked first on a resume, and what holds after a crash (H5, H6). */
import type { Json, Program } from "@remit/language";
import { expect, test } from "vitest";
import {
    type Batch,
    compileProgram,
    type ConductEnd,
    Conductor,
    type Decision,
    type LedgerEvent,
    Machine,
    madeIn,
    type MachineEvent,
    type News,
    type Outcome,
    traceText,
} from "../../src/index.ts";
import { formOf } from "../run/text.ts";

const PROGRAM = formOf(`import tool Repo from "file://workspace"
import agent Fixer from "acp://x" { remit { may Repo.read  ask Repo.write } }

main func() {
    return agent("do it", { agent: Fixer })
}
`);
const TURN = "main/agent#0/turn[0]";
const OPTIONS = { run: "r", programHash: "p", input: {}, slice: 10 } as never;

/** What is kept of the run, and the part of it that goes on. Every commit is kept at once. */
class Kept {
    private readonly program: Program;
    /** How often a part computes on between two pieces of news. */
    private readonly computes: number;
    readonly documents: Json[] = [];
    readonly events: MachineEvent[] = [];
    readonly outcomes: { readonly path: string; readonly outcome: Outcome }[] = [];
    readonly begun = new Set<string>();
    contains = 0;

    constructor(program = PROGRAM, computes = Number.POSITIVE_INFINITY) {
        this.program = program;
        this.computes = computes;
    }

    part() {
        const isNew = this.documents.length === 0;
        const machine = isNew
            ? Machine.start(compileProgram(this.program), OPTIONS)
            : Machine.load(compileProgram(this.program), OPTIONS, this.documents);
        const turns = machine.pending.filter(({ kind, path }) => kind === "agent" && this.begun.has(path));
        const made = turns.map((turn) => madeIn(turn, this.events as readonly MachineEvent[] as readonly LedgerEvent[]));
        const recovered = { outcomes: this.outcomes.slice(this.contains), begun: [...this.begun], repeatable: [], made };
        const conductor = new Conductor(machine, { saves: true, ...(isNew ? {} : { recovered }) });
        let at = 0;
        /** All that is decided up to the next news, commits aside. */
        return (...news: News[]): Exclude<Decision, { kind: "commit" }>[] => {
            const out: Exclude<Decision, { kind: "commit" }>[] = [];
            for (let next = news, rounds = 0; ; rounds++) {
                const commits: News[] = [];
                let computes = false;
                for (const one of conductor.next(++at, next)) {
                    if (one.kind === "commit") {
                        this.keep(one.batch);
                        commits.push({ kind: "committed", n: one.n });
                    } else out.push(one);
                    if (one.kind === "compute") computes = true;
                }
                if (commits.length === 0 && (!computes || rounds >= this.computes)) return out;
                next = commits;
            }
        };
    }

    keep({ outcomes = [], pending = [], begin = [], state, events = [] }: Batch): void {
        this.events.push(...events);
        this.outcomes.push(...outcomes);
        for (const { path } of outcomes) this.begun.delete(path);
        for (const { path, begun } of pending) if (begun) this.begun.add(path);
        for (const path of begin) this.begun.add(path);
        if (state === undefined) return;
        const json = JSON.parse(JSON.stringify(state.json)) as Json;
        this.documents.splice(0, state.kind === "image" ? this.documents.length : 0);
        this.documents.push(json);
        this.contains = this.outcomes.length;
    }
}

const use = (n: number, method: string, path: string, make = true, turn = TURN): News => ({
    kind: "up",
    path: turn,
    up: { n, use: { tool: "Repo", method, args: [method === "write" ? { path, content: "x" } : { path }] }, make },
});
const begins = (decisions: readonly Decision[]): string[] => decisions.flatMap((one) => (one.kind === "begin" ? [one.effect.path] : []));
const kinds = (decisions: readonly Decision[]): string[] => decisions.map(({ kind }) => kind);
const told = (decisions: readonly Decision[]): Json[] =>
    decisions.flatMap((one) => (one.kind === "down" ? [one.down as unknown as Json] : []));
const ended = (decisions: readonly Decision[]): ConductEnd | undefined =>
    decisions.flatMap((one) => (one.kind === "ended" ? [one.end] : []))[0];
const yes = (path: string, value: Json = "once"): News => ({ kind: "outcome", path, outcome: { ok: true, value, origins: ["user"] } });

/** Up to the end of the part in which it is parked: one read is made, one write is asked about. */
function parked(kept: Kept): void {
    const next = kept.part();
    expect(begins(next())).toEqual([TURN]);
    expect(begins(next(use(1, "read", "a")))).toEqual([`${TURN}/hand[0]`]);
    next({ kind: "outcome", path: `${TURN}/hand[0]`, outcome: { ok: true, value: "was", origins: ["tool:Repo"] } });
    expect(begins(next(use(2, "write", "b")))).toEqual([`${TURN}/hand[1]/ask`]);
    const over = next({ kind: "later", path: `${TURN}/hand[1]/ask` });
    expect(over.find((one) => one.kind === "stop")).toMatchObject({ path: TURN, waits: false });
    expect(kinds(over)).toContain("close");
    expect(told(over)).toEqual([]);
    expect(ended(over)).toMatchObject({ status: "waiting", waiting: [{ kind: "ask", path: `${TURN}/hand[1]/ask` }] });
}

test("the question comes first, then the turn; its use is made without another one, and what was made is told", () => {
    const kept = new Kept();
    parked(kept);
    const waits = kept.part();
    expect(begins(waits())).toEqual([`${TURN}/hand[1]/ask`]);
    expect(ended(waits({ kind: "later", path: `${TURN}/hand[1]/ask` }))).toMatchObject({ status: "waiting", waiting: [{ kind: "ask" }] });

    const next = kept.part();
    expect(begins(next())).toEqual([`${TURN}/hand[1]/ask`]);
    expect(begins(next(yes(`${TURN}/hand[1]/ask`)))).toEqual([TURN]);
    expect(told(next(use(1, "read", "a")))).toEqual([{ n: 1, outcome: { ok: true, value: "was", origins: ["tool:Repo"] } }]);
    // The numbers of uses go on: each path stands once in the ledger.
    expect(begins(next(use(2, "write", "b")))).toEqual([`${TURN}/hand[3]`]);
    expect(begins(next(use(3, "write", "b")))).toEqual([`${TURN}/hand[4]/ask`]);
});

test("a question of an agent whose turn ended before the answer is withdrawn in the record, and is no longer waited for", () => {
    const withdrawn = (kept: Kept) => kept.events.filter(({ kind }) => kind === "ask.withdrawn");
    const kept = new Kept();
    const next = kept.part();
    next();
    expect(begins(next(use(1, "write", "b")))).toEqual([`${TURN}/hand[0]/ask`]);
    expect(withdrawn(kept)).toEqual([]);
    next({ kind: "outcome", path: TURN, outcome: { ok: false, failure: { kind: "unreachable", message: "it is gone" } } });
    expect(withdrawn(kept)).toMatchObject([{ path: `${TURN}/hand[0]/ask`, principal: expect.stringContaining("Fixer") }]);
    // Up to there: the run goes on.
    const until = kept.events.slice(0, kept.events.findIndex(({ kind }) => kind === "ask.withdrawn") + 1);
    const shown = (all: readonly MachineEvent[]): string =>
        traceText(all.map((one, i) => ({ ...one, seq: i + 1, run: "r", time: "2026-01-01T00:00:00.000Z" }) as unknown as LedgerEvent));
    expect(shown(until.slice(0, -1))).toContain("waits for an answer");
    expect(shown(until)).not.toContain("waits for an answer");
});

test("a crash after the turn began again is one like any other: a person says what became of it", () => {
    const kept = new Kept();
    parked(kept);
    const next = kept.part();
    next();
    expect(begins(next(yes(`${TURN}/hand[1]/ask`)))).toEqual([TURN]);
    const after = kept.part()();
    expect(after.find((one) => one.kind === "unknown")).toMatchObject({ effect: { path: TURN } });
    expect(begins(after)).toEqual([]);
});

test("H8: of a turn that a crash broke off nothing is made twice that has an outcome, where a person lets it be told again", () => {
    const kept = new Kept();
    const next = kept.part();
    next();
    for (const [n, path] of ["a", "b"].entries()) expect(begins(next(use(n, "read", path)))).toEqual([`${TURN}/hand[${n}]`]);
    next({ kind: "outcome", path: `${TURN}/hand[0]`, outcome: { ok: true, value: "was", origins: ["tool:Repo"] } });

    const again = kept.part();
    again();
    expect(begins(again({ kind: "known", path: TURN, said: { answer: "again" } }))).toEqual([TURN]);
    expect(told(again(use(1, "read", "a")))).toMatchObject([{ n: 1, outcome: { ok: true, value: "was" } }]);
    expect(begins(again(use(2, "read", "b")))).toEqual([`${TURN}/hand[3]`]);
    // each is told once
    expect(begins(again(use(3, "read", "a")))).toEqual([`${TURN}/hand[4]`]);
});

test("a yes for the session is the machine's, a no stands to the end of the turn", () => {
    for (const [answer, path] of [
        ["session", `${TURN}/hand[2]`],
        ["deny", null],
    ] as const) {
        const kept = new Kept();
        parked(kept);
        const next = kept.part();
        next();
        next(yes(`${TURN}/hand[1]/ask`, answer));
        const decided = next(use(1, "write", "b"), use(2, "write", "b"));
        expect(begins(decided)).toEqual(path === null ? [] : [path, `${TURN}/hand[3]`]);
        if (path === null) expect(told(decided)).toMatchObject([{ outcome: { ok: false } }, { outcome: { ok: false } }]);
    }
});

test("a run that is stopped while such a question is put waits for it as before", () => {
    const kept = new Kept();
    parked(kept);
    const next = kept.part();
    next();
    const over = next({ kind: "cancel" }, { kind: "later", path: `${TURN}/hand[1]/ask` });
    expect(ended(over)).toMatchObject({ status: "waiting", waiting: [{ kind: "ask", path: `${TURN}/hand[1]/ask` }] });
    expect(begins(kept.part()())).toEqual([`${TURN}/hand[1]/ask`]);
});

test.each(["while the agent waits", "of a turn that is held"])(
    "H7: abort as the answer about an agent's own use ends the run for good: %s",
    (when) => {
        const kept = new Kept();
        const isHeld = when === "of a turn that is held";
        if (isHeld) parked(kept);
        const next = kept.part();
        next();
        const asked = isHeld ? `${TURN}/hand[1]/ask` : `${TURN}/hand[0]/ask`;
        if (!isHeld) expect(begins(next(use(1, "write", "b")))).toEqual([asked]);
        const over = next(yes(asked, "abort"));
        expect(ended(over)).toMatchObject({ status: "failed", failure: { kind: "cancelled", message: "the run was ended at a question" } });
        // Its agent is stopped, is told nothing, and does not begin again.
        expect(over.filter(({ kind }) => kind === "stop")).toMatchObject(isHeld ? [] : [{ path: TURN }]);
        expect([told(over), begins(over)]).toEqual([[], []]);
        expect(Machine.load(compileProgram(PROGRAM), OPTIONS, kept.documents).canGoOn).toBe(false);
    },
);

test("while another iteration computes, no state would say that the turn began again: it begins behind that", () => {
    const program = formOf(`import tool Repo from "file://workspace"
import agent Fixer from "acp://x" { remit { ask Repo.write } }

func spin(n) {
    repeat * 40 { n = n + 1 }
    n
}
func work(i) {
    if i == 1 { return agent("do it", { agent: Fixer }) }
    Repo.read({ path: "a" })
    spin(i)
}
main func() { parallel for i in [1, 2] max 2 { work(i) } }
`);
    const turn = "main/parallel[0]/work#0/agent#0/turn[0]";
    const kept = new Kept(program, 2);
    const next = kept.part();
    expect(begins(next())).toEqual([turn, "main/parallel[1]/work#0/Repo.read#0"]);
    next(use(1, "write", "b", true, turn));
    next({ kind: "later", path: `${turn}/hand[0]/ask` });
    next({ kind: "outcome", path: "main/parallel[1]/work#0/Repo.read#0", outcome: { ok: true, value: "was", origins: [] } });

    const again = kept.part();
    expect(begins(again())).toEqual([`${turn}/hand[0]/ask`]);
    const early = again(yes(`${turn}/hand[0]/ask`));
    expect([kinds(early).includes("compute"), begins(early)]).toEqual([true, []]);
    const late = again();
    for (let more = late; kinds(more).includes("compute"); ) {
        more = again();
        late.push(...more);
    }
    expect(begins(late)).toEqual([turn]);
    again(use(1, "write", "b", true, turn));
    // Whether its agent wrote is not known: it is not asked again, as if it had not begun.
    const after = kept.part()();
    expect(after.find((one) => one.kind === "unknown")).toMatchObject({ effect: { path: turn } });
    expect(begins(after)).toEqual([]);
});

test("H6: of a use that was made before its agent may ask once more without a person, not as often as it likes", () => {
    const kept = new Kept();
    parked(kept);
    const first = kept.part();
    first();
    first(yes(`${TURN}/hand[1]/ask`));
    expect(begins(first(use(1, "write", "b")))).toEqual([`${TURN}/hand[2]`]);
    first({ kind: "outcome", path: `${TURN}/hand[2]`, outcome: { ok: true, value: "wrote", origins: [] } });
    first(use(2, "write", "c"));
    first({ kind: "later", path: `${TURN}/hand[3]/ask` });

    const next = kept.part();
    next();
    next(yes(`${TURN}/hand[3]/ask`));
    expect(told(next(use(1, "write", "b", false)))).toMatchObject([{ n: 1, ruling: { allowed: true } }]);
    expect(begins(next(use(2, "write", "b", false)))).toEqual([`${TURN}/hand[5]/ask`]);
    expect(told(next(use(3, "write", "b")))).toMatchObject([{ n: 3, outcome: { ok: true, value: "wrote" } }]);
});
