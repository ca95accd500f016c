/** Invariants: which lines are some, and which calls break them. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { breaks, type Invariant, parseInvariant } from "../../src/index.ts";

const call = (method: string, args: Json[], more: { principal?: string; tool?: string; uri?: string } = {}) => ({
    principal: "Fixer",
    tool: "Repo",
    uri: "file://workspace",
    method,
    args,
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
