/**
 * A RAS program as a file: its language, its name; and the Python that runs it.
 *
 * Boundary: reads the file's text for its name only; it is never run here.
 */
import { execFile } from "node:child_process";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { promisify } from "node:util";
import { findCommand } from "../process/command.ts";
import type { Environment } from "../ledger/place.ts";
import { ToolFail } from "../tool/tool.ts";

export type RasLanguage = "python" | "typescript" | "bash";

export interface RasSource {
    /** Absolute, links followed. */
    readonly path: string;
    readonly language: RasLanguage;
    /** `RIFF_ID` where the program says one, else the file's name without its ending. */
    readonly name: string;
}

const LANGUAGES: { readonly [ending: string]: RasLanguage } = {
    ".py": "python",
    ".ts": "typescript",
    ".mts": "typescript",
    ".js": "typescript",
    ".mjs": "typescript",
    ".sh": "bash",
    ".bash": "bash",
};
export const RAS_FILE = /\.(?:py|m?[tj]s|sh|bash)$/;
/** Larger files are no programs. */
const MAX_SOURCE = 4 * 1024 * 1024;

/** Throws `ToolFail`. */
export function rasSource(file: string): RasSource {
    const path = resolve(file);
    const language = LANGUAGES[extname(path).toLowerCase()];
    if (language === undefined)
        throw new ToolFail(`${basename(path)} is no RAS program`, {
            kind: "value",
            hint: `they end in ${Object.keys(LANGUAGES).join(", ")}`,
        });
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) throw new ToolFail(`there is no file ${file}`, { kind: "value" });
    if (found.size > MAX_SOURCE)
        throw new ToolFail(`${file} has ${found.size} bytes; a program has at most ${MAX_SOURCE}`, { kind: "value" });
    const said = /^(?:export )?(?:const |let |readonly )?RIFF_ID\s*(?::\s*(?:str|string)\s*)?=\s*(["'])([\w.\-/ ]{1,128})\1/m.exec(
        readFileSync(path, "utf8"),
    );
    return { path: realpathSync(path), language, name: said?.[2] ?? basename(path).slice(0, -extname(path).length) };
}

export interface PythonHere {
    readonly path: string;
    /** Folders it needs beside the system's. */
    readonly places: readonly string[];
}

const ASK = "import json,sys,sysconfig;print(json.dumps([sys.executable,sys.base_prefix,sys.prefix,list(sys.version_info[:2])]))";

/** The Python 3 of the PATH itself, not a script that chooses one. Throws `ToolFail`. */
export async function pythonHere(env: Environment): Promise<PythonHere> {
    const found = findCommand("python3", "/", env);
    const hint = "install Python 3.8 or newer (`apt install python3`)";
    if (found === null) throw new ToolFail("there is no python3 on the PATH", { kind: "unreachable", hint });
    try {
        const { stdout } = await promisify(execFile)(found, ["-I", "-S", "-c", ASK], { timeout: 20_000, encoding: "utf8" });
        const [path, base, prefix, [major, minor]] = JSON.parse(stdout) as [string, string, string, [number, number]];
        if (major !== 3 || minor < 8) throw new ToolFail(`${found} is Python ${major}.${minor}`, { kind: "unreachable", hint });
        const places = [...new Set([realpathSync(base), prefix])].filter(
            (one) => !/^\/(usr|opt|bin|lib)?(\/|$)/.test(one) || one.startsWith("/usr/local"),
        );
        return { path, places: places.filter((one) => one !== "/") };
    } catch (error) {
        if (error instanceof ToolFail) throw error;
        throw new ToolFail(`${found} cannot be asked where it is`, { kind: "unreachable", hint });
    }
}
