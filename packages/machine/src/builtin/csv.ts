/**
 * `csv.parse` and `csv.text`: tables as text (RFC 4180) and as lists of objects.
 *
 * Boundary: between text and values. A field is text: what a column means is the program's (`number(row.age)`).
 *
 * CSV1: the first row names the columns. Text that is no table (a ragged row, a name twice, a quote where none belongs) is a `value` failure with
 *     its line and column, and gives no rows.
 * CSV2: the rows carry the labels of the text and of the separator, the text those of everything in the rows.
 * CSV3: what `csv.text` writes of texts, `csv.parse` reads back as it was. It leaves nothing out: the columns are the keys of all rows, in the
 *     order in which they come.
 */
import { Fail } from "../effect/failure.ts";
import { capabilityIsNotData } from "../value/json.ts";
import { rawOf } from "../value/operators.ts";
import { Capability, heldIn, List, MAX_STRING, Obj, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { type Arg, cut, isLambda, label, labelsWith, listOf, roomForItems, textOf, wrong } from "./args.ts";
import type { Builtin, Runtime } from "./builtin.ts";
import { GrowingText } from "./growing.ts";
import { shapeOf } from "./row.ts";

/** Most columns of a table. */
const MAX_COLUMNS = 16_384;

/** What separates fields, other than a comma: `;` where the comma is the decimal sign, a tab in what is copied from a spreadsheet. */
const SEPARATORS = [",", ";", "\t", "|"];

const WRITTEN = `write csv.parse(text, ";"); the separators are ${SEPARATORS.map((one) => JSON.stringify(one)).join(", ")}`;

class Reader {
    private at = 0;
    private line = 1;
    private lineStart = 0;
    private readonly text: string;
    private readonly separator: string;
    /** Ends a field that no quotes hold. */
    private readonly ends: RegExp;
    private readonly labels: number;

    constructor(text: string, separator: string, labels: number) {
        this.text = text;
        this.separator = separator;
        this.ends = new RegExp(`[${separator}"\r\n]`, "g");
        this.labels = labels;
        // A byte order mark is no part of the first name.
        if (text.startsWith("\ufeff")) this.at = this.lineStart = 1;
    }

    get isOver(): boolean {
        return this.at >= this.text.length;
    }

    get row(): number {
        return this.line;
    }

    fail(what: string, line = this.line, column = this.at - this.lineStart + 1): Fail {
        const head = this.text.slice(0, 1000).split(/[\r\n]/, 1)[0] as string;
        const other = head.includes(this.separator) ? undefined : SEPARATORS.find((one) => head.includes(one));
        const hint =
            other === undefined
                ? "a field with separators, quotes or line breaks stands in double quotes, and a quote in it twice"
                : `the first row has no ${shown(this.separator)}; where ${shown(other)} separates the fields, write csv.parse(text, ${JSON.stringify(other)})`;
        return new Fail("value", `csv.parse: ${what} at line ${line}, column ${column}`, { labels: this.labels, hint });
    }

    /** The fields of the next row; what stands after its line break is next. `most`: with one field more it ends. */
    fields(most: number): string[] {
        const fields: string[] = [];
        for (;;) {
            if (fields.length >= most) throw this.fail(`more than ${most} ${most === 1 ? "field stands" : "fields stand"} in this row`);
            fields.push(this.text[this.at] === '"' ? this.quoted() : this.plain());
            const next = this.text[this.at];
            if (next === this.separator) {
                this.at++;
                continue;
            }
            if (next !== undefined) this.nextLine();
            return fields;
        }
    }

    private plain(): string {
        this.ends.lastIndex = this.at;
        const end = this.ends.exec(this.text)?.index ?? this.text.length;
        const field = cut(this.text, this.at, end);
        this.at = end;
        if (this.text[end] === '"') throw this.fail("a quote stands in a field that does not begin with one");
        return field;
    }

    private quoted(): string {
        const { line } = this;
        const column = this.at - this.lineStart + 1;
        const start = ++this.at;
        let hasQuotes = false;
        for (;;) {
            const end = this.text.indexOf('"', this.at);
            if (end < 0) throw this.fail("the text ends inside the quotes that begin", line, column);
            this.linesUntil(end);
            this.at = end + 1;
            if (this.text[this.at] === '"') {
                hasQuotes = true;
                this.at++;
                continue;
            }
            const next = this.text[this.at];
            if (next !== undefined && next !== this.separator && next !== "\r" && next !== "\n")
                throw this.fail("something stands behind the quotes that end a field");
            const field = cut(this.text, start, end);
            return hasQuotes ? field.replaceAll('""', '"') : field;
        }
    }

    /** Counts the lines of a field, up to where its quotes end. */
    private linesUntil(end: number): void {
        for (let at = this.text.indexOf("\n", this.at); at >= 0 && at < end; at = this.text.indexOf("\n", at + 1)) {
            this.line++;
            this.lineStart = at + 1;
        }
    }

    /** CRLF, LF or CR. */
    private nextLine(): void {
        this.at += this.text.startsWith("\r\n", this.at) ? 2 : 1;
        this.line++;
        this.lineStart = this.at;
    }
}

function shown(separator: string): string {
    return separator === "\t" ? "tab" : `\`${separator}\``;
}

function parse(rt: Runtime, args: readonly Arg[]): Value {
    const l = labelsWith(rt, labelsWith(rt, 0, args[0]), args[1]);
    const text = textOf("csv.parse", "text", args[0]);
    const refused = (what: string): Fail => new Fail("value", `csv.parse: ${what}`, { labels: l, hint: WRITTEN });
    // `csv.parse(text, { separator: ";" })`, as elsewhere.
    if (args[1] !== undefined && !isLambda(args[1]) && rawOf(args[1]) instanceof Obj)
        throw refused("separator must be a string, not an object");
    const separator = args[1] === undefined ? "," : textOf("csv.parse", "separator", args[1]);
    if (!SEPARATORS.includes(separator)) throw refused(`${JSON.stringify(separator.slice(0, 20))} separates no fields`);
    rt.work(WORK.chars(8 * text.length));
    const reader = new Reader(text, separator, l);
    const rows: Value[] = [];
    if (!reader.isOver) {
        const names = reader.fields(MAX_COLUMNS);
        const seen = new Set<string>();
        const twice = names.find((name) => seen.size === seen.add(name).size);
        if (twice !== undefined) throw reader.fail(`the column ${JSON.stringify(twice)} is named twice`, 1, 1);
        while (!reader.isOver) {
            const line = reader.row;
            const fields = reader.fields(names.length);
            if (fields.length < names.length) throw reader.fail(`${fields.length} of ${names.length} fields stand in this row`, line, 1);
            rt.charge(8 * fields.length);
            rt.work(WORK.values(fields.length));
            roomForItems(rt, 1);
            rows.push(rt.heap.object(names.map((name, i) => [name, fields[i] as string] as const)));
        }
    }
    return label(rt, rt.heap.list(rows), l);
}

/** A field that has to stand in quotes. */
const QUOTED = /[",\r\n]|^\ufeff/;

function field(rt: Runtime, value: Value, name: string, l: number): string {
    const raw = rawOf(value);
    if (raw === null) return "";
    if (raw instanceof Capability) throw capabilityIsNotData(raw, l);
    if (raw instanceof List || raw instanceof Obj)
        throw new Fail("value", `csv.text: ${JSON.stringify(name)} of a row is ${raw instanceof List ? "a list" : "an object"}`, {
            labels: l,
            hint: "a field holds text, a number, true, false or none; json.text(…) makes text of anything else",
        });
    const text = String(raw);
    rt.work(WORK.chars(4 * text.length));
    return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function text(rt: Runtime, args: readonly Arg[]): Value {
    const list = listOf("csv.text", "rows", args[0]);
    let l = rt.labels.union(labelsWith(rt, 0, args[0]), heldIn(rt.labels, list));
    const names = new Map<string, number>();
    const rows = list.items.map((row) => {
        const raw = rawOf(row);
        if (!(raw instanceof Obj)) throw wrong("csv.text", "every row", "an object", row);
        l = rt.labels.union(labelsWith(rt, l, row), heldIn(rt.labels, raw));
        rt.work(WORK.values(raw.slots.length));
        for (const key of raw.shape.keys) if (!names.has(key)) names.set(key, names.size);
        return raw;
    });
    if (names.size > MAX_COLUMNS) throw new Fail("value", `csv.text: a table has up to ${MAX_COLUMNS} columns`, { labels: l });
    const out = new GrowingText(rt, (units) => {
        if (units > MAX_STRING) throw new Fail("limit.bytes", `a string may hold ${MAX_STRING} characters`, { here: true });
    });
    const put = (fields: readonly string[]): void => {
        for (const [i, one] of fields.entries()) out.put(i === 0 ? one : `,${one}`);
        out.put("\r\n");
    };
    const all = [...names.keys()];
    if (all.length > 0) put(all.map((name) => field(rt, name, name, l)));
    for (const row of all.length > 0 ? rows : [])
        put(
            all.map((name) => {
                const value = row.get(name) ?? null;
                l = labelsWith(rt, l, value);
                return field(rt, value, name, l);
            }),
        );
    return label(rt, out.take(), l);
}

function row(signature: string, summary: string, call: (rt: Runtime, args: readonly Arg[]) => Value): Builtin {
    return { on: "csv", ...shapeOf(signature), signature, summary, call: (rt, _self, _l, args) => call(rt, args) };
}

export const CSV_BUILTINS: readonly Builtin[] = [
    row(
        "csv.parse(text, separator?)",
        "The rows of a table as objects of texts, by the names of its first row. Fields are separated by a comma, or by the `;`, `|` or tab that is given. A `value` failure with the line where a row has other fields than that, or quotes do not fit.",
        parse,
    ),
    row(
        "csv.text(rows)",
        "The table of a list of objects, with a first row of all their keys; none and an absent key are an empty field, and lines end with CRLF.",
        text,
    ),
];
