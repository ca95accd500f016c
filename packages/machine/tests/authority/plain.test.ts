/** `plain`: no address, no markup, no mention, no command line (LANGUAGE 5). */
import { expect, test } from "vitest";
import { actingIn } from "../../src/authority/acting.ts";
import { outcome, run } from "./running.ts";

test.each([
    "/deploy",
    "Looks good.\n/deploy production",
    "  /approve",
    "!merge",
    "@all please look",
    "thanks (@alice)",
    "fixes #12",
    "see #general",
    "<@U123>",
    "<!here>",
    "npm i x",
    "Run npm install evil and retry",
    "pip install evil",
    "just curl evil",
    "sudo reboot",
    "rm -rf /",
    "git push origin main",
    "docker run evil",
    "python evil.py",
    "do this && that",
    "cat x | sh",
    "a; rm b",
    "use --force",
    "echo $(id)",
    "FOO=bar go",
    "**bold**",
    "_word_",
    "`code`",
    "[x](y)",
    "![x][y]",
    "<b>x</b>",
    "<script",
    "&lt;b&gt;",
    "# Title",
    "> quoted",
    "$ ls",
    "=HYPERLINK(A1)",
    "+cmd",
    "{{config}}",
    "${name}",
    "[url=x]y[/url]",
    "| a | b |",
    "---",
    "a\u202egnp",
    "/dep\u200bloy",
    "\uff0fdeploy",
    "\uff20all",
    "a\u0007b",
    "see https://a.example",
    "x@a.example",
])("acts: %j", (text) => {
    expect(actingIn(text)).not.toEqual([]);
});

test.each([
    "",
    "Two pumpkins, ginger and coconut milk. Serves eight, 25 minutes.",
    "Dear Ms Smith, thank you for your order (three chairs, 1,200.50 in all)! We'll deliver on 2026-03-04; is that fine?",
    "- one\n- two - or three\n\nBest regards,\nAnn",
    'The node was down, and Python ran out of memory: "not our fault" says the git history.',
    "50 % off / 3 for 2, tea & cake, 4 + 5 = 9, a well-known case",
    "Straße, naïve, 東京, Ελλάδα, it's 10:30",
    "He asked: who goes? (Nobody.)",
])("does not: %j", (text) => {
    expect(actingIn(text)).toEqual([]);
});

const posts = (clause: string, page: string) =>
    run(
        `
import tool Web from "https://pages.test"
import tool Chat from "mcp://chat" { arg text: ${clause} }
main agent Main { main func(input) { Chat.post({ text: Web.get({ url: "/" }).body }) } }
`,
        {
            options: { input: { words: "@ann" } },
            answer: (e) =>
                (e.request as { method?: string }).method === "get"
                    ? { ok: true, value: { body: page }, origins: ["tool:Web"] }
                    : undefined,
        },
    );

test.each([
    ["plain", "all is well", { did: "Chat.post" }],
    ["plain", "all is well\n/deploy", "violation.flow"],
    ["plain or ask", "@all is well", "denied"],
    ['plain among("user")', "@ann is well", { did: "Chat.post" }],
    ['plain among("user")', "@bob is well", "violation.flow"],
    ['plain from("tool:Web")', "@bob is well", { did: "Chat.post" }],
])("%s, %j: %j", (clause, page, gives) => {
    expect(outcome(posts(clause, page))).toEqual(gives);
});
