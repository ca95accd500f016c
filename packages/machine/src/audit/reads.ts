/**
 * Whether a method only reads: by what its tool says of it, else by its scheme, else by the words of its name.
 *
 * Boundary: names and recorded descriptions in, a yes or no out. An unknown name counts as a method that does more.
 *
 * RD1: words are whole: `listen` does not list and `getaway` gets nothing; `getAndSend` gets and sends.
 * RD2: what a tool says of its own method wins over the name, in both directions.
 */
import { isObject, type Json, readsByScheme, resourceOf } from "@remit/language";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** One of them has to be in the name. */
const READING = words(
    "read reads list lists get gets find finds search searches query queries fetch fetches describe describes head options show shows view views lookup count counts peek browse stat exists grep glob",
);

/** None of them may be, wherever it stands. */
const WRITING = words(
    "write writes send sends delete remove create insert append upload modify replace execute exec submit publish forward notify overwrite purge erase destroy pay transfer withdraw deposit refund grant revoke subscribe unsubscribe rename move kill shutdown restart deploy install uninstall merge approve reject upsert truncate put patch set add edit",
);

/** Things as often as deeds (`getPost`, `listOrders`): deeds where one begins the name or follows a joining word. */
const EITHER = words(
    "post order mail email message share book buy reply comment call run start stop open close update change mark move copy log report request issue ticket trash archive clear reset drop push pull commit tag label schedule cancel save store wire invite print dispatch release react like follow block ban cast vote sign",
);

const JOINING = words("and or then plus else with if after before to");

/** `getAndSend`, `get_and_send`, `HTTPGet`, `read2`: their words in small letters. */
export function wordsOf(name: string): string[] {
    return name
        .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
        .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
        .split(/[^\p{L}]+/u)
        .filter((word) => word !== "")
        .map((word) => word.toLowerCase());
}

/** By the words of the name alone. */
export function readsByName(name: string): boolean {
    const all = wordsOf(name);
    const writes = all.some((word, at) => WRITING.has(word) || (EITHER.has(word) && (at === 0 || JOINING.has(all[at - 1] as string))));
    return !writes && all.some((word) => READING.has(word));
}

/** What tools said of their methods, from the descriptions in a record. */
export interface Declared {
    /** Takes the value of a tool's description; what is none is passed over. */
    learn(tool: string, uri: string, description: Json): void;
    /** Whether a method only reads. */
    reads(tool: string, uri: string, scheme: string, method: string): boolean;
    /** Names of its arguments in their order, as its schema has them; for an undescribed method, that of the resource. */
    parameters(tool: string, uri: string, method: string): readonly string[];
}

export function declarations(): Declared {
    const said = new Map<string, boolean>();
    const named = new Map<string, readonly string[]>();
    const key = (...parts: string[]): string => JSON.stringify(parts);
    return {
        learn: (tool, uri, description) => {
            const methods = isObject(description) ? description["methods"] : null;
            if (!Array.isArray(methods)) return;
            for (const method of methods) {
                if (!isObject(method) || typeof method["name"] !== "string") continue;
                const input = isObject(method["input"]) ? method["input"]["properties"] : undefined;
                if (isObject(input)) named.set(key(tool, uri, method["name"]), Object.keys(input));
                if (method["writes"] === true) said.set(key(tool, uri, method["name"]), false);
                else if (method["readOnly"] === true) said.set(key(tool, uri, method["name"]), true);
            }
        },
        reads: (tool, uri, scheme, method) => said.get(key(tool, uri, method)) ?? readsByScheme(scheme, method) ?? readsByName(method),
        parameters: (tool, uri, method) => {
            const known = named.get(key(tool, uri, method));
            const field = resourceOf(uri)?.field;
            return known ?? (field === undefined ? [] : [field]);
        },
    };
}
