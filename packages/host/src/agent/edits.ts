/**
 * The text that edits make of a file.
 *
 * Boundary: the differences that an agent shows and the file as it is, in; the use's arguments out. The path was held against the hands before.
 *
 * EDI1: agents show a whole file or a piece of it in the same form. A piece is never taken for the file: what is asked about is the text that the file
 *     will have, and where that cannot be told the pieces themselves, as pieces.
 * EDI2: all edits of a file count, in their order.
 */
import type { Json } from "@remit/language";
import { textOf } from "../tool/file.ts";
import { Jail } from "../tool/jail.ts";
import { ToolFail } from "../tool/tool.ts";

/** A difference. `old` undefined: the file is made, or written whole. */
export interface Edit {
    readonly old: string | undefined;
    readonly new: string;
}

/** Of a longer file, in bytes, the pieces are shown: no person reads all of it. */
const MAX_BYTES = 1024 * 1024;

/** What a use says of edits. `everywhere`: each replaces all occurrences. */
export function shownEdits(
    edits: readonly Edit[],
    before: string | null | undefined,
    everywhere: boolean,
): { readonly [key: string]: Json } {
    if (edits.length === 0) return {};
    let text: string | null | undefined = before;
    for (const edit of edits) text = editedBy(edit, text, everywhere);
    if (typeof text === "string") return { content: text };
    return { edits: edits.map((edit): Json => ({ ...(edit.old === undefined ? {} : { old: edit.old }), new: edit.new })) };
}

/** `text` null: there is no file; undefined: it cannot be told, and so is what is made of it. */
function editedBy(edit: Edit, text: string | null | undefined, everywhere: boolean): string | undefined {
    if (edit.old === undefined) return edit.new;
    if (text === undefined) return undefined;
    if (edit.old === (text ?? "")) return edit.new;
    if (text === null || edit.old === "") return undefined;
    const parts = text.split(edit.old);
    return parts.length === 2 || (everywhere && parts.length > 2) ? parts.join(edit.new) : undefined;
}

/** A file's text. Null: it is not there; undefined: it cannot be read as text. `root`: absolute, links followed. */
export function textBefore(root: string, path: string): string | null | undefined {
    try {
        const inside = new Jail(root);
        const bytes = inside.before(inside.target(path));
        if (bytes === null) return null;
        return bytes.length > MAX_BYTES ? undefined : textOf(bytes, path);
    } catch (error) {
        // What cannot be read is shown as the agent shows it; the tool that is to write it says what is wrong.
        if (error instanceof ToolFail) return undefined;
        throw error;
    }
}
