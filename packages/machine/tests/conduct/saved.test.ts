/** What the conductor keeps in a continuation: enough to know by it alone what may have been begun (U2), and no more for a wide fan-out than for a narrow one. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { Compiled, type ConductDoc, Conductor, Machine, type News } from "../../src/index.ts";
import { block, blocks, pipe, ref, stage } from "../plan/blocks.ts";
import { call, func, member, name, OPTIONS, stmt } from "../run/forms.ts";

const PROGRAM = blocks([block(pipe(stage("map", ref("ask"))))], [func("ask", ["a"], [stmt(call(member(name("T"), "get"), name("a")))])]);
const WIDE = 40;

/** Calls WIDE items, `concurrency` at once, answers the first `answers` one by one, and gives what was saved: all of it, and the conductor's of each. */
function saved(concurrency: number, answers: number): { readonly documents: Json[]; readonly kept: ConductDoc[] } {
    const input = Array.from({ length: WIDE }, (_, i) => `item ${i}`);
    const machine = Machine.start(new Compiled(PROGRAM), { ...OPTIONS, input, concurrency: WIDE });
    const conductor = new Conductor(machine, { saves: true, concurrency });
    const documents: Json[] = [];
    const open: News[] = [];
    let answered = 0;
    for (let news: News[] = []; ; ) {
        const next: News[] = [];
        let computes = false;
        for (const decision of conductor.next(0, news)) {
            if (decision.kind === "commit") {
                next.push({ kind: "committed", n: decision.n });
                if (decision.batch.state !== undefined) documents.push(JSON.parse(JSON.stringify(decision.batch.state.json)) as Json);
            } else if (decision.kind === "begin") {
                const { path } = decision.effect;
                open.push({ kind: "outcome", path, outcome: { ok: true, value: "got", origins: [] } });
            } else if (decision.kind === "compute") computes = true;
        }
        if (next.length === 0 && !computes) {
            if (answered++ === answers)
                return { documents, kept: documents.map((one) => (one as unknown as { conduct: ConductDoc }).conduct) };
            next.push(open.shift() as News);
        }
        news = next;
    }
}

test.each([
    ["few", 3],
    ["most", WIDE],
])("U2: a continuation alone says what may have been begun where %s are under way", (_, concurrency) => {
    const { documents } = saved(concurrency, 2);
    const conductor = new Conductor(Machine.load(new Compiled(PROGRAM), { ...OPTIONS, concurrency: WIDE }, documents), { saves: true });
    const unknown = conductor.next(0).filter(({ kind }) => kind === "unknown");
    expect(unknown).toHaveLength(Math.min(concurrency, WIDE - 2));
});

test("what is saved with each outcome does not grow with the effects under way, nor with those that wait for room", () => {
    for (const concurrency of [3, WIDE]) {
        const { kept } = saved(concurrency, 10);
        expect(kept.length).toBeGreaterThan(10);
        for (const one of kept) expect((one.begun ?? one.idle)?.length).toBeLessThanOrEqual(3);
    }
});
