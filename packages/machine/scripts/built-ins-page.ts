/**
 * Writes `docs/built-ins.md` from the table of built-ins: `node packages/machine/scripts/built-ins-page.ts`.
 *
 * Boundary: the page's words that are not in the table are here; a test says that the file is what this makes.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { RELEASE } from "../src/builtin/zone-data.ts";
import { BUILTIN_TABLE, type Builtin, type BuiltinOn } from "../src/builtin/table.ts";

const SECTIONS: readonly { readonly on: BuiltinOn; readonly title: string; readonly words: string }[] = [
    {
        on: "string",
        title: "Strings",
        words: "Lengths and positions are UTF-16 units, the unit of `max` budgets: most characters are one, an emoji is two. A negative position counts from the end. No result holds half of a character.",
    },
    {
        on: "list",
        title: "Lists",
        words: "A function given to a method is a lambda, `(item) => …` or `(item, index) => …`, or the name of a `func`; it can have no effects. A lambda stands only there, and no variable holds one: what is used twice is a `func`. Only `add` changes its list; every other method makes a new one that shares the items.",
    },
    {
        on: "object",
        title: "Objects",
        words: "An object's own key comes before a method of the same name. Own keys only; keys keep the order in which they came.",
    },
    { on: "number", title: "Numbers", words: "Rounding looks at the number as it is written: `1.005.round(2)` is `1.01`." },
    {
        on: "global",
        title: "Functions",
        words: "Outermost names: a variable, parameter or function of the same name hides them. There is none for a random number or a new id: a tool gives those.",
    },
    { on: "json", title: "JSON", words: "RFC 8259. The order of keys is kept, those that look like numbers included." },
    {
        on: "csv",
        title: "CSV",
        words: "RFC 4180: fields between commas, those with commas, quotes or line breaks in double quotes. A line ends with CRLF, LF or CR. Every field is text; `number(row.age)` makes a number of one.",
    },
    {
        on: "time",
        title: "Time",
        words: `Times are texts as in RFC 3339, \`2026-03-01T09:30:00+01:00\`, exact to the millisecond, in the years 0 to 9999. Zones have the names of the IANA database, \`Europe/Berlin\`; their table comes with Remit (release ${RELEASE}), so that a run gives the same everywhere. A local time that the clock shows twice is the earlier one; one that it leaves out is as much later as the clock is moved. Before 1970 a zone has the offset with which it enters that year.`,
    },
];

const LABELS = `## Labels

Every value carries the origins of what went into it, and a built-in's result exactly those of what it holds:

- A text or number computed from others has the labels of all of them: \`join\`, \`sum\`, \`text(x)\`, every method of strings and numbers.
- An item taken out of a list or object has its own labels, the container's, and those of what chose it: the key of \`get\`, what \`find\` saw on its way.
- A new list or object keeps each item's labels on that item. \`[a, b].map(f)[0]\` has nothing of \`b\`.
- \`filter\`, \`sort_by\`, \`unique\` and \`group_by\` put what they decided by on the container: which items are there says something about it.
`;

const PATTERNS = `## Patterns

\`match\` finds the leftmost match, in time that grows with the length of the text and of the pattern and no faster: a pattern written by a model cannot hang a run.

| pattern | matches |
| --- | --- |
| \`abc\` | the characters themselves; \`\\\` before punctuation for the character itself |
| \`.\` | any character but a line feed; with flag \`s\` any character |
| \`[a-z]\` \`[^a-z]\` | one of these characters, one of all others |
| \`\\d\` \`\\w\` \`\\s\` | a digit 0–9; a letter A–Z a–z, digit or \`_\`; white space. \`\\D\` \`\\W\` \`\\S\`: anything else |
| \`\\n\` \`\\t\` \`\\r\` \`\\f\` \`\\v\` \`\\uXXXX\` \`\\u{…}\` | the character of that name or number |
| \`x*\` \`x+\` \`x?\` \`x{2}\` \`x{2,}\` \`x{2,5}\` | repeated, as often as possible; with \`?\` behind as seldom as possible |
| \`x\\|y\` | either, the left one first |
| \`(x)\` \`(?:x)\` | a group; one that is not captured |
| \`^\` \`$\` | start and end of the text; with flag \`m\` of a line |
| \`\\b\` \`\\B\` | a word's edge; no word's edge |

Flags: \`i\` either case, \`m\` lines, \`s\` line feeds. The result is none or \`{text, index, groups}\`; a group that took no part is none. Back references and look-around are not supported: they
cannot be matched in linear time. A pattern may have 1000 characters, 50 groups and repetitions up to 1000. The checker tells of a pattern that stands in the program and is none (\`INVALID_PATTERN\`); one that is made in the run fails as \`value\`.
`;

export function builtinsPage(): string {
    const sections = SECTIONS.map(({ on, title, words }) => {
        const rows = BUILTIN_TABLE.filter((row) => row.on === on).map(line);
        return `## ${title}\n\n${words}\n\n| | |\n| --- | --- |\n${rows.join("\n")}\n`;
    });
    return `# Built-in functions and methods

Enough for plain data work without a tool. None has an effect; what they take and give is data, never a tool, model or agent. A wrong operand is a \`value\` failure that says which.
Files, commands and HTTP requests are [tools](tools.md), which a file imports. There is no \`print\`: a program gives back its value, and \`remit trace\` shows what it did.
This page is made from the table in \`packages/machine/src/builtin\`.

${sections.join("\n")}
${PATTERNS}
${LABELS}`;
}

function line(row: Builtin): string {
    return `| \`${row.signature.replaceAll("|", "\\|")}\` | ${row.summary.replaceAll("|", "\\|").replace("See Patterns.", "See [Patterns](#patterns).")} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
    writeFileSync(new URL("../../../docs/built-ins.md", import.meta.url), builtinsPage());
