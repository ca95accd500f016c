/** Names with hyphens, which earlier AgentScript had: today `user-name` is a difference of two names. */

/** Names longer than that are told without the hint. */
const REACH = 100;

/** What to write for the name with hyphens that stands at a place of a text; null where none does. */
export function withoutHyphens(text: string, at: number): string | null {
    const from = Math.max(0, at - REACH);
    for (const { 0: name, index } of text.slice(from, at + REACH).matchAll(/[A-Za-z_]\w*(?:-[A-Za-z_]\w*)+/g))
        if (from + index <= at && at < from + index + name.length) return name.replaceAll("-", "_");
    return null;
}
