/** Bounds where the host alone knows what is meant (BO1), origins of parts of a result, and what a memory remembers of them (Y7). */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withOrigins } from "../../src/tool/origins.ts";
import type { HostTool } from "../../src/tool/functions.ts";
import { load } from "../../src/run/program.ts";

let folder = "";
beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-bounds-")));
    for (const name of ["src/deep", "secret"]) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "src/a.txt"), "needle a");
    writeFileSync(join(folder, "src/deep/b.txt"), "needle b");
    writeFileSync(join(folder, "secret/c.txt"), "needle c");
    symlinkSync(join(folder, "secret/c.txt"), join(folder, "src/link.txt"));
    symlinkSync(join(folder, "secret"), join(folder, "src/linked"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(text: string, tools: { readonly [name: string]: HostTool } = {}): Promise<Json> {
    const program = await load<Json, Json>({ source: text }, { root: folder, workspace: folder, env: {}, cache: false, tools });
    try {
        return await program({});
    } finally {
        await program.close();
    }
}
/** What each call of an agent under a remit comes to. */
const under = (imports: string, remit: string, calls: readonly string[]): Promise<Json> =>
    run(`${imports}
agent F { remit { ${remit} } func go(n) { ${calls.map((one, i) => `if n == ${i} { return ${one} }`).join("\n")} } }
main agent A { main func() { [${calls.map((_, i) => `(try { F.go(${i}) } catch e { e.kind })`).join(", ")}] } }`);

test("a link inside the workspace leads nowhere else than what the call may reach", async () => {
    expect(
        await under('import tool Repo from "file://workspace"', 'may Repo in "src/**"', [
            'Repo.read({ path: "src/a.txt" }).content',
            'Repo.read({ path: "src/link.txt" })',
            'Repo.read({ path: "src/linked/c.txt" })',
            'Repo.list({ path: "src/linked" })',
            'Repo.write({ path: "src/linked/new.txt", content: "x" })',
            'Repo.patch({ path: "src/link.txt", search: "c", replace: "x" })',
            'Repo.read({ path: "secret/c.txt" })',
        ]),
    ).toEqual(["needle a", "denied", "denied", "denied", "denied", "denied", "violation.remit"]);
    expect(readFileSync(join(folder, "secret/c.txt"), "utf8")).toBe("needle c");
});

test("nor into what it may not, or what would have been asked about", async () => {
    symlinkSync(join(folder, "src"), join(folder, "secret/back"));
    for (const forbids of ["never", "ask"])
        expect(
            await under('import tool Repo from "file://workspace"', `may Repo  ${forbids} Repo in "secret/**"`, [
                'Repo.read({ path: "src/a.txt" }).content',
                'Repo.read({ path: "src/link.txt" })',
                'Repo.read({ path: "src/linked/c.txt" })',
                'Repo.list({ path: "src/linked" })',
                'Repo.write({ path: "src/linked/new.txt", content: "x" })',
                'Repo.patch({ path: "src/link.txt", search: "c", replace: "x" })',
                'Repo.read({ path: "secret/back/a.txt" })',
            ]),
        ).toEqual(["needle a", "denied", "denied", "denied", "denied", "denied", forbids === "ask" ? "denied" : "violation.remit"]);
    expect(readFileSync(join(folder, "secret/c.txt"), "utf8")).toBe("needle c");
});

test("a search gives nothing of what is forbidden", async () => {
    const found = await under(
        'import tool Find from "sh://find"\nimport tool Grep from "sh://grep"\nimport tool Lines from "sh://read-range"',
        'may all  never Find in "secret/**"  never Grep in "secret/**", "src/deep/**"  never Lines in "secret/**"',
        [
            'Find.run({ path: ".", name: "*.txt", type: "file", max: 9 }).files',
            'Grep.run({ path: ".", pattern: "needle", max: 9 }).matches.map((m) => m.path)',
            'Lines.run({ path: "src/link.txt", max: 1 })',
        ],
    );
    expect(found).toEqual([["src/a.txt", "src/deep/b.txt"], ["src/a.txt"], "denied"]);
});

test("a search gives only what lies within its bounds", async () => {
    const found = await under(
        'import tool Find from "sh://find"\nimport tool Grep from "sh://grep"\nimport tool Lines from "sh://read-range"',
        'may Find in "src", "src/*"  may Grep in "src", "src/*"  may Lines in "src/*"',
        [
            'Find.run({ path: "src", type: "file", max: 9 }).files',
            'Grep.run({ path: "src", pattern: "needle", max: 9 }).matches.map((m) => m.path)',
            'Lines.run({ path: "src/link.txt", max: 1 })',
            'Grep.run({ path: ".", pattern: "needle", max: 9 })',
        ],
    );
    expect(found).toEqual([["src/a.txt"], ["src/a.txt"], "denied", "violation.remit"]);
});

test("a redirect stays within the bounds of its call", async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
        seen.push(request.url ?? "");
        if (request.url === "/v1/out") response.writeHead(302, { location: "/v2/secret" });
        if (request.url === "/v1/on") response.writeHead(302, { location: "/v1/end" });
        response.end("end");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
        expect(
            await under(`import tool Web from "${origin}/"`, `may Web.get in "${origin}/v1/*"`, [
                'Web.get({ url: "/v1/on" }).body',
                'Web.get({ url: "/v1/out" })',
                'Web.get({ url: "/v2/secret" })',
            ]),
        ).toEqual(["end", "denied", "violation.remit"]);
        expect(seen.splice(0)).toEqual(["/v1/on", "/v1/end", "/v1/out"]);
        expect(
            await under(`import tool Web from "${origin}/"`, 'may Web.get  never Web.get in "/v2/**"', [
                'Web.get({ url: "/v1/on" }).body',
                'Web.get({ url: "/v1/out" })',
                'Web.get({ url: "/v%32/secret" })',
            ]),
        ).toEqual(["end", "denied", "violation.remit"]);
        expect(seen).toEqual(["/v1/on", "/v1/end", "/v1/out"]);
    } finally {
        server.close();
        server.closeAllConnections();
    }
});

const MAILBOX: { readonly [name: string]: HostTool } = {
    Box: {
        next: () => withOrigins({ from: "eve", "a/b": "text" }, { "/a~1b": ["sender:eve"] }),
        nothing: () => withOrigins(1, { x: ["y"] }),
    },
    Send: { go: () => "sent" },
};
const FLOW = `import tool Box from "host:box" { trusted }
import tool Send from "host:send" { arg x: trusted }
agent Sender { remit { may Send } func go(x) { Send.go({ x: x }) } }
`;

test("a function says where parts of its result come from; the rest is the tool's", async () => {
    const text = `${FLOW}main agent A { main func() {
    m = Box.next()
    [Send.go({ x: m.from }), (try { Sender.go(m["a/b"]) } catch e { e.kind }), (try { Box.nothing() } catch e { e.message })]
} }`;
    expect(await run(text, MAILBOX)).toEqual(["sent", "violation.flow", expect.stringContaining("is no JSON Pointer")]);
});

test.each(["file://notes.jsonl", "sqlite://notes.db"])("%s remembers where a record came from", async (uri) => {
    const text = (body: string): string => `${FLOW}import memory Notes from "${uri}" { trusted }
main agent A { main func() { ${body} } }`;
    const sending = (what: string): string => `(try { Sender.go(${what}) } catch e { e.kind })`;
    const put = await run(
        text(`m = Box.next()
    bad = Notes.add({ text: m["a/b"], origins: [] })
    Notes.add({ text: "own words" })
    [${sending("bad.record.text")}, bad.keys().sort_by((k) => k)]`),
        MAILBOX,
    );
    expect(put).toEqual(["violation.flow", ["created_at", "id", "record", "updated_at"]]);
    // Another run: what was bad stays bad, field by field; what was the program's own is the memory's.
    const got = `all = Notes.query({})
    [${sending("all[0].record.text")}, ${sending("all[1].record.text")}, ${sending("all[1].id")}, all[1].record.keys().sort_by((k) => k)]`;
    expect(await run(text(got), MAILBOX)).toEqual(["sent", "violation.flow", "sent", ["origins", "text"]]);
});

test("records of before say nothing of their origins", async () => {
    const record = { id: "1", created_at: "2020-01-01T00:00:00.000Z", updated_at: "2020-01-01T00:00:00.000Z", record: { text: "old" } };
    appendFileSync(join(folder, "notes.jsonl"), `${JSON.stringify(record)}\n`);
    const db = new DatabaseSync(join(folder, "notes.db"));
    db.exec(`CREATE TABLE memory_records (namespace TEXT NOT NULL, id TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        kind TEXT, text TEXT, record_json TEXT NOT NULL, PRIMARY KEY (namespace, id));
        INSERT INTO memory_records VALUES ('memory', '1', '2020', '2020', NULL, 'old', '{"text":"old"}')`);
    db.close();
    const text = `import tool Send from "host:send" { arg x: from("memory:A", "memory:B") }
import memory A from "file://notes.jsonl"
import memory B from "sqlite://notes.db"
main agent M { main func() {
    b = B.add({ text: "new" })
    [Send.go({ x: A.query({})[0].record.text }), Send.go({ x: B.query({})[1].record.text })]
} }`;
    expect(await run(text, MAILBOX)).toEqual(["sent", "sent"]);
});
