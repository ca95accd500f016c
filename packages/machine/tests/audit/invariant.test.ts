/** Invariants: which lines are some, and which calls break them. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { auditEvents, breaks, type Invariant, type LedgerEvent, parseInvariant } from "../../src/index.ts";
import { once, formOf } from "../authority/running.ts";

const call = (method: string, args: Json[], more: { principal?: string; tool?: string; uri?: string } = {}) => ({
    principal: "Fixer",
    tool: "Repo",
    uri: "file://workspace",
    method,
    args,
    same: [],
    ...more,
});
const rule = (text: string): Invariant => parseInvariant(text) as Invariant;

describe("lines", () => {
    test.each([
        "Fixer never Repo",
        "Fixer never Repo.write",
        "* never Mail.send-all",
        'user never Repo.write outside "src/**"',
        '  Fixer  never Repo.write in "a" , "b"  of path ',
    ])("%s", (text) => expect(parseInvariant(text)?.text).toBe(text.trim()));

    test.each([
        "",
        "Fixer may Repo",
        "Fixer never",
        "never Repo",
        "Fixer never Repo.write outside src/**",
        'Fixer never Repo.write outside "src/**',
        'Fixer never Repo.write beyond "src/**"',
        "Fixer never Repo.write; user never Mail",
        "Fixer never Repo.*",
    ])("%s is none", (text) => expect(parseInvariant(text)).toBeNull());
});

describe("calls", () => {
    test.each<[string, ReturnType<typeof call>, boolean]>([
        ["Fixer never Repo", call("read", [{ path: "a" }]), true],
        ["Fixer never Repo", call("read", [{ path: "a" }], { tool: "Other" }), false],
        ["Fixer never Repo", call("read", [{ path: "a" }], { principal: "user" }), false],
        ["* never Repo", call("read", [{ path: "a" }], { principal: "user" }), true],
        ["Fixer never Repo.write", call("write", [{ path: "a" }]), true],
        ["Fixer never Repo.write", call("read", [{ path: "a" }]), false],
        ['Fixer never Repo.write outside "src/**"', call("write", [{ path: "src/a/b.ts" }]), false],
        ['Fixer never Repo.write outside "src/**"', call("write", [{ path: "srcs/a.ts" }]), true],
        ['Fixer never Repo.write outside "src/**"', call("write", [{ path: "src/../etc" }]), true],
        ['Fixer never Repo.write outside "src/**"', call("write", [{ path: "/src/a" }]), true],
        // What cannot be seen to hold does not hold.
        ['Fixer never Repo.write outside "src/**"', call("write", []), true],
        ['Fixer never Repo.write outside "src/**"', call("write", [{ content: "x" }]), true],
        ['Fixer never Repo.write in "secrets/**", "*.key"', call("write", [{ path: "secrets/a" }]), true],
        ['Fixer never Repo.write in "secrets/**", "*.key"', call("write", [{ path: "src/a" }]), false],
        [
            'Fixer never Mail.send outside "*@example.com" of to',
            call("send", [{ to: "a@example.com" }], { tool: "Mail", uri: "mcp://mail" }),
            false,
        ],
        [
            'Fixer never Mail.send outside "*@example.com" of to',
            call("send", [{ to: "a@evil.com" }], { tool: "Mail", uri: "mcp://mail" }),
            true,
        ],
        [
            'Fixer never Mail.send outside "*@example.com" of to',
            call("send", [{ to: ["a@example.com", "b@evil.com"] }], { tool: "Mail", uri: "mcp://mail" }),
            true,
        ],
        [
            'Fixer never Web outside "https://api.example.com/**"',
            call("get", [{ url: "https://api.example.com.evil.com/" }], { tool: "Web", uri: "https://api.example.com/" }),
            true,
        ],
    ])("%s: %j: %j", (text, one, broken) => expect(breaks(one, rule(text))).toBe(broken));
});

/** What an audit of a program's run says of invariants. */
function broken(text: string, ...rules: string[]): boolean {
    const form = formOf(text);
    const ran = once(form);
    expect(ran.result.ok).toBe(true);
    const events = ran.events.map((event, seq) => ({ ...event, seq, run: "run", hash: `h${seq}` }) as unknown as LedgerEvent);
    return auditEvents(events, form, { invariants: rules.map(rule) }).some((finding) => finding.rule === "invariant");
}
const main = (body: string): string => `main agent Main { main func() { ${body} } }`;

const MAIL = 'import tool Mail from "mcp://mail"\nimport tool Post from "mcp:mail"\n';
const SH = 'import tool Shell from "shell:"\n';
const WEB = 'import tool Web from "https://w.example/v1/"\nimport tool All from "https://W.example"\n';
const FILES = 'import tool Repo from "file://workspace"\nimport tool Alias from "file:."\n';
const NOTES = 'import memory Notes from "file://notes.jsonl"\nimport memory Other from "file:./notes.jsonl"\n';

test.each([
    ["another name", FILES + main('Alias.write({ path: "z" })'), "* never Repo.write"],
    ["another name", FILES + main('Alias.write({ path: "z" })'), "* never Repo"],
    ["another name", FILES + main('Alias.write({ path: "z" })'), '* never Repo.write outside "src/**"'],
    ["another name", MAIL + main('Post.send({ to: "a" })'), "* never Mail.send"],
    ["another name", NOTES + main("Other.add({ a: 1 })"), "* never Notes.add"],
    ["a server's call", MAIL + main('Mail.call({ tool: "send", args: { to: "a" } })'), "* never Mail.send"],
    ["a server's call", MAIL + main('Post.call({ tool: "send", args: { to: "a@evil" } })'), '* never Mail.send outside "*@ok" of to'],
    ["a program's arguments", SH + main('Shell.run({ command: "rm", args: ["-rf", "/"] })'), '* never Shell.run in "rm *"'],
    ["a program's arguments", SH + main('Shell.run({ command: "npm", args: ["publish"] })'), '* never Shell.run outside "npm", "npm test"'],
    ["quotes", SH + main(`Shell.run({ command: "'rm' -rf /" })`), '* never Shell.run in "rm *"'],
    ["blanks", SH + main('Shell.run({ command: " rm  -rf /" })'), '* never Shell.run in "rm *"'],
    ["a path", SH + main('Shell.run({ command: "/bin/rm x" })'), '* never Shell.run in "rm *" of command'],
    ["a folder", SH + main('Shell.run({ command: "npm test", cwd: "evil" })'), '* never Shell.run outside "npm test"'],
    ["percent codes", WEB + main('Web.get({ url: "/a/%2e%2e/admin/x" })'), '* never Web.get in "https://w.example/admin/**"'],
    ["percent codes", WEB + main('Web.get({ url: "/%61dmin/x" })'), '* never Web.get in "https://w.example/admin/**"'],
    ["capitals", WEB + main('Web.get({ url: "https://W.EXAMPLE:443/admin/x" })'), '* never Web.GET in "/admin/**"'],
    ["another base", WEB + main('All.get({ url: "v1/secret/x" })'), '* never Web.get in "secret/*"'],
    ["a root", FILES + main('Repo.read({ path: "/ws/secret/x" })'), '* never Repo.read in "secret/**"'],
])("%s is no way around an invariant: %s %s", (_by, text, line) => expect(broken(text, line)).toBe(true));

test.each([
    [MAIL + main("Post.list({})"), "* never Mail.send"],
    [MAIL + main('Mail.call({ tool: "list", args: {} })'), "* never Mail.send"],
    [MAIL + main('Post.call({ tool: "send", args: { to: "a@ok" } })'), '* never Mail.send outside "*@ok" of to'],
    [MAIL + main('Mail.send({ to: "a@ok" })'), '* never Mail.send in "*@evil" of cc'],
    [`${FILES}import tool Else from "file://workspace/else"\n${main('Else.write({ path: "z" })')}`, "* never Mail"],
    [SH + main('Shell.run({ command: "npm", args: ["test"] })'), '* never Shell.run outside "npm *"'],
    [SH + main('Shell.run({ command: "npm test" })'), '* never Shell.run in "rm *"'],
    [WEB + main('All.get({ url: "/secret/x" })'), '* never Web.get in "secret/*"'],
    [WEB + main('Web.get({ url: "/open/x" })'), '* never Web.get in "/admin/**"'],
])("what breaks none breaks none: %s %s", (text, line) => expect(broken(text, line)).toBe(false));
