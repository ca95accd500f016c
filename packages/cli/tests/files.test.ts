/** Files and options that a person gets wrong: said in one message, nothing lost, every other file still dealt with. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BIN as bin, type Room, room as testRoom } from "./remit.ts";

let at: Room;
let room = "";
beforeAll(() => {
    at = testRoom();
    room = at.folder;
    writeFileSync(join(room, "good.remit"), "main agent {\n    main func(input: { name?: string }) {\n        input.name\n    }\n}\n");
    writeFileSync(join(room, "latin.remit"), Buffer.from('// caf\xe9\nmain agent {   main func() { return "\xe9" } }\n', "latin1"));
    writeFileSync(join(room, "latin.json"), Buffer.from('{"name": "\xe9"}', "latin1"));
    writeFileSync(join(room, "bom.json"), '\ufeff{"name": "Ada"}');
    writeFileSync(join(room, "escape.json"), '{"name": \u001b]0;title\u0007 }');
});
afterAll(() => at.clear());

const remit: Room["remit"] = (...args) => at.remit(...args);

test("fmt leaves a file in another encoding as it is", () => {
    const before = readFileSync(join(room, "latin.remit"));
    expect(remit("fmt", "--fix", "latin.remit")).toMatchObject({ code: 2, err: expect.stringContaining("latin.remit is not UTF-8 text") });
    expect(readFileSync(join(room, "latin.remit")).equals(before)).toBe(true);
});

test.each(["utf16le", "utf16be"])("a program in %s without a mark is told in one line", (encoding) => {
    const bytes = Buffer.from("main func(input) { 1 }", "utf16le");
    writeFileSync(join(room, "wide.remit"), encoding === "utf16be" ? bytes.swap16() : bytes);
    expect(remit("check", "wide.remit")).toMatchObject({ code: 1, err: "error: wide.remit is UTF-16 text: save it as UTF-8\n" });
});

test("UTF-16 with its mark is told as what it is, by whatever reads the file", () => {
    writeFileSync(join(room, "marked.remit"), Buffer.from("\ufeffmain func(input) { 1 }", "utf16le"));
    writeFileSync(join(room, "marked.json"), Buffer.from('\ufeff{"name": "Ada"}', "utf16le"));
    expect(remit("check", "marked.remit").err).toBe("error: marked.remit is UTF-16 text: save it as UTF-8\n");
    expect(remit("fmt", "marked.remit").err).toBe("error: marked.remit is UTF-16 text\n  save it as UTF-8\n");
    expect(remit("run", "good.remit", "--input", "@marked.json").err).toBe("error: marked.json is UTF-16 text\n  save it as UTF-8\n");
});

test.runIf(process.platform === "linux")("an argument in another encoding is refused: Node has changed it by then", () => {
    const line = `'${process.execPath}' '${bin}' run good.remit -i "$(cat latin.json)"`;
    const ran = spawnSync("sh", ["-c", line], { cwd: room, env: at.env, encoding: "utf8" });
    expect(ran).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining("--input is not UTF-8 text") });
});

test("an input in another encoding is refused, a byte order mark is not", () => {
    expect(remit("run", "good.remit", "--input", "@latin.json")).toMatchObject({ code: 2, out: "" });
    for (const [text, why] of [
        ['{"name": "a", "name": "b"}', 'has the key "name" twice in one object, again at line 1, column 15'],
        [
            '{"name": 12345678901234567890}',
            "has the number 12345678901234567890 at line 1, column 10, which is beyond 2^53 and would lose digits",
        ],
    ] as const)
        expect(remit("run", "good.remit", "--input", text)).toMatchObject({
            code: 2,
            out: "",
            err: expect.stringContaining(`--input ${why}`),
        });
    expect(remit("run", "good.remit", "--quiet", "--input", "@bom.json")).toEqual({ code: 0, out: '"Ada"\n', err: "" });
});

test("no message brings control characters of a file to the terminal", () => {
    const { code, err } = remit("run", "good.remit", "--input", "@escape.json");
    expect(code).toBe(2);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(err).not.toMatch(/[\u0007\u001b]/);
});

test.each(["check", "fmt"])("%s tells about every file that cannot be read, and deals with the others", (command) => {
    const { code, out, err } = remit(
        command,
        ...(command === "fmt" ? ["--check"] : []),
        "missing.remit",
        "latin.remit",
        ".",
        "good.remit",
        "bad",
    );
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(
        err
            .trim()
            .split("\n")
            .filter((line) => /^[^ ].*(?:missing\.remit|latin\.remit|folder|bad)/.test(line)),
    ).toHaveLength(4);
    expect(err).not.toContain("no errors");
});

test.each([
    [["run", "good.remit", "--workspace", "nowhere"], "there is no folder nowhere"],
    [["run", "good.remit", "--workspace", "good.remit"], "is not a folder"],
    [["run", "good.remit", "--record", "."], "is a folder"],
    [["run", "good.remit", "--record", "nowhere/out.json"], "there is no folder"],
    [["runs", "--limit", "many"], "--limit takes a whole number"],
    [["runs", "--limit", "0"], "--limit takes a number above 0"],
])("%j is refused before anything happens", (args, words) => {
    expect(remit(...args)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(words) });
});

test("a full disk behind standard output is said in one line", () => {
    const full = openSync("/dev/full", "w");
    const env = { ...process.env, XDG_STATE_HOME: room, XDG_CACHE_HOME: room, XDG_CONFIG_HOME: room, NO_COLOR: "1" };
    const { status, stderr } = spawnSync(process.execPath, [bin, "run", "good.remit", "--input", '{"name":"Ada"}', "--quiet"], {
        cwd: room,
        env,
        encoding: "utf8",
        stdio: ["ignore", full, "pipe"],
    });
    closeSync(full);
    expect({ status, stderr }).toEqual({ status: 1, stderr: "error: standard output cannot be written: the disk is full\n" });
});
