/** English of messages. */

/** `a tool`, `an agent`, `an llm`. */
export function withArticle(word: string): string {
    return `${/^(?:[aeiou]|llm\b|mcp\b)/i.test(word) ? "an" : "a"} ${word}`;
}

/** `1 step`, `2 steps`; `many` where it is not the word with an s. */
export function amountOf(n: number, one: string, many = `${one}s`): string {
    return `${n} ${n === 1 ? one : many}`;
}
