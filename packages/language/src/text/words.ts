/** English of messages. */

/** `a tool`, `an agent`, `an llm`. */
export function withArticle(word: string): string {
    return `${/^(?:[aeiou]|llm\b|mcp\b)/i.test(word) ? "an" : "a"} ${word}`;
}
