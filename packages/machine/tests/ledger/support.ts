/** A run's events as a store would keep them: sealed, in order, one second apart unless said otherwise. */
import { createHash } from "node:crypto";
import type { Json } from "@remit/language";
import { type EventKind, GENESIS, type MachineEvent, SALT_LENGTH, type SealedEvent, sealEvent } from "../../src/index.ts";
import { labelled, list, runtime } from "../builtin/support.ts";
import { calls, drive, inOrder, notJson, OK, ok, says, setup } from "../prompt/support.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

export const RUN = "run-1";

export function event(kind: EventKind, path: string, data: Json = {}, more: Partial<MachineEvent> = {}): MachineEvent {
    return { kind, path, parent: null, principal: "user", site: null, labels: [], data, ...more };
}

export function seal(events: readonly MachineEvent[], run = RUN, from = 0): SealedEvent[] {
    let prev = GENESIS;
    return events.map((one, at) => {
        const time = new Date(Date.UTC(2026, 10, 21, 12, 0, from) + at * 500).toISOString();
        const salt = sha256(`${run} salt ${at}`).repeat(2).slice(0, SALT_LENGTH);
        const sealed = sealEvent(one, { seq: at + 1, time, run, prev }, salt, sha256);
        prev = sealed.hash;
        return sealed;
    });
}

/** A run with a tool call, two generates (one with a retry, one with a tool loop), a loop and a failure that is caught. */
export function sample(): MachineEvent[] {
    const rt = runtime();
    const site = { file: "main.remit", line: 4, column: 5 };
    const log = labelled(rt, list(rt, "alpha", "beta", "gamma"), "file:log");
    const prompt = setup({
        contract: OK,
        options: { attempts: 2, strict: false, debug: false, stream: false },
        items: [
            { source: "log", label: "build log", value: log, budget: { amount: 25, unit: "chars", text: "25" }, site },
            { source: "question", label: null, value: "short" },
        ],
        scope: ["log", "question", "secret"],
    });
    const first = drive(prompt, rt, inOrder(notJson("Sure"), says({ ok: true })));
    const described = ok({ methods: [{ name: "read", input: {}, readOnly: true }] });
    const looped = drive(
        setup({ label: "Main.main[1]", tools: [{ name: "Repo", uri: "file://.", file: "main.remit" }] }),
        rt,
        inOrder(
            described,
            calls({ id: "1", name: "Repo_read", args: { path: "a" } }),
            ok("text of a", { origins: ["tool:Repo"] }),
            ok({ text: "fine", finish: "stop", model: "m-1" }, { usage: { input: 5, output: 1, usd: 0.25 } }),
        ),
    );
    const under = (path: string, steps: typeof first.events): MachineEvent[] =>
        steps.map((one) => ({ ...event(one.kind, one.suffix === "" ? path : `${path}/${one.suffix}`, one.data), labels: one.labels }));
    return [
        event(
            "run.started",
            "main",
            { entry: { file: "main.remit", agent: "Main", function: "main" }, input: { q: 1 } },
            { labels: ["user"] },
        ),
        event("tool.started", "main/Repo.list#0", { tool: "Repo", method: "list", uri: "file://.", args: [{ path: "." }] }),
        event(
            "tool.ended",
            "main/Repo.list#0",
            { tool: "Repo", method: "list", uri: "file://.", args: [{ path: "." }], ok: true, result: ["a"] },
            { labels: ["tool:Repo"] },
        ),
        ...under("main/generate#0", first.events),
        event("for", "main/for[0]", { item: "f", index: 0, value: "a", max_items: 2, total_items: 1, truncated: false }),
        ...under("main/for[0]/generate#1", looped.events),
        event("tool.started", "main/Repo.read#0", { tool: "Repo", method: "read", uri: "file://.", args: [{ path: "x\u001b[2J" }] }),
        event("tool.ended", "main/Repo.read#0", {
            tool: "Repo",
            method: "read",
            uri: "file://.",
            args: [{ path: "x\u001b[2J" }],
            ok: false,
            kind: "tool",
            error: "no such file",
        }),
        event("run.ended", "main", { ok: true, value: { ok: true }, steps: 12, usage: { input: 35, output: 7 } }),
    ];
}
