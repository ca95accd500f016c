/**
 * What labels cost where effects are performed: the same chain of effects with results that carry an origin each, against results that carry none.
 * Labels cannot be turned off; without an origin there is only nothing to carry.
 */
import { type Compiled, Machine } from "@remit/machine";
import { here, type Row, rounds, type Section } from "./harness.ts";
import { compileText } from "./remit.ts";

const N = 1_000;
const SOURCE = `
import tool Work from "host:work"
main agent Chain {
    main func(input: { n: number }) {
        items = []
        total = 0
        i = 0
        loop until i >= input.n max 1000000 {
            got = Work.step({ i: i, before: total })
            total += got
            items.add({ i: i, got: got })
            i += 1
        }
        items.length
    }
}`;

export async function labels(): Promise<Section> {
    const compiled = compileText(SOURCE);
    const several = Array.from({ length: 8 }, (_, i) => `tool:Other${i}`);
    const cases = [
        { name: "no origin", input: [], origins: () => [] },
        { name: "one origin", input: ["user"], origins: () => ["tool:Work"] },
        {
            name: "eight origins in turn, united on the way",
            input: ["user"],
            origins: (i: number) => ["tool:Work", several[i % 8] as string],
        },
    ];
    const measured = await rounds(
        cases.map(({ name, input, origins }) => here(name, () => chain(compiled, input, origins))),
        { most: 9, slice: 150 },
    );
    const times = measured.map((one) => one.median);
    const bare = times[0] as number;
    const rows = cases.map(({ name }, i): Row => {
        const time = times[i] as number;
        return {
            name,
            ours: (time * 1000) / N,
            unit: "µs/step",
            against: [{ name: "no origin", value: (bare * 1000) / N, ratio: bare / time }],
        };
    });
    return {
        title: "Labels on a step with an effect",
        how: `The machine alone, without a host: ${N.toLocaleString("en")} effects whose results go into sums, objects and a list. Ratio is time without origins ÷ time.`,
        rows,
    };
}

function chain(compiled: Compiled, inputLabels: readonly string[], origins: (i: number) => readonly string[]): void {
    const machine = Machine.start(compiled, { run: "bench", programHash: "bench", input: { n: N }, inputLabels });
    for (let i = 0; ; ) {
        const { state, effects, result } = machine.advance();
        if (state === "done") {
            if (result?.ok !== true || result.value !== N) throw new Error(JSON.stringify(result));
            return;
        }
        for (const effect of effects) machine.resolve(effect.path, { ok: true, value: i++ % 7, origins: [...origins(i)] });
    }
}
