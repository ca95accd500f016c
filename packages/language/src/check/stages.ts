/**
 * One stage: what it calls, what its parameters get, and whether what flows in fits.
 *
 * Boundary: a stage and what flows into it. How stages are joined is `blocks.ts`.
 *
 * STC1: a mistake is told once, at the argument or name that it is about; a stage of which something is wrong says nothing of what flows in.
 */
import type { Contract } from "../contract/contract.ts";
import { neverFits } from "../contract/fits.ts";
import { showContract } from "../contract/show.ts";
import type { Expr, Stage, StageArg } from "../syntax/tree.ts";
import { timeMeant } from "../syntax/tokens.ts";
import { fix } from "../text/fix.ts";
import { bindStage, type Bound } from "../verbs/binding.ts";
import { FLOWING } from "../verbs/verb.ts";
import { suggestion } from "./names.ts";
import { amountOf } from "../text/words.ts";
import { call, type Code, each, gave, ident, list, none, object, VERB } from "./block-code.ts";
import { checkOptions } from "./stage-options.ts";
import { type Param, type Place, type Target, targetOf } from "./stage-targets.ts";
import { checkArgument, listOf, type Reading } from "./stage-values.ts";

/** What flows: what a stage gave, or what those of a fan-out did; `start`: what the run or the stage of a nested block was given, which may be nothing. */
export type Port =
    | { readonly kind: "one" | "start"; readonly value: Expr; readonly contract: Contract | null }
    | { readonly kind: "many"; readonly of: readonly Port[] };

export interface Within extends Omit<Reading, "shapes"> {
    readonly backend: "memory" | "temporal";
    readonly code: Code;
}

const LIST: Contract = { type: "list" };

export function valueIn(port: Port, at: Stage["range"]): Expr {
    return port.kind === "many"
        ? list(
              port.of.map((one) => valueIn(one, at)),
              at,
          )
        : port.value;
}

export function contractOfPort(port: Port): Contract | null {
    return port.kind === "many" ? LIST : port.contract;
}

/** The value of the stage. */
export function checkStage(x: Within, node: Stage, input: Port): Port {
    if (node.options !== undefined) checkOptions(x, node.options);
    const target = targetOf(x, node.call, node.method);
    if (target === null) {
        // Names among the arguments count as used, and what is unknown among them is told as well.
        for (const arg of node.args) checkArgument({ ...x, shapes: {} }, arg, LOOSE, node.call.text);
        return unknownPort(x, node, input);
    }
    const { verb, name, shapes } = target;
    if (verb !== null && !verb.backends.includes(x.backend))
        x.report("STAGE_BACKEND", node.call.range, `the verb '${name}' is not there on ${x.backend}`, {
            hint: `it runs on ${verb.backends.join(" and ")}: put it into a block of its own`,
        });
    x.reach(target, { ...ident(node.call.text, node.call.range) });
    const bound = bindStage(node.args.map(named), target.params ?? [], target.kind);
    const reading = { ...x, shapes };
    for (const { arg } of target.params === null ? node.args.map(named) : [...bound.unknown, ...bound.twice])
        checkArgument(reading, arg, LOOSE, name);
    const sound = target.params === null ? checkObject(x, node, target, input) : checkBound(reading, target, bound);
    checkWho(x, node);
    if (verb?.effects.includes("model") === true) checkWhichModel(x, node, bound);
    const flows = sound ? checkInput(x, node, target, bound, input) : new Map<string, Expr>();
    return { kind: "one", value: gave(x.code, callOf(x, node, target, bound, { flows, input })), contract: passes(target, input) };
}

/** A parameter of which nothing is known. */
const LOOSE: Param = { name: "", hasDefault: true, contract: null, verb: null };

interface Named {
    readonly name?: string;
    readonly arg: StageArg;
}

function named(arg: StageArg): Named {
    return arg.name === undefined ? { arg } : { name: arg.name.text, arg };
}

function unknownPort(x: Within, { range }: Stage, input: Port): Port {
    return { kind: "one", value: gave(x.code, valueIn(input, range)), contract: null };
}

// ---- arguments -------------------------------------------------------------------------------------------------------

/** Whether nothing is wrong with how many arguments there are and what they are called. */
function checkBound(x: Reading, target: Target, bound: Bound<Named>): boolean {
    const { kind, name } = target;
    const params = target.params ?? [];
    for (const { arg } of bound.unknown) {
        const at = arg.name ?? arg;
        const known = params.map((param) => param.name);
        const near = suggestion(x.checking, arg.name?.text ?? "", at.range, known);
        const hint = `${near?.hint === undefined ? "" : `${near.hint} `}it takes ${listOf(params)}`;
        x.report("UNKNOWN_STAGE_ARGUMENT", at.range, `${kind} '${name}' has no parameter '${arg.name?.text}'`, { ...near, hint });
    }
    for (const { arg } of bound.twice) x.report("INVALID_STAGE_ARGUMENT", (arg.name ?? arg).range, `'${arg.name?.text}' is given twice`);
    const [extra] = bound.extra;
    const timed = extra === undefined ? null : otherTime(x, params, bound, extra.arg);
    if (extra !== undefined && timed === null) {
        const isName = extra.arg.value.kind === "ident";
        x.report("INVALID_STAGE_ARGUMENT", extra.arg.range, `${kind} '${name}' has no parameter for this: it takes ${listOf(params)}`, {
            hint: isName ? `put >=> before ${(extra.arg.value as { name: string }).name} if it is the next stage` : undefined,
        });
    }
    for (const param of params) {
        const given = bound.values.get(param.name);
        if (given !== undefined && param !== timed) checkArgument(x, given.arg, param, name);
    }
    return bound.unknown.length + bound.twice.length + bound.extra.length === 0;
}

/** `wait 3 days`: the parameter of which the number and the word were meant. */
function otherTime(x: Reading, params: readonly Param[], bound: Bound<Named>, { value, range }: StageArg): Param | null {
    const param = params.find(({ verb }) => verb?.duration === true);
    const number = param === undefined ? undefined : bound.values.get(param.name)?.arg;
    if (param === undefined || number?.value.kind !== "number" || number.duration !== undefined || value.kind !== "ident") return null;
    const meant = timeMeant(number.value.text, value.name);
    if (meant === null) return null;
    const at = { start: number.range.start, end: range.end };
    x.report("INVALID_STAGE_ARGUMENT", at, `'${param.name}' takes a time with its unit, and '${value.name}' is none`, {
        hint: "the units are ms, s, min and h: 30s, 5 min",
        fixes: [fix(`Write \`${meant}\``, at, meant)],
    });
    return param;
}

const OBJECT: Contract = { type: "object", fields: [] };

/** Of a tool that takes one object: its fields have names, and an order of them would mean nothing. */
function checkObject(x: Within, node: Stage, { name, fields }: Target, input: Port): boolean {
    if (fields === null) return true;
    const [field = "field"] = fields;
    const bare = node.args.filter((arg) => arg.name === undefined);
    for (const { value, range } of bare)
        x.report("INVALID_STAGE_ARGUMENT", range, `tool '${name}' takes one object, and this is given without the name of a field`, {
            hint:
                value.kind === "ident"
                    ? `put >=> before ${value.name} if it is the next stage; else write ${name}(${field}: ${value.name})`
                    : `write ${name}(${field}: …)${fields.length === 0 ? "" : `; it has ${fields.join(", ")}`}`,
        });
    const from = input.kind === "start" || node.args.length > 0 ? null : contractOfPort(input);
    if (from !== null && from.type !== "object" && neverFits(from, OBJECT)) {
        const what = input.kind === "many" ? `a list of ${input.of.length}` : showContract(from).slice(0, 60);
        x.report("STAGE_INPUT", node.call.range, `what flows into tool '${name}' is ${what}, and it takes one object`, {
            hint: `let a func make the call, func call(x) { ${name}({ ${field}: x }) }`,
        });
    }
    return bare.length === 0;
}

// ---- what flows in ---------------------------------------------------------------------------------------------------

/** What flows in, by parameter. */
function checkInput(x: Within, node: Stage, target: Target, bound: Bound<Named>, input: Port): Map<string, Expr> {
    const { kind, name, params } = target;
    const at = node.call.range;
    const flows = new Map<string, Expr>();
    if (params === null) {
        if (input.kind !== "start" && node.args.some((arg) => arg.name !== undefined))
            x.report("STAGE_INPUT_UNUSED", at, `what flows into ${kind} '${name}' is not used: it is given what stands in brackets alone`, {
                hint: `its parameters are not known here: let a func make the call, func call(x) { ${name}({ …: x }) }`,
            });
        return flows;
    }
    const { free } = bound;
    const parts = input.kind === "many" && input.of.length === free.length ? input.of : [input];
    free.slice(0, parts.length).forEach((one, i) => {
        const port = parts[i] as Port;
        flows.set(one, valueIn(port, node.range));
        checkFlow(x, node, params.find((param) => param.name === one) as Param, port);
    });
    const left = params.filter((param) => !param.hasDefault && !bound.values.has(param.name) && !flows.has(param.name));
    if (left.length > 0) {
        const missing = left.map((param) => `'${param.name}'`).join(", ");
        if (input.kind === "many" && free.length > 1)
            x.report(
                "STAGE_INPUT",
                at,
                `${amountOf(input.of.length, "branch", "branches")} flow into ${kind} '${name}', which has ${free.length} free parameters: ${free.join(", ")}`,
                { hint: "one by one they fill exactly as many; as one list they fill one" },
            );
        else x.report("INVALID_STAGE_ARGUMENT", at, `${kind} '${name}' is not given ${missing}`, { hint: `it takes ${listOf(params)}` });
    } else if (free.length === 0 && input.kind !== "start" && !isGiven(bound))
        x.report(
            "STAGE_INPUT_UNUSED",
            at,
            `what flows into ${kind} '${name}' is not used: ${params.length === 0 ? "it takes nothing" : "all that it takes is given"}`,
        );
    return flows;
}

/** The program says itself what else the flowing parameter is. */
function isGiven(bound: Bound<Named>): boolean {
    return bound.values.has(FLOWING);
}

function checkFlow(x: Within, node: Stage, { name, contract }: Param, port: Port): void {
    const from = port.kind === "start" ? null : contractOfPort(port);
    if (from === null || contract === null || !neverFits(from, contract)) return;
    const what = port.kind === "many" ? `a list of ${port.of.length}` : showContract(from).slice(0, 60);
    x.report(
        "STAGE_INPUT",
        node.call.range,
        `what flows into '${node.call.text}' is ${what}, and its '${name}' takes ${showContract(contract)}`,
    );
}

/** Verbs that pass on what came in. */
const PASSING: ReadonlySet<string> = new Set(["when", "approve", "wait", "save"]);

function passes({ verb, name, result }: Target, input: Port): Contract | null {
    return verb !== null && PASSING.has(name) ? contractOfPort(input) : result;
}

// ---- the call --------------------------------------------------------------------------------------------------------

interface Flowing {
    readonly flows: ReadonlyMap<string, Expr>;
    readonly input: Port;
}

function callOf(x: Within, node: Stage, target: Target, bound: Bound<Named>, { flows, input }: Flowing): Expr {
    const { range } = node;
    const { kind, verb, params } = target;
    const given = (name: string): Expr | undefined => bound.values.get(name)?.arg.value ?? flows.get(name);
    if (verb?.native !== undefined) {
        const item = given("each");
        if (verb.name !== "map" || item === undefined) return valueIn(input, range);
        return each(valueIn(input, range), (one) => call(calledBy(x, item), [one], range), range);
    }
    if (params === null) {
        const bare = node.args.filter((arg) => arg.name === undefined).map((arg) => arg.value);
        return call(calleeOf(node), [...bare, valueIn(input, range)], range);
    }
    const all = params.flatMap((param) => {
        const value = given(param.name);
        return value === undefined ? [] : [[param.name, value] as const];
    });
    if (kind === "tool") return call(calleeOf(node), [object(all, range)], range);
    const last = params.findLastIndex((param) => given(param.name) !== undefined);
    const args = params.slice(0, last + 1).map((param) => given(param.name) ?? none(range));
    return call(verb === null ? ident(node.call.text, node.call.range) : ident(VERB + verb.name, node.call.range), args, range);
}

/** What `map` calls. */
function calledBy({ file }: Within, item: Expr): Expr {
    return item.kind === "ident" && !file.names.has(item.name) ? ident(VERB + item.name, item.range) : item;
}

function calleeOf({ call: name, method }: Stage): Expr {
    const object = ident(name.text, name.range);
    return method === undefined
        ? object
        : { kind: "member", object, name: method, safe: false, range: { start: name.range.start, end: method.range.end } };
}

// ---- models ----------------------------------------------------------------------------------------------------------

/** A verb takes the model that the stage names, else the only one of the file. */
function checkWhichModel(x: Within, node: Stage, bound: Bound<Named>): void {
    const models = [...x.file.names.values()].filter((one) => one.kind === "llm");
    const isNamed = node.options?.some((option) => option.key.text === "model") === true;
    // Both of its own agents are replaced: then it asks no model itself.
    const isReplaced = bound.values.has("researcher") && bound.values.has("critic");
    const [only] = models;
    if (isNamed || isReplaced || only === undefined) return;
    if (models.length === 1) only.used = true;
    else
        x.report("INVALID_STAGE_OPTION", node.call.range, `which model? The file imports ${models.map((one) => one.name).join(", ")}`, {
            hint: `write ${node.call.text} … with { model: ${only.name} }`,
        });
}

// ---- a person or a model ---------------------------------------------------------------------------------------------

const TO_A_PERSON =
    /\b(?:do you (?:approve|agree|confirm|accept)|(?:please )?(?:approve|confirm) (?:this|that|it|the)|(?:may|shall|should|can) (?:i|we) (?:go|proceed|continue|deploy|publish|send|delete|merge|release|ship)|is (?:it|this) (?:ok|okay|fine) to|ok(?:ay)? to (?:go|proceed|continue|deploy|publish|send|delete|merge|release|ship))\b/i;
const TO_A_MODEL =
    /^(?:summari[sz]e|translate|write|rewrite|explain|list|extract|classify|describe|compare|generate|draft|answer|what|why|how|who|which)\b/i;

function checkWho(x: Place, node: Stage): void {
    const { text, range } = node.call;
    const prompt = node.args.map((arg) => arg.value).find((value) => value.kind === "string");
    if (x.file.names.has(text) || prompt?.kind !== "string") return;
    const write = (
        verb: string,
    ): { hint: string; fixes: readonly { title: string; edits: { range: typeof range; text: string }[]; safe: boolean }[] } => ({
        hint: `write ${verb} if ${verb === "approve" ? "a person" : "a model"} is meant`,
        fixes: [{ title: `write ${verb}`, edits: [{ range, text: verb }], safe: false }],
    });
    if (text === "ask" && TO_A_PERSON.test(prompt.value))
        x.report("STAGE_WHO", range, "`ask` asks a model, and this looks meant for a person", write("approve"));
    if (text === "approve" && TO_A_MODEL.test(prompt.value.trim()))
        x.report("STAGE_WHO", range, "`approve` asks a person for a yes or no, and this looks meant for a model", write("ask"));
}
