/**
 * What the Tab key offers: commands, files, names, and members of names.
 *
 * Boundary: the text before the cursor and what is known; it runs nothing.
 */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUILTINS } from "@remit/language";
import { COMMANDS } from "./words.ts";

export interface Known {
    /** Names of the conversation → fields of what they have, as far as they are known. */
    readonly names: ReadonlyMap<string, readonly string[]>;
    /** Names of tools → their methods. */
    readonly methods: ReadonlyMap<string, readonly string[]>;
}

const WORDS =
    "if else for in max loop until repeat parallel try catch use as generate import tool llm agent func shape none true false and or not".split(
        " ",
    );
const GLOBALS = BUILTINS.flatMap(({ on, name }) => (on === "global" ? [name] : []));
const MEMBERS = [...new Set(BUILTINS.flatMap(({ on, name }) => (on === "global" || on === "json" ? [] : [name])))];
const OF_JSON = BUILTINS.flatMap(({ on, name }) => (on === "json" ? [name] : []));

/** What may stand in the place of the text's last part, and that part. */
export function completed(line: string, { names, methods }: Known): [string[], string] {
    const among = (all: Iterable<string>, begun: string): [string[], string] => [
        [...new Set(all)].filter((one) => one.startsWith(begun)).sort(),
        begun,
    ];
    const file = /^:run\s+(\S*)$/.exec(line)?.[1];
    if (file !== undefined) return among(files(file), file);
    if (/^[:/]\S*$/.test(line)) return among([...Object.keys(COMMANDS).map((one) => `:${one}`), "/browser "], line);
    const word = /^:\w+\s/.test(line) ? line.slice(line.indexOf(" ") + 1) : line;
    const member = /([A-Za-z_]\w*)\??\.(\w*)$/.exec(word);
    if (member !== null) {
        const [, of = "", begun = ""] = member;
        const own = methods.get(of);
        if (own !== undefined) return among(own, begun);
        return among(of === "json" ? OF_JSON : [...(names.get(of) ?? []), ...MEMBERS], begun);
    }
    return among([...names.keys(), ...GLOBALS, ...WORDS, "json"], /[A-Za-z_]\w*$/.exec(word)?.[0] ?? "");
}

function files(begun: string): string[] {
    const folder = begun.endsWith("/") ? begun : dirname(begun);
    try {
        return readdirSync(folder, { withFileTypes: true }).map((entry) => {
            const path = begun.includes("/") ? join(folder, entry.name) : entry.name;
            return `${begun.startsWith("./") ? "./" : ""}${path}${entry.isDirectory() ? "/" : ""}`;
        });
    } catch {
        // a folder that cannot be read has nothing to offer
        return [];
    }
}
