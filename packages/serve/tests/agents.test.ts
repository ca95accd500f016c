/** A real agent with hands of its own in a turn with lent tools: its hands are off but for what its remit allows, and a permission waits for a person. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Act, AGENT } from "../../host/tests/agent/rig.ts";
import type { Decision, Frame } from "../src/wire/messages.ts";
import { ended, type Room, room, watch } from "./room.ts";

const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");

let work: string;
beforeEach(() => {
    work = realpathSync(mkdtempSync(join(tmpdir(), "remit-agents-")));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** A server whose turns hand their text to the agent; one tool is lent to its session. */
async function served(remit: string): Promise<{ readonly at: Room; readonly id: string }> {
    writeFileSync(
        join(work, "main.remit"),
        `import tool Lent from "host:lent"
import tool Repo from "file://workspace"
import agent Fixer from "acp://tester" { remit { ${remit} } }
main func(input: { task: string }) { agent(input.task, { agent: Fixer }) }
`,
    );
    const at = await room([], { program: join(work, "main.remit"), load: { workspace: work, cache: false } });
    const tester = { command: [process.execPath, AGENT], sandbox: { read: [ROOT] }, graceMs: 300 };
    mkdirSync(join(at.folder, ".config", "remit"), { recursive: true });
    writeFileSync(join(at.folder, ".config", "remit", "remit.json"), JSON.stringify({ agents: { tester } }));
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", { description: "Clicks" });
    return { at, id };
}

const permission = (kind: string, path: string): Act => ({
    do: "permission",
    call: { toolCallId: `${kind} ${path}`, title: "Edit", kind, locations: [{ path: join(work, path) }] },
});
const write = (path: string): Act => ({
    do: "request",
    method: "fs/write_text_file",
    params: { path: join(work, path), content: "by its own hands" },
});

/** What the agent found out, one line an act. */
function found(value: Json | undefined): Json[] {
    const { data } = value as { readonly data?: { readonly text: string } };
    return (data?.text ?? "")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Json);
}

test("without a word of its remit its hands are off, also where the project has the tool: no person is asked and nothing is done", async () => {
    const { at, id } = await served("spend 5 min, 20 turns");
    await using _room = at;
    const acts = [permission("edit", "a.txt"), permission("execute", "."), write("a.txt")];
    const turn = await at.owner.submit(id, { text: JSON.stringify(acts) });
    const seen = await watch(at.owner, id, ended(turn.id));
    const { status, value } = await at.owner.turn(id, turn.id);
    expect(status).toBe("done");
    const rejected = { ok: { outcome: "selected", optionId: "r" } };
    expect(found(value)).toEqual([rejected, rejected, { no: expect.anything() as Json }]);
    expect(seen.map(({ event }) => event)).not.toContain("ask.requested");
    expect(existsSync(join(work, "a.txt"))).toBe(false);
});

test("what its remit has asked waits for a person in the middle of its turn, and is decided over HTTP", async () => {
    const { at, id } = await served("ask Repo.write  spend 5 min, 20 turns");
    await using _room = at;
    const { client: other } = await at.client("other");
    const acts = [permission("edit", "yes.txt"), permission("edit", "no.txt"), write("yes.txt")];
    const turn = await at.owner.submit(id, { text: JSON.stringify(acts) });
    const asked: Json[] = [];
    const seen = await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event !== "ask.requested") return;
        const { capability, args } = data["detail"] as unknown as { readonly capability: string; readonly args: readonly Json[] };
        asked.push([capability, JSON.stringify(args)]);
        expect((await at.owner.turn(id, turn.id)).status).toBe("running");
        expect(await other.decide(id, data["ask"] as string, "once")).toMatchObject({ status: "rejected" });
        await at.owner.decide(id, data["ask"] as string, JSON.stringify(args).includes("no.txt") ? "deny" : "once");
    });
    const { value } = await at.owner.turn(id, turn.id);
    const told = (optionId: string): Json => ({ ok: { outcome: "selected", optionId } });
    expect(found(value)).toEqual([told("a"), told("r"), { ok: {} }]);
    expect(asked.map((one) => (one as Json[])[0])).toEqual(["Repo.write", "Repo.write", "Repo.write"]);
    expect(readFileSync(join(work, "yes.txt"), "utf8")).toBe("by its own hands");
    expect(seen.filter(({ event }) => event === "ask.decided").length).toBe(3);
});

/** A server that stopped while the agent's write waited for a person; `decides`: about the turn, and about what is asked after that. */
async function stoppedWhileAsked(decides: readonly Decision[]) {
    const { at, id } = await served("ask Repo.write  spend 5 min, 20 turns");
    await using _room = at;
    const turn = await at.owner.submit(id, { text: JSON.stringify([write("a.txt")]) });
    const asked = (await watch(at.owner, id, (event) => event === "ask.requested")).at(-1) as Frame;
    const { ask: before } = asked.data as { readonly ask: string };
    await at.again({ bounds: { back: 50 } });
    const late: Json[] = [];
    const questions: string[] = [];
    const seen = await watch(
        at.owner,
        id,
        ended(turn.id),
        async (event, data) => {
            if (event !== "ask.requested") return;
            if (questions.length === 0) late.push(await at.owner.decide(id, before, "once"));
            const decision = decides[questions.push(data["question"] as string) - 1] as Decision;
            await at.owner.decide(id, data["ask"] as string, decision);
        },
        asked.seq,
    );
    const why = seen.flatMap(({ event, data }) => (event === "ask.withdrawn" ? [(data as { why: string }).why] : []));
    const { status, value } = await at.owner.turn(id, turn.id);
    return { status, found: found(value), late, questions, why, isWritten: existsSync(join(work, "a.txt")) };
}

const ENDED = expect.stringMatching(/the agent that waited for the answer ended with .*nothing of this call was done/) as string;
const WAITED = expect.stringMatching(/its agent waited for an answer about Repo\.write.*nothing of that call was done.*Begin/) as string;

test("a permission that waits when the server stops ends with its reason, and so does an answer to it; given up, nothing was done", async () => {
    const { status, late, questions, why, isWritten } = await stoppedWhileAsked(["give up"]);
    expect(why).toEqual([ENDED]);
    expect(late).toEqual([{ status: "rejected", reason: ENDED }]);
    expect(questions).toEqual([WAITED]);
    expect(isWritten).toBe(false);
    expect(status).not.toBe("running");
});

test("begun again, the agent asks again: a yes to that question is for one write, which is made once", async () => {
    const { status, found: told, questions, isWritten } = await stoppedWhileAsked(["again", "once"]);
    expect(questions).toEqual([WAITED, expect.stringContaining("Repo.write")]);
    expect(told).toEqual([{ ok: {} }]);
    expect(isWritten).toBe(true);
    expect(status).toBe("done");
});
