/**
 * `remit.tools.json`: what the servers of a project said of their tools when a person pinned them, so that a check of a program can hold its calls
 * against that without starting a server.
 *
 * Boundary: writes the file with the lock, and reads it for the checker. It lies beside the lock and is never read by a run.
 *
 * KS1: an entry counts only where it has the digest that the lock has, and only for messages of a check: a project of another author brings both files.
 * KS2: a tool of which a method is missing there is told of once, and none of its calls are checked.
 */
import { lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, describedSchema, isObject, type Json, type ProgramFiles, schemeOf } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import { systemWords } from "../failure/system.ts";
import { readJson } from "../input/json.ts";
import { byUnits, sha256Of } from "../skill/files.ts";
import { type Lock, LOCK_FILE } from "./lock.ts";
import type { ToolImport } from "../tool/tool.ts";
import { type LockedTool, pinsOf, type Said } from "./tools.ts";

export const SAID_FILE = "remit.tools.json";
const FORMAT = "remit-tools/1";
/** Bytes of the file that are read. */
const MAX_SAID = 16 * 1024 * 1024;

type Kept = { readonly [digest: string]: Json };

/** Keeps what the lock's digests are of, of servers alone, and nothing else: `said`, and of other programs what was kept before. */
export function keepSaid(root: string, { programs }: Lock, said: Said): void {
    const before = readSaid(root);
    const was = typeof before === "string" ? {} : before;
    const tools = Object.values(programs).flatMap(({ tools = {} }) => Object.values(tools).filter(({ uri }) => schemeOf(uri) === "mcp"));
    const digests = [...new Set(tools.flatMap(({ methods }) => Object.values(methods)))].sort(byUnits);
    const rows = digests.flatMap((digest) => {
        const words = said.get(digest) ?? wordsOf(digest, was);
        return words === undefined ? [] : [[digest, words] as const];
    });
    const path = join(root, SAID_FILE);
    const there = lstatSync(path, { throwIfNoEntry: false });
    // a link, which may have come with a project of another author, leads no writing elsewhere
    if (there !== undefined && (!there.isFile() || rows.length === 0)) rmSync(path, { recursive: true });
    if (rows.length > 0) writeFileSync(path, `${JSON.stringify({ format: FORMAT, said: Object.fromEntries(rows) }, null, 2)}\n`);
}

/** By digest; a text: why it cannot be read. */
function readSaid(root: string): Kept | string {
    const path = join(root, SAID_FILE);
    try {
        const there = lstatSync(path, { throwIfNoEntry: false });
        if (there === undefined) return "is not there";
        if (!there.isFile() || there.size > MAX_SAID) return "is no file, or too large";
        const read = readJson(readFileSync(path, "utf8"));
        if (!read.ok) return read.message;
        const { value } = read;
        return isObject(value) && value.format === FORMAT && isObject(value.said) ? value.said : `is not of the format ${FORMAT}`;
    } catch (error) {
        return `cannot be read: ${systemWords(error)}`;
    }
}

/** KS1. What a digest is of; undefined where it is not there. */
function wordsOf(digest: string, kept: Kept): Json | undefined {
    const words = Object.hasOwn(kept, digest) ? kept[digest] : undefined;
    try {
        return words !== undefined && sha256Of(canonicalJson(words)) === digest ? words : undefined;
    } catch (error) {
        // What is nested deeper than canonical JSON goes has no digest.
        if (!(error instanceof RangeError)) throw error;
        return undefined;
    }
}

export interface PinnedTools {
    readonly describe: NonNullable<ProgramFiles["describeTool"]>;
    /** What cannot be told, a sentence each; complete once the program is read. */
    readonly missing: readonly string[];
}

/** What the checker is told of the servers of a program whose main file is `main`. */
export function pinnedTools(root: string, main: string): PinnedTools {
    const pins = pinsOf(root, main);
    const missing: string[] = [];
    let kept: Kept | string | undefined;
    const inputs = (about: ToolImport): Inputs | string | null => {
        try {
            const pin = pins(about);
            if (pin === undefined) return null;
            kept ??= readSaid(root);
            return typeof kept === "string" ? `${SAID_FILE} ${kept}` : inputsOf(pin, kept);
        } catch (error) {
            if (!(error instanceof RemitError)) throw error;
            return error.failure.message;
        }
    };
    return {
        missing,
        describe: (uri, file, name) => {
            const found = inputs({ name, uri, file });
            if (found === null) return null;
            if (typeof found !== "string") {
                const own = describedSchema(found);
                // `call` takes the name of any tool of the server
                const methods = new Map([["call", null] as const, ...own.methods]);
                return { file: SAID_FILE, text: "", schema: { ...own, methods, isPinned: true } };
            }
            missing.push(`calls of ${name} are not checked: ${found}; write it anew: remit lock ${main}`);
            return null;
        },
    };
}

type Inputs = { readonly [method: string]: Json | undefined };

/** By method, the schema of its argument. KS1, KS2. */
function inputsOf({ methods }: LockedTool, kept: Kept): Inputs | string {
    const rows: [string, Json | undefined][] = [];
    for (const [method, digest] of Object.entries(methods)) {
        const words = wordsOf(digest, kept);
        if (words === undefined) return `${SAID_FILE} does not have what ${LOCK_FILE} pins of ${method}`;
        // two that share a name: which of them answers is not known
        rows.push([method, isObject(words) ? words.input : undefined]);
    }
    return Object.fromEntries(rows);
}
