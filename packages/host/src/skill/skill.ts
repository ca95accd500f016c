/**
 * An Agent Skill (agentskills.io): a folder with a `SKILL.md`.
 *
 * Boundary: reads and checks; whether a skill may be used is `trust.ts`, where skills are looked for `catalogue.ts`.
 *
 * K7: a skill is read once; its text is that of the bytes its digest covers.
 */
import { realpathSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { systemWords } from "../failure/system.ts";
import { type SkillFile, type SkillFiles, sha256Of, skillFiles } from "./files.ts";
import { type Parted, partsOfSkill } from "./frontmatter.ts";
import {
    ADVISED,
    allowedTools,
    frontmatterProblems,
    itemsOf,
    nameProblem,
    SKILL_BOUNDS,
    type SkillProblem,
    tolerable,
    wrong,
} from "./rules.ts";

export interface Skill {
    readonly name: string;
    readonly description: string;
    /** Of all its files (K5 in `files.ts`); of the document alone for a linked one. Lower-case hex. */
    readonly sha256: string;
    /** Markdown of `SKILL.md` behind its head. */
    readonly body: string;
    /** Absolute, links followed; null for a linked one. */
    readonly folder: string | null;
    readonly files: readonly SkillFile[];
    readonly license?: string;
    readonly compatibility?: string;
    readonly metadata: { readonly [key: string]: string };
    /** Items of `allowed-tools`. A wish: what may be used is the remit's. */
    readonly allowedTools: readonly string[];
    /** What is not as it should be and did not keep it from being read. */
    readonly problems: readonly SkillProblem[];
}

export class SkillError extends Error {
    override readonly name = "SkillError";
    readonly problems: readonly SkillProblem[];
    constructor(what: string, problems: readonly SkillProblem[]) {
        super(`${what} is no valid skill: ${problems.map(problemText).join("; ")}`);
        this.problems = problems;
    }
}

export function problemText({ at, message }: SkillProblem): string {
    return at === "" ? message : `${at}: ${message}`;
}

export interface LoadSkillOptions {
    /** Takes what a catalogue tolerates: a name that is not the folder's, a text that is too long, an unknown key. */
    readonly lenient?: boolean;
}

/** Reads a skill. Throws `SkillError` with every problem. */
export function loadSkill(folder: string, options: LoadSkillOptions = {}): Skill {
    const { skill, problems } = readSkill(folder);
    const over = problems.filter(({ level }) => level === "error" || (level === "tolerable" && options.lenient !== true));
    if (skill === null || over.length > 0) throw new SkillError(folder, over.length > 0 ? over : problems);
    return skill;
}

/** Every problem of a folder, advice included; empty where it is as it should be. */
export function validateSkill(folder: string): readonly SkillProblem[] {
    return readSkill(folder).problems;
}

/** A skill as far as it can be read. */
export function readSkill(folder: string): { readonly skill: Skill | null; readonly problems: readonly SkillProblem[] } {
    let real: string;
    let read: SkillFiles;
    try {
        real = realpathSync(resolve(folder));
        if (!statSync(real).isDirectory()) return { skill: null, problems: [wrong("", "is not a folder")] };
        read = skillFiles(real);
    } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === undefined) throw error;
        return {
            skill: null,
            problems: [wrong("", code === "ENOENT" ? "there is no such folder" : `cannot be read: ${systemWords(error)}`)],
        };
    }
    if (read.document === null || read.problems.length > 0) return { skill: null, problems: read.problems };
    return readDocument(read.document, { folder: real, folderName: basename(resolve(folder)), files: read.files, sha256: read.sha256 });
}

/** A skill of its document alone. `folderName`: what its name must equal, null where there is no folder. */
export function readDocument(
    bytes: Uint8Array,
    from: {
        readonly folder: string | null;
        readonly folderName: string | null;
        readonly files?: readonly SkillFile[];
        readonly sha256?: string;
    },
): { readonly skill: Skill | null; readonly problems: readonly SkillProblem[] } {
    if (bytes.length > SKILL_BOUNDS.document)
        return { skill: null, problems: [wrong("SKILL.md", `has ${bytes.length} bytes, at most ${SKILL_BOUNDS.document} are read`)] };
    const text = decoded(bytes);
    if (text === null) return { skill: null, problems: [wrong("SKILL.md", "is not UTF-8 text")] };
    const parted = partsOfSkill(text);
    if (parted.front === null) return { skill: null, problems: parted.problems };
    const problems = [...parted.problems, ...frontmatterProblems(parted.front), ...advice(parted)];
    const { front, body } = parted;
    const name = front.get("name");
    const description = front.get("description");
    if (typeof name === "string" && from.folderName !== null && name !== from.folderName && nameProblem(name) === null)
        problems.push(tolerable("name", `is '${name}', and the folder is called '${from.folderName}'`));
    if (typeof name !== "string" || typeof description !== "string" || problems.some(({ level }) => level === "error"))
        return { skill: null, problems };
    const digest = sha256Of(bytes);
    const skill: Skill = {
        name,
        description: description.trim(),
        sha256: from.sha256 ?? digest,
        body,
        folder: from.folder,
        files: from.files ?? [{ path: "SKILL.md", bytes: bytes.length, sha256: digest }],
        ...optional("license", front.get("license")),
        ...optional("compatibility", front.get("compatibility")),
        metadata: Object.fromEntries((front.get("metadata") as ReadonlyMap<string, string> | "" | undefined) || []),
        allowedTools: allowedTools((itemsOf(front.get("allowed-tools")) as string | undefined) ?? ""),
        problems,
    };
    return { skill, problems };
}

function optional(key: "license" | "compatibility", value: unknown): { readonly [key: string]: string } {
    return typeof value === "string" ? { [key]: value } : {};
}

function advice({ body }: Parted): SkillProblem[] {
    const lines = body.split("\n").length;
    const say = (message: string): SkillProblem[] => [{ at: "SKILL.md", message, level: "advice" }];
    if (body === "") return say("says nothing behind its head");
    if (lines > ADVISED.lines) return say(`has ${lines} lines; put what is not always needed into files beside it`);
    return body.length > ADVISED.bytes ? say(`has ${body.length} characters, which is over about 5,000 tokens`) : [];
}

function decoded(bytes: Uint8Array): string | null {
    try {
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
        // The decoder's one failure: the bytes are not UTF-8.
        return null;
    }
}
