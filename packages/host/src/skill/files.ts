/**
 * The files of a skill's folder and their digest.
 *
 * Boundary: paths and bytes.
 *
 * K5: a skill is named by what is in it: the SHA-256 of `remit-skill/1`, then a line `SHA256  PATH` for each file, sorted by path (UTF-16 units),
 *     each line ended by a line feed. Modes, times and empty folders do not count.
 * K6: nothing outside the folder is read: a link is followed only to a regular file that is inside.
 */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { SKILL_BOUNDS, type SkillProblem, wrong } from "./rules.ts";

export interface SkillFile {
    /** From the skill's folder, with `/`. */
    readonly path: string;
    readonly bytes: number;
    readonly sha256: string;
}

export interface SkillFiles {
    readonly files: readonly SkillFile[];
    readonly sha256: string;
    /** Bytes of `SKILL.md`, those that were hashed; null where there is none. */
    readonly document: Buffer | null;
    readonly problems: readonly SkillProblem[];
}

/** Case as skills in the wild have it; the first that is there. */
const DOCUMENTS = ["SKILL.md", "skill.md"] as const;

/** Reads a skill's folder, whose real path is `folder`. Stops at the first bound that is passed. */
export function skillFiles(folder: string): SkillFiles {
    const files: SkillFile[] = [];
    const problems: SkillProblem[] = [];
    const documents = new Map<string, Buffer>();
    let total = 0;
    const tooMuch = (): boolean => problems.some(({ level }) => level === "error");

    const walk = (at: string, depth: number): void => {
        if (depth > SKILL_BOUNDS.depth) {
            problems.push(wrong(shown(folder, at), `is more than ${SKILL_BOUNDS.depth} folders deep`));
            return;
        }
        for (const name of readdirSync(at).sort(byUnits)) {
            if (tooMuch()) return;
            const path = join(at, name);
            const place = shown(folder, path);
            // biome-ignore lint/suspicious/noControlCharactersInRegex: a line of the listing cannot hold them
            if (/[\u0000-\u001f\\]/.test(name)) problems.push(wrong(place, "has a name with a control character or a backslash"));
            else if (lstatSync(path).isDirectory()) walk(path, depth + 1);
            else file(path, place);
        }
    };
    const file = (path: string, place: string): void => {
        const real = lstatSync(path).isSymbolicLink() ? linked(path, folder) : path;
        if (real === null || !statSync(real).isFile()) {
            problems.push(wrong(place, "is neither a regular file nor a link to one inside the skill"));
            return;
        }
        const { size } = statSync(real);
        if (files.length >= SKILL_BOUNDS.files) problems.push(wrong("", `has more than ${SKILL_BOUNDS.files} files`));
        else if (size > SKILL_BOUNDS.file) problems.push(wrong(place, `has ${size} bytes, at most ${SKILL_BOUNDS.file} are read`));
        else if (total + size > SKILL_BOUNDS.bytes) problems.push(wrong("", `has more than ${SKILL_BOUNDS.bytes} bytes`));
        else {
            const bytes = readFileSync(real);
            total += bytes.length;
            if (DOCUMENTS.some((one) => one === place)) documents.set(place, bytes);
            files.push({ path: place, bytes: bytes.length, sha256: sha256Of(bytes) });
        }
    };
    walk(folder, 0);
    const document = DOCUMENTS.map((name) => documents.get(name)).find((one) => one !== undefined) ?? null;
    if (document === null && problems.length === 0) problems.push(wrong("", "there is no SKILL.md"));
    const sorted = files.sort((a, b) => byUnits(a.path, b.path));
    return { files: sorted, sha256: listingDigest(sorted), document, problems };
}

/** K5. */
export function listing(files: readonly Pick<SkillFile, "path" | "sha256">[]): string {
    return `remit-skill/1\n${files.map((one) => `${one.sha256}  ${one.path}\n`).join("")}`;
}
export function listingDigest(files: readonly Pick<SkillFile, "path" | "sha256">[]): string {
    return sha256Of(listing(files));
}

export function sha256Of(bytes: string | Uint8Array): string {
    return createHash("sha256").update(bytes).digest("hex");
}

/** Real path of what a link leads to; null where that is not inside. */
function linked(path: string, folder: string): string | null {
    try {
        const real = realpathSync(path);
        return isInside(real, folder) ? real : null;
    } catch {
        // It leads nowhere, or in a circle.
        return null;
    }
}

export function isInside(path: string, folder: string): boolean {
    const from = relative(folder, path);
    return from === "" || (!isAbsolute(from) && from !== ".." && !from.startsWith(`..${sep}`));
}

function shown(folder: string, path: string): string {
    return relative(folder, path).split(sep).join("/");
}

export function byUnits(a: string, b: string): number {
    return a < b ? -1 : a > b ? 1 : 0;
}
