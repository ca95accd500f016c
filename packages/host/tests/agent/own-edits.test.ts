/** Edits that an agent makes itself where single writes are allowed: in a working copy, each written once by the program's tool (OWE1 to OWE3, WC1 to WC3). */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Act, AGENT, handOf, rig } from "./rig.ts";

const ROOT = join(AGENT, "..", "..", "..", "..", "..", "..");
const HANDS = [handOf("file://workspace", { read: "may", list: "may", write: "ask" })];
const writer = (allow: readonly string[]) => rig({ agent: { sandbox: { read: [ROOT], copy: true } }, allow });

/** The acts of one edit: asked about, made by itself, told as done. */
const edit = (path: string, text: string, made = text, status = "completed"): Act[] => [
    {
        do: "permission",
        call: { toolCallId: path, title: "edit", kind: "edit", content: [{ type: "diff", path, oldText: null, newText: text }] },
    },
    { do: "write", path, text: made },
    { do: "update", update: { sessionUpdate: "tool_call_update", toolCallId: path, status } },
];

test("an allowed edit is told as done and written once by the program's tool; what was not allowed is read-only", async () => {
    await using it = writer(["Repo.write a.txt", "Repo.write src/new/b.txt"]);
    it.here.write("a.txt", "before");
    mkdirSync(join(it.here.workspace, "src"));
    const at = (path: string): string => join(it.here.workspace, path);
    const found = await it.found(
        [
            ...edit(at("a.txt"), "after"),
            ...edit(at("c.txt"), "refused"),
            { do: "write", path: at("a.txt"), text: "later" },
            { do: "run", text: `cd ${at("src")} && touch x; chmod u+w . && touch y; echo $?` },
        ],
        { hands: HANDS },
    );
    expect(found).toMatchObject([
        { ok: { optionId: "a" } },
        { ok: null },
        { ok: { optionId: "r" } },
        { no: "EACCES" },
        { no: "EACCES" },
        { stdout: "0\n", stderr: expect.stringContaining("touch") },
    ]);
    expect(readFileSync(at("a.txt"), "utf8")).toBe("after");
    expect(["c.txt", "src/x", "src/y"].filter((path) => existsSync(at(path)))).toEqual([]);
    expect(it.uses.map(({ how, allowed }) => [how, allowed])).toEqual([
        ["may", true],
        ["use", true],
        ["may", false],
    ]);
});

test("what the copy has counts: another text is asked about again, and none is written for a call that failed", async () => {
    await using it = writer(["Repo.write a.txt", "Repo.write b.txt"]);
    const at = (path: string): string => join(it.here.workspace, path);
    for (const name of ["a.txt", "b.txt"]) it.here.write(name, "before");
    await it.found([...edit(at("a.txt"), "shown", "made"), ...edit(at("b.txt"), "half", "half", "failed")], { hands: HANDS });
    expect(readFileSync(at("a.txt"), "utf8")).toBe("made");
    expect(it.uses.map(({ use }) => (use.args[0] as { content?: string }).content)).toEqual(["shown", "made", "half"]);
    expect(readFileSync(at("b.txt"), "utf8")).toBe("before");
});

test("a link that the agent puts into its copy leads nowhere outside", async () => {
    await using it = writer(["Repo.write src/a.txt", "Repo.write src/b.txt"]);
    const at = (path: string): string => join(it.here.workspace, path);
    mkdirSync(at("src"));
    it.here.write("src/a.txt", "before");
    writeFileSync(join(it.here.folder, "outside.txt"), "PRIVATE");
    symlinkSync(join(it.here.folder, "outside.txt"), at("link.txt"));
    const [first, , last] = edit(at("src/a.txt"), "after") as [Act, Act, Act];
    const swap = `cd ${at("src")} && rm -f a.txt && ln -s ${join(it.here.folder, "outside.txt")} a.txt`;
    await it.found([first, { do: "run", text: swap }, last, ...edit(at("src/b.txt"), "b")], { hands: HANDS });
    expect(readFileSync(at("src/a.txt"), "utf8")).toBe("before");
    expect(readFileSync(at("src/b.txt"), "utf8")).toBe("b");
    expect(JSON.stringify(it.uses)).not.toContain("PRIVATE");
});
