/** `debugger` in the source: nothing in a run, a place to stop for whoever goes through it. */
import { expect, test } from "vitest";
import { debugRun, moved } from "../../src/debug/session.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import { load } from "../../src/run/program.ts";

const SOURCE = `func twice(n: number) {
    m = n + n
    debugger
    m
}
main func(input: { n: number }) {
    total = 0
    for i in [1, 2] max 2 {
        total += twice(i * input.n)
    }
    parts = parallel for i in [1] max 1 {
        if i == 1 { debugger }
        i
    }
    total + parts.length
}
`;

async function ran(source: string) {
    const store = memoryStore();
    const program = await load<{ n: number }, number>({ source, file: "main.remit" }, { ledger: store, cache: false });
    const run = program.run({ n: 3 });
    const value = await run.value;
    const info = await store.run(run.id);
    return {
        store,
        id: run.id,
        value,
        steps: info.steps,
        events: (await Array.fromAsync(store.events(run.id))).map((one) => [one.kind, one.path]),
    };
}

test("in a run it costs a step and does nothing", async () => {
    const [with_, without] = [await ran(SOURCE), await ran(SOURCE.replaceAll(/^ {4}debugger\n/gm, "").replace("{ debugger }", "{ }"))];
    expect(with_.value).toBe(19);
    expect(without.value).toBe(19);
    expect(with_.events).toEqual(without.events);
    expect(with_.steps - without.steps).toBe(3);
});

test("going on stops at each, in functions that a run computes at one go too, forwards and backwards", async () => {
    const { store, id } = await ran(SOURCE);
    const session = await debugRun(store, id);
    const seen: (readonly [string, number | undefined])[] = [];
    const go = (back = false): string => {
        const stop = moved(back ? session.reverseContinue() : session.continue());
        seen.push([stop.breakpoint?.kind ?? stop.reason, session.where().site?.line]);
        return stop.reason;
    };
    go();
    expect(session.look({ thread: 0, frame: 0, names: ["m"] })?.view.text).toBe("6");
    while (go() === "breakpoint");
    expect(seen).toEqual([
        ["debugger", 3],
        ["debugger", 3],
        ["debugger", 12],
        ["end", undefined],
    ]);
    seen.length = 0;
    while (go(true) === "breakpoint");
    expect(seen).toEqual([
        ["debugger", 12],
        ["debugger", 3],
        ["debugger", 3],
        ["start", 7],
    ]);
});

test("where the name is bound it is the name", async () => {
    const { value, store, id } = await ran("main func(input: { n: number }) {\n    debugger = input.n\n    debugger\n}\n");
    expect(value).toBe(3);
    expect(moved((await debugRun(store, id)).continue()).reason).toBe("end");
});
