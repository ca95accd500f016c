/**
 * Trees of texts that this process has parsed: a file that did not change is not parsed again, whatever program it is read for.
 *
 * Boundary: from text to tree. A tree depends on the text and its name alone and nothing changes it, so no program can tell.
 * Row "the project again, a file changed" of section `check` of the bench measures it.
 */
import { parse, source, type tree } from "@remit/language";

/** Characters of all texts whose trees are kept; those that were used least recently go first. A tree and its form take about 45 bytes for each. */
const MAX_KEPT = 1024 * 1024;

const trees = new Map<string, tree.File>();
let length = 0;

export function parsed(text: string, name: string): tree.File {
    const key = `${name}\n${text}`;
    const known = trees.get(key);
    if (known !== undefined) {
        trees.delete(key);
        trees.set(key, known);
        return known;
    }
    const made = parse(source(text, name));
    if (key.length > MAX_KEPT) return made;
    trees.set(key, made);
    length += key.length;
    for (const old of trees.keys()) {
        if (length <= MAX_KEPT) break;
        trees.delete(old);
        length -= old.length;
    }
    return made;
}
