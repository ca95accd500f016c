/**
 * Paths to values, as a person types them: `plan.steps[2].title`, `data["a b"]`.
 *
 * Boundary: reading only names, keys and indices: nothing is computed.
 */

/** Names, keys and indices; null where the text is no path. */
export function readPath(text: string): (string | number)[] | null {
    let rest = text.trim();
    const first = /^[\p{L}_][\p{L}\p{N}_]*/u.exec(rest)?.[0];
    if (first === undefined) return null;
    const names: (string | number)[] = [first];
    rest = rest.slice(first.length);
    while (rest !== "") {
        const found = /^(?:\.([\p{L}_][\p{L}\p{N}_]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\])/u.exec(rest);
        if (found === null || names.length > 100) return null;
        const [all, name, index, quoted] = found;
        if (name !== undefined) names.push(name);
        else if (index !== undefined) names.push(Number(index));
        else {
            const key = textOf(quoted as string);
            if (key === null) return null;
            names.push(key);
        }
        rest = rest.slice(all.length);
    }
    return names;
}

function textOf(quoted: string): string | null {
    try {
        return JSON.parse(quoted) as string;
    } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
    }
}

/** The text that `readPath` reads back. */
export function shownPath(names: readonly (string | number)[]): string {
    return names
        .map((one, i) => {
            if (typeof one === "number") return `[${one}]`;
            if (i === 0) return one;
            return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(one) ? `.${one}` : `[${JSON.stringify(one)}]`;
        })
        .join("");
}
