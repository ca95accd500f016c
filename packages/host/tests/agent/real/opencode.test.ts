/** opencode from npm, driven by our own host. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { conversation } from "./cases.ts";
import { rig } from "./rig.ts";

conversation({
    name: "opencode",
    self: { name: "OpenCode", version: "1.18.33" },
    write: (filePath, content) => ({ call: { name: "write", input: { filePath, content } } }),
    look: (path) => ({ call: { name: "glob", input: { pattern: "**/*", path } } }),
    search: (path, pattern) => ({ call: { name: "grep", input: { pattern, path } } }),
    writing: "write",
    outside: ["PromptResponse.usage"],
});

test("a write that it may make itself is made once, and it is told so", async () => {
    await using one = await rig(
        "opencode",
        (workspace) => [
            {
                when: "write it",
                say: [{ call: { name: "write", input: { filePath: join(workspace, "once.txt"), content: "once" } } }, { text: "Done." }],
            },
        ],
        { gates: { read: "may", write: "may" } },
    );
    const reply = await one.reply("write it");
    expect(readFileSync(join(one.workspace, "once.txt"), "utf8")).toBe("once");
    expect(reply.entries.filter(({ kind }) => kind === "call")).toMatchObject([
        { name: "write", status: "completed", permission: { allowed: true }, diffs: [{ new: "once" }] },
    ]);
    // it was ruled on, and nothing wrote it beside the agent
    expect(one.uses).toMatchObject([{ how: "may", use: { method: "write", args: [{ path: "once.txt", content: "once" }] } }]);
    expect(one.model.heard.at(-1)?.results.join()).toContain("Wrote file successfully");
});
