/**
 * `file://workspace` and `file:FOLDER` below it: read, list, write, patch, undo.
 *
 * Boundary: text files in a jail (J1–J5 in `jail.ts`), and pictures to be read. Results are AgentScript's.
 */
import { createHash, randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json } from "@remit/language";
import { type Given, type MethodRow, toolOf } from "./args.ts";
import { checkPath } from "./bounds.ts";
import { type Jail, jail, missing, type Place } from "./jail.ts";
import { type Journal, journal } from "./journal.ts";
import { mediaTypeOf } from "./signature.ts";
import { type CallIO, type Open, ToolFail } from "./tool.ts";
import { isNamed, unnamedNote } from "./walk.ts";

const path = { type: "text", description: "path from the workspace, with /", needed: true } as const;

const METHODS: { readonly [name: string]: MethodRow } = {
    read: {
        fields: {
            path,
            as: {
                type: "text",
                description: "`image` for a picture or PDF, which `use image` takes",
                default: "text",
                one: ["text", "image"],
            },
        },
        description: "Reads a UTF-8 text file, or a picture.",
        readOnly: true,
    },
    list: { fields: { path: { ...path, needed: false, default: "." } }, description: "Names in a folder, sorted.", readOnly: true },
    write: {
        fields: { path, content: { type: "text", description: "the whole new content", needed: true } },
        description: "Writes a file, whole; makes its folders.",
        readOnly: false,
    },
    patch: {
        fields: {
            path,
            search: { type: "text", description: "text that occurs in the file; its first occurrence is replaced", needed: true },
            replace: { type: "text", description: "what stands there afterwards", needed: true },
        },
        description: "Replaces the first occurrence of a text in a file.",
        readOnly: false,
    },
    undo: {
        fields: { effects: { type: "json", description: "the `effects` that write or patch gave", needed: true } },
        description: "Takes back writes and patches, unless the files were changed since.",
        readOnly: false,
        given: (name, args) => ({ effects: effectIds(name, args) }),
    },
};

/** Entries a listing may have. */
const MAX_ENTRIES = 100_000;

export const openFile: Open = (uri, _about, context) => {
    const root = folderOf(uri, context.workspace);
    const inside = jail(root);
    const changes = journal(context.state, inside.root);
    const run = (method: string, given: Given, io: CallIO) => {
        const at = given.path as string;
        const bound = (place: Place): Place => {
            checkPath(io, inside, place.real, place.shown);
            return place;
        };
        switch (method) {
            case "undo":
                return undo(inside, changes, given.effects as string[], io);
            case "read":
                return { ok: true, ...contentOf(inside.read(bound(inside.existing(at))), at, given.as === "image") };
            case "list":
                return { ok: true, ...list(inside, bound(inside.existing(at))) };
            case "write":
                return change({ inside, changes, io }, "write", bound(inside.target(at)), () => given.content as string);
            default:
                return change({ inside, changes, io }, "patch", bound(inside.target(at)), (before) => patched(before, at, given));
        }
    };
    return toolOf(METHODS, run, { exact: true });
};

/** `file://workspace`, `file://workspace/src`, `file:src`. */
function folderOf(uri: string, workspace: string): string {
    const below =
        /^file:\/\/workspace(?:\/(.*))?$/.exec(uri)?.[1] ?? (uri === "file://workspace" ? "" : /^file:(?!\/)(.+)$/.exec(uri)?.[1]);
    if (below === undefined)
        throw new ToolFail(`'${uri}' names no folder of the workspace`, {
            hint: "write file://workspace, or file:FOLDER for a folder in it",
        });
    const place = jail(workspace).existing(below === "" ? "." : below);
    if (!statSync(place.real).isDirectory()) throw new ToolFail(`'${below}' is not a folder`);
    return place.real;
}

function contentOf(bytes: Buffer, shown: string, image: boolean): { [key: string]: Json } {
    if (!image) return { content: textOf(bytes, shown) };
    const found = mediaTypeOf(bytes);
    if (found === null) throw new ToolFail(`'${shown}' is no picture`, { hint: "PNG, JPEG, GIF, WebP and PDF can be shown to a model" });
    return { media_type: found, data: bytes.toString("base64") };
}

/** UTF-8 text, or a failure that says which file is none. A byte order mark stays in the text, so that a patch keeps it. */
export function textOf(bytes: Buffer, shown: string): string {
    try {
        const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        if (!text.includes("\0")) return text;
    } catch (error) {
        if (!(error instanceof TypeError)) throw error;
    }
    throw new ToolFail(`'${shown}' is not UTF-8 text`, {
        hint: 'it is in another encoding, or binary: a picture is read with as: "image"',
    });
}

function list(inside: Jail, place: Place): { readonly entries: string[]; readonly note?: string } {
    if (!statSync(place.real).isDirectory()) throw new ToolFail(`'${place.shown}' is not a folder`);
    const entries = readdirSync(place.real, { withFileTypes: true }).filter((entry) => inside.holds(join(place.real, entry.name)));
    if (entries.length > MAX_ENTRIES)
        throw new ToolFail(`'${place.shown}' has ${entries.length} entries; at most ${MAX_ENTRIES} are listed`);
    const named = entries.map((entry) => entry.name).filter((name) => isNamed(join(place.real, name)));
    const note = unnamedNote(Array.from({ length: entries.length - named.length }, () => place.shown));
    return { entries: named.sort(), ...(note === null ? {} : { note }) };
}

function patched(before: Buffer | null, at: string, given: { readonly [name: string]: Json | undefined }): string {
    if (before === null) throw missing(at);
    const [text, search, replace] = [textOf(before, at), given.search as string, given.replace as string];
    if (search === "") throw new ToolFail("'search' must not be empty");
    const found = text.indexOf(search);
    if (found < 0)
        throw new ToolFail(`'search' does not occur in '${at}'`, {
            hint: "it must be the file's own text, spaces and line breaks included",
        });
    return text.slice(0, found) + replace + text.slice(found + search.length);
}

interface Changing {
    readonly inside: Jail;
    readonly changes: Journal;
    readonly io: CallIO;
}

function change({ inside, changes, io }: Changing, action: "write" | "patch", place: Place, next: (before: Buffer | null) => string): Json {
    const before = inside.before(place);
    const after = Buffer.from(wellFormed(next(before), place), "utf8");
    const id = randomUUID();
    const undoable = changes.keep(id, {
        path: place.shown,
        existed: before !== null,
        previous: before?.toString("base64") ?? "",
        after: sha256(after),
    });
    inside.replace(place, after, before);
    return {
        ok: true,
        effects: [
            {
                id,
                tool: io.name,
                action,
                path: place.shown,
                undoable,
                ...(action === "write" ? { existed: before !== null } : {}),
                previous: previousText(before),
            },
        ],
    };
}

/** Half a surrogate pair would become something else in UTF-8. */
function wellFormed(text: string, place: Place): string {
    if (text.isWellFormed()) return text;
    throw new ToolFail(`the content for '${place.shown}' has half a character in it, which UTF-8 cannot hold`);
}

/** What was there as text; none where nothing was, or where it was no text (`undo` restores it all the same). */
function previousText(before: Buffer | null): Json {
    if (before === null) return null;
    try {
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(before);
    } catch {
        // Not UTF-8: the journal has the bytes.
        return null;
    }
}

/** Ids of the list that `write` and `patch` give, of one of its elements, or of the whole result. */
function effectIds(name: string, args: readonly Json[] | undefined): string[] {
    const [first] = args ?? [];
    const given = isObject(first) && "effects" in first ? first.effects : first;
    const list = Array.isArray(given) ? given : [given];
    const ids = list.map((one) => (isObject(one) ? one.id : undefined));
    if (args?.length !== 1 || ids.length === 0 || !ids.every((id) => typeof id === "string"))
        throw new ToolFail(`${name}.undo expects the effects that write or patch gave`);
    return ids as string[];
}

/** All of it or nothing: every file is looked at before the first is changed back, the latest change first. */
function undo(inside: Jail, changes: Journal, ids: readonly string[], io: CallIO): Json {
    const work = [...ids].reverse().map((id) => {
        const entry = changes.find(id);
        if (entry === null)
            throw new ToolFail(`there is no change ${JSON.stringify(id.slice(0, 60))} that could be undone`, {
                hint: "it was undone already, or was not made here",
            });
        const place = inside.target(entry.path);
        checkPath(io, inside, place.real, place.shown);
        return { id, entry, place };
    });
    const now = new Map<string, string | null>();
    for (const { entry, place } of work) {
        const content = now.has(place.real) ? now.get(place.real) : hashOf(inside.before(place));
        if (content !== entry.after)
            throw new ToolFail(`'${entry.path}' was changed since; nothing was undone`, {
                hint: "undo the later change first, or edit the file",
            });
        now.set(place.real, entry.existed ? sha256(Buffer.from(entry.previous, "base64")) : null);
    }
    for (const { id, entry, place } of work) {
        const before = inside.before(place);
        if (entry.existed) inside.replace(place, Buffer.from(entry.previous, "base64"), before);
        else inside.remove(place);
        changes.forget(id);
    }
    return { ok: true };
}

function sha256(bytes: Uint8Array): string {
    return createHash("sha256").update(bytes).digest("hex");
}
function hashOf(bytes: Buffer | null): string | null {
    return bytes === null ? null : sha256(bytes);
}
