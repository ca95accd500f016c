/**
 * Post-mortem: what an auditor sees in a frame of a run that is over is what `inspect:` answered there while it ran, and looking does nothing.
 */
import type { Json } from "@remit/language";
import { INSPECTOR, type LedgerEvent } from "@remit/machine";
import { describe, expect, test } from "vitest";
import { lookingAt, lookingBack } from "../../src/debug/looking.ts";
import { type DebugSession, debugRun, moved } from "../../src/debug/session.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { contents, killed, LOOKS, recorded, TOOLS } from "./runs.ts";

interface Asked {
    readonly seq: number;
    readonly path: string;
    readonly method: string;
    readonly arg: Json;
    readonly said: Json;
    readonly origins: readonly string[];
}

/** What `inspect:` was asked and answered while the run went on. */
function live(events: Iterable<LedgerEvent>): Asked[] {
    return [...events].flatMap((event): Asked[] => {
        const data = event.data as { readonly [key: string]: Json };
        if (event.kind !== "tool.ended" || data["tool"] !== "Look") return [];
        const [arg = {}] = data["args"] as Json[];
        const said = data["ok"] === true ? (data["result"] as Json) : { failed: data["error"] as Json };
        return [{ seq: event.seq, path: event.path, method: String(data["method"]), arg, said, origins: event.labels }];
    });
}

function again(session: DebugSession, asked: Asked): Asked {
    moved(session.goTo({ kind: "event", seq: asked.seq }));
    expect(session.where()).toMatchObject({ state: "waiting" });
    expect(session.timeline.asking).toBe(asked.path);
    const found = session.timeline.machine.inspected(session.where().thread, asked.method, asked.arg as { [key: string]: Json });
    if (!found.ok)
        return { ...asked, said: { failed: `Tool Look.${asked.method} (inspect:) failed: ${found.message}` }, origins: ["tool:Look"] };
    return { ...asked, said: found.value, origins: [...new Set(["tool:Look", ...found.origins])].sort() };
}

describe.each(Object.entries(LOOKS))("%s", (_, source) => {
    test("F55: each look again at its place gives what was answered live", async () => {
        const run = await recorded(source, { items: [1, 2, 3] });
        const asked = live(await Array.fromAsync(run.store.events(run.id)));
        expect(asked.length).toBeGreaterThan(5);
        expect((await run.store.run(run.id)).status).toBe("failed");
        const session = await debugRun(run.store, run.id);
        for (const one of asked) expect(again(session, one)).toEqual(one);
        // backwards as well
        for (const one of [asked.at(-1), asked[1]] as Asked[]) expect(again(session, one)).toEqual(one);
    });
});

test("so it does in a run whose process was killed", async () => {
    const run = await killed();
    try {
        const asked = live(await Array.fromAsync(run.store.events(run.id)));
        expect(asked.map((one) => one.method)).toEqual(["frame", "frame"]);
        for (const one of asked) expect(again(await debugRun(run.store, run.id), one)).toEqual(one);
    } finally {
        await run.close();
    }
});

/** All of a run's state; `seq` counts the documents that were saved. */
function stateOf(session: DebugSession): unknown {
    const { image } = session.timeline.machine.save({ image: true }) as { readonly image: { readonly [key: string]: Json } };
    return JSON.parse(JSON.stringify([session.moment, session.inspect(), { ...image, seq: 0 }]));
}

test("F55: an auditor in a frame of a failed run looks and does nothing: no effect, no change of state or record", async () => {
    const did: string[] = [];
    const watched = Object.fromEntries(Object.entries(TOOLS.Mail).map(([name, call]) => [name, () => (did.push(name), call())]));
    const run = await recorded(
        LOOKS["principals, delegation and rights"] as string,
        { items: [1] },
        { tools: { ...TOOLS, Mail: watched } },
    );
    expect(did).toEqual(["read"]);
    const before = await contents(run.store, run.id);
    const session = await debugRun(run.store, run.id);
    moved(session.goTo({ kind: "failure" }));
    const state = stateOf(session);
    for (const tool of [lookingAt(session, createScrubber()), lookingBack(run.store, run.id, createScrubber())]) {
        expect(Object.keys(tool).sort()).toEqual(INSPECTOR.methods.map((one) => one.name).sort());
        for (const [name, method] of Object.entries(tool)) {
            expect(method).toMatchObject({ readOnly: true });
            const { call } = method as { readonly call: (arg: Json) => unknown };
            call(name === "find" ? { text: "a" } : name === "frame" ? { index: 0 } : { path: "0/own" });
        }
        // The frame stands before a call that it may make; whoever looks has no way to make it.
        for (const effect of ["send", "purge", "read", "write", "call", "resolve"]) expect(Object.hasOwn(tool, effect)).toBe(false);
    }
    expect(session.timeline.machine.inspected(0, "purge", {})).toMatchObject({ ok: false });
    expect(stateOf(session)).toEqual(state);
    expect(await contents(run.store, run.id)).toBe(before);
    expect(did).toEqual(["read"]);
});
