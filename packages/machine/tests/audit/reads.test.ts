/** RD1, RD2: which methods only read, by the words of their names and by what their tools say of them. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { declarations, readsByName, wordsOf } from "../../src/audit/reads.ts";

describe("words of a name", () => {
    test.each([
        ["getAndSend", "get and send"],
        ["get_and_send", "get and send"],
        ["get-and-send", "get and send"],
        ["HTTPGet", "http get"],
        ["getURLAndPOST", "get url and post"],
        ["read2Send", "read send"],
        ["files/read.all", "files read all"],
        ["getandsend", "getandsend"],
        ["gеt", "gеt"],
        ["", ""],
        ["__proto__", "proto"],
    ])("%s", (name, words) => {
        expect(wordsOf(name).join(" ")).toBe(words);
    });
});

describe("by its name a method", () => {
    test.each(
        (
            "read list get find search query fetch describe head options " +
            "readFile read_file listOrders list_open_issues getPost get_message findEmail search_mail queryLogs HTTPGet getURL brave_web_search " +
            "github_list_issues fetchReport getAddress listDeleted getSettings getUpdatedAt listSenders getNameAndAddress read-range"
        ).split(" "),
    )("%s only reads", (name) => {
        expect(readsByName(name)).toBe(true);
    });

    test.each(
        (
            "send write run call post put delete update set " +
            "getAndSend get_and_send fetch-then-post readAndDelete findOrCreate find_and_modify getThenMail listAndPurge queryAndUpdate searchReplace " +
            "listen readjust readdress getaway getter headline finder fetcher optionsSet describer getandsend postSearch mailList sendRead readWrite " +
            "getAndPOST GetAndSend GETANDSEND gеt constructor __proto__ toString"
        )
            .split(" ")
            .concat([""]),
    )("%s does more", (name) => {
        expect(readsByName(name)).toBe(false);
    });
});

describe("what a tool says of its method", () => {
    const methods: Json = [
        { name: "sendable", input: {}, readOnly: true },
        { name: "getAll", input: {}, readOnly: false, writes: true },
        { name: "getSome", input: {}, readOnly: false },
        { name: "send", input: {}, readOnly: false },
    ];
    const declared = declarations();
    declared.learn("T", "mcp://t", { methods });

    test.each([
        ["sendable", true],
        ["getAll", false],
        // nothing is said: the name tells
        ["getSome", true],
        ["send", false],
    ])("%s", (method, reads) => {
        expect(declared.reads("T", "mcp://t", "mcp", method)).toBe(reads);
    });

    test("holds for that tool alone", () => {
        expect(declared.reads("T", "mcp://other", "mcp", "getAll")).toBe(true);
        expect(declared.reads("U", "mcp://t", "mcp", "sendable")).toBe(false);
    });

    test("what is no description says nothing", () => {
        const none = declarations();
        for (const junk of [
            null,
            1,
            "x",
            [],
            {},
            { methods: null },
            { methods: [null, 1, {}, { name: 1, readOnly: true }, { name: "send", readOnly: "yes" }] },
        ])
            none.learn("T", "mcp://t", junk as never);
        expect(none.reads("T", "mcp://t", "mcp", "send")).toBe(false);
    });

    test("schemes that the runtime brings are known: a search that is called `run` reads, a shell's does not", () => {
        const none = declarations();
        expect(none.reads("Find", "sh://find", "sh", "run")).toBe(true);
        expect(none.reads("Shell", "shell:", "shell", "run")).toBe(false);
        expect(none.reads("Look", "inspect:", "inspect", "owner")).toBe(true);
    });
});
