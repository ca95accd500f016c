/**
 * `sh://find`, `sh://grep`, `sh://read-range`: three searches in the workspace. Nothing here ever starts a shell or a process.
 *
 * Boundary: reads in a jail. Results are AgentScript's.
 */
import { statSync } from "node:fs";
import type { Json } from "@remit/language";
import { headOf } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type Given, type MethodRow, toolOf } from "./args.ts";
import { checkPath, insideBounds } from "./bounds.ts";
import { textOf } from "./file.ts";
import { globMatches } from "./glob.ts";
import { type Jail, jail } from "./jail.ts";
import { type CallIO, type Open, ToolFail } from "./tool.ts";
import { type Entry, someOf, unnamedNote, walk } from "./walk.ts";

const path = { type: "text", description: "folder or file, from the workspace", default: "." } as const;
const max = { type: "count", description: "how many at most", default: 100 } as const;

interface Ran {
    readonly io: CallIO;
    readonly secrets: Scrubber;
}

interface Row extends Omit<MethodRow, "readOnly"> {
    readonly run: (inside: Jail, given: Given, ran: Ran) => Promise<Json> | Json;
}

/** Files larger than this are not searched, bytes. */
const MAX_GREP = 1024 * 1024;
/** Longest line that is shown whole, UTF-16 units. */
const MAX_LINE = 10_000;

const COMMANDS: { readonly [command: string]: Row } = {
    find: {
        description: "Paths of files and folders below a folder.",
        fields: {
            path,
            name: { type: "text", description: "pattern: * any characters, ? one; from the start of a part of the path to its end" },
            type: { type: "text", description: "only files, or only folders", one: ["file", "dir"] },
            max,
        },
        run: find,
    },
    grep: {
        description: "Lines that contain a text, as it stands: no patterns.",
        fields: {
            path,
            pattern: { type: "text", description: "the text", needed: true },
            include: { type: "text", description: "pattern for the paths of files that are searched" },
            max,
        },
        run: grep,
    },
    "read-range": {
        description: "Some lines of a text file.",
        fields: {
            path: { type: "text", description: "file, from the workspace", needed: true },
            start: { type: "count", description: "first line, from 1", default: 1 },
            max: { ...max, description: "how many lines at most" },
        },
        run: readRange,
    },
};

const SHELLS = new Set(["sh", "bash", "zsh", "fish", "dash", "ksh", "csh", "tcsh", "cmd", "powershell", "pwsh"]);

export const openSh: Open = (uri, _about, context) => {
    const command = uri.slice("sh://".length).replace(/\/$/, "");
    const row = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
    if (row === undefined) {
        const known = Object.keys(COMMANDS).map((name) => `sh://${name}`);
        throw SHELLS.has(command)
            ? new ToolFail(`a shell is never started: ${uri} is forbidden`, {
                  kind: "denied",
                  hint: `use ${known.join(", ")}, or a tool server`,
              })
            : new ToolFail(`there is no ${uri}`, { hint: `there are ${known.join(", ")}` });
    }
    const inside = jail(context.workspace);
    return toolOf({ run: { ...row, readOnly: true } }, (_, given, io) => row.run(inside, given, { io, secrets: context.secrets }), {
        exact: true,
    });
};

async function find(inside: Jail, given: Given, { io }: Ran): Promise<Json> {
    const from = inside.existing(given.path as string);
    checkPath(io, inside, from.real, from.shown);
    const name = given.name as string | undefined;
    const files: string[] = [];
    const unnamed: string[] = [];
    for await (const entry of walk(inside, from.real, io.signal, unnamed)) {
        if (!insideBounds(io, inside, entry.real)) continue;
        if (given.type !== undefined && entry.kind !== given.type) continue;
        if (name !== undefined && !globMatches(name, entry.path)) continue;
        files.push(entry.path);
        if (files.length >= (given.max as number)) break;
    }
    return { ok: true, files, ...noteOf([unnamedNote(unnamed)]) };
}

async function grep(inside: Jail, given: Given, { io, secrets }: Ran): Promise<Json> {
    const from = inside.existing(given.path as string);
    checkPath(io, inside, from.real, from.shown);
    const include = given.include as string | undefined;
    const matches: Json[] = [];
    const skipped: string[] = [];
    const unnamed: string[] = [];
    const notes = (): { readonly note?: string } => noteOf([skippedNote(skipped), unnamedNote(unnamed)]);
    const room = given.max as number;
    const one: Entry = { path: from.shown, real: from.real, kind: "file" };
    for await (const entry of statSync(from.real).isFile() ? [one] : walk(inside, from.real, io.signal, unnamed)) {
        if (!insideBounds(io, inside, entry.real)) continue;
        if (entry.kind !== "file" || (include !== undefined && !globMatches(include, entry.path))) continue;
        const text = searchable(inside, entry);
        if (text === null) {
            skipped.push(entry.path);
            continue;
        }
        for (const found of linesWith(text, given.pattern as string, secrets)) {
            matches.push({ path: entry.path, line: found.line, text: found.text });
            if (matches.length >= room) return { ok: true, matches, ...notes() };
        }
    }
    return { ok: true, matches, ...notes() };
}

function noteOf(notes: readonly (string | null)[]): { readonly note?: string } {
    const said = notes.filter((note) => note !== null);
    return said.length === 0 ? {} : { note: said.join("; ") };
}

function skippedNote(skipped: readonly string[]): string | null {
    return skipped.length === 0 ? null : `not searched, as no UTF-8 text or larger than ${MAX_GREP} bytes: ${someOf(skipped)}`;
}

/** Text of a file, null where it is too large, no text, or gone. */
function searchable(inside: Jail, entry: Entry): string | null {
    try {
        return textOf(inside.read({ real: entry.real, shown: entry.path }, MAX_GREP), entry.path);
    } catch (error) {
        if (error instanceof ToolFail) return null;
        throw error;
    }
}

function* linesWith(text: string, pattern: string, secrets: Scrubber): Generator<{ readonly line: number; readonly text: string }> {
    if (!text.includes(pattern)) return;
    const lines = text.split(/\r?\n/);
    for (const [index, line] of lines.entries()) {
        const last = index === lines.length - 1 && line === "";
        if (!last && line.includes(pattern))
            yield { line: index + 1, text: line.length > MAX_LINE ? headOf(line, MAX_LINE, secrets) : line };
    }
}

function readRange(inside: Jail, given: Given, { io }: Ran): Json {
    const at = given.path as string;
    const place = inside.existing(at);
    checkPath(io, inside, place.real, place.shown);
    const lines = textOf(inside.read(place), at).split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    const start = given.start as number;
    const taken = lines.slice(start - 1, start - 1 + (given.max as number));
    return { ok: true, text: taken.join("\n"), start, end: start + taken.length - 1 };
}
