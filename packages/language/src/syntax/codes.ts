/**
 * Codes of the diagnostics that reading a text can give, with what each means. The table of all codes includes this one.
 * Boundary: data only.
 */
import type { Severity } from "../diagnostics/diagnostic.ts";

export interface SyntaxCode {
    readonly severity: Severity;
    /** What the rule is, in one sentence. */
    readonly meaning: string;
}

export const SYNTAX_CODES = {
    SYNTAX: { severity: "error", meaning: "The text does not follow the grammar at this place." },
    UNTERMINATED_STRING: { severity: "error", meaning: "A string or a block string is opened and never closed." },
    UNTERMINATED_COMMENT: { severity: "error", meaning: "A comment is opened with `/*` and never closed." },
    UNEXPECTED_CHARACTER: { severity: "error", meaning: "A character that no token begins with, outside strings and comments." },
    UNKNOWN_ESCAPE: { severity: "warning", meaning: "A backslash before a character that needs none; the character stands for itself." },
    DOLLAR_BRACE: { severity: "note", meaning: "A `$` before a value in backticks is part of the text: `{x}` is the value, with no `$`." },
    INVALID_ESCAPE: { severity: "error", meaning: "`\\u{…}` does not hold one to six hexadecimal digits of a Unicode code point." },
    INVALID_NUMBER: { severity: "error", meaning: "A number with letters on it where a plain number is wanted." },
    NUMBER_TOO_LARGE: { severity: "error", meaning: "An integer literal beyond 2^53 cannot be kept exactly." },
    TOO_DEEP: {
        severity: "error",
        meaning: "More than 256 brackets, blocks and signs inside one another, or a chain of more than 1,000 operators.",
    },
    TOO_MANY_ERRORS: { severity: "error", meaning: "Reading stopped after 1,000 errors." },
    OLD_SPELLING: { severity: "warning", meaning: "An earlier spelling of AgentScript; the fix writes the current one." },
    LINE_CONTINUATION: {
        severity: "warning",
        meaning: "A call or an index begins on the line of what it applies to; AgentScript would have joined this line to the one before.",
    },
    WORD_IS_NAME: {
        severity: "warning",
        meaning: "A word that would be a qualifier is the name of a variable here, and is read as that name.",
    },
    UNSUPPORTED: { severity: "error", meaning: "A construct of the language that this version does not run." },
} as const satisfies Readonly<Record<string, SyntaxCode>>;

export type SyntaxCodeName = keyof typeof SYNTAX_CODES;
