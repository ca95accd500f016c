/** What an agent reports while it works, from message to commit: joined, in order, kept soon, lost by nothing (D10). */
import { expect, test } from "vitest";
import {
    type AgentNote,
    type Batch,
    compileProgram,
    Conductor,
    type Decision,
    type LedgerEvent,
    Machine,
    type News,
} from "../../src/index.ts";
import { entriesOf } from "../../src/ledger/notes.ts";
import { formOf } from "../run/text.ts";

const PROGRAM = formOf('import agent Fixer from "acp://x"\n\nmain func() {\n    return agent("do it", { agent: Fixer })\n}\n');
const TURN = "main/agent#0/turn[0]";

function conducted(timeout?: number, program = PROGRAM) {
    const machine = Machine.start(compileProgram(program), { run: "r", programHash: "p", input: {} } as never);
    const conductor = new Conductor(machine, { saves: true, ...(timeout === undefined ? {} : { timeout }) });
    let at = 0;
    let open = 0;
    const next = (news: readonly News[] = [], ms = 1): Decision[] => {
        at += ms;
        const decisions = conductor.next(at, news);
        for (const one of decisions) if (one.kind === "commit") open = one.n;
        return decisions;
    };
    const kept = (decisions: readonly Decision[]): Batch[] => decisions.flatMap((one) => (one.kind === "commit" ? [one.batch] : []));
    next();
    next([{ kind: "committed", n: open }]);
    return { next, kept, commit: () => next([{ kind: "committed", n: open }]) };
}
const up = (note: AgentNote): News => ({ kind: "up", path: TURN, up: { n: 0, note } });
const say = (text: string, more = true): News => up({ entry: { kind: "message", text }, ...(more ? { more } : {}) });
const call = (id: string, status: "pending" | "completed"): News => up({ entry: { kind: "call", id, name: "read", status } });
const notesIn = (batches: readonly Batch[]): AgentNote[] =>
    batches.flatMap(({ events = [] }) =>
        events.flatMap(({ kind, data }) => (kind === "agent.noted" ? (data as unknown as { notes: AgentNote[] }).notes : [])),
    );

test("pieces of a text cause no commit until a second has passed, and are one then", () => {
    const { next, kept } = conducted();
    const at = next([say("a", false), say("b")]);
    expect(kept(at)).toEqual([]);
    expect(at).toMatchObject([{ kind: "wake" }]);
    expect(kept(next([say("c")], 500))).toEqual([]);
    expect(notesIn(kept(next([{ kind: "time" }], 600)))).toEqual([{ entry: { kind: "message", text: "abc" } }]);
});

test("a call is kept at once, with the text before it; what comes while that is kept is joined", () => {
    const { next, kept, commit } = conducted();
    const first = kept(next([say("a", false), call("c1", "pending")]));
    expect(notesIn(first)).toMatchObject([{ entry: { text: "a" } }, { entry: { id: "c1", status: "pending" } }]);
    expect(first).toMatchObject([{ outcomes: [{ path: `${TURN}/note[0]` }], state: { kind: "delta" } }]);
    expect(next([call("c1", "completed"), call("c2", "pending"), call("c2", "completed")])).toEqual([]);
    expect(notesIn(kept(commit()))).toMatchObject([
        { entry: { id: "c1", status: "completed" } },
        { entry: { id: "c2", status: "completed" } },
    ]);
});

test("the end of the run's time, and a cancel, keep what came until then", () => {
    for (const [timeout, news] of [
        [1000, { kind: "time" }],
        [undefined, { kind: "cancel" }],
    ] as const) {
        const { next, kept, commit } = conducted(timeout);
        next([say("a", false)]);
        const batches = [
            ...kept(next([news], 1000)),
            ...kept(commit()),
            ...kept(next([call("c1", "pending")])),
            ...kept(next([], 5000)),
            ...kept(commit()),
        ];
        expect(entriesOf(notesIn(batches))).toMatchObject([{ text: "a" }, { id: "c1" }]);
    }
});

test("an answer needs no notes any more; a failure without a reply is told with them", () => {
    const ended = (outcome: (News & { kind: "outcome" })["outcome"]) => {
        const { next, kept } = conducted();
        next([say("a", false)]);
        return kept(next([{ kind: "outcome", path: TURN, outcome }]));
    };
    const reply = { text: "a", stop: "end_turn", entries: [], confinement: "remote", spent: { steps: 1, calls: 0, ms: 1 } };
    expect(notesIn(ended({ ok: true, value: reply, origins: [] }))).toEqual([]);
    const failed = ended({ ok: false, failure: { kind: "unreachable", message: "gone" } });
    expect(notesIn(failed)).toMatchObject([{ entry: { text: "a" } }]);
    const answered = failed.flatMap(({ events = [] }) => events).find(({ kind }) => kind === "agent.answered") as LedgerEvent;
    expect(answered.data).toMatchObject({ ok: false, reply: { text: "a", spent: { steps: 1 } } });
});

test("a call that an agent left under way is told as cancelled where the agent has answered", () => {
    const { next, kept, commit } = conducted(
        undefined,
        formOf(
            'import tool Shell from "shell:"\nimport agent Fixer from "acp://x" { remit { may Shell.run } }\nmain func() {\n    return agent("do it", { agent: Fixer })\n}\n',
        ),
    );
    const use = { tool: "Shell", method: "run", args: [{ command: "sleep 600" }] };
    next([{ kind: "up", path: TURN, up: { n: 1, use, make: true } }]);
    commit();
    const reply = { text: "", stop: "end_turn", confinement: "none" };
    const batches = kept(next([{ kind: "outcome", path: TURN, outcome: { ok: true, value: reply, origins: [] } }]));
    const ended = batches.flatMap(({ events = [] }) => events).filter(({ kind }) => kind === "tool.ended");
    expect(ended).toMatchObject([{ path: `${TURN}/hand[0]`, data: { ok: false, failure: { kind: "cancelled" }, host: true } }]);
});
