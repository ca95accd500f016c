/**
 * Blocks to functions: one function a block, whose nodes are bodies of it, and one that runs all blocks of a file in order.
 *
 * Boundary: reads forms and the meaning of names; makes forms of ordinary calls, so that gates, labels, budgets and paths are those of any call.
 * What waits for what is `plan/`, running is `native/plan.ts`.
 *
 * BLK1: a name of a stage means, in this order: a function, agent or import of its file, a verb.
 * BLK2: which parameter gets what is bound as the checker binds it (`bindStage`).
 */
import {
    type At,
    BLOCKS,
    bindStage,
    type BlockForm,
    type Bound,
    type ExprForm,
    type FileForm,
    FLOWING,
    type FlowForm,
    type FuncForm,
    isObject,
    type Json,
    NATIVE_VERBS,
    type StageArgForm,
    type StageForm,
    type StageNameForm,
    type StageParam,
    type StageValueForm,
    type StmtForm,
    toolParams,
} from "@remit/language";
import { type ClosedPlan, finalise } from "../plan/finalise.ts";
import { fanout, type Fragment, sequence, single } from "../plan/fragment.ts";

/** Calls that the compiler makes an operation of (`native/stage.ts`). */
export const STAGE_CALLS = ["wait", "approve"] as const;
export type StageCall = (typeof STAGE_CALLS)[number];
const CALLS = "%stage.";

export function stageCallOf(name: string): StageCall | null {
    return STAGE_CALLS.find((one) => name === CALLS + one) ?? null;
}

/** The hidden names under which blocks and verbs are called. */
const VERB = "%verb.";
const BLOCK = "%block#";

export function verbIn(name: string): string | null {
    return name.startsWith(VERB) ? name.slice(VERB.length) : null;
}

export function blockIn(name: string): number | null {
    return name.startsWith(BLOCK) ? Number(name.slice(BLOCK.length)) : null;
}

/** What flows into a block. */
export const BLOCK_INPUT = "%input";
/** Iterations of a `map` at most. */
const MOST_MAPPED = 100_000;

/** A node as a body of its block's function. */
export interface NodeCode {
    readonly id: string;
    readonly call: string;
    /** What people see of its arguments. */
    readonly shown: readonly { readonly name?: string; readonly value: Json }[];
    readonly requires: readonly number[];
    readonly join: "none" | "list" | "spread";
    readonly branch: readonly number[];
    /** It ends its branch where its value is false. */
    readonly gate: boolean;
    /** A failure of it ends nothing but what needs its value, until the rest has ended. */
    readonly collects: boolean;
    /** Names of what flows in. */
    readonly params: readonly string[];
    readonly body: readonly StmtForm[];
    readonly with: StageForm["with"] | null;
    readonly at: At | undefined;
    /** Number of a nested block. */
    readonly block: number | null;
    /** Under which it, and blocks in it, keep what they give. */
    readonly names: readonly string[];
}

export interface BlockCode {
    readonly form: BlockForm;
    /** Among all blocks of its file, nested ones included, outer ones first. */
    readonly number: number;
    readonly nodes: readonly NodeCode[];
    readonly out: readonly number[];
    readonly several: boolean;
    /** It is the inside of a dynamic block: its nodes are none of the plan's. */
    readonly walked: boolean;
}

/** What a name of a stage can mean, as far as a call of it depends on it. */
export type Target =
    | { readonly kind: "func" | "agent"; readonly params: FuncForm["params"] }
    | { readonly kind: "verb"; readonly params: FuncForm["params"] }
    | { readonly kind: "tool"; readonly uri: string };

export type TargetOf = (name: string) => Target | null;

type Node =
    | { readonly kind: "stage"; readonly form: StageForm }
    | { readonly kind: "block"; readonly number: number; readonly form: BlockForm };

/** Under which blocks keep what they give, of nested ones too. */
export function namesOf(flow: FlowForm): string[] {
    switch (flow.kind) {
        case "stage":
            return [];
        case "pipe":
            return flow.stages.flatMap(namesOf);
        case "fan":
            return flow.branches.flatMap(namesOf);
        case "block":
            return [...(flow.name === undefined ? [] : [flow.name]), ...namesOf(flow.body)];
    }
}

/** All blocks of a file, as functions, the one of them all last. */
export function blocksOf(file: FileForm, targetOf: TargetOf): { readonly func: FuncForm; readonly block: BlockCode | null }[] {
    const { blocks = [] } = file;
    if (blocks.length === 0) return [];
    const made: { func: FuncForm; block: BlockCode | null }[] = [];
    const add = (form: BlockForm, walked: boolean): number => {
        const number = made.length;
        made.push({ func: funcOf(`__block#${number}`, [], form.at), block: null });
        const isWalk = form.mode === "dynamic" && !walked;
        const fragment = isWalk
            ? single<Node>({ kind: "block", number: add(form, true), form })
            : lowered(form.body, (one) => add(one, false));
        const closed = finalise(fragment, (node) => known(node, targetOf));
        const block = codeOf(closed, form, { number, walked }, targetOf);
        made[number] = {
            func: funcOf(
                `__block#${number}`,
                block.nodes.flatMap(({ body }) => body),
                form.at,
            ),
            block,
        };
        return number;
    };
    const numbers = blocks.map((form) => add(form, false));
    made.push({ func: funcOf(BLOCKS, allOf(numbers, blocks), blocks[0]?.at), block: null });
    return made;
}

function funcOf(name: string, body: readonly StmtForm[], at: At | undefined): FuncForm {
    return { name, params: [{ name: BLOCK_INPUT }], effects: [], body, ...(at === undefined ? {} : { at }) };
}

/** Each block in turn; the value of a single one, else the list of their values. */
function allOf(numbers: readonly number[], blocks: readonly BlockForm[]): StmtForm[] {
    const calls = numbers.map((number, i) => call(name(`${BLOCK}${number}`), [name(BLOCK_INPUT)], blocks[i]?.at));
    const [only] = calls;
    if (calls.length === 1 && only !== undefined) return [{ kind: "expr", value: only }];
    return [
        ...calls.map((value, i): StmtForm => ({ kind: "assign", target: name(`%value${i}`), op: "=", value })),
        { kind: "expr", value: { kind: "list", items: calls.map((_, i) => name(`%value${i}`)) } },
    ];
}

function lowered(flow: FlowForm, nested: (form: BlockForm) => number): Fragment<Node> {
    switch (flow.kind) {
        case "pipe":
            return sequence(...flow.stages.map((one) => lowered(one, nested)));
        case "fan":
            return fanout(flow.branches.map((one) => lowered(one, nested)));
        case "block":
            return single({ kind: "block", number: nested(flow), form: flow });
        case "stage":
            return single({ kind: "stage", form: flow });
    }
}

// ---- what flows in -------------------------------------------------------------------------------------------------------

function known(node: Node, targetOf: TargetOf): { readonly call: string; readonly takes: number } {
    if (node.kind === "block") return { call: "block", takes: 1 };
    const { form } = node;
    const call = form.method === undefined ? form.call : `${form.call}.${form.method}`;
    // A tool that does not tell its parameters takes one value without a name.
    return { call, takes: boundOf(form, targetOf(form.call))?.free.length ?? 1 };
}

/** What the parameters of a stage are given by it; null for a tool that does not tell them. */
function boundOf(form: StageForm, target: Target | null): Bound<StageArgForm> | null {
    const params = paramsOf(form, target);
    return params === null ? null : bindStage(form.args, params, target?.kind ?? "verb");
}

function paramsOf({ method = "", call }: StageForm, target: Target | null): readonly StageParam[] | null {
    if (target?.kind === "tool") return toolParams(target.uri, method);
    if (target !== null) return target.params.map((param) => ({ name: param.name, hasDefault: param.default !== undefined }));
    const { params = [] } = NATIVE_VERBS.get(call) ?? {};
    return params.map((param) => ({ name: param.name, hasDefault: param.default !== undefined || param.optional === true }));
}

// ---- bodies --------------------------------------------------------------------------------------------------------------

function codeOf(
    closed: ClosedPlan<Node>,
    form: BlockForm,
    { number, walked }: Pick<BlockCode, "number" | "walked">,
    targetOf: TargetOf,
): BlockCode {
    const nodes = closed.nodes.map(({ node, id, requires, join, branch }): NodeCode => {
        const isFirst = requires.length === 0 && node !== null;
        const flowing = isFirst ? [BLOCK_INPUT] : requires.map((_, i) => `%in${i}`);
        const values = join === "list" ? [list(flowing.map(name))] : flowing.map(name);
        const place = { id, requires, join, branch, params: isFirst ? [] : flowing };
        if (node === null) return { ...place, ...PLAIN, call: "join", body: [give(values[0] as ExprForm, undefined)] };
        if (node.kind === "block") {
            const { at } = node.form;
            const value = call(name(`${BLOCK}${node.number}`), values.slice(0, 1), at);
            return { ...place, ...PLAIN, call: "block", body: [give(value, at)], at, block: node.number, names: namesOf(node.form) };
        }
        const { form: one } = node;
        const target = targetOf(one.call);
        return {
            ...place,
            call: id.slice(0, id.lastIndexOf("#")),
            shown: one.args.map(shownArg),
            gate: one.call === "when" && target?.kind === "verb",
            collects: one.with?.on_error === "collect",
            body: guarded(callOf(one, targetOf, values), target === null && one.call === "approve", one),
            with: one.with ?? null,
            at: one.at,
            block: null,
            names: [],
        };
    });
    return { form, number, nodes, out: closed.out, several: closed.several, walked };
}

const PLAIN = { shown: [], gate: false, collects: false, with: null, at: undefined, block: null, names: [] } as const;

function shownArg({ name: called, value }: StageArgForm): { readonly name?: string; readonly value: Json } {
    const shown = (one: StageNameForm): Json => ({ ref: dotted(one) });
    const json = value.kind === "literal" ? value.value : value.kind === "ref" ? shown(value) : value.items.map(shown);
    return { ...(called === undefined ? {} : { name: called }), value: json };
}

function dotted({ name: of, method }: StageNameForm): string {
    return method === undefined ? of : `${of}.${method}`;
}

/** The call of a stage. `flowing`: what flows in. */
function callOf(form: StageForm, targetOf: TargetOf, flowing: readonly ExprForm[]): ExprForm {
    const { at } = form;
    const target = targetOf(form.call);
    const bound = boundOf(form, target);
    if (bound === null) return positional(form, targetOf, flowing);
    const values = new Map([...bound.values].map(([key, arg]) => [key, given(arg.value, targetOf, target?.kind === "verb")]));
    bound.free.forEach((key, i) => {
        const value = flowing[i];
        if (value !== undefined) values.set(key, value);
    });
    if (target === null) return native(form, values, at);
    if (target.kind === "tool") {
        const entries = [...values].map(([key, value]) => ({ kind: "entry", key, value }) as const);
        return call({ kind: "member", object: name(form.call), name: form.method ?? "" }, [{ kind: "object", entries }], at);
    }
    const last = target.params.findLastIndex((param) => values.has(param.name));
    const before = target.params.slice(0, last + 1).map((param) => values.get(param.name) ?? literal(param.default ?? null));
    return call(name(target.kind === "verb" ? VERB + form.call : form.call), before, at);
}

/** A tool that does not tell the names of its arguments: as they stand, then what flows in. */
function positional({ call: tool, method = "", args, at }: StageForm, targetOf: TargetOf, flowing: readonly ExprForm[]): ExprForm {
    const entries = args.flatMap((arg) =>
        arg.name === undefined ? [] : [{ kind: "entry", key: arg.name, value: given(arg.value, targetOf) } as const],
    );
    const bare = args.flatMap((arg) => (arg.name === undefined ? [given(arg.value, targetOf)] : []));
    const object: ExprForm[] = entries.length === 0 ? [] : [{ kind: "object", entries }];
    const all = entries.length > 0 ? [...bare, ...object] : [...bare, ...flowing];
    return call({ kind: "member", object: name(tool), name: method }, all, at);
}

function native({ call: what, with: how }: StageForm, values: ReadonlyMap<string, ExprForm>, at: At | undefined): ExprForm {
    const of = (param: string): ExprForm => values.get(param) ?? literal(null);
    if (what === "map") {
        const item = name("%item");
        const mapped = of("each");
        const value = call(mapped, [item], at);
        return { kind: "parallel", item: "%item", list: of(FLOWING), max: MOST_MAPPED, body: [{ kind: "expr", value }], ...where(at) };
    }
    if (what === "wait") return stage(what, [of("duration"), of(FLOWING)], at);
    if (what === "approve") return stage(what, [of("text"), of(FLOWING), literal(how?.timeout ?? null)], at);
    // Told apart by the checker; in a form that was not checked it fails where it stands.
    return call(name(what), [...values.values()], at);
}

/** What a stage says with `with { … }`, in statements around its call. `asks`: it asks a person. */
function guarded(value: ExprForm, asks: boolean, { with: how, at }: StageForm): StmtForm[] {
    const { retries = 0, on_error } = how ?? {};
    // Budgets of time stand still while a person is asked: the question itself has an end.
    const timeout = asks ? undefined : how?.timeout;
    const once = (): StmtForm[] => {
        const one: StmtForm = { kind: "return", value: { ...value }, ...where(at) };
        return timeout === undefined ? [one] : [{ kind: "spend", spend: { time: timeout }, body: [one], ...where(at) }];
    };
    const tried = retries === 0 ? once() : [retrying(retries, once(), at), ...once()];
    if (on_error === "none")
        return [
            { kind: "try", body: tried, handler: [], ...where(at) },
            { kind: "expr", value: literal(null) },
        ];
    // A bound is a statement, which gives no value of its own: what it holds returns.
    return timeout === undefined && retries === 0 ? [give(value, at)] : tried;
}

/** Kinds of failures that may pass. */
const PASSING = ["unreachable", "timeout", "rate_limited", "tool", "model", "limit.time"];

/** Tries before the last one, whose failure is the node's. */
function retrying(times: number, body: readonly StmtForm[], at: At | undefined): StmtForm {
    const failed = name("%failure");
    const kind: ExprForm = { kind: "member", object: failed, name: "kind" };
    const passes = PASSING.map((one): ExprForm => ({ kind: "binary", op: "==", left: kind, right: literal(one) })).reduce(
        (left, right): ExprForm => ({ kind: "binary", op: "or", left, right }),
    );
    const isFinal: ExprForm = { kind: "unary", op: "not", value: passes };
    const handler: StmtForm[] = [{ kind: "if", branches: [{ test: isFinal, body: [{ kind: "raise", value: failed, ...where(at) }] }] }];
    return { kind: "repeat", times, body: [{ kind: "try", body, name: "%failure", handler }], ...where(at) };
}

function give(value: ExprForm, at: At | undefined): StmtForm {
    return { kind: "expr", value, ...where(at) };
}

// ---- forms ---------------------------------------------------------------------------------------------------------------

function where(at: At | undefined): { readonly at?: At } {
    return at === undefined ? {} : { at };
}

function name(of: string): ExprForm & { kind: "name" } {
    return { kind: "name", name: of };
}

function call(callee: ExprForm, args: readonly ExprForm[], at: At | undefined): ExprForm {
    return { kind: "call", callee, args: args.map((value) => ({ value })), ...where(at) };
}

function stage(what: StageCall, args: readonly ExprForm[], at: At | undefined): ExprForm {
    return call(name(CALLS + what), args, at);
}

function list(items: readonly ExprForm[]): ExprForm {
    return { kind: "list", items };
}

/** A verb is given tools by their names: it calls them with `act`, which finds them in the file of the block. */
function given(value: StageValueForm, targetOf: TargetOf, isVerb = false): ExprForm {
    if (value.kind === "literal") return literal(value.value);
    if (value.kind === "refs") return list(value.items.map((one) => (isVerb ? literal(dotted(one)) : referred(one, targetOf))));
    return referred(value, targetOf);
}

function referred({ name: of, method, at }: StageNameForm, targetOf: TargetOf): ExprForm {
    const thing = { ...name(targetOf(of)?.kind === "verb" ? VERB + of : of), ...where(at) };
    return method === undefined ? thing : { kind: "member", object: thing, name: method, ...where(at) };
}

function literal(value: Json): ExprForm {
    if (Array.isArray(value)) return list(value.map(literal));
    if (isObject(value))
        return { kind: "object", entries: Object.entries(value).map(([key, one]) => ({ kind: "entry", key, value: literal(one) })) };
    return { kind: "literal", value: value as string | number | boolean | null };
}
