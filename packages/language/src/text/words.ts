/** English of messages. */

/** `a tool`, `an agent`, `an llm`. */
export function withArticle(word: string): string {
    return `${/^(?:[aeiou]|llm\b|mcp\b)/i.test(word) ? "an" : "a"} ${word}`;
}

/** `a`, `a and b`, `a, b and c`; with `or` in place of `and`. */
export function listText(words: readonly string[], by: "and" | "or"): string {
    return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${by} ${words.at(-1)}`;
}

/** `1 step`, `2 steps`; `many` where it is not the word with an s. */
export function amountOf(n: number, one: string, many = `${one}s`): string {
    return `${n} ${n === 1 ? one : many}`;
}
