/**
 * `json.parse` and `json.text`: JSON (RFC 8259) between text and values.
 *
 * Boundary: a parser of our own, because a host's loses what we promise to keep: the order of keys that look like numbers, the digits of
 * whole numbers beyond 2^53 (refused, rather than changed), and the same error text on every engine.
 *
 * JN1: what is not JSON is a `value` failure with line and column.
 * JN2: the value carries the labels of the text, the text those of everything in the value.
 * JN3: of two equal keys the later value counts, at the place of the first. Every key is an ordinary key.
 */

import { Fail } from "../effect/failure.ts";
import { MAX_DEPTH } from "../value/json.ts";
import { type List, MAX_STRING, type Obj, type Raw, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { type Arg, cut, isLambda, label, labelsWith, room, roomForItems, textOf, wholeOf, wrong, wrongValue } from "./args.ts";
import type { Builtin, Runtime } from "./builtin.ts";
import { JsonWriter } from "./json-writer.ts";
import { shapeOf } from "./row.ts";

export function parseJson(text: string, rt: Runtime, labels: number): Raw {
    return new Parser(text, rt, labels).whole();
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const BLANK = /[ \t\n\r]*/y;

class Parser {
    private at = 0;
    private readonly text: string;
    private readonly rt: Runtime;
    private readonly labels: number;

    constructor(text: string, rt: Runtime, labels: number) {
        this.text = text;
        this.rt = rt;
        this.labels = labels;
    }

    whole(): Raw {
        this.rt.work(WORK.chars(8 * this.text.length));
        const value = this.value(0);
        this.blank();
        if (this.at < this.text.length) throw this.error("something follows the end of the value");
        return value;
    }

    private error(what: string): Fail {
        const before = this.text.slice(0, this.at);
        const line = before.split("\n").length;
        return new Fail("value", `json.parse: ${what} at line ${line}, column ${this.at - before.lastIndexOf("\n")}`, {
            labels: this.labels,
        });
    }

    private blank(): void {
        const code = this.text.charCodeAt(this.at);
        if (code > 32 || Number.isNaN(code)) return;
        BLANK.lastIndex = this.at;
        BLANK.test(this.text);
        this.at = BLANK.lastIndex;
    }

    private value(depth: number): Raw {
        this.blank();
        switch (this.text[this.at]) {
            case "{":
                return this.object(depth);
            case "[":
                return this.list(depth);
            case '"':
                return this.string();
            case "t":
                return this.word("true", true);
            case "f":
                return this.word("false", false);
            case "n":
                return this.word("null", null);
            case undefined:
                throw this.error("the text ends where a value is expected");
            default:
                return this.number();
        }
    }

    private word(word: string, value: boolean | null): Raw {
        if (!this.text.startsWith(word, this.at)) throw this.error("this is not a value");
        this.at += word.length;
        return value;
    }

    private number(): number {
        NUMBER.lastIndex = this.at;
        const found = NUMBER.exec(this.text);
        if (found === null) throw this.error("this is not a value");
        const value = Number(found[0]);
        if (!Number.isFinite(value)) throw this.error(`the number ${excerpt(found[0])} is too large`);
        if (found[1] === undefined && found[2] === undefined && !Number.isSafeInteger(value))
            throw this.error(`the whole number ${excerpt(found[0])} is beyond 2^53 and would lose digits; as a string it would not`);
        this.at = NUMBER.lastIndex;
        return value;
    }

    private string(): string {
        const start = ++this.at;
        for (;;) {
            const code = this.text.charCodeAt(this.at);
            if (code === 34) break;
            if (Number.isNaN(code)) throw this.error("the text ends inside a string");
            if (code < 32) throw this.error("a control character stands in a string");
            if (code === 92) return this.escaped(start);
            this.at++;
        }
        return cut(this.text, start, this.at++);
    }

    /** The rest of a string that has an escape in it. */
    private escaped(start: number): string {
        let out = this.text.slice(start, this.at);
        for (;;) {
            const char = this.text[this.at];
            if (char === undefined) throw this.error("the text ends inside a string");
            if (char === '"') break;
            if (char < " ") throw this.error("a control character stands in a string");
            if (char !== "\\") {
                out += char;
                this.at++;
                continue;
            }
            const escaped = this.text[this.at + 1] ?? "";
            const plain = ESCAPES[escaped];
            if (plain !== undefined) {
                out += plain;
                this.at += 2;
                continue;
            }
            const hex = this.text.slice(this.at + 2, this.at + 6);
            if (escaped !== "u" || !/^[0-9a-fA-F]{4}$/.test(hex)) throw this.error("this is not an escape of JSON");
            out += String.fromCharCode(Number.parseInt(hex, 16));
            this.at += 6;
        }
        this.at++;
        return out;
    }

    private deeper(depth: number): void {
        if (depth >= MAX_DEPTH) throw this.error(`values are nested more than ${MAX_DEPTH} deep`);
        this.at++;
        this.blank();
    }

    private list(depth: number): List {
        this.deeper(depth);
        const items: Value[] = [];
        if (this.text[this.at] === "]") this.at++;
        else
            for (;;) {
                items.push(this.value(depth + 1));
                this.blank();
                const next = this.text[this.at++];
                if (next === "]") break;
                if (next !== ",") throw this.back("a comma or ] is expected");
            }
        roomForItems(this.rt, items.length);
        return this.rt.heap.list(items);
    }

    private object(depth: number): Obj {
        this.deeper(depth);
        const made = this.rt.heap.object([]);
        if (this.text[this.at] === "}") this.at++;
        else
            for (;;) {
                this.blank();
                if (this.text[this.at] !== '"') throw this.error("a name in double quotes is expected");
                const key = this.string();
                this.blank();
                if (this.text[this.at++] !== ":") throw this.back("a colon is expected");
                this.rt.heap.set(made, key, this.value(depth + 1));
                this.blank();
                const next = this.text[this.at++];
                if (next === "}") break;
                if (next !== ",") throw this.back("a comma or } is expected");
            }
        roomForItems(this.rt, made.slots.length);
        return made;
    }

    private back(what: string): Fail {
        this.at--;
        return this.error(what);
    }
}

const ESCAPES: { readonly [char: string]: string | undefined } = Object.assign(Object.create(null), {
    '"': '"',
    "\\": "\\",
    "/": "/",
    b: "\b",
    f: "\f",
    n: "\n",
    r: "\r",
    t: "\t",
});

function excerpt(digits: string): string {
    return digits.length > 40 ? `${digits.slice(0, 40)}…` : digits;
}

/** The JSON text of a value: on one line, or indented by `indent` spaces. */
export function jsonText(value: Value, rt: Runtime, indent = 0): { text: string; labels: number } {
    const writer = new JsonWriter(rt, indent, (units) => {
        if (units > MAX_STRING) room(rt, units);
    });
    writer.write(value, indent === 0 ? "" : "\n", 0);
    return { text: writer.take(), labels: writer.met };
}

const MAX_INDENT = 10;

function text(rt: Runtime, args: readonly Arg[]): Value {
    const value = args[0] as Arg;
    if (isLambda(value)) throw wrong("json.text", "its argument", "a value", value);
    const indent = wholeOf("json.text", "indent", args[1], 0);
    if (indent < 0 || indent > MAX_INDENT) throw wrongValue("json.text", "indent", `between 0 and ${MAX_INDENT}`, args[1]);
    const made = jsonText(value, rt, indent);
    return label(rt, made.text, labelsWith(rt, made.labels, args[1]));
}

export const JSON_BUILTINS: readonly Builtin[] = [
    {
        on: "json",
        ...shapeOf("json.parse(text)"),
        signature: "json.parse(text)",
        summary: "The value that a JSON text stands for. A `value` failure where it is not JSON, or holds a whole number beyond 2^53.",
        call(rt, _self, _l, args) {
            const l = labelsWith(rt, 0, args[0]);
            return label(rt, parseJson(textOf("json.parse", "text", args[0]), rt, l), l);
        },
    },
    {
        on: "json",
        ...shapeOf("json.text(value, indent?)"),
        signature: "json.text(value, indent?)",
        summary: "The JSON text of a value, on one line or indented by that many spaces; keys in the order in which they came.",
        call: (rt, _self, _l, args) => text(rt, args),
    },
];
