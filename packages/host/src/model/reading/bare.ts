/**
 * Answers that are not JSON at all: a word, a number, lines of a list, `name: value` lines, tags named after fields.
 *
 * Boundary: only called where no JSON answer was found. All of the text must be accounted for: what would have to be dropped makes it no answer.
 *
 * BA1: prose is a value only where the contract asks for nothing but a text.
 * BA2: a number, a word of a choice or a yes is taken from a sentence only where it ends the reply and a fixed mark (`answer:`, `severity is`)
 *     begins the sentence.
 * BA3: an object is only read from a text that names its fields. A bare `no` is no `{spam: false}`: it may as well decline, or answer something else.
 */
import type { Contract, Field, Shapes } from "@remit/language";
import { lines, nearestWord, open } from "./fit.ts";
import { holds } from "./bareword.ts";
import { Bare, Loose, type Value } from "./loose.ts";
import { plainName } from "./words.ts";

export interface BareAnswer {
    readonly value: Value;
    readonly how: string;
}

/** The answer to the contract of an object's only field, where the text ends by naming the field and its value: `Verdict: accept`. */
export function namedAnswer(text: string, contract: Contract, shapes: Shapes, name: string): BareAnswer | undefined {
    const at = open(contract, shapes);
    if (at.type === "optional") return namedAnswer(text, at.of, shapes, name);
    const members = at.type === "union" ? at.of.map((member) => open(member, shapes)) : [at];
    const found = members.flatMap((member) => marked(text, member, nameMark(name)) ?? []);
    return found.length === 1 ? found[0] : undefined;
}

/** `undefined` where the text is no answer to the contract. */
export function bareAnswer(text: string, contract: Contract, shapes: Shapes): BareAnswer | undefined {
    const at = open(contract, shapes);
    switch (at.type) {
        case "string":
            return words(text);
        case "number":
        case "boolean":
        case "literal":
            return scalar(text, at);
        case "union":
            return union(
                text,
                at.of.map((member) => open(member, shapes)),
                shapes,
            );
        case "optional":
            return /^(?:none|null|n\/a)\.?$/i.test(text) ? { value: null, how: "nothing" } : bareAnswer(text, at.of, shapes);
        case "list":
            return list(text, at.item ?? { type: "json" }, shapes);
        case "object":
            return fields(text, at.fields, shapes);
        default:
            return undefined;
    }
}

function words(text: string): BareAnswer | undefined {
    if (/^"(?:[^"\\]|\\.)*"$/s.test(text)) {
        try {
            return { value: JSON.parse(text) as string, how: "a JSON text" };
        } catch {
            // Raw line breaks and the like: the text between the quotes is the answer.
            return { value: text.slice(1, -1), how: "a quoted text" };
        }
    }
    // What begins like JSON or a fence is no prose.
    if (/^(?:\{|\[\s*[[{"]|```)/.test(text)) return undefined;
    return text.endsWith(":") ? undefined : { value: text, how: "plain text" };
}

function union(text: string, members: readonly Contract[], shapes: Shapes): BareAnswer | undefined {
    const found = members.flatMap((member) => (member.type === "string" ? [] : (bareAnswer(text, member, shapes) ?? [])));
    if (found.length === 1) return found[0];
    return found.length === 0 && members.some((member) => member.type === "string") ? words(text) : undefined;
}

function scalar(text: string, at: Contract): BareAnswer | undefined {
    const whole = exact(text, at);
    return whole !== undefined ? { value: whole, how: "a bare value" } : marked(text, at, ANSWER_MARK);
}

const ANSWER_MARK = "answer|result|label|category|classification|verdict|output";
const nameMark = (name: string): string => name.replace(/[_-]+/g, "[ _-]?").replace(/[^\w[\] ?_-]/g, "");

/** The value after a mark at the end of the reply (B2). */
function marked(text: string, at: Contract, words: string): BareAnswer | undefined {
    if (words === "" || !(at.type === "number" || at.type === "boolean" || at.type === "literal") || text.length > 20_000) return undefined;
    const lead = "(?:^|[.!?;]\\s+)[-*•>#\\s]*[\"'`*_]{0,4}(?:(?:so|thus|therefore|hence|overall|my|the|final)[ ,]+){0,3}[\"'`*_]{0,4}";
    const mark = new RegExp(`${lead}(?:${words})["'\`*_]{0,4}\\s{0,3}(?:is|:|=|->|→)\\s*(.{1,120})$`, "i");
    // Two marks that say different things are no answer.
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const found = lines.map((line) => (line.length > 400 ? undefined : mark.exec(line.trim())?.[1]));
    const value = found.at(-1) === undefined ? undefined : exact(found.at(-1) as string, at);
    const others = found.filter((one) => one !== undefined).map((one) => exact(one, at));
    return value === undefined || others.some((other) => other !== value) ? undefined : { value, how: "the end of a sentence" };
}

/** A text that is nothing but the value, with quotes, emphasis and a full stop around it at most. */
function exact(text: string, at: Contract): string | number | boolean | null | undefined {
    const core = text.trim().replace(/^[\s"'`*_]+|[\s"'`*_.!]+$/g, "");
    if (core.length > 200) return undefined;
    if (at.type === "number")
        return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(core) && holds(core, Number(core)) ? Number(core) : undefined;
    if (at.type === "boolean") {
        if (/^(?:true|yes)$/i.test(core)) return true;
        return /^(?:false|no)$/i.test(core) ? false : undefined;
    }
    if (at.type !== "literal") return undefined;
    if (typeof at.value !== "string") return core === String(at.value) ? at.value : undefined;
    return nearestWord(core, [at.value]) ?? undefined;
}

/** Lines with bullets or numbers, under one line that introduces them at most; without bullets where each line is short. */
function list(text: string, item: Contract, shapes: Shapes): BareAnswer | undefined {
    const all = text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    const body = all.length > 2 && (all[0] as string).endsWith(":") ? all.slice(1) : all;
    const kind = open(item, shapes).type;
    const bullets = lines(body.join("\n"));
    if (bullets !== null) return { value: bullets.map(itemOf), how: "lines of a list" };
    if (
        body.length >= 2 &&
        body.every((line) => line.length <= 120 && !/^[`~{[<]|[:{}[\]]$/.test(line) && !/^[-*•–+]\s|^\d{1,3}[.)]\s/.test(line))
    )
        // Lines of words without bullets may as well be talk.
        return kind === "object" || kind === "string" || kind === "json" ? undefined : { value: body.map(itemOf), how: "lines" };
    // Commas part items only where an item cannot hold one.
    if (body.length === 1 && (body[0] as string).includes(",") && kind !== "string" && kind !== "json" && kind !== "object") {
        return { value: (body[0] as string).split(",").map((entry) => new Bare(entry.trim())), how: "values between commas" };
    }
    return undefined;
}

/** Quotes around a whole item are not part of it. */
function itemOf(text: string): Value {
    const quoted = /^"([^"\\]*)"$/.exec(text);
    return quoted === null ? new Bare(text) : (quoted[1] as string);
}

const LINE = /^[\s>*\-•]*["'`*_]{0,3}([A-Za-z_][\w -]{0,40}?)["'`*_]{0,3}\s*[:=]["'`*_]{0,2}\s*(.*)$/;

/** Each line a declared name and its value; a list's items may follow on lines of their own. Every declared name at most once. */
function fields(text: string, declared: readonly Field[], shapes: Shapes): BareAnswer | undefined {
    if (declared.length === 0 || text.length > 100_000) return undefined;
    const tagged = tags(text, declared);
    if (tagged !== undefined) return { value: tagged, how: "tags named after fields" };
    const known = new Map(declared.map((field) => [plainName(field.name), field]));
    const made = new Loose();
    let open_: Value[] | null = null;
    const all = text.split("\n").filter((line) => line.trim() !== "" && line.trim() !== "---");
    for (const [index, line] of all.entries()) {
        const found = LINE.exec(line);
        const field = found === null ? undefined : known.get(plainName(found[1] as string));
        if (field === undefined) {
            const bullet = /^\s*[-*•]\s+(.*)$/.exec(line)?.[1];
            const item = bullet === undefined ? undefined : unquoted(bullet.trim());
            if (open_ !== null && item !== undefined) open_.push(item);
            else if (index > 0 || !line.trim().endsWith(":")) return undefined;
            continue;
        }
        if (made.keys.includes(field.name)) return undefined;
        const value = (found?.[2] ?? "").trim();
        open_ = value === "" && open(field.contract, shapes).type === "list" ? [] : null;
        if (value === "" && open_ === null) return undefined;
        const plain = open_ ?? unquoted(value);
        if (plain === undefined) return undefined;
        made.keys.push(field.name);
        made.values.push(plain);
    }
    return made.keys.length === 0 ? undefined : { value: made, how: "lines of names and values" };
}

/** `undefined` where something stands around the value that is not part of it: a comment, quotes that do not pair up. */
function unquoted(text: string): Value | undefined {
    const quoted = /^"((?:[^"\\]|\\.)*)",?$|^'([^']*)',?$/.exec(text);
    if (quoted !== null) return quoted[1]?.includes("\\") === true ? undefined : (quoted[1] ?? quoted[2] ?? "");
    if (/^["'“‘`]|,$|\s(?:#|\/\/|<!--)/.test(text)) return undefined;
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) && holds(text, Number(text))) return Number(text);
    if (text === "true" || text === "false") return text === "true";
    return text === "null" ? null : new Bare(text);
}

/** `<severity>low</severity><reason>…</reason>`: each declared name once, nothing between them but space and one element around all. */
function tags(text: string, declared: readonly Field[]): Loose | undefined {
    if (!text.startsWith("<")) return undefined;
    const made = new Loose();
    let rest = text;
    for (const field of declared) {
        const start = rest.indexOf(`<${field.name}>`);
        if (start < 0) continue;
        const end = rest.indexOf(`</${field.name}>`, start);
        if (end < 0) return undefined;
        made.keys.push(field.name);
        made.values.push(new Bare(rest.slice(start + field.name.length + 2, end).trim()));
        rest = rest.slice(0, start) + rest.slice(end + field.name.length + 3);
    }
    if (
        made.keys.length === 0 ||
        made.values.some((value) => value instanceof Bare && (value.text === "" || /<|&#?\w{1,10};/.test(value.text)))
    )
        return undefined;
    return /^\s*(?:<([\w-]{1,40})>\s*<\/\1>)?\s*$/.test(rest) ? made : undefined;
}
