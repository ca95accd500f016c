/** A first Ctrl-C ends a run, whatever it is in the middle of. How soon is measured by `bench/`. */
import { expect, test } from "vitest";
import { INTERRUPTS, interrupted, type Stopped } from "./interrupted.ts";

const SAID: { readonly [ends in Stopped]: { readonly code: number | null; readonly signal: string | null; readonly seen: RegExp } } = {
    loading: { code: null, signal: "SIGINT", seen: /^$/ },
    stopped: { code: 130, signal: null, seen: /cancelled: the run was cancelled\n.*remit resume/s },
    waiting: { code: 3, signal: null, seen: /waits for an answer/ },
};

test.each(INTERRUPTS)("a Ctrl-C ends it: $name", async (one) => {
    const { code, signal, seen } = await interrupted(one);
    const said = SAID[one.ends];
    expect({ code, signal }).toEqual({ code: said.code, signal: said.signal });
    expect(seen).toMatch(said.seen);
});
