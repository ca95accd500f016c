/**
 * A change to a source file that was proposed: what stands there, what would, and writing exactly that.
 *
 * Boundary: text of the program's own files; who proposes and who accepts is `hand.ts`'s and its caller's.
 *
 * C1: only files that the program was made of, inside its folder, links followed, are changed.
 * C2: what is written is what was shown: where the file was changed since, nothing is written.
 */
import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { diffLines, type LineChange } from "@remit/machine";
import { type Diagnostic, parse, type Program, source } from "@remit/language";
import { randomUUID } from "node:crypto";
import type { RunInfo } from "../ledger/store.ts";
import { RemitError } from "../failure/error.ts";

export interface Change {
    /** As the program names it. */
    readonly file: string;
    /** Absolute, links followed. */
    readonly path: string;
    /** First and last line that are replaced, from 1. */
    readonly lines: readonly [number, number];
    readonly before: string;
    readonly after: string;
    readonly diff: readonly LineChange[];
    /** Errors of the text as it would be. */
    readonly errors: readonly Diagnostic[];
}

/** Larger files are not changed. */
const MAX_SOURCE = 8 * 1024 * 1024;

/**
 * `place`: `FILE`, `FILE:LINE` or `FILE:FROM-TO`, lines from 1; `text` takes their place. Throws `RemitError` `value` where there is no such
 * place, or where it is not one of the program's own files.
 */
export function changeOf(info: RunInfo, program: Program, place: string, text: string): Change {
    const [, file = "", from, to] = /^(.*?)(?::(\d{1,9})(?:-(\d{1,9}))?)?$/s.exec(place.trim()) ?? [];
    const path = pathIn(info, program, file);
    const before = readFileSync(path, "utf8");
    const end = before.includes("\r\n") ? "\r\n" : "\n";
    const old = before.split(/\r?\n/);
    // The last line ends with the file where nothing stands behind its end.
    const count = old.at(-1) === "" ? old.length - 1 : old.length;
    const first = from === undefined ? 1 : Number(from);
    const last = from === undefined ? Math.max(count, 1) : Number(to ?? from);
    if (first < 1 || last < first || last > Math.max(count, 1)) throw no(`${file} has no lines ${first}-${last}: it has ${count}`);
    const fresh = text.replace(/\r\n/g, "\n").replace(/\n$/, "").split("\n");
    const lines = [...old.slice(0, first - 1), ...fresh, ...old.slice(last)];
    const after = lines.join(end) + (from === undefined && lines.at(-1) !== "" ? end : "");
    if (after === before) throw no("the fix changes nothing");
    const { diagnostics } = parse(source(after, file));
    return {
        file,
        path,
        lines: [first, last],
        before,
        after,
        diff: diffLines(before.replace(/\r\n/g, "\n"), after.replace(/\r\n/g, "\n")),
        errors: diagnostics.filter((one) => one.severity === "error"),
    };
}

/** Writes it. Throws `RemitError` `value` where the file is not what it was when the change was made. */
export function applyChange(change: Change): void {
    const { path } = change;
    let now: string | null = null;
    try {
        if (lstatSync(path).isFile() && realpathSync(path) === path) now = readFileSync(path, "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        // It is gone, or may not be read any more: changed since.
    }
    if (now !== change.before) throw no(`${change.file} was changed since the fix was proposed; nothing was written`);
    const beside = `${path}.${randomUUID().slice(0, 8)}.tmp`;
    try {
        writeFileSync(beside, change.after, { mode: lstatSync(path).mode & 0o777, flag: "wx" });
        renameSync(beside, path);
    } finally {
        rmSync(beside, { force: true });
    }
}

function pathIn(info: RunInfo, program: Program, file: string): string {
    const names = program.files.map((one) => one.file);
    if (!names.includes(file)) throw no(`'${file}' is no file of this program`, `its files are ${names.join(", ")}`);
    if (info.root === "") throw no("this program has no files: it was given as text");
    try {
        const root = realpathSync(info.root);
        const path = realpathSync(resolve(join(root, file)));
        const below = relative(root, path);
        const { size } = lstatSync(path);
        if (below !== "" && below !== ".." && !below.startsWith(`..${sep}`) && lstatSync(path).isFile() && size <= MAX_SOURCE) return path;
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        throw no(`${file} cannot be read any more`);
    }
    throw no(`${file} is outside the program's folder, or no file that can be changed`);
}

function no(message: string, hint?: string): RemitError {
    return new RemitError({ kind: "value", message, ...(hint === undefined ? {} : { hint }) });
}
