/**
 * The program that is killed: 50 effects, branches in parallel among them, and what it must come to.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Json } from "@remit/language";
import type { Effect, ToolRequest, UnknownAnswer } from "@remit/machine";

export const PROGRAM = `import tool Work from "host:work"

func pair(n: number) {
    first = Work.step(n)
    second = Work.step(first.next)
    [first.value, second.value]
}

main func(input: { before: list[number], middle: list[number], after: list[number] }) {
    notes = []
    for n in input.before max 100 { notes.add(Work.step(n).value) }
    pairs = parallel for n in input.middle max 100 { pair(n) }
    for n in input.after max 100 {
        note = try { Work.step(n).value } catch failure { failure.kind }
        notes.add(note)
    }
    { notes: notes, pairs: pairs }
}
`;

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
export const INPUT = { before: range(1, 15), middle: range(100, 10), after: range(16, 15) };
/** Effects of one run. */
export const EFFECTS = 50;

export const valueAt = (n: number): number => n * 10 + 1;
export const EXPECTED = {
    notes: [...INPUT.before, ...INPUT.after].map(valueAt),
    pairs: INPUT.middle.map((n) => [valueAt(n), valueAt(n + 1000)]),
};

/** The world: a file that gets a line before and after each step, so that a step done twice is seen. */
export function world(side: string, hooks: { readonly moment: () => void }) {
    return {
        step: async (n: number): Promise<Json> => {
            hooks.moment();
            appendFileSync(side, `begin ${n}\n`);
            hooks.moment();
            await new Promise((resolve) => setTimeout(resolve, n % 3));
            hooks.moment();
            appendFileSync(side, `end ${n}\n`);
            hooks.moment();
            return { value: valueAt(n), next: n + 1000 };
        },
    };
}

export function linesOf(side: string): string[] {
    return existsSync(side)
        ? readFileSync(side, "utf8")
              .split("\n")
              .filter((line) => line !== "")
        : [];
}

/** What a person finds when looking at the world: it happened, or it did not. */
export function lookUp(side: string, effect: Effect): UnknownAnswer {
    const [n] = (effect.request as unknown as ToolRequest).args ?? [];
    if (typeof n !== "number") throw new Error(`an unexpected effect is unknown: ${effect.path}`);
    return linesOf(side).includes(`end ${n}`) ? { answer: "done", value: { value: valueAt(n), next: n + 1000 } } : { answer: "again" };
}
