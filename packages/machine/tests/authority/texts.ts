/**
 * Texts to read: hostile ones, made of what links are made of, and harmless ones: release notes, mails and reviews.
 *
 * Boundary: tests only. A seed gives the same texts.
 */

/** Numbers from 0 up to a bound, from a seed (mulberry32). */
export function dice(seed: number): (sides: number) => number {
    let state = seed >>> 0;
    return (sides) => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * sides);
    };
}

type Roll = ReturnType<typeof dice>;
const one = (roll: Roll, all: readonly string[]): string => all[roll(all.length)] as string;
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

const coded = (text: string, roll: Roll): string =>
    [...text]
        .map((sign) => {
            const point = sign.codePointAt(0) as number;
            return [
                sign,
                `&#x${point.toString(16)};`,
                `&#${point};`,
                `&#0${point}`,
                `%${point.toString(16).padStart(2, "0")}`,
                `\\${sign}`,
            ][roll(6)];
        })
        .join("");

const SCHEMES = ["http:", "https:", "HTTP:", "ftp:", "mailto:", "tel:", "javascript:", "data:text/html,", "slack:", "file:", "", "", ""];
const SLASHES = ["//", "/", "", "\\\\", "/\\", "///", "\\/\\/"];
const HOSTS = [
    ...[
        "evil.example",
        "evil.com",
        "www.evil.com",
        "evil.io",
        "evil.com.ts",
        "evil.com..ts",
        "evil.ts",
        "evil.md",
        "evil.zip",
        "evil.js.com",
        "evil.com-x",
        "evil.com_x.ts",
        "EVIL.CoM",
        "localhost",
        "localhost:80",
        "203.0.113.7",
        "0xCB007107",
        "3405803783",
        "[::1]",
    ],
    ...[
        "ⓔⓥⓘⓛ.ⓒⓞⓜ",
        "evil\u3002com",
        "evil\uff0ecom",
        "e\u00advil.com",
        "xn--80ak6aa92e.com",
        "b\u00fccher.de",
        "evil",
        "x@evil.com",
        "u:p@evil.com",
    ],
];
const TAILS = ["", "/", "/x", "?q=secret", "#x", "/a(b)", "/\u200bx", "/%2e%2e/x", "/x y"];
const WRAPS: readonly ((link: string) => string)[] = [
    (link) => link,
    (link) => `<${link}>`,
    (link) => `[now](${link})`,
    (link) => `[now]( <${link}> "t")`,
    (link) => `![now](${link})`,
    (link) => `[now][1]\n\n[1]: ${link}`,
    (link) => `[now]\n\n[now]:\n${link}\n`,
    (link) => `![]\n(${link})`,
    (link) => `(${link}).`,
    (link) => `**${link}**`,
    (link) => `"${link}",`,
    (link) => `| ${link} |\n|---|\n| x |`,
    (link) => `- [ ] ${link}`,
    (link) => `> ${link}`,
    (link) => `[![x](y)](${link})`,
    (link) => `<a href="${link}">now</a>`,
    (link) => `<img src='${link}'>`,
    (link) => `<a href=${link}>now</a>`,
];

/** A text that tries to be followed. */
export function hostile(roll: Roll): string {
    let link = one(roll, SCHEMES) + one(roll, SLASHES) + one(roll, HOSTS) + one(roll, TAILS);
    if (roll(3) === 0) link = coded(link, roll);
    if (roll(5) === 0) {
        const at = roll(link.length);
        link = link.slice(0, at) + one(roll, ["\t", "\n", "\r\n", "&#9;", "\u200b", "\u00ad", " "]) + link.slice(at);
    }
    const wrapped = (WRAPS[roll(WRAPS.length)] as (link: string) => string)(link);
    return one(roll, ["", "See ", "Answer:\n\n", "x", "1. "]) + wrapped + one(roll, ["", " now.", "\n", "!"]);
}

/** Pieces that names are made of, and signs between them that linkers read in one way or another. */
const PIECES = [
    ...[
        "evil",
        ".",
        ".",
        ".",
        "..",
        "com",
        "ts",
        "md",
        "name",
        "io",
        "x",
        "1",
        "\u00fc",
        "\u0440\u0444",
        "\u3002",
        "\u200b",
        "\u00ad",
        "%2e",
    ],
    ...["-", "_", "'", ":", "/", "@", "|", ">", "(", ")", "*", "`", "\u2026", "~", "#", "?", "\\", "&", "=", ",", "\uff5c", " "],
];

/** A word that may be a name with full stops. */
export function glued(roll: Roll): string {
    return times(3 + roll(7), () => one(roll, PIECES)).join("");
}

/** What links, markup and codes are made of. */
const TOKENS = [
    ..."http https ftp mailto javascript data tel :// : // / \\ www. evil . com example io @ [ ] ( ) < > ! ` * _ \" ' | ~ # ? -".split(" "),
    ..."a x 1 ::1 127.1 0x7f.1 com. t.co xn-- %2f %2e &#x2e; &period; &sol; &colon; &Tab; &lpar; href= srcset= [1] [1]:".split(" "),
    ...["\u3002", "\uff0e", "\u00ad", "\u200d", "\ufb01", "\u2100", "\u00b2", "\u0440\u0444", "\u30b3\u30e0"],
    ...[" ", "\n", "\n\n", "\t", "<a ", "<img src=", "<svg><use xlink:href=", "<form action=", 'style="background:url('],
];

/** Those in any order, which leads somewhere once in twenty times. */
export function thrown(roll: Roll): string {
    return times(2 + roll(9), () => one(roll, TOKENS)).join("");
}

const NAMES = ["Ann", "Bob Miller", "Dr. Sato", "Ms O'Brien", "the team", "Jürgen", "our customer in Lyon"];
const THINGS = [
    "the parser",
    "search",
    "the checkout",
    "dark mode",
    "invoices",
    "the mobile app",
    "login",
    "exports to CSV",
    "console.log()",
    "`style.css`",
    "tsconfig.json",
    "CHANGELOG.txt",
    "time zones",
    "the cache",
];
const VERBS = [
    "now starts faster",
    "no longer loses the last line",
    "shows totals",
    "asks before it deletes",
    "keeps its place",
    "is 12 % smaller",
    "handles empty input",
];
const DAYS = ["2026-03-04", "Monday", "4 March", "the 12th", "Q3", "10:30", "next week"];
const AMOUNTS = ["1,200.50", "EUR 49.90", "$3,000", "three", "25", "1.5 h", "99.9 %", "v2.4.1", "3.0"];
const ASIDES = [
    "(see below)",
    "- as agreed -",
    "and/or later",
    "e.g. for large files",
    "i.e. the second one",
    '"as is"',
    "after all",
    "at last",
];
const FILES = [
    "parser.ts",
    "src/lib/index.d.ts:12",
    "package.json",
    "vite.config.js",
    "notes.txt",
    "src/index",
    "the README",
    "parse()",
    "config",
    "line 42",
    "the tests",
    "render(x, y)",
    "a null check",
    "the while loop",
];

function release(roll: Roll): string {
    const lines = times(
        2 + roll(5),
        () => `- ${one(roll, ["Added", "Fixed", "Changed", "Removed"])}: ${one(roll, THINGS)} ${one(roll, VERBS)} ${one(roll, ASIDES)}.`,
    );
    return `# Release ${roll(9)}.${roll(20)}.${roll(9)} (${one(roll, DAYS)})\n\n${lines.join("\n")}\n\nThanks to ${one(roll, NAMES)}!`;
}

function mail(roll: Roll): string {
    const sentences = times(2 + roll(5), () =>
        one(roll, [
            `we need ${one(roll, AMOUNTS)} for ${one(roll, THINGS)} by ${one(roll, DAYS)}`,
            `${one(roll, NAMES)} said that ${one(roll, THINGS)} ${one(roll, VERBS)}`,
            `could you look at ${one(roll, THINGS)} ${one(roll, ASIDES)}?`,
            `the invoice of ${one(roll, DAYS)} is ${one(roll, AMOUNTS)}, not ${one(roll, AMOUNTS)}`,
        ]),
    );
    return `Dear ${one(roll, NAMES)},\n\n${sentences.map((text) => text[0]?.toUpperCase() + text.slice(1)).join(". ")}.\n\nBest regards,\n${one(roll, NAMES)}`;
}

function review(roll: Roll): string {
    const remarks = times(2 + roll(4), () =>
        one(roll, [
            `${one(roll, FILES)}: this ${one(roll, VERBS)}; why not \`x = y ?? ${roll(9)}\`?`,
            `nit: rename \`${one(roll, ["foo", "tmp", "getUser", "MAX_SIZE", "i"])}\` ${one(roll, ASIDES)}`,
            `I would move ${one(roll, FILES)} out of ${one(roll, FILES)} (${one(roll, AMOUNTS)} lines)`,
            `LGTM, but ${one(roll, THINGS)} ${one(roll, VERBS)} only if a && !b`,
        ]),
    );
    return remarks.map((text, at) => `${at + 1}. ${text}.`).join("\n");
}

/** A text without any address. */
export function harmless(roll: Roll): string {
    return ([release, mail, review][roll(3)] as (roll: Roll) => string)(roll);
}
