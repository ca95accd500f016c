/**
 * What every real agent that `npm test` drives is put through, in one session where that can be: each session costs seconds to open.
 *
 * The table of what an agent calls its own tools is all that differs.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEntry, AgentPart, Outcome } from "@remit/machine";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type AgentName, ripgrep } from "./agents.ts";
import type { Said } from "./models/wire.ts";
import { speaksAcp } from "./processes.ts";
import { type Rig, rig } from "./rig.ts";
import { judge } from "./schema.ts";

export interface Traits {
    readonly name: AgentName;
    /** As it calls itself. */
    readonly self: { readonly name: string; readonly version: string };
    write(path: string, text: string): Said;
    /** A call that needs no permission. */
    look(folder: string): Said;
    /** A search in the files' text. */
    search(folder: string, text: string): Said;
    /** Name of its writing tool in the trajectory. */
    readonly writing: string;
    /** What it sends that the protocol's schema does not have. */
    readonly outside: readonly string[];
}

const ANSWER = ["Here it is.", "", "```remit", "func answer(agent, log) {", "    { lines: log.length }", "}", "```"].join("\n");

/** As PROTOCOLS 4 has it. */
const HANDSHAKE: readonly AgentPart[] = [
    { type: "text", text: "Control is yours: answer with a function." },
    {
        type: "resource",
        uri: "remit:yield",
        mediaType: "application/json",
        text: JSON.stringify({
            format: "remit-yield/1",
            session: "main/Fixer.yield#0",
            turn: 0,
            params: [{ name: "log", contract: { type: "string" }, value: "one two", origins: ["user"] }],
            expects: { type: "object" },
        }),
    },
];

function calls(entries: readonly AgentEntry[]): Extract<AgentEntry, { kind: "call" }>[] {
    return entries.filter((one) => one.kind === "call");
}

function failed(outcome: Outcome): { readonly kind: string; readonly message: string } {
    if (outcome.ok) throw new Error(`it did not fail: ${JSON.stringify(outcome.value)}`);
    return outcome.failure;
}

export function conversation(traits: Traits): void {
    // opening one takes two seconds of a quiet machine, and many of a busy one
    vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
    const rules = (workspace: string) => [
        { when: "remit-yield/1", say: [{ text: ANSWER }] },
        { when: "follow up", say: [{ text: "The second turn." }] },
        { when: "no function in your answer", say: [{ text: ANSWER }] },
        { when: "answer badly", say: [{ text: "I would rather talk about it." }] },
        { when: "write freely", say: [traits.write(join(workspace, "free.txt"), "free"), { text: "Done." }] },
        { when: "write asked yes", say: [traits.write(join(workspace, "yes.txt"), "yes"), { text: "Done." }] },
        { when: "write asked no", say: [traits.write(join(workspace, "no.txt"), "no"), { text: "Done." }] },
        { when: "write refused", say: [traits.write(join(workspace, "refused.txt"), "refused"), { text: "Done." }] },
        { when: "look around", say: [traits.look(workspace), traits.search(workspace, "needle"), { text: "Found." }] },
        { when: "hang", say: [{ hang: true as const }] },
        { when: "for ever", say: () => traits.look(workspace) },
    ];

    describe(traits.name, () => {
        let one: Rig;
        beforeAll(async () => {
            one = await rig(traits.name, rules, { programs: { rg: ripgrep() } });
            // what its folder is to the sandbox, the first turn decides: so each test finds the same one when it is run alone
            await one.reply("follow up");
        });
        afterAll(async () => {
            await one?.[Symbol.asyncDispose]();
        });

        test("a handshake is answered with a function", async () => {
            const reply = await one.reply(HANDSHAKE);
            expect(reply.text).toContain("```remit\nfunc answer(agent, log) {");
            expect(reply).toMatchObject({ stop: "end_turn", confinement: "sandbox", agent: traits.self, spent: { steps: 1, calls: 0 } });
            const asked = await one.model.until((heard) => heard.user.includes("remit-yield/1"));
            // what was passed arrives as it was, and nothing of the machine beside it
            expect(asked.user).toContain('"value":"one two"');
        });
        test("a bad answer is repaired in a turn that says what was wrong", async () => {
            expect((await one.reply("answer badly")).text).not.toContain("```remit");
            expect((await one.reply("there is no function in your answer: answer with one")).text).toContain("func answer(agent, log)");
        });
        test("a further turn is of the same session and the same process", async () => {
            const reply = await one.reply("follow up");
            expect(reply.text).toBe("The second turn.");
            const heard = one.model.heard.findLast((last) => last.user.includes("follow up") && last.tools.length > 0);
            expect(JSON.stringify(heard?.body)).toContain("func answer(agent, log)");
            const opened = one.seen.filter(({ message }) => (message as { method?: string }).method === "session/new");
            expect(opened).toHaveLength(1);
        });
        test("usage is what the agent reports", async () => {
            const outcome = await one.turn("follow up again");
            expect(outcome).toMatchObject({ ok: true, usage: { input: 100, output: 20 } });
        });
        test("a call that the remit allows is made, and through the program's tool", async () => {
            const reply = await one.reply("write freely", { gates: { read: "may", write: "may" } });
            expect(readFileSync(join(one.workspace, "free.txt"), "utf8")).toBe("free");
            expect(calls(reply.entries)).toMatchObject([
                { name: traits.writing, status: "completed", permission: { allowed: true, by: "remit" }, made: "Repo.write" },
            ]);
            expect(JSON.stringify(calls(reply.entries)[0]?.input)).toContain("free.txt");
            expect(one.uses.filter(({ use }) => use.method === "write")).toEqual([
                {
                    how: "may",
                    allowed: true,
                    use: expect.objectContaining({ tool: "Repo", args: [expect.objectContaining({ path: "free.txt" })] }),
                },
                {
                    how: "use",
                    allowed: true,
                    use: expect.objectContaining({ tool: "Repo", args: [{ path: "free.txt", content: "free" }] }),
                },
            ]);
        });
        test("a call that is asked about is made when a person says so", async () => {
            const reply = await one.reply("write asked yes", { person: true });
            expect(readFileSync(join(one.workspace, "yes.txt"), "utf8")).toBe("yes");
            expect(calls(reply.entries)).toMatchObject([{ status: "completed", permission: { allowed: true, by: "person" } }]);
        });
        test("and is not when a person says no", async () => {
            const reply = await one.reply("write asked no");
            expect(existsSync(join(one.workspace, "no.txt"))).toBe(false);
            expect(calls(reply.entries)).toMatchObject([{ status: "failed", permission: { allowed: false, by: "person" } }]);
        });
        test("a call that the remit has no tool for is refused", async () => {
            const reply = await one.reply("write refused", { gates: { read: "may" } });
            expect(existsSync(join(one.workspace, "refused.txt"))).toBe(false);
            expect(calls(reply.entries)).toMatchObject([{ status: "failed", permission: { allowed: false, by: "remit" } }]);
        });
        test("its own tools that look for files and texts find them", async () => {
            one.write("hay/stack.txt", "a needle in it\n");
            one.write("hay/other.md", "nothing\n");
            const reply = await one.reply("look around", { gates: { read: "may" } });
            const [files, texts] = calls(reply.entries);
            expect(files).toMatchObject({ status: "completed" });
            expect(JSON.stringify(files?.output)).toContain("other.md");
            expect(texts).toMatchObject({ status: "completed" });
            expect(JSON.stringify(texts?.output)).toContain("stack.txt");
            expect(one.parts).not.toContainEqual(expect.objectContaining({ type: "notice" }));
        });
        test("cancelled, the turn ends and the session goes on", async () => {
            const stop = new AbortController();
            const turn = one.turn("hang now", { signal: stop.signal });
            await one.model.until((heard) => heard.user.includes("hang now") && heard.tools.length > 0);
            stop.abort();
            expect(failed(await turn).kind).toBe("cancelled");
            expect((await one.reply("follow up after it")).text).toBe("The second turn.");
        });
        test("by its steps an agent that never ends is ended", async () => {
            const outcome = failed(await one.turn("for ever", { limits: { steps: 4 } }));
            expect(outcome).toMatchObject({ kind: "limit.steps", detail: { reply: { spent: { steps: expect.any(Number) } } } });
            expect((await one.reply("follow up after that")).text).toBe("The second turn.");
        });
        test("every message is as the protocol's schema has it", () => {
            const theirs = judge(one.seen, "agent");
            expect(theirs.invalid).toEqual([]);
            expect(theirs.outside.filter((what) => !traits.outside.includes(what))).toEqual([]);
            expect(judge(one.seen, "client")).toMatchObject({ invalid: [], outside: [] });
            expect(theirs.count).toBeGreaterThan(20);
        });
        test("out of time and not to be spoken to, it is killed with all it started", async () => {
            const turn = one.turn("hang and do not listen", { limits: { ms: 1_000 } });
            await one.model.until((heard) => heard.user.includes("hang and do not listen") && heard.tools.length > 0);
            const pids = one.pids();
            expect(pids).not.toEqual([]);
            for (const pid of pids) process.kill(pid, "SIGSTOP");
            expect(failed(await turn).kind).toBe("limit.time");
            await expect.poll(() => one.pids()).toEqual([]);
        });
        test("killed by somebody else in the middle of a turn, it fails as gone, and may be asked again", async () => {
            const turn = one.turn("hang until killed");
            await one.model.until((heard) => heard.user.includes("hang until killed") && heard.tools.length > 0);
            // the innermost is the agent itself; those around it end with it
            const agent = one.pids().findLast(speaksAcp);
            expect(agent).toBeDefined();
            process.kill(agent as number, "SIGKILL");
            expect(failed(await turn)).toMatchObject({ kind: "unreachable", message: expect.stringContaining("its process is gone") });
        });
    });
}
