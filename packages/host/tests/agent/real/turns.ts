/**
 * Two prompt turns with any of the agents, through our own host and in its sandbox: what `npm run agents` prints a line of. In the second it writes a
 * file, which a person allows.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentReply } from "@remit/machine";
import type { AgentName } from "./agents.ts";
import type { Said } from "./models/wire.ts";
import { type Rig, rig } from "./rig.ts";
import { judge } from "./schema.ts";

export interface Turned {
    readonly agent: string;
    /** What went wrong, null where nothing did. */
    readonly problem: string | null;
    readonly self: string;
    readonly stop: string;
    readonly text: string;
    readonly usage: string;
    readonly confinement: string;
    readonly outside: readonly string[];
    /** Milliseconds from nothing to the first reply. */
    readonly ms: number;
}

const TEXT = "written\n";
/** How each writes a file by its own tool. `place`: absolute. */
const WRITES: { readonly [name in AgentName]: (place: string) => Said } = {
    opencode: (filePath) => ({ call: { name: "write", input: { filePath, content: TEXT } } }),
    "qwen-code": (file_path) => ({ call: { name: "write_file", input: { file_path, content: TEXT } } }),
    claude: (file_path) => ({ call: { name: "Write", input: { file_path, content: TEXT } } }),
    codex: (path) => ({
        call: {
            name: "exec_command",
            input: { cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+${TEXT}*** End Patch\nEOF` },
        },
    }),
    gemini: (file_path) => ({ call: { name: "write_file", input: { file_path, content: TEXT } } }),
};

export async function oneTurn(name: AgentName): Promise<Turned> {
    await using one = await rig(name, (workspace) => [
        { when: "say hello", say: [{ text: "Hello from the model." }] },
        { when: "write it", say: [WRITES[name](join(workspace, "made.txt")), { text: "Done." }] },
    ]);
    const begun = performance.now();
    const outcome = await one.turn("say hello");
    const ms = Math.round(performance.now() - begun);
    const unwritten = outcome.ok ? await writing(one) : [];
    const theirs = judge(one.seen, "agent");
    const ours = judge(one.seen, "client");
    if (!outcome.ok) {
        const problem = `${outcome.failure.kind}: ${outcome.failure.message}${outcome.failure.hint === undefined ? "" : ` (${outcome.failure.hint})`}`;
        return { agent: name, problem, self: "", stop: "", text: "", usage: "", confinement: "", outside: theirs.outside, ms };
    }
    const reply = outcome.value as unknown as AgentReply;
    const wrong = [
        ...unwritten,
        ...theirs.invalid,
        ...ours.invalid,
        ...ours.outside,
        // codex puts a warning of its own before what its model says
        ...(reply.text.includes("Hello from the model.") ? [] : [`the model's text is not in the reply: ${reply.text.slice(0, 200)}`]),
    ];
    const { input, output } = outcome.usage ?? {};
    return {
        agent: name,
        problem: wrong.length === 0 ? null : wrong.join("; "),
        self: `${reply.agent?.name ?? "?"} ${reply.agent?.version ?? ""}`,
        stop: reply.stop,
        text: reply.text,
        usage: input === undefined ? "not reported" : `${input} in, ${output ?? "?"} out`,
        confinement: reply.confinement,
        outside: theirs.outside,
        ms,
    };
}

/** What is wrong with a write that a person allows: it is made once, by the program's tool, and told as done to the user and to the model. */
async function writing(one: Rig): Promise<string[]> {
    const outcome = await one.turn("write it", { gates: { read: "may", write: "ask" }, person: true });
    if (!outcome.ok) return [`the turn that writes failed: ${outcome.failure.message}`];
    const calls = (outcome.value as unknown as AgentReply).entries.filter((entry) => entry.kind === "call");
    const made = one.uses.filter(({ how, use }) => how === "use" && use.method === "write").length;
    const file = join(one.workspace, "made.txt");
    const results = one.model.heard.at(-1)?.results ?? [];
    return [
        ...(existsSync(file) && readFileSync(file, "utf8") === TEXT ? [] : ["the file is not as it was written"]),
        ...(made === 1 ? [] : [`the program's tool wrote ${made} times`]),
        ...(calls.some(({ status, permission, made: by }) => status === "completed" && permission?.allowed === true && by === "Repo.write")
            ? []
            : [`the call is not told as allowed and made: ${JSON.stringify(calls).slice(0, 500)}`]),
        ...(results.some((result) => /error|denied|fail/i.test(result)) ? [`the model was told: ${results.join().slice(0, 300)}`] : []),
    ];
}
