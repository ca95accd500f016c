/** Changes that were proposed (C1, C2): only to the program's own files, only what was shown. */
import { linkSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyChange, changeOf } from "../../src/debug/change.ts";
import type { RunInfo } from "../../src/ledger/store.ts";

let folder: string;
let info: RunInfo;
const TEXT = "main func() {\n    x = 1\n    y = 2\n    x + y\n}\n";
const program = {
    files: [{ file: "main.remit" }, { file: "lib/a.remit" }, { file: "../out.remit" }, { file: "link.remit" }],
} as unknown as Program;
const read = (name: string): string => readFileSync(join(folder, "p", name), "utf8");
const refused = (place: string, text = "z"): string => {
    try {
        changeOf(info, program, place, text);
    } catch (error) {
        return (error as Error).message;
    }
    return "taken";
};

beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-change-")));
    mkdirSync(join(folder, "p/lib"), { recursive: true });
    writeFileSync(join(folder, "p/main.remit"), TEXT, { mode: 0o640 });
    writeFileSync(join(folder, "p/lib/a.remit"), "func f() { 1 }\r\nfunc g() { 2 }\r\n");
    writeFileSync(join(folder, "out.remit"), TEXT);
    writeFileSync(join(folder, "p/other.remit"), TEXT);
    symlinkSync("../out.remit", join(folder, "p/link.remit"));
    info = { root: join(folder, "p") } as RunInfo;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
    ["a line", "main.remit:2", "    x = 5", TEXT.replace("x = 1", "x = 5")],
    ["lines by one", "main.remit:2-3", "    x = y = 3\n", TEXT.replace("    x = 1\n    y = 2", "    x = y = 3")],
    ["a line by several", "main.remit:4", "    z = x\n    z + y", TEXT.replace("    x + y", "    z = x\n    z + y")],
    ["the whole", "main.remit", "main func() { 3 }", "main func() { 3 }\n"],
    ["line ends of the file's kind", "lib/a.remit:2", "func g() { 3 }", "func f() { 1 }\r\nfunc g() { 3 }\r\n"],
])("%s", (_, place, text, after) => {
    const change = changeOf(info, program, place, text);
    const name = place.replace(/:.*/, "");
    applyChange(change);
    expect(read(name)).toBe(after);
    if (name === "main.remit") expect(statSync(join(folder, "p", name)).mode & 0o777).toBe(0o640);
});

test("what would not parse is told", () => {
    expect(changeOf(info, program, "main.remit:2", "    x = (").errors).not.toEqual([]);
    expect(changeOf(info, program, "main.remit:2", "    x = 4").errors).toEqual([]);
});

test("no other file, no other place", () => {
    expect(refused("other.remit")).toContain("is no file of this program");
    expect(refused("../out.remit")).toContain("outside the program's folder");
    expect(refused("link.remit")).toContain("outside the program's folder");
    expect(refused("/etc/passwd")).toContain("is no file of this program");
    for (const place of ["main.remit:0", "main.remit:9", "main.remit:3-2", "main.remit:5-6"])
        expect(refused(place)).toContain("has no lines");
    expect(refused("main.remit:2", "    x = 1")).toContain("changes nothing");
    rmSync(join(folder, "p/main.remit"));
    expect(refused("main.remit:1")).toContain("cannot be read any more");
});

test("where the file is not what it was, nothing is written", () => {
    const change = changeOf(info, program, "main.remit:2", "    x = 5");
    writeFileSync(join(folder, "p/main.remit"), `${TEXT}# mine\n`);
    expect(() => applyChange(change)).toThrow("was changed since");
    expect(read("main.remit")).toBe(`${TEXT}# mine\n`);
    rmSync(join(folder, "p/main.remit"));
    expect(() => applyChange(change)).toThrow("was changed since");
    // The same text, but somebody else's file behind a link.
    symlinkSync("../out.remit", join(folder, "p/main.remit"));
    expect(() => applyChange(change)).toThrow("was changed since");
    expect(readFileSync(join(folder, "out.remit"), "utf8")).toBe(TEXT);
    rmSync(join(folder, "p/main.remit"));
    // A hard link elsewhere keeps what it has: the file is written beside and put in place.
    linkSync(join(folder, "out.remit"), join(folder, "p/main.remit"));
    applyChange(change);
    expect([read("main.remit"), readFileSync(join(folder, "out.remit"), "utf8")]).toEqual([TEXT.replace("x = 1", "x = 5"), TEXT]);
});
