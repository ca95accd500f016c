/**
 * What an Agent Skill's frontmatter may say (agentskills.io), as a table, and the bounds of what is read.
 *
 * Boundary: values in, problems out; where they come from is `frontmatter.ts` and `files.ts`.
 *
 * RL1: an unknown key is a problem, and so is a value of another kind: nothing is converted.
 * RL2: a problem that is `tolerable` does not keep a skill out of a catalogue; a program's import takes none but those called `advice`.
 */

export interface SkillProblem {
    /** Key of the frontmatter, path of a file, or empty for the skill as a whole. */
    readonly at: string;
    readonly message: string;
    /** `tolerable`: a catalogue warns and lists the skill all the same. `advice`: valid, but worth changing. */
    readonly level: "error" | "tolerable" | "advice";
}

/** Bounds; beyond them a skill is refused. */
export const SKILL_BOUNDS = {
    /** Bytes of `SKILL.md`. */
    document: 256 * 1024,
    /** UTF-16 units of the frontmatter. */
    frontmatter: 16 * 1024,
    /** Nesting and number of nodes of its YAML. */
    yamlDepth: 3,
    yamlNodes: 400,
    /** Files of one skill, bytes of one file and of all, folders below each other. */
    files: 500,
    file: 8 * 1024 * 1024,
    bytes: 32 * 1024 * 1024,
    depth: 6,
    /** What is looked at for a catalogue. */
    scanDepth: 6,
    scanFolders: 2000,
} as const;

/** Above these a body is worth splitting. */
export const ADVISED = { lines: 500, bytes: 20_000 } as const;

/** A frontmatter as read: a key's value is whatever YAML said. */
export type Frontmatter = ReadonlyMap<string, unknown>;

type Rule = (value: unknown) => readonly SkillProblem[];

/** Every key that may stand there. */
export const SKILL_KEYS: { readonly [key: string]: { readonly needed?: true; readonly rule: Rule } } = {
    name: { needed: true, rule: (value) => text("name", value, 64, "tolerable", nameProblem) },
    description: { needed: true, rule: (value) => text("description", value, 1024, "tolerable") },
    license: { rule: (value) => text("license", value, 1024, "error") },
    compatibility: { rule: (value) => text("compatibility", value, 500, "tolerable") },
    metadata: { rule: metadataProblems },
    "allowed-tools": { rule: (value) => text("allowed-tools", itemsOf(value), 4096, "error") },
};

/** Problems of a frontmatter by itself, in the order of the table. */
export function frontmatterProblems(front: Frontmatter): SkillProblem[] {
    const found: SkillProblem[] = [];
    for (const key of front.keys())
        if (!Object.hasOwn(SKILL_KEYS, key))
            found.push(tolerable(key, `is not a key of a skill; known are ${Object.keys(SKILL_KEYS).join(", ")}`));
    for (const [key, { needed, rule }] of Object.entries(SKILL_KEYS)) {
        const value = front.get(key);
        if (front.has(key)) found.push(...rule(value));
        else if (needed === true) found.push(wrong(key, "is missing"));
    }
    return found;
}

/** What a name's characters are wrong in; null where in nothing. */
export function nameProblem(name: string): string | null {
    if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return null;
    return "must be lower-case letters a–z, digits and single hyphens, none at the ends";
}

/** A list of texts counts as one text. */
export function itemsOf(value: unknown): unknown {
    return Array.isArray(value) && value.every((one) => typeof one === "string") ? value.join(" ") : value;
}

/** `Bash(git:*) Read` → its items; a space inside parentheses belongs to its item. */
export function allowedTools(text: string): string[] {
    return text.match(/(?:\([^)]*\)|[^\s(])+|\(\S*/g) ?? [];
}

function text(
    key: string,
    value: unknown,
    max: number,
    tooLong: "error" | "tolerable",
    more: (text: string) => string | null = () => null,
): SkillProblem[] {
    if (typeof value !== "string") return [wrong(key, `must be a text, not ${kindOf(value)}`)];
    if (value.trim() === "") return [wrong(key, "is empty")];
    const found: SkillProblem[] = [];
    const units = [...value].length;
    if (units > max) found.push({ at: key, message: `has ${units} characters, at most ${max} are allowed`, level: tooLong });
    const problem = more(value);
    if (problem !== null) found.push(wrong(key, problem));
    return found;
}

function metadataProblems(value: unknown): SkillProblem[] {
    if (value === "") return [];
    if (!(value instanceof Map)) return [wrong("metadata", `must be a map of texts, not ${kindOf(value)}`)];
    const found: SkillProblem[] = [];
    for (const [key, item] of value as ReadonlyMap<unknown, unknown>) {
        if (typeof key !== "string") found.push(wrong("metadata", `has a key that is no text: ${String(key)}`));
        else if (typeof item !== "string") found.push(wrong(`metadata.${key}`, `must be a text, not ${kindOf(item)}`));
    }
    return found;
}

export function wrong(at: string, message: string): SkillProblem {
    return { at, message, level: "error" };
}
export function tolerable(at: string, message: string): SkillProblem {
    return { at, message, level: "tolerable" };
}

function kindOf(value: unknown): string {
    if (value === null || value === undefined) return "nothing";
    if (Array.isArray(value)) return "a list";
    if (value instanceof Map) return "a map";
    if (value instanceof Date) return "a date";
    return { string: "a text", number: "a number", bigint: "a number", boolean: "true or false" }[typeof value as "string"] ?? typeof value;
}
