/** `remit policy suggest`: clauses for review, from the program and from runs that went well (SUG1–SUG3). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
    at.write("ws/mail.txt", "please file this one");
    at.write(
        "p.remit",
        `import tool Files from "file://workspace"
main func(input) {
    mail = Files.read({ path: "mail.txt" }).content
    if mail.contains("file") {
        Files.write({ path: "a.txt", content: "filed" })
    }
    if input.note { Files.write({ path: "b.txt", content: "A note of " + mail }) }
    if input.bad { raise "no" }
    1
}
`,
    );
});
afterEach(() => at.clear());

interface Said {
    readonly uri: string;
    readonly clause: string;
    readonly why: string[];
    readonly opens: string[];
}
const run = (input: object) => at.remit("run", "p.remit", "-w", "ws", "--input", JSON.stringify(input)).code;
const suggested = (...more: string[]): Said[] => JSON.parse(at.remit("policy", "suggest", "p.remit", "--json", ...more).out) as Said[];
const clauses = (all: readonly Said[]): string[] => all.map(({ clause }) => clause);

test("from the program alone: who decides, what stands where, what is never used; nothing is written", () => {
    const all = suggested();
    expect(clauses(all)).toEqual(["choice write: trusted or ask", "arg write.content: trusted or ask", "patch: never", "undo: never"]);
    const [choice, content] = all as [Said, Said];
    expect(choice.why).toEqual(["data from Files.read may decide that it happens (p.remit:5)"]);
    // What it leaves open is what the table of hostile data has with it.
    expect(choice.opens).toContain("data from elsewhere may still stand in 'content'");
    expect(content.opens).toContain("data from elsewhere may still decide that it happens");
    expect(existsSync(join(at.folder, "remit.json"))).toBe(false);
});

test("runs that went well say how often, and what stood there; others say nothing", () => {
    expect([run({ note: true, bad: false }), run({ note: false, bad: true })]).toEqual([0, 1]);
    const all = suggested();
    expect(clauses(all)).toEqual([
        "choice write: trusted or ask",
        'arg write.content: plain among("user") or ask',
        "write: at most 2",
        "patch: never",
        "undo: never",
    ]);
    expect(all[1]?.why[1]).toBe("in 1 run it was called 2 times, 1 of them with data from elsewhere: at most so many would have asked");
    expect(all[1]?.opens).toContain('a text without words, unless a remit says `ask Files.write in content: ""`');
    // In the policy they are what stops it, and are not proposed again.
    at.write("remit.json", JSON.stringify({ policy: { clauses: { "file://workspace": clauses(all) } } }));
    expect(at.remit("check", "p.remit").code).toBe(0);
    expect(suggested()).toEqual([]);
    const table = at.remit("check", "p.remit", "--authority", "--assume-hostile", "Files.read").out;
    expect(table).toContain("asked about by `choice write: trusted or ask`");
});

test("people are told the reasons and the policy to copy", () => {
    const { out, err, code } = at.remit("policy", "suggest", "p.remit", "--runs", "0");
    expect(code).toBe(0);
    expect(out).toContain("Files: choice write: trusted or ask\n  why: data from Files.read");
    expect(JSON.parse(out.slice(out.indexOf("{")))).toMatchObject({
        policy: { clauses: { "file://workspace": expect.arrayContaining(["patch: never"]) } },
    });
    expect(err).toContain("4 clauses from the program alone. Nothing is written");
    expect(at.remit("policy", "apply", "p.remit")).toMatchObject({ code: 2, err: expect.stringContaining("remit policy suggest") });
});

test("the table of a loop that hides knows what the lock pins", () => {
    const loop = `import tool Inbox from "mcp://inbox"
import tool Out from "file://out" { write: may }
import llm Claude from "mock:"
main agent A { model Claude role "r" description "d"
main func(input) { generate({ input: "x", tools: [Inbox.read, Out.write], hide: "untrusted" }) } }`;
    at.write("loop.remit", loop);
    at.write("remit.json", JSON.stringify({ policy: { untrusted: "ask" } }));
    const table = (): string => at.remit("check", "loop.remit", "--authority", "--assume-hostile", "Inbox.read").out;
    expect(table()).toMatch(
        /What is stopped:\n\n(?:.*\n)*- user: Out\.write, called by a model at loop\.remit:5: that it happens, decided at loop\.remit:5: asked about by `untrusted: ask`/,
    );
    const pin = { uri: "mcp://inbox", methods: {} };
    at.write(
        "remit.lock",
        JSON.stringify({
            format: "remit-lock/1",
            programs: { "loop.remit": { agents: {}, skills: {}, tools: { "loop.remit#Inbox": pin } } },
        }),
    );
    expect(table()).toMatch(/Out\.write, called by a model +choose that it happens +only by how long hidden results are/);
});
