// The numbers and words that a matrix is told on its command line.
import { parseArgs } from "node:util";

/**
 * Values of `defaults` after what the command line says: a number where the default is one, else text. `--help` prints `usage` and ends with 0; a flag or
 * a value that is not known prints what is wrong before it, and ends with 2. With `words` what is no flag is in `words`, else it is an error.
 */
export function flags(usage, defaults, { words = false } = {}) {
    const ends = (code, text) => {
        (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
        process.exit(code);
    };
    const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: "string" }]));
    try {
        const { values, positionals } = parseArgs({
            allowPositionals: words,
            options: { ...options, help: { type: "boolean", short: "h" } },
        });
        if (values.help) ends(0, usage);
        const said = Object.fromEntries(Object.entries(defaults).map(([name, otherwise]) => [name, valued(name, values[name], otherwise)]));
        return words ? { ...said, words: positionals } : said;
    } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
        return ends(2, `${error.message}\n\n${usage}`);
    }
}

function valued(name, said, otherwise) {
    if (typeof otherwise !== "number") return said ?? otherwise;
    if (said === undefined) return otherwise;
    if (!/^\d+$/.test(said)) throw new RangeError(`--${name} is a whole number, not '${said}'`);
    return Number(said);
}
