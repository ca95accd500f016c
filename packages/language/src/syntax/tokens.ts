/**
 * Token kinds, words, symbols and operator precedence as tables. The lexer, the parser, the printer and the messages read them.
 *
 * Boundary: data only.
 *
 * TO1: a token is told by its kind, never by its text. A string whose content is `"}"` is a `String`.
 * TO2: every word (name, keyword, contextual word) has a kind of at least `Word`, so that "a name is wanted here" is one comparison;
 *     keywords are names wherever a name is wanted.
 */

const KINDS = {
    EOF: 0,
    Number: 1,
    /** A number with letters glued to it: `2k`, `300ms`. */
    Quantity: 2,
    String: 3,
    /** `"""…"""` */
    Block: 4,
    LBrace: 5,
    RBrace: 6,
    LParen: 7,
    RParen: 8,
    LBracket: 9,
    RBracket: 10,
    Comma: 11,
    Colon: 12,
    Dot: 13,
    SafeDot: 14,
    Spread: 15,
    Assign: 16,
    PlusAssign: 17,
    MinusAssign: 18,
    Arrow: 19,
    FatArrow: 20,
    Bar: 21,
    Question: 22,
    Bang: 23,
    Eq: 24,
    Ne: 25,
    Lt: 26,
    Le: 27,
    Gt: 28,
    Ge: 29,
    Plus: 30,
    Minus: 31,
    Star: 32,
    Slash: 33,
    Percent: 34,
    Coalesce: 35,
    /** A plain name. Every kind from here on is a word. */
    Word: 36,
    // AgentScript's keywords
    Import: 37,
    Main: 38,
    Agent: 39,
    Func: 40,
    Use: 41,
    Loop: 42,
    Until: 43,
    Repeat: 44,
    Parallel: 45,
    For: 46,
    In: 47,
    Return: 48,
    If: 49,
    Else: 50,
    And: 51,
    Or: 52,
    Not: 53,
    Generate: 54,
    From: 55,
    True: 56,
    False: 57,
    None: 58,
    List: 59,
    Max: 60,
    // its contextual words
    As: 61,
    One: 62,
    Of: 63,
    Empty: 64,
    Selected: 65,
    Model: 66,
    Role: 67,
    Description: 68,
    // words that Remit added; each is a name wherever AgentScript accepts the text
    Break: 69,
    Continue: 70,
    Raise: 71,
    Try: 72,
    Context: 73,
    Image: 74,
    Tokens: 75,
    Keep: 76,
    Priority: 77,
    With: 78,
    Delegate: 79,
    Define: 80,
    Catch: 81,
    Shape: 82,
    Remit: 83,
    Memory: 84,
    Temporal: 85,
    Static: 86,
    Dynamic: 87,
    Test: 88,
    Arg: 89,
    Start: 90,
    End: 91,
    // authority
    May: 92,
    Ask: 93,
    Never: 94,
    Spend: 95,
    Endorse: 96,
    Only: 97,
    Flow: 98,
    Strict: 99,
    To: 100,
    Onward: 101,
    Trusted: 102,
    Reads: 103,
    Audience: 104,
    Because: 105,
    Unconfined: 106,
    Everyone: 107,
    Result: 108,
    All: 109,
    Among: 110,
    Debugger: 111,
    Addresses: 112,
} as const;

/** Kinds are plain numbers to the type checker: a token's kind changes as reading goes on. */
export const T: { readonly [K in keyof typeof KINDS]: number } = KINDS;

/** Words in the order of their kinds, from `Import` on: each is spelled as its kind is named. */
export const WORDS: readonly string[] = Object.keys(KINDS)
    .slice(KINDS.Word + 1)
    .map((name) => name.toLowerCase());

/** Symbols by kind, for the lexer and for messages. */
export const SYMBOLS: Readonly<Record<number, string>> = {
    [T.LBrace]: "{",
    [T.RBrace]: "}",
    [T.LParen]: "(",
    [T.RParen]: ")",
    [T.LBracket]: "[",
    [T.RBracket]: "]",
    [T.Comma]: ",",
    [T.Colon]: ":",
    [T.Dot]: ".",
    [T.SafeDot]: "?.",
    [T.Spread]: "...",
    [T.Assign]: "=",
    [T.PlusAssign]: "+=",
    [T.MinusAssign]: "-=",
    [T.Arrow]: "->",
    [T.FatArrow]: "=>",
    [T.Bar]: "|",
    [T.Question]: "?",
    [T.Bang]: "!",
    [T.Eq]: "==",
    [T.Ne]: "!=",
    [T.Lt]: "<",
    [T.Le]: "<=",
    [T.Gt]: ">",
    [T.Ge]: ">=",
    [T.Plus]: "+",
    [T.Minus]: "-",
    [T.Star]: "*",
    [T.Slash]: "/",
    [T.Percent]: "%",
    [T.Coalesce]: "??",
};

/** Infix operators by spelling, loosest first. All are left-associative. */
export const PRECEDENCE = {
    or: 1,
    and: 2,
    "??": 3,
    "==": 4,
    "!=": 4,
    "<": 5,
    "<=": 5,
    ">": 5,
    ">=": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
} as const;

/** `not` and the sign bind tighter than every infix operator, looser than member, call and index. */
export const UNARY_PRECEDENCE = 8;
export const POSTFIX_PRECEDENCE = 9;

/** Precedence by token kind; 0: not an infix operator. */
export const INFIX: Uint8Array = new Uint8Array(128);
for (const [text, precedence] of Object.entries(PRECEDENCE)) {
    const word = WORDS.indexOf(text);
    const symbol = Object.keys(SYMBOLS).find((kind) => SYMBOLS[Number(kind)] === text);
    INFIX[word >= 0 ? T.Word + 1 + word : Number(symbol)] = precedence;
}

/** Units of budgets: factor of the written number. */
export const BUDGET_UNITS: Readonly<Record<string, number>> = { "": 1, k: 1000 };

/** Meters of `spend`, each the word after the amount; of time, units stand there. */
export const METERS = ["tokens", "usd", "time", "steps", "calls", "turns", "bytes"] as const;

/** Units of durations in milliseconds. */
export const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** Units of durations that are none here: the unit in their place, and how many of it one is. */
const OTHER_TIMES: ReadonlyMap<string, readonly [number, string]> = new Map(
    Object.entries({
        "1 ms": "millisecond milliseconds msec",
        "1 s": "sec secs second seconds",
        "1 min": "m mins minute minutes",
        "1 h": "hr hrs hour hours",
        "24 h": "d day days",
        "168 h": "w week weeks",
    }).flatMap(([meant, words]) => {
        const [times = "", unit = ""] = meant.split(" ");
        return words.split(" ").map((word) => [word, [Number(times), unit]] as const);
    }),
);

/** `3`, `days`: `72h`; null where the unit is no unit of time at all. */
export function timeMeant(digits: string, unit: string): string | null {
    const meant = OTHER_TIMES.get(unit.toLowerCase());
    return meant === undefined ? null : `${Number(digits) * meant[0]}${meant[1]}`;
}

/** What can be imported. */
export const IMPORT_KINDS = ["tool", "llm", "file", "agent", "memory", "skill"] as const;

/**
 * Words that take another reading at the start of a statement or of an expression, so that the printer must not let a plain name
 * of that spelling stand there.
 */
export const STATEMENT_WORDS: ReadonlySet<string> = new Set(
    "use return repeat for loop if else model role description break continue raise try context delegate spend define catch and or as max".split(
        " ",
    ),
);
