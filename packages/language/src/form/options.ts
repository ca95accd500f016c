/**
 * Options in braces: of `generate({ … })`, and of `with { … }` behind a yield and behind a stage. One table for the checker, the form and the
 * printer.
 *
 * Boundary: one option at a time. What depends on names in scope is the checker's.
 */
import type { GenerateOption, Expr } from "../syntax/tree.ts";
import type { CredentialForm, ExprForm, GenerateForm, StageWithForm, WithForm } from "./form.ts";
import { at, ident, literal, name, text, timeText } from "./nodes.ts";

/** `time` is in milliseconds; a `word` may be written as a name or as a text, a `model` is a name; `names` is a list of them. */
export type OptionKind = keyof typeof LITERALS | "word" | "model" | "names" | "credential" | "expression" | "expressions";
export type Options = ReadonlyMap<string, OptionKind>;

type Rows<Form> = { readonly [Key in keyof Form as Exclude<Key, "kind" | "contract" | "at">]-?: OptionKind };

const generate: Rows<GenerateForm> = {
    input: "expression",
    model: "expression",
    tools: "expressions",
    max_output: "tokens",
    attempts: "count",
    temperature: "amount",
    think: "level",
    strict: "flag",
    debug: "flag",
    stream: "flag",
    turns: "count",
    nudges: "count",
    timeout: "time",
    hide: "hidden",
};

const yields: Rows<WithForm> = {
    skills: "names",
    turns: "count",
    steps: "count",
    calls: "amount",
    tokens: "count",
    bytes: "count",
    usd: "amount",
    time: "time",
    silence: "time",
    model: "text",
};

const stage: Rows<StageWithForm> = {
    timeout: "time",
    retries: "whole",
    on_error: "word",
    queue: "text",
    credential: "credential",
    as: "text",
    priority: "count",
    rate: "amount",
    model: "model",
};

export const GENERATE_OPTIONS: Options = new Map(Object.entries(generate));
export const YIELD_OPTIONS: Options = new Map(Object.entries(yields));
export const STAGE_OPTIONS: Options = new Map(Object.entries(stage));

const LEVELS: readonly unknown[] = ["auto", "low", "medium", "high"];
/** What becomes of a stage that failed. */
export const ON_ERROR = ["fail", "collect", "none"] as const;
export const CREDENTIAL_SOURCES = ["env", "file", "exec", "oauth", "secret"] as const;

/** Options whose value is written as a literal. */
const LITERALS = {
    tokens: { wants: "a number of tokens", fits: isAbove },
    count: { wants: "a whole number above 0", fits: (value: unknown) => isAbove(value) && Number.isInteger(value) },
    whole: { wants: "a whole number", fits: (value: unknown) => value === 0 || (isAbove(value) && Number.isInteger(value)) },
    amount: { wants: "a number", fits: (value: unknown) => value === 0 || isAbove(value) },
    time: { wants: "a time above 0, such as 30s", fits: isAbove },
    flag: { wants: "true or false", fits: (value: unknown) => typeof value === "boolean" },
    level: {
        wants: 'true, false, "auto", "low", "medium" or "high"',
        fits: (value: unknown) => typeof value === "boolean" || LEVELS.includes(value),
    },
    hidden: { wants: '"untrusted"', fits: (value: unknown) => value === "untrusted" },
    text: { wants: "a text", fits: (value: unknown) => typeof value === "string" && value !== "" },
} as const;

function isAbove(value: unknown): boolean {
    return typeof value === "number" && value > 0;
}

/** What an option that is written as a literal must be, where it is not; null where it is, or is written otherwise. */
export function unfit(kind: OptionKind, value: Expr): string | null {
    if (!Object.hasOwn(LITERALS, kind)) return null;
    const { wants, fits } = LITERALS[kind as keyof typeof LITERALS];
    return fits(literalIn(value)) ? null : wants;
}

function literalIn(value: Expr): unknown {
    return value.kind === "number" || value.kind === "string" || value.kind === "bool" ? value.value : undefined;
}

// ---- as a form -------------------------------------------------------------------------------------------------------

/** `lowered`: an expression as a form. */
export function lowerOptions(table: Options, options: readonly GenerateOption[], lowered: (e: Expr) => unknown): object {
    const form: { [key: string]: unknown } = {};
    for (const { key, value } of options) {
        const kind = table.get(key.text);
        const said = kind === undefined ? undefined : saidBy(kind, value, lowered);
        if (said !== undefined) form[key.text] = said;
    }
    return form;
}

/** Undefined where the checker has refused it. */
function saidBy(kind: OptionKind, value: Expr, lowered: (e: Expr) => unknown): unknown {
    const items = value.kind === "list" ? value.items.map((item) => (item.kind === "spread" ? item.value : item)) : undefined;
    switch (kind) {
        case "expression":
            return lowered(value);
        case "expressions":
            return items?.map(lowered);
        case "names":
            return items?.flatMap((item) => (item.kind === "ident" ? [item.name] : []));
        case "credential":
            return credentialOf(value);
        case "word":
        case "model":
            return value.kind === "ident" ? value.name : value.kind === "none" ? "none" : literalIn(value);
        default:
            return unfit(kind, value) === null ? literalIn(value) : undefined;
    }
}

/** `env("KEY")`; undefined for anything else. */
export function credentialOf(value: Expr): CredentialForm | undefined {
    const arg = value.kind === "call" && value.args.length === 1 ? value.args[0]?.value : undefined;
    if (value.kind !== "call" || value.callee.kind !== "ident" || arg?.kind !== "string") return undefined;
    const { name: source } = value.callee;
    return CREDENTIAL_SOURCES.some((one) => one === source) ? { source: source as CredentialForm["source"], arg: arg.value } : undefined;
}

// ---- as a tree -------------------------------------------------------------------------------------------------------

/** `raised`: a form as an expression. */
export function raiseOptions(table: Options, form: object, raised: (e: ExprForm) => Expr): GenerateOption[] {
    const values = form as { readonly [key: string]: unknown };
    return [...table].flatMap(([key, kind]) => {
        const value = values[key];
        if (value === undefined) return [];
        const option = { key: name(key), value: writtenAs(kind, value, raised), ...at };
        // A time that no unit is made for is written as a number.
        if (kind !== "time" || !Number.isSafeInteger(value)) return [option];
        const milliseconds = value as number;
        return [{ ...option, duration: { text: timeText(milliseconds, ""), milliseconds, ...at } }];
    });
}

function writtenAs(kind: OptionKind, value: unknown, raised: (e: ExprForm) => Expr): Expr {
    switch (kind) {
        case "expression":
            return raised(value as ExprForm);
        case "expressions":
            return { kind: "list", items: (value as ExprForm[]).map(raised), ...at };
        case "names":
            return { kind: "list", items: (value as string[]).map(ident), ...at };
        case "credential": {
            const { source, arg } = value as CredentialForm;
            return { kind: "call", callee: ident(source), args: [{ value: text(arg), ...at }], ...at };
        }
        case "word":
        case "model":
            return ident(value as string);
        default:
            return literal(value as string | number | boolean);
    }
}
