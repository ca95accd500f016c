/** What a commit writes of a run with many effects under way, and what it hashes (RPG1, RPG2, SHV1). */
import { createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_ENTRIES, setCodes } from "../../src/ledger/bound.ts";
import type { Standing } from "../../src/ledger/calls.ts";
import { Entries } from "../../src/ledger/entries.ts";
import { type Begun, pendingAfter } from "../../src/ledger/order.ts";
import { entered } from "../../src/ledger/progress.ts";
import { entriesOf, type RunRow } from "../../src/ledger/rows.ts";
import { pathOf } from "./stores.ts";

const key = createSecretKey(randomBytes(32));
const NONE: Standing = {
    row: { key: 1, pending: "[]" } as RunRow,
    pending: Entries.of<Begun>(),
    early: Entries.of<string>(),
    parts: { options: "", state: "", pending: NO_ENTRIES, early: NO_ENTRIES },
    bound: "",
    states: 0,
    image: 1,
};

/** As `progressed` goes on. */
function after(before: Standing, sets: Pick<Standing, "pending" | "early">): { readonly next: Standing; readonly written: string } {
    const { statements, pending, codes } = entered(key, before, sets);
    const next = { ...before, ...sets, row: { ...before.row, pending }, parts: { ...before.parts, ...codes } };
    return { next, written: JSON.stringify([pending, statements]) };
}

test("SHV1: entries are those of a map, few and many of them, and what changed between two is told", () => {
    const key = fc.integer({ min: 0, max: 99 }).map(pathOf);
    const change = fc.record({ keys: fc.array(key, { maxLength: 80 }), value: fc.option(fc.nat(9), { nil: null }) });
    fc.assert(
        fc.property(fc.array(change, { maxLength: 6 }), fc.nat(5), (changes, at) => {
            const plain = new Map<string, number>();
            const all = [{ entries: Entries.of<number>(), plain: new Map(plain) }];
            for (const { keys, value } of changes) {
                let { entries } = all.at(-1) as (typeof all)[number];
                for (const one of keys) {
                    entries = value === null ? entries.without(one) : entries.with(one, value);
                    if (value === null) plain.delete(one);
                    else plain.set(one, value);
                }
                all.push({ entries, plain: new Map(plain) });
            }
            for (const one of all) expect([new Map(one.entries), one.entries.size]).toEqual([one.plain, one.plain.size]);
            const [before, after] = [all[Math.min(at, all.length - 1)], all.at(-1)] as [(typeof all)[number], (typeof all)[number]];
            const keys = [...new Set([...before.plain.keys(), ...after.plain.keys()])];
            const told = keys
                .filter((one) => before.plain.get(one) !== after.plain.get(one))
                .map((one) => [one, before.plain.get(one), after.plain.get(one)]);
            expect([...after.entries.since(before.entries)].sort()).toEqual(told.sort());
        }),
    );
});

test("RPG1: what an effect writes and hashes does not grow with the number of those under way", () => {
    const work = [20, 2_000].map((width) => {
        const pending = Array.from({ length: width }, (_, i) => ({ path: pathOf(i + 1000), begun: true }));
        const begun = after(NONE, { pending: pendingAfter(NONE.pending, { pending }), early: NONE.early }).next;
        const path = pathOf(1007);
        const told = { path, outcome: { ok: true as const, value: 1, origins: [] } };
        const once = after(begun, { pending: begun.pending, early: begun.early.with(`outcome 1 ${path}`, "x") });
        const over = { pending: pendingAfter(begun.pending, { outcomes: [told] }), early: once.next.early.without(`outcome 1 ${path}`) };
        const twice = after(once.next, over);
        const changed = [...over.pending.since(begun.pending), ...over.early.since(once.next.early)];
        return [once.written.length, twice.written.length, changed.length];
    });
    expect(work[0]).toEqual(work[1]);
});

describe("whatever begins and ends", () => {
    const change = fc.record({ name: fc.integer({ min: 0, max: 40 }), is: fc.constantFrom("begun", "asked", "again", "over", "early") });
    const some = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 12 });

    test("RPG2: the rows and the column say the sets as they are, and the codes are those of the sets", () => {
        fc.assert(
            fc.property(some, (commits) => {
                let now = NONE;
                const rows = new Map<string, string>();
                for (const changes of commits) {
                    let { pending, early } = now;
                    for (const { name, is } of changes) {
                        const path = `e${name}`;
                        if (is === "over") [pending, early] = [pending.without(path), early.without(path)];
                        else if (is === "early") early = early.with(path, String(name));
                        else pending = pending.with(path, { begun: is === "begun", attempt: is === "again" ? 2 : 1 });
                    }
                    const { statements } = entered(key, now, { pending, early });
                    now = after(now, { pending, early }).next;
                    for (const [kind, , name, text] of statements) {
                        // A row that is there already is refused by the table.
                        expect(rows.has(String(name))).toBe(kind === "settleEarly");
                        if (kind === "settleEarly") rows.delete(String(name));
                        else rows.set(String(name), String(text));
                    }
                    const read = entriesOf(
                        now.row,
                        [...rows].map(([name, text]) => ({ key: name, text })),
                    );
                    const all = (sets: Pick<Standing, "pending" | "early">): unknown => [
                        new Map(sets.pending),
                        new Map(sets.early),
                        sets.pending.size,
                        sets.early.size,
                    ];
                    expect(all(read)).toEqual(all({ pending, early }));
                    expect(setCodes(key, read)).toEqual({ pending: now.parts.pending, early: now.parts.early });
                }
            }),
            { numRuns: 200 },
        );
    });
});
