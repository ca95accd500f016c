/** `skills:`: what a model is shown of the catalogue, what it is given when it activates one, and what it is not. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { load } from "../../src/run/program.ts";
import { skillCatalogue } from "../../src/skill/catalogue.ts";
import { trustSkill } from "../../src/skill/trust.ts";

let root: string;
const env = () => ({ HOME: join(root, "home"), XDG_CONFIG_HOME: join(root, ".config"), PATH: process.env.PATH });
beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "remit-skills-tool-")));
    write("remit.json", "{}");
    write("home/.agents/skills/mine/SKILL.md", "---\nname: mine\ndescription: Of the user.\n---\nMine.\n");
    write(
        ".agents/skills/triage/SKILL.md",
        "---\nname: triage\ndescription: Sorts failing builds.\n---\nRead references/codes.md first.\n",
    );
    write(".agents/skills/triage/references/codes.md", "MC1: disk\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
}

function trustTriage(): void {
    const found = skillCatalogue({ project: root, env: env() }).skills.find(({ skill }) => skill.name === "triage");
    if (found !== undefined) trustSkill(found.skill, env());
}

async function runs(body: string, model = "mock:"): Promise<{ readonly value: Json; readonly events: readonly LedgerEvent[] }> {
    write(
        "main.remit",
        `import llm Model from "${model}"\nimport tool Skills from "skills:"\nmain func() {\n    model Model\n    role "a reader"\n    description "Reads"\n    ${body}\n}\n`,
    );
    const program = await load<Json, Json>(join(root, "main.remit"), { workspace: root, cache: false, env: env() });
    try {
        const handle = program.run({});
        const value = await handle.value;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        return { value, events };
    } finally {
        await program.close();
    }
}

const MANUAL = 'return act("__manual__", {}).content[0].text';

test("the description has what may be activated, name and purpose, and nothing of what is not trusted", async () => {
    const before = (await runs(MANUAL)).value as string;
    expect(before).toContain("- mine: Of the user.");
    expect(before).not.toMatch(/triage|Sorts|Mine\./);
    expect((await runs('return act("Skills.activate", { name: "triage" })')).value).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("came with the project and is not trusted") }],
    });
    expect((await runs('return act("Skills.file", { name: "triage", path: "SKILL.md" })')).value).toMatchObject({ isError: true });
    trustTriage();
    expect((await runs(MANUAL)).value).toContain("- triage: Sorts failing builds.");
    write(".agents/skills/triage/references/codes.md", "MC1: something else\n");
    expect((await runs('return act("Skills.activate", { name: "triage" })')).value).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("has changed since it was trusted") }],
    });
});

test("a model that is shown the catalogue activates one by name and reads a file that it names; the ledger says which", async () => {
    trustTriage();
    const call = (name: string, args: Json): Json => ({ calls: [{ name, args }] });
    write(
        "script.json",
        JSON.stringify({
            replies: [
                call("Skills_activate", { name: "triage" }),
                call("Skills_file", { name: "triage", path: "references/codes.md" }),
                { json: { cause: "disk" } },
            ],
        }),
    );
    const { value, events } = await runs(
        'return generate({ input: "Why?", tools: [Skills.activate, Skills.file], turns: 4 }) -> { cause: string }',
        "scripted:script.json",
    );
    expect(value).toEqual({ cause: "disk" });
    const results = events.flatMap((one) => (one.kind === "tool.ended" ? [(one.data as { readonly result: Json }).result] : []));
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/) as Json;
    expect(results).toEqual([
        { name: "triage", sha256, text: expect.stringContaining("Read references/codes.md first."), files: ["references/codes.md"] },
        { name: "triage", sha256, path: "references/codes.md", content: "MC1: disk\n" },
    ]);
    expect(JSON.stringify(events)).toContain("triage: Sorts failing builds.");
});

test("names and paths that lead elsewhere give nothing", async () => {
    trustTriage();
    write("secret.txt", "s");
    for (const args of ['{ name: "../x" }', '{ name: "__proto__" }', "{ }"])
        expect((await runs(`return act("Skills.activate", ${args})`)).value, args).toMatchObject({ isError: true });
    for (const path of ["../../../secret.txt", "/etc/hostname", "."])
        expect((await runs(`return act("Skills.file", { name: "triage", path: "${path}" })`)).value, path).toMatchObject({
            isError: true,
            content: [{ text: expect.stringContaining("has no file") }],
        });
});
