/** D4: what a program waits for is no budget: it passes while a person is asked, and goes on where it was after a resume. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { Compiled, Conductor, type ConductOptions, type Decision, Machine, type News } from "../../src/index.ts";
import { block, blocks, fan, pipe, stage } from "../plan/blocks.ts";
import { func, lit, OPTIONS, stmt } from "../run/forms.ts";

const PROGRAM = blocks(
    [block(fan(stage("approve", "May it?"), pipe(stage("wait", 50), stage("done"))))],
    [func("done", ["a"], [stmt(lit("done"))])],
);

/** A shell that keeps what is committed at once. */
class Shell {
    readonly documents: Json[];
    readonly said: Decision[] = [];
    readonly events: string[] = [];
    wake: number | null = null;
    private readonly conductor: Conductor;

    constructor(documents: readonly Json[] = [], options: Partial<ConductOptions> = {}) {
        const compiled = new Compiled(PROGRAM);
        this.documents = [...documents];
        const machine =
            documents.length === 0
                ? Machine.start(compiled, OPTIONS)
                : Machine.load(
                      compiled,
                      OPTIONS,
                      documents.map((one) => one),
                  );
        this.conductor = new Conductor(machine, { saves: true, ...options });
    }

    at(now: number, ...news: News[]): this {
        for (let next = news; ; ) {
            const more: News[] = [];
            let computes = false;
            for (const one of this.conductor.next(now, next)) {
                this.said.push(one);
                if (one.kind === "wake") this.wake = one.at;
                if (one.kind === "compute") computes = true;
                if (one.kind !== "commit") continue;
                more.push({ kind: "committed", n: one.n });
                this.events.push(...(one.batch.events ?? []).map(({ path, kind }) => `${kind} ${path.split("/").at(-1)}`));
                if (one.batch.state !== undefined) this.documents.push(JSON.parse(JSON.stringify(one.batch.state.json)) as Json);
            }
            if (more.length === 0 && !computes) return this;
            next = more;
        }
    }
}

test("D4: a wait is over while a person is asked beside it", () => {
    const shell = new Shell().at(1000);
    expect(shell.said).toContainEqual(expect.objectContaining({ kind: "begin", effect: expect.objectContaining({ kind: "ask" }) }));
    expect(shell.wake).toBe(1050);
    shell.at(1050, { kind: "time" });
    expect(shell.events).toContain("plan.node.ended done#0");
});

test("D4: a wait whose run is let go has as much left as it had then", () => {
    const first = new Shell().at(1000).at(1030, { kind: "drain" }, { kind: "later", path: "blocks/block#0/approve#0/approve#0" });
    const second = new Shell(first.documents, {
        recovered: { outcomes: [], begun: [], repeatable: [] },
    }).at(500_000);
    expect(second.wake).toBe(500_020);
    second.at(500_020, { kind: "time" });
    expect(second.events).toContain("plan.node.ended done#0");
});
