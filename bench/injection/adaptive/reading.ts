/**
 * What a reader of a loop with references is shown, read back out of its prompt.
 *
 * Boundary: a prompt in, results of tools out.
 */
import type { Json, Seen } from "../kit.ts";
import { offered, parsed } from "../model.ts";

/** The field in which a reader says whether the condition of a request holds. */
export const HOLDS = "holds";

const ITEM = /\[(r\d+)\]\nsource: .*\n<([^>\n]+)>\n([\s\S]*?)\n<\/\2>/g;

/** What the tools gave, as a reader that was asked by `ask` is shown it. */
export function seenByReader(prompt: string): Seen {
    const tools = new Map([...prompt.matchAll(/\b(r\d+) is what (\w+) gave/g)].map(([, name = "", tool = ""]) => [name, tool]));
    const results = [...prompt.matchAll(ITEM)].map(([, name = "", , text = ""]) => ({ tool: tools.get(name) ?? "", text }));
    const all = (tool: string): Json[] => results.filter((one) => one.tool === offered(tool)).map(({ text }) => parsed(text));
    return { all, last: (tool) => all(tool).at(-1) ?? null };
}
