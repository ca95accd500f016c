/**
 * Blocks as forms, and as trees again.
 *
 * Boundary: as `lower.ts` and `raise.ts`: says nothing about mistakes. An argument that is neither a literal nor a name becomes none.
 */
import type { Json } from "../contract/contract.ts";
import { literalOf } from "../contract/from-tree.ts";
import type * as tree from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import type {
    At,
    BlockForm,
    CredentialForm,
    FlowForm,
    StageArgForm,
    StageForm,
    StageNameForm,
    StageValueForm,
    StageWithForm,
} from "./form.ts";
import { at, ident, literal, name, number, option, raiseJson, text, timeText } from "./nodes.ts";

type Places = (range: Range) => At;

/** Options of a stage and what their values are: `word` may be written as a name or as a text, `time` is in milliseconds. */
export const STAGE_OPTIONS: ReadonlyMap<keyof StageWithForm, "time" | "count" | "amount" | "word" | "text" | "credential" | "model"> =
    new Map([
        ["timeout", "time"],
        ["retries", "count"],
        ["on_error", "word"],
        ["queue", "text"],
        ["credential", "credential"],
        ["as", "text"],
        ["priority", "count"],
        ["rate", "amount"],
        ["model", "model"],
    ] as const);

export const ON_ERROR = ["fail", "collect", "none"] as const;
export const CREDENTIAL_SOURCES = ["env", "file", "exec", "oauth", "secret"] as const;

// ---- lower -----------------------------------------------------------------------------------------------------------

export function lowerBlock(node: tree.BlockDecl, places: Places): BlockForm {
    return {
        kind: "block",
        backend: node.backend,
        mode: node.mode,
        body: lowerFlow(node.body, places),
        ...(node.name === undefined ? {} : { name: node.name.text }),
        at: places(node.range),
    };
}

function lowerFlow(node: tree.Flow, places: Places): FlowForm {
    switch (node.kind) {
        case "pipe":
            return { kind: "pipe", stages: node.stages.map((one) => lowerFlow(one, places)), at: places(node.range) };
        case "fan":
            return { kind: "fan", branches: node.branches.map((one) => lowerFlow(one, places)), at: places(node.range) };
        case "block":
            return lowerBlock(node, places);
        case "stage":
            return lowerStage(node, places);
        case "missing":
            return { kind: "stage", call: "echo", args: [], at: places(node.range) };
    }
}

function lowerStage(node: tree.Stage, places: Places): StageForm {
    return {
        kind: "stage",
        call: node.call.text,
        ...(node.method === undefined ? {} : { method: node.method.text }),
        args: node.args.map((arg): StageArgForm => {
            const value: StageValueForm =
                arg.duration === undefined
                    ? lowerValue(arg.value, places)
                    : { kind: "literal", value: arg.duration.milliseconds, text: arg.duration.text };
            return arg.name === undefined ? { value } : { name: arg.name.text, value };
        }),
        ...(node.options === undefined ? {} : { with: lowerOptions(node.options) }),
        at: places(node.range),
    };
}

function lowerValue(value: tree.Expr, places: Places): StageValueForm {
    const ref = refOf(value, places);
    if (ref !== undefined) return { kind: "ref", ...ref };
    if (value.kind === "list" && value.items.length > 0) {
        const items = value.items.map((item) => (item.kind === "spread" ? undefined : refOf(item, places)));
        if (items.every((item) => item !== undefined)) return { kind: "refs", items };
    }
    return { kind: "literal", value: literalOf(value) ?? null };
}

/** The name that an argument is, if it is one. */
function refOf(value: tree.Expr, places: Places): StageNameForm | undefined {
    if (value.kind === "paren") return refOf(value.value, places);
    if (value.kind === "ident") return { name: value.name, at: places(value.range) };
    if (value.kind !== "member" || value.object.kind !== "ident") return undefined;
    return { name: value.object.name, method: value.name.text, at: places(value.range) };
}

function lowerOptions(options: readonly tree.GenerateOption[]): StageWithForm {
    const form: { [key: string]: Json } = {};
    for (const { key, value } of options) {
        const rule = STAGE_OPTIONS.get(key.text as keyof StageWithForm);
        const said = rule === undefined ? undefined : rule === "credential" ? credentialOf(value) : wordOf(value, rule === "word");
        if (said !== undefined) form[key.text] = said as Json;
    }
    return form as StageWithForm;
}

/** `word`: a word of the language is one too. */
function wordOf(value: tree.Expr, word: boolean): string | number | undefined {
    if (value.kind === "ident") return value.name;
    if (word && value.kind === "none") return "none";
    return value.kind === "string" || value.kind === "number" ? value.value : undefined;
}

/** `env("KEY")`; undefined for anything else. */
export function credentialOf(value: tree.Expr): CredentialForm | undefined {
    const arg = value.kind === "call" && value.args.length === 1 ? value.args[0]?.value : undefined;
    if (value.kind !== "call" || value.callee.kind !== "ident" || arg?.kind !== "string") return undefined;
    const { name: source } = value.callee;
    return CREDENTIAL_SOURCES.some((one) => one === source) ? { source: source as CredentialForm["source"], arg: arg.value } : undefined;
}

// ---- raise -----------------------------------------------------------------------------------------------------------

export function raiseBlock(form: BlockForm): tree.BlockDecl {
    return {
        kind: "block",
        backend: form.backend,
        mode: form.mode,
        body: raiseFlow(form.body),
        ...(form.name === undefined ? {} : { name: name(form.name) }),
        ...at,
    };
}

function raiseFlow(form: FlowForm): tree.Flow {
    switch (form.kind) {
        case "pipe":
            return { kind: "pipe", stages: form.stages.map(raiseFlow), ...at };
        case "fan":
            return { kind: "fan", branches: form.branches.map(raiseFlow), ...at };
        case "block":
            return raiseBlock(form);
        case "stage":
            return {
                kind: "stage",
                call: name(form.call),
                ...(form.method === undefined ? {} : { method: name(form.method) }),
                args: form.args.map(({ name: called, value }) => {
                    const arg = { ...raiseValue(value), ...at };
                    return called === undefined ? arg : { name: name(called), ...arg };
                }),
                ...(form.with === undefined ? {} : { options: raiseOptions(form.with) }),
                ...at,
            };
    }
}

function raiseValue(value: StageValueForm): Pick<tree.StageArg, "value" | "duration"> {
    if (value.kind === "ref") return { value: raiseRef(value) };
    if (value.kind === "refs") return { value: { kind: "list", items: value.items.map(raiseRef), ...at } };
    const { text: written, value: milliseconds } = value;
    if (written === undefined || typeof milliseconds !== "number") return { value: raiseJson(value.value) };
    return { value: number(milliseconds, written), duration: { text: written, milliseconds, ...at } };
}

function raiseRef({ name: called, method }: StageNameForm): tree.Expr {
    if (method === undefined) return ident(called);
    return { kind: "member", object: ident(called), name: name(method), safe: false, ...at };
}

function raiseOptions(form: StageWithForm): tree.GenerateOption[] {
    return [...STAGE_OPTIONS].flatMap(([key, rule]) => {
        const value = form[key];
        if (value === undefined) return [];
        if (rule === "time") {
            const milliseconds = value as number;
            const duration = { text: timeText(milliseconds, ""), milliseconds, ...at };
            return [{ ...option(key, literal(milliseconds)), duration }];
        }
        if (rule === "word" || rule === "model") return [option(key, ident(value as string))];
        if (rule !== "credential") return [option(key, literal(value as string | number))];
        const { source, arg } = value as CredentialForm;
        return [option(key, { kind: "call", callee: ident(source), args: [{ value: text(arg), ...at }], ...at })];
    });
}
