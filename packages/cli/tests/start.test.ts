/** The starter of the published package: what it keeps of compiled functions, and in which folder. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const STARTER = join(import.meta.dirname, "..", "bin", "start.mjs");
let room: string;
beforeEach(() => {
    room = mkdtempSync(join(tmpdir(), "remit-start-"));
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

/** What a command says that is started with the folder for compiled functions. */
function started(folder: string): string {
    const script = join(room, "core.cjs");
    writeFileSync(script, `//${"0".repeat(32)}\nmodule.exports.start = async (argv) => console.log(argv.join(" "));\n`);
    utimesSync(script, 1, 1);
    const begin = `(await import(${JSON.stringify(STARTER)})).start(${JSON.stringify(script)}, ["run", "x"])`;
    const args = ["--input-type=module", "-e", begin];
    return execFileSync(process.execPath, args, { env: { HOME: room, NODE_COMPILE_CACHE: folder }, encoding: "utf8" });
}
const kept = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith("run-"));

test("old functions of another version go; other old files in a folder that the user named stay", () => {
    const folder = mkdtempSync(join(room, "named-"));
    const others = ["thesis.txt", "run-of-the-mill.txt", "data"];
    const old = `run-core-${"a".repeat(32)}-1-1-v24.0.0-x64`;
    for (const name of [...others, old]) {
        writeFileSync(join(folder, name), "kept by the user");
        utimesSync(join(folder, name), 1, 1);
    }
    expect(started(folder)).toBe("run x\n");
    expect(kept(folder)).toHaveLength(2);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(others));
    expect(readdirSync(folder)).not.toContain(old);
});

test.each([
    ["empty", () => Buffer.alloc(0)],
    ["cut off", (whole: Buffer) => whole.subarray(0, 100)],
    ["changed", (whole: Buffer) => Buffer.from(whole).fill(0x41, whole.length - 8)],
])("kept functions that are %s are made anew", (_, damaged) => {
    const folder = mkdtempSync(join(room, "cache-"));
    for (const _time of [1, 2, 3]) expect(started(folder)).toBe("run x\n");
    const [name = ""] = kept(folder);
    const whole = readFileSync(join(folder, name));
    writeFileSync(join(folder, name), damaged(whole));
    for (const _time of [1, 2]) expect(started(folder)).toBe("run x\n");
    expect(kept(folder)).toEqual([name]);
    expect(readFileSync(join(folder, name))[32]).toBe(2);
});
