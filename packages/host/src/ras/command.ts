/**
 * The commands `reason`, `act` and `agent` of a shell: from arguments and standard input to a call.
 *
 * Boundary: texts in, a call or a sentence out; the same for the installed commands and for those inside a Bash program.
 */
import { isObject, type Json } from "@remit/language";
import { readJson } from "../input/json.ts";
import type { CallKind, Fields } from "./frames.ts";

export type Command =
    | { readonly ok: true; readonly kind: CallKind; readonly args: { readonly [name: string]: Json } }
    | { readonly ok: false; readonly message: string };

export const COMMAND_HELP: { readonly [K in CallKind]: string } = {
    reason: `usage: reason --prompt TEXT … [--prompt -] --structure JSON [--attempts N]
  --prompt TEXT      a part of the prompt; may be given several times, - is standard input at that place
  --structure JSON   an example of the answer
  --attempts N       how often the model may try, 1 to 10; default 3`,
    act: `usage: act NAME [ARGUMENTS | '{"name": "value"}' | -]
       act NAME --KEY VALUE … [--KEY -]
       act --manual [NAME]
  ARGUMENTS          a text
  --KEY VALUE        an argument by its name, typed as the tool says; - is standard input`,
    agent: `usage: agent --prompt TEXT … [--prompt -] [--config JSON]`,
};

/** True where standard input has to be read first. */
export function readsInput(kind: CallKind, argv: readonly string[]): boolean {
    if (kind === "act" && FLAG.test(argv[1] ?? "")) return argv.some((one) => one === "-" || /^--[A-Za-z][^=]*=-$/.test(one));
    if (kind === "act") return argv.length > 1 && argv[1] === "-" && argv[0] !== "--manual";
    return argv.some((one, at) => one === "--prompt=-" || ((one === "--prompt" || one === "-p") && argv[at + 1] === "-"));
}

export function readCommand(kind: CallKind, argv: readonly string[], input: string): Command {
    return kind === "act" ? readAct(argv, input) : readPrompted(kind, argv, input);
}

function readAct(argv: readonly string[], input: string): Command {
    const [name, ...rest] = argv;
    if (name === undefined || name === "--help" || name === "-h") return wrong(COMMAND_HELP.act);
    if (name === "--manual") {
        if (rest.length > 1) return wrong("act --manual takes one name");
        return { ok: true, kind: "act", args: { name: "__manual__", args: rest[0] === undefined ? {} : { name: rest[0] }, flags: false } };
    }
    if (name.startsWith("-")) return wrong(`act: unknown option ${name}\n${COMMAND_HELP.act}`);
    if (FLAG.test(rest[0] ?? "")) return readFlags(name, rest, input);
    const text = rest.length === 1 && rest[0] === "-" ? input : rest.join(" ");
    return { ok: true, kind: "act", args: { name, args: argumentsOf(text), flags: false } };
}

const FLAG = /^--[A-Za-z]/;

/** `--key value`, `--key=value`, `--key` for true; one that is given several times is a list. All are texts until the tool's schema is known. */
function readFlags(name: string, argv: readonly string[], input: string): Command {
    const given = new Map<string, Json[]>();
    for (let at = 0; at < argv.length; at++) {
        const one = argv[at] as string;
        if (!FLAG.test(one)) return wrong(`act: there is no place for ${one} between arguments by name\n${COMMAND_HELP.act}`);
        const equals = one.indexOf("=");
        const key = one.slice(2, equals < 0 ? undefined : equals);
        const next = argv[at + 1];
        let value: Json = equals < 0 ? true : one.slice(equals + 1);
        if (equals < 0 && next !== undefined && !FLAG.test(next)) {
            value = next;
            at++;
        }
        given.set(key, [...(given.get(key) ?? []), value === "-" ? input : value]);
    }
    const args = Object.fromEntries([...given].map(([key, all]) => [key, all.length === 1 ? (all[0] as Json) : all]));
    return { ok: true, kind: "act", args: { name, args, flags: true } };
}

/** Arguments by name as their tool's schema has them: what is no text there is read as JSON, where it fits. */
export function typedArguments(args: Fields, schema: Json): Fields {
    const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
    return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, typedAs(value, properties[key])]));
}

function typedAs(value: Json, schema: Json | undefined): Json {
    if (!isObject(schema)) return value;
    const types = typesOf(schema);
    if (types.includes("array") && !types.includes("string")) {
        const whole = typeof value === "string" && /^\s*\[/.test(value) ? readJson(value) : null;
        if (whole?.ok === true && Array.isArray(whole.value)) return whole.value;
        return (Array.isArray(value) ? value : [value]).map((one) => typedAs(one, schema.items));
    }
    if (typeof value !== "string" || types.length === 0 || types.includes("string")) return value;
    const read = readJson(value);
    return read.ok && types.includes(typeOf(read.value)) ? read.value : value;
}

/** Words of JSON Schema; a whole number is a number. Empty where the schema does not say. */
function typesOf(schema: Fields): readonly Json[] {
    const said = [schema.type, ...[schema.anyOf, schema.oneOf].flatMap((all) => (Array.isArray(all) ? all : [])).map(typeIn)].flat();
    const types = said.filter((one) => typeof one === "string");
    return types.includes("integer") ? [...types, "number"] : types;
}

function typeIn(schema: Json): Json {
    return isObject(schema) ? (schema.type ?? null) : null;
}

function typeOf(value: Json): string {
    return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** An object in JSON, or the text itself. */
function argumentsOf(text: string): Json {
    if (text.trim() === "") return {};
    if (!/^\s*[{[]/.test(text)) return text;
    const read = readJson(text);
    return read.ok ? read.value : text;
}

function readPrompted(kind: "reason" | "agent", argv: readonly string[], input: string): Command {
    const last = kind === "reason" ? "--structure" : "--config";
    const prompts: string[] = [];
    let given: Json | undefined;
    let attempts: number | null = null;
    for (let at = 0; at < argv.length; at++) {
        const one = argv[at] as string;
        if (one === "--help" || one === "-h") return wrong(COMMAND_HELP[kind]);
        const equals = one.startsWith("--") ? one.indexOf("=") : -1;
        const name = one === "-p" ? "--prompt" : equals < 0 ? one : one.slice(0, equals);
        const counts = kind === "reason" && name === "--attempts";
        if (name !== "--prompt" && name !== last && !counts)
            return wrong(`${kind}: ${one.startsWith("-") ? "unknown option" : "there is no place for"} ${one}\n${COMMAND_HELP[kind]}`);
        const value = equals < 0 ? argv[++at] : one.slice(equals + 1);
        if (value === undefined) return wrong(`${kind}: ${name} takes a value`);
        if (counts) {
            attempts = Number(value);
            if (!/^\d+$/.test(value) || attempts < 1 || attempts > 10) return wrong("reason: --attempts takes a whole number from 1 to 10");
        } else if (name === "--prompt") prompts.push(value === "-" ? input : value);
        else {
            const read = readJson(value);
            if (!read.ok) return wrong(`${kind}: ${name} ${read.message}`);
            given = read.value;
        }
    }
    if (prompts.length === 0) return wrong(`${kind}: --prompt is missing\n${COMMAND_HELP[kind]}`);
    if (kind === "agent") {
        const text = prompts.join("\n\n");
        return { ok: true, kind, args: { prompt: text, config: given ?? {} } };
    }
    if (given === undefined) return wrong(`reason: --structure is missing\n${COMMAND_HELP.reason}`);
    return { ok: true, kind, args: { prompt: prompts.length === 1 ? (prompts[0] as string) : prompts, example: given, attempts } };
}

function wrong(message: string): Command {
    return { ok: false, message };
}

/** What the command prints for an answer, and its exit code: 0 for `data` or a result, 1 for an error. */
export function shownAnswer(
    kind: CallKind,
    args: { readonly [name: string]: Json },
    answer: Json,
): { readonly out: string; readonly code: number } {
    const it = isObject(answer) ? answer : {};
    const manual = kind === "act" && args.name === "__manual__" && it.isError !== true ? manualText(it, args.args) : null;
    if (manual !== null) return { out: manual, code: 0 };
    return { out: JSON.stringify(answer), code: (kind === "act" ? it.isError === true : "error" in it) ? 1 : 0 };
}

/** What there is, a line each; of what was asked for by name, what it takes, too. */
function manualText(result: Fields, about: Json | undefined): string | null {
    const listed = isObject(result.structuredContent) ? result.structuredContent.tools : undefined;
    if (!Array.isArray(listed)) {
        const [first] = Array.isArray(result.content) ? result.content : [];
        return isObject(first) && typeof first.text === "string" ? first.text : null;
    }
    const isNamed = isObject(about) && typeof about.name === "string";
    const text = listed.filter(isObject).map(({ name, alias, description, inputSchema }) => {
        const line = `${String(name)}${typeof alias === "string" ? ` (or ${alias})` : ""}: ${String(description)}`;
        return isNamed ? `${line}\n${JSON.stringify(inputSchema ?? {})}` : line;
    });
    return text.join("\n");
}
