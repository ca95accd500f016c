/** What has become a secret since a run was recorded: no command that shows or exports the run gives it (SO1, EX3). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportRun, load, openLedger, shownStore, createScrubber, environmentSecrets } from "@remit/host";
import { type SealedEvent, verifyChain } from "@remit/machine";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import asks from "../src/commands/asks.ts";
import audit from "../src/commands/audit.ts";
import diff from "../src/commands/diff.ts";
import explain from "../src/commands/explain.ts";
import replay from "../src/commands/replay.ts";
import runs from "../src/commands/runs.ts";
import trace from "../src/commands/trace.ts";
import why from "../src/commands/why.ts";

const SECRET = "tk-3fA9zQ81mmXwPq7Lr2";
const SOURCE = `import tool Mail from "host:mail" { send: ask, arg to: trusted or ask }
import llm Model from "mock:"
main agent A {
    model Model
    role "A clerk."
    description "Answers."
    main func(input: { text: string, more: string = "" }) {
        text = input.text
        use text as "letter"
        generate({ input: "Answer." })
        Mail.find({ key: text })
        Mail.send({ to: text + input.more })
        raise "no answer to " + text
    }
}
`;

let folder: string;
let ledger: string;
let ids: string[] = [];
beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "remit-exports-"));
    ledger = join(folder, "ledger.db");
    writeFileSync(join(folder, "main.remit"), SOURCE);
    const tools = { Mail: { find: (args: { key: string }) => ({ found: args.key }), send: () => true } };
    const program = await load<{ text: string; more: string }>(join(folder, "main.remit"), {
        ledger,
        workspace: folder,
        cache: false,
        tools,
        env: { HOME: folder },
        asks: { park: true },
    });
    const first = await program.run({ text: SECRET, more: "" }).result;
    const second = await program.run({ text: SECRET, more: "more" }).result;
    expect(first.status).toBe("waiting");
    ids = [first.run, second.run];
    await program.close();
    process.env.MAIL_TOKEN = SECRET;
});
afterAll(() => {
    delete process.env.MAIL_TOKEN;
    rmSync(folder, { recursive: true, force: true });
});

/** What a command writes. */
async function told(
    command: (args: string[], options: Record<string, unknown>) => Promise<number>,
    args: string[],
    options: Record<string, unknown> = {},
): Promise<string> {
    const { write } = process.stdout;
    let out = "";
    process.stdout.write = ((text: string) => {
        out += text;
        return true;
    }) as typeof write;
    try {
        await command(args, { ledger, ...options });
    } finally {
        process.stdout.write = write;
    }
    return out;
}

test.each<[string, Parameters<typeof told>[0], string[], Record<string, unknown>, boolean]>([
    ["trace", trace, ["last"], {}, true],
    ["trace --full", trace, ["last"], { full: true }, true],
    ["trace --ndjson", trace, ["last"], { ndjson: true }, false],
    ["trace --otel --content", trace, ["last"], { otel: true, content: true }, true],
    ["trace --atif", trace, ["last"], { atif: true }, true],
    ["explain", explain, ["last"], { full: true }, true],
    ["explain --json", explain, ["last"], { json: true }, true],
    ["why", why, ["last", "main/Mail.send#0.to"], {}, false],
    ["why --json", why, ["last", "main/Mail.send#0.to"], { json: true }, false],
    ["audit --json", audit, ["last"], { json: true }, false],
    ["audit --sarif", audit, ["last"], { sarif: true }, false],
    ["audit --junit", audit, ["last"], { junit: true }, false],
    ["runs --json", runs, [], { json: true, limit: "20" }, false],
    ["asks", asks, [], { all: true, full: true }, true],
    ["asks --json", asks, [], { all: true, json: true }, true],
    ["replay --json", replay, ["last"], { json: true }, false],
])("%s", async (_, command, args, options, shows) => {
    const out = await told(command, args, options);
    expect(out.length).toBeGreaterThan(2);
    expect(out).not.toContain(SECRET);
    expect(out).not.toContain(SECRET.slice(0, 8));
    if (shows) expect(out).toContain("[secret env:MAIL_TOKEN]");
});

test("diff", async () => {
    for (const json of [false, true]) {
        const out = await told(diff, ids, { json });
        expect(out).toContain("more");
        expect(out).not.toContain(SECRET.slice(0, 8));
    }
});

test("the ledger itself holds it, and what is exported without it still verifies", async () => {
    const opened = await openLedger(ledger);
    const id = ids[0] as string;
    expect(JSON.stringify(await Array.fromAsync(opened.events(id)))).toContain(SECRET);
    const secrets = createScrubber(environmentSecrets(process.env));
    for (const lines of [await Array.fromAsync(opened.export(id)), await Array.fromAsync(exportRun(opened.store, id, { secrets }))]) {
        const text = lines.join("\n");
        expect(text).not.toContain(SECRET);
        // No hash of the secret alone gives it away to somebody who guesses it.
        for (const known of [SECRET, JSON.stringify(SECRET), JSON.stringify({ text: SECRET }), JSON.stringify({ text: SECRET, more: "" })])
            for (const form of ["hex", "base64", "base64url"] as const)
                expect(text).not.toContain(createHash("sha256").update(known).digest(form).replace(/=+$/, ""));
        const events = lines.map((line) => JSON.parse(line) as SealedEvent);
        expect(events.length).toBe((await opened.run(id)).events);
        expect(verifyChain(events, (given) => createHash("sha256").update(given).digest("hex"))).toMatchObject({ ok: true });
    }
    expect(JSON.stringify(await shownStore(opened.store, secrets).run(id))).not.toContain(SECRET);
    expect((await opened.verify(id)).ok).toBe(true);
    await opened.close();
});
