/** CSG: how often, and in which order, the effects of a stage begin. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { Compiled, type ConductEnd, Conductor, Machine, type News } from "../../src/index.ts";
import { block, blocks, fan, pipe, ref, stage } from "../plan/blocks.ts";
import { call, func, member, name, OPTIONS, stmt } from "../run/forms.ts";

/** Asks a tool, and gives what it gave. */
const FUNCS = [func("ask", ["a"], [stmt(call(member(name("T"), "get"), name("a")))])];

type Body = Parameters<typeof block>[0];

/** Every effect is answered after `takes` ms; when each began, by the conductor's clock, and with which argument. */
function conducted(
    body: Body,
    { input = null, takes = 0, concurrency = 16 }: { input?: Json; takes?: number; concurrency?: number },
): {
    readonly begun: readonly (readonly [number, Json])[];
    readonly end: ConductEnd;
} {
    const machine = Machine.start(new Compiled(blocks([block(body)], FUNCS)), { ...OPTIONS, input });
    const conductor = new Conductor(machine, { saves: false, concurrency });
    const begun: [number, Json][] = [];
    const due: { readonly at: number; readonly news: News }[] = [];
    let wake: number | null = null;
    let now = 0;
    for (let news: News[] = []; ; ) {
        const next: News[] = [];
        let computes = false;
        for (const decision of conductor.next(now, news)) {
            if (decision.kind === "commit") next.push({ kind: "committed", n: decision.n });
            else if (decision.kind === "compute") computes = true;
            else if (decision.kind === "wake") wake = decision.at;
            else if (decision.kind === "begin") {
                const { path, request } = decision.effect;
                const { args } = request as unknown as { readonly args: readonly Json[] };
                begun.push([now, args[0] as Json]);
                due.push({ at: now + takes, news: { kind: "outcome", path, outcome: { ok: true, value: args[0] as Json, origins: [] } } });
            } else if (decision.kind === "ended") return { begun, end: decision.end };
        }
        if (next.length === 0 && !computes) {
            due.sort((a, b) => a.at - b.at);
            const [first] = due;
            const at: number = Math.min(first?.at ?? Number.POSITIVE_INFINITY, wake ?? Number.POSITIVE_INFINITY);
            if (at === Number.POSITIVE_INFINITY) throw new Error("the conductor waits for nothing");
            now = Math.max(now, at);
            if (first !== undefined && first.at <= now) next.push((due.shift() as (typeof due)[number]).news);
            else next.push({ kind: "time" });
        }
        news = next;
    }
}

test("the effects of a stage begin no more often than its rate, whatever their answers take", () => {
    const paced = { ...stage("map", ref("ask")), with: { rate: 10 } } as const;
    const { begun, end } = conducted(pipe(paced), { input: ["a", "b", "c"] });
    expect(begun).toEqual([
        [0, "a"],
        [100, "b"],
        [200, "c"],
    ]);
    expect(end).toEqual({ status: "done", value: ["a", "b", "c"] });
});

test("a rate holds nobody else up", () => {
    const paced = { ...stage("map", ref("ask")), with: { rate: 1 } } as const;
    const { begun } = conducted(fan(paced, stage("map", ref("ask"))), { input: ["a", "b"] });
    expect(begun.map(([at]) => at)).toEqual([0, 0, 0, 1000]);
});

test("where there is no room for all, what has the smaller number begins first", () => {
    const put = (text: string, priority?: number): ReturnType<typeof stage> => ({
        ...stage("ask", text),
        ...(priority === undefined ? {} : { with: { priority } }),
    });
    const { begun } = conducted(fan(put("last", 5), put("middle"), put("first", 1)), { takes: 10, concurrency: 1 });
    expect(begun.map(([, what]) => what)).toEqual(["first", "middle", "last"]);
});
