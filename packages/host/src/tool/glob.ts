/**
 * AgentScript's name patterns: `*` is any characters, `/` too; `?` is one character. A match begins at a part of the path and ends at its end.
 *
 * Boundary: text only. Linear in pattern times path: no pattern makes it slow.
 */

export function globMatches(pattern: string, path: string): boolean {
    for (let from = 0; ; ) {
        if (matchesFrom(pattern, path, from)) return true;
        const slash = path.indexOf("/", from);
        if (slash < 0) return false;
        from = slash + 1;
    }
}

function matchesFrom(pattern: string, path: string, from: number): boolean {
    let p = 0;
    let at = from;
    /** The last star: where the pattern goes on after it, and how far it reached. */
    let star = -1;
    let reached = from;
    while (at < path.length) {
        const mark = pattern[p];
        if (mark === "*") {
            star = ++p;
            reached = at;
        } else if (mark !== undefined && (mark === "?" || mark === path[at])) {
            p++;
            at++;
        } else if (star >= 0) {
            p = star;
            at = ++reached;
        } else return false;
    }
    while (pattern[p] === "*") p++;
    return p === pattern.length;
}
