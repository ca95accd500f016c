/**
 * The head of a `SKILL.md`: YAML between two lines `---`, then Markdown.
 *
 * Boundary: text to values; what they must be is in `rules.ts`.
 *
 * FN3: no alias, no tag and no merge is followed, and nesting and number of nodes are bounded before a value is made: a head cannot grow.
 * FN5: every value is the text that stands there, as for the reference reader: `1.0`, `true` and `null` are texts.
 * FN4: a key like `__proto__` is a key like any other: maps are `Map`s.
 */
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, type ParsedNode, parseDocument } from "yaml";
import { type Frontmatter, SKILL_BOUNDS, type SkillProblem, tolerable, wrong } from "./rules.ts";

export interface Parted {
    readonly front: Frontmatter;
    /** Markdown behind the head, without line breaks at both ends. */
    readonly body: string;
    readonly problems: readonly SkillProblem[];
}

/** Null with problems where there is no head that can be read. */
export function partsOfSkill(document: string): Parted | { readonly front: null; readonly problems: readonly SkillProblem[] } {
    const text = document.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
    const none = (message: string) => ({ front: null, problems: [wrong("", message)] });
    if (!/^---[ \t]*\n/.test(text)) return none("SKILL.md does not begin with a line ---");
    const start = text.indexOf("\n") + 1;
    const end = /^---[ \t]*$/m.exec(text.slice(start));
    if (end === null) return none("the head of SKILL.md has no end: a line --- is missing");
    if (end.index > SKILL_BOUNDS.frontmatter)
        return none(`the head of SKILL.md has ${end.index} characters, at most ${SKILL_BOUNDS.frontmatter} are read`);
    const head = text.slice(start, start + end.index);
    const body = text.slice(start + end.index + end[0].length).replace(/^\n+|\s+$/g, "");
    const read = readYaml(head);
    if (read.ok) return { front: read.front, body, problems: [] };
    const again = read.syntax ? readYaml(quotedHead(head)) : read;
    if (!again.ok) return none(read.message);
    return { front: again.front, body, problems: [tolerable("", `${read.message}; it was read with its values in quotes`)] };
}

type Read = { readonly ok: true; readonly front: Frontmatter } | { readonly ok: false; readonly message: string; readonly syntax: boolean };

function readYaml(text: string): Read {
    const document = parseDocument(text, {
        version: "1.2",
        schema: "core",
        merge: false,
        uniqueKeys: true,
        strict: true,
        logLevel: "error",
    });
    const refused = (message: string, syntax = false): Read => ({ ok: false, message: `the head of SKILL.md ${message}`, syntax });
    const [error] = document.errors;
    if (error !== undefined) return refused(`is not YAML: ${error.message.split("\n")[0]}`, true);
    if (document.contents === null) return { ok: true, front: new Map() };
    if (!isMap(document.contents)) return refused("is not a map of keys");
    const count = { nodes: 0 };
    const problem = unbounded(document.contents, 1, count);
    if (problem !== null) return refused(problem);
    return { ok: true, front: plainOf(document.contents as ParsedNode) as Map<string, unknown> };
}

/** Of the core schema (YAML 1.2, 10.3). */
const TAGS: ReadonlySet<string> = new Set(["str", "int", "float", "bool", "null", "map", "seq"].map((one) => `tag:yaml.org,2002:${one}`));

function unbounded(node: unknown, depth: number, count: { nodes: number }): string | null {
    if (++count.nodes > SKILL_BOUNDS.yamlNodes) return `has more than ${SKILL_BOUNDS.yamlNodes} values`;
    if (depth > SKILL_BOUNDS.yamlDepth) return `is nested more than ${SKILL_BOUNDS.yamlDepth} deep`;
    if (isAlias(node)) return "holds an alias";
    if (isPair(node)) return unbounded(node.key, depth, count) ?? unbounded(node.value, depth, count);
    if (!isNode(node)) return null;
    if (isScalar(node) || isMap(node) || isSeq(node)) {
        if (node.anchor !== undefined) return "holds an anchor";
        if (node.tag !== undefined && !TAGS.has(node.tag)) return `holds a tag ${node.tag}`;
    }
    if (isMap(node) || isSeq(node))
        for (const item of node.items) {
            const problem = unbounded(item, depth + 1, count);
            if (problem !== null) return problem;
        }
    return null;
}

/** Bounded already: recursion is as deep as `yamlDepth`. */
function plainOf(node: unknown): unknown {
    // FN5
    if (isScalar(node)) return typeof node.value === "string" ? node.value : (node.source ?? "");
    if (isSeq(node)) return node.items.map(plainOf);
    if (isMap(node)) return new Map(node.items.map((pair) => [plainOf(pair.key), plainOf(pair.value)]));
    return null;
}

/** A value that begins with a bracket or holds `: ` is often meant as text: `description: Use when: …`. */
function quotedHead(head: string): string {
    return head
        .split("\n")
        .map((line) => {
            const found = /^([A-Za-z][A-Za-z0-9_-]*):[ \t]+(\S.*)$/.exec(line);
            if (found === null || /^["'|>]/.test(found[2] as string)) return line;
            return `${found[1]}: ${JSON.stringify((found[2] as string).trimEnd())}`;
        })
        .join("\n");
}
