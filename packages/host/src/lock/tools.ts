/**
 * What servers and modules say of their tools, pinned: a model that reads a description chooses by it, so one that a person has looked at counts as
 * the program's own text.
 *
 * Boundary: digests and comparisons. Who asks the tools, and what follows from a pin, is the lock's and the machine's.
 *
 * L5: a tool is as it is pinned where it has the same methods, each with the same name, description, schema and marks. A method that is new, gone or
 *     changed makes it another: which of them a model reads first is not known. Descriptions that share a name count together.
 */
import { canonicalJson, type Descriptions, type Json, type Program, resourceOf, schemeOf, siteAt } from "@remit/language";
import type { ToolDescription } from "@remit/machine";
import { RemitError } from "../failure/error.ts";
import { byUnits, sha256Of } from "../skill/files.ts";
import type { Tools } from "../tool/tools.ts";
import type { ToolImport } from "../tool/tool.ts";
import { lockKey, readLock } from "./lock.ts";

export interface LockedTool {
    readonly uri: string;
    /** Digests by method. */
    readonly methods: { readonly [name: string]: string };
}

/** What a digest is of, by the digest. */
export type Said = Map<string, Json>;

/** `said`: takes what the digests are of. */
export function toolAsDescribed(uri: string, { methods }: ToolDescription, said?: Said): LockedTool {
    const rows = [...Map.groupBy(methods, ({ name }) => name)].map(([name, [first, ...more]]) => {
        const words = (more.length === 0 ? first : [first, ...more]) as unknown as Json;
        const digest = sha256Of(canonicalJson(words));
        said?.set(digest, words);
        return [name, digest] as const;
    });
    return { uri, methods: Object.fromEntries(rows.sort(([a], [b]) => byUnits(a, b))) };
}

/** Whether a tool speaks for itself: what the runtime says of its own is no word of another author. */
function isPinned(uri: string): boolean {
    return resourceOf(uri) === null && !OURS.has(schemeOf(uri));
}

/** `host:` functions are the caller's own; the others are of the runtime. */
const OURS: ReadonlySet<string> = new Set(["host", "skills", "inspect", "ras"]);

/** What the tools of a program say of themselves now. Throws `RemitError` with the import's place where one cannot be asked. */
export async function toolsOf(
    program: Program,
    tools: Pick<Tools, "describe">,
    said?: Said,
): Promise<{ readonly [key: string]: LockedTool }> {
    const imports = program.files.flatMap((form) =>
        form.imports.flatMap((one) => (one.what === "tool" && isPinned(one.uri) ? [{ file: form.file, one }] : [])),
    );
    const rows = await Promise.all(
        imports.map(async ({ file, one: { name, uri, at } }) => {
            try {
                return [lockKey(file, name), toolAsDescribed(uri, await tools.describe({ name, uri, file }), said)] as const;
            } catch (error) {
                const message = Error.isError(error) ? error.message : String(error);
                throw new RemitError({
                    kind: "unreachable",
                    message: `tool ${name} cannot say what it has: ${message}`,
                    site: siteAt(file, at),
                    hint: "make it reachable; what is not asked cannot be pinned",
                });
            }
        }),
    );
    return Object.fromEntries(rows);
}

/** Throws `RemitError` where a program has tools that a lock pins, and its lock is none that can be read. */
export function checkLock({ files }: Program, root: string): void {
    if (root !== "" && files.some(({ imports }) => imports.some(({ what, uri }) => what === "tool" && isPinned(uri)))) readLock(root);
}

/** How the imports of a program are pinned; asked for once, when the first is described. */
export function pinsOf(root: string, file: string): (about: ToolImport) => LockedTool | undefined {
    let tools: { readonly [key: string]: LockedTool } | undefined;
    return ({ name, uri, file: from }) => {
        if (!isPinned(uri)) return undefined;
        tools ??= (root === "" ? null : readLock(root))?.programs[file]?.tools ?? {};
        const key = lockKey(from, name);
        const pin = Object.hasOwn(tools, key) ? tools[key] : undefined;
        return pin?.uri === uri ? pin : undefined;
    };
}

/** Whose words the descriptions of a program's tools are, as far as its lock says. */
export function descriptionsOf(root: string, file: string): Descriptions {
    const pins = pinsOf(root, file);
    return ({ name, uri }, from) => (isPinned(uri) ? (pins({ name, uri, file: from }) === undefined ? "said" : "pinned") : undefined);
}

/** L5. */
export function isAsPinned(pin: LockedTool, described: ToolDescription): boolean {
    return canonicalJson(pin as unknown as Json) === canonicalJson(toolAsDescribed(pin.uri, described) as unknown as Json);
}
