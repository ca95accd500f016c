/**
 * One argument of a stage: a literal that holds the parameter's contract, or the name of something that may stand there.
 *
 * Boundary: one value and one parameter. What it gives stands for the argument in the function that a block is checked as.
 */
import { checkValue } from "../contract/check.ts";
import type { Json, Shapes } from "../contract/contract.ts";
import { literalOf } from "../contract/from-tree.ts";
import { showContract } from "../contract/show.ts";
import type { Binding } from "../scope/model.ts";
import type { Expr, Ident, Member, StageArg } from "../syntax/tree.ts";
import { around } from "../text/fix.ts";
import type { Range } from "../text/source.ts";
import { withArticle } from "../text/words.ts";
import { conditionProblem, CONDITIONS } from "../verbs/code/conditions.ts";
import type { VerbParam } from "../verbs/verb.ts";
import { elsewhere, suggestion } from "./names.ts";
import { agentTarget, funcTarget, type Param, type Place, type Target, targetOf } from "./stage-targets.ts";

/** The value of a block may be read from a later one only. */
export interface Reading extends Place {
    /** Those of the file of what is called. */
    readonly shapes: Shapes;
    readonly read: (block: Binding, at: Expr) => void;
    /** A function of the program is reached from here. */
    readonly reach: (target: Target, at: Expr) => void;
}

const VALUES: ReadonlySet<Binding["kind"]> = new Set(["file", "block"]);

export function checkArgument(x: Reading, arg: StageArg, param: Param | null, called: string): void {
    const { value } = arg;
    const takes = param?.verb?.takes;
    if (takes === "tools") checkTools(x, value);
    else if (takes !== undefined) checkThing(x, value, param as Param, called);
    else if (isRef(value)) checkRef(x, value, param);
    else checkLiteral(x, arg, param);
}

type Ref = Ident | (Member & { readonly object: Ident });

function isRef(value: Expr): value is Ref {
    return value.kind === "ident" || (value.kind === "member" && value.object.kind === "ident");
}

function nameOf(value: Ref): string {
    return value.kind === "ident" ? value.name : value.object.name;
}

/** What a name of an argument stands for; reported where it stands for nothing. */
function lookUp(x: Reading, value: Ref, known: (one: Binding) => boolean): Binding | null {
    const name = nameOf(value);
    const range = value.kind === "ident" ? value.range : value.object.range;
    const found = x.file.names.get(name);
    if (found !== undefined) {
        found.used = true;
        return found;
    }
    if (x.checking.verbs.has(name)) {
        x.report("INVALID_STAGE_ARGUMENT", range, `'${name}' is a verb, and only map takes one`, {
            hint: `as a stage of its own it stands between >=>; a text stands in quotes: "${name}"`,
        });
        return null;
    }
    const other = elsewhere(x.checking, x.file, name);
    const near = [...x.file.names.values()].filter(known).map((one) => one.name);
    if (other !== null) x.report("IMPORT_NOT_SHARED", range, `'${name}' belongs to ${other.where.name}, not to this file`, other.extra);
    else
        x.report(
            "UNKNOWN_IDENTIFIER",
            range,
            `there is nothing called '${name}' here`,
            suggestion(x.checking, name, range, near) ?? {
                hint:
                    near.length === 0
                        ? "a text stands in quotes"
                        : `a text stands in quotes; names that may stand here are ${near.join(", ")}`,
            },
        );
    return null;
}

/** A file or the value of an earlier block; for functions and agents also a thing that is handed to them. */
function checkRef(x: Reading, value: Ref, param: Param | null): void {
    const found = lookUp(x, value, ({ kind }) => VALUES.has(kind));
    if (found === null) return;
    if (found.kind === "block") x.read(found, value);
    if (VALUES.has(found.kind)) {
        if (value.kind === "member")
            x.report("INVALID_STAGE_ARGUMENT", value.range, "a stage takes the value of a file or block whole", {
                hint: "take the field in a func",
            });
        return;
    }
    if (found.kind !== "shape" && param !== null && param.verb === null && param.contract === null) {
        if (found.func !== null) x.reach(funcTarget(found.name, "func", found.func), value);
        else if (found.agent?.main != null) x.reach(funcTarget(found.name, "agent", found.agent.main), value);
        return;
    }
    const what = param === null ? "a value" : `'${param.name}'`;
    x.report("INVALID_STAGE_ARGUMENT", value.range, `'${nameOf(value)}' is ${withArticle(found.kind)}, and ${what} takes data`, {
        hint: "a text stands in quotes",
    });
}

function checkLiteral(x: Reading, { value, duration }: StageArg, param: Param | null): void {
    const literal = literalOf(value);
    if (literal === undefined) {
        x.report("INVALID_STAGE_ARGUMENT", value.range, "this is computed, and a stage takes literals and names", {
            hint: "compute it in a func, and name the func as a stage",
        });
        return;
    }
    if (param === null) return;
    const { verb, contract } = param;
    if (verb?.duration === true && duration === undefined) {
        const time = typeof literal === "string" ? /^\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h)\s*$/.exec(literal) : null;
        const text = time === null ? undefined : `${time[1]}${time[2]}`;
        x.report("INVALID_STAGE_ARGUMENT", value.range, `'${param.name}' takes a time with its unit`, {
            hint: "the units are ms, s, min and h: 30s, 5 min",
            ...(text === undefined ? {} : { fixes: [{ title: `write ${text}`, edits: [{ range: value.range, text }], safe: true }] }),
        });
        return;
    }
    if (verb?.condition === true && typeof literal === "string") {
        const problem = conditionProblem(literal);
        if (problem !== null) x.report("INVALID_CONDITION", value.range, problem, { hint: `write ${CONDITIONS}` });
    }
    if (contract === null) return;
    const found = checkValue(contract, literal, x.shapes, { what: `'${param.name}'` });
    if (!found.ok) x.report("CONTRACT_MISMATCH", value.range, found.message, { hint: `'${param.name}' takes ${showContract(contract)}` });
    else if (verb !== null) checkReach(x, value.range, literal, verb);
}

/** What the verb would refuse as it begins. */
function checkReach(x: Reading, at: Range, literal: Json, { name, range, place }: VerbParam): void {
    if (range !== undefined && typeof literal === "number" && (literal < range[0] || literal > range[1]))
        x.report("INVALID_STAGE_ARGUMENT", at, `'${name}' is ${range[0]} to ${range[1]}, not ${literal}`);
    if (typeof literal !== "string") return;
    if (place === "address" && !/^https?:\/\//i.test(literal))
        x.report("INVALID_STAGE_ARGUMENT", at, `'${literal}' is no address of the web`, { hint: "it begins with https:// or http://" });
    if (place === "path" && leaves(literal))
        x.report("INVALID_STAGE_ARGUMENT", at, `'${literal}' leaves the workspace`, {
            hint: "a path begins in the workspace folder",
        });
}

/** Whether a relative path goes above where it begins. */
function leaves(path: string): boolean {
    let depth = 0;
    for (const part of path.split("/")) {
        if (part === "..") depth--;
        else if (part !== "" && part !== ".") depth++;
        if (depth < 0) return true;
    }
    return false;
}

// ---- things ----------------------------------------------------------------------------------------------------------

/** What `map` calls, or an agent that stands for a default. */
function checkThing(x: Reading, value: Expr, param: Param, called: string): void {
    const isCall = param.verb?.takes === "call";
    const wanted = isCall ? "a verb, function or agent" : "an agent or function";
    if (!isRef(value)) {
        if (value.kind === "none" && !isCall) return;
        x.report("INVALID_STAGE_ARGUMENT", value.range, `'${param.name}' takes the name of ${wanted}`, {
            hint: isCall ? "write map summarize" : `write ${called}(${param.name}: Name)`,
        });
        return;
    }
    const target = thingOf(x, value, isCall);
    if (target === null) return;
    x.reach(target, value);
    if (isCall) checkCalled(x, value, target);
    else checkGiven(x, value, target, param);
}

function thingOf(x: Reading, value: Ref, isCall: boolean): Target | null {
    if (value.kind === "member") {
        const found = x.file.names.get(value.object.name);
        if (isCall && found?.kind === "tool") return targetOf(x, { text: value.object.name, range: value.object.range }, value.name);
        x.report("INVALID_STAGE_ARGUMENT", value.range, "what is called here has one name", { hint: "write a func that calls it" });
        return null;
    }
    if (isCall) return targetOf(x, { text: value.name, range: value.range }, undefined);
    const found = lookUp(x, value, ({ kind }) => kind === "agent" || kind === "func");
    if (found === null) return null;
    if (found.func !== null) return funcTarget(found.name, "func", found.func);
    if (found.kind === "agent") return agentTarget(x, found, value.range);
    x.report("INVALID_STAGE_ARGUMENT", value.range, `'${value.name}' is ${withArticle(found.kind)}, not an agent or a function`);
    return null;
}

/** It is called with one item. */
function checkCalled(x: Reading, value: Ref, { kind, name, params, verb }: Target): void {
    if (verb !== null && verb.code === undefined && verb.uri === undefined) {
        x.report("INVALID_STAGE_ARGUMENT", value.range, `the verb '${name}' is a stage of its own and cannot be called for each item`);
        return;
    }
    if (params === null) return;
    const needed = params.filter((param) => !param.hasDefault);
    if (needed.length > 1 || params.length === 0)
        x.report("INVALID_STAGE_ARGUMENT", value.range, `${kind} '${name}' takes ${listOf(params)}, and is called with one item`, {
            hint: "write a func that takes one item",
        });
}

/** It is called with an object, of which each parameter gets what has its name; a single parameter of another name gets it whole. */
function checkGiven(x: Reading, value: Ref, { kind, name, params }: Target, param: Param): void {
    const gives = param.verb?.gives ?? [];
    const others = (params ?? []).filter((one) => !gives.includes(one.name));
    const isWhole = params?.length === 1 && others.length === 1;
    const wrong = isWhole ? undefined : others.find((one) => !one.hasDefault);
    if (params?.length === 0 || wrong !== undefined)
        x.report(
            "INVALID_STAGE_ARGUMENT",
            value.range,
            wrong === undefined
                ? `${kind} '${name}' takes nothing, so that it could not know the question`
                : `${kind} '${name}' takes '${wrong.name}', which a ${param.name} is not given`,
            { hint: `its parameters may be called ${gives.join(", ")}, or it has one parameter, which gets them as an object` },
        );
}

function checkTools(x: Reading, value: Expr): void {
    if (value.kind !== "list") {
        const fixes = isRef(value) ? [around("write a list", value.range, "[", "]", true)] : undefined;
        x.report("INVALID_STAGE_ARGUMENT", value.range, "'tools' takes a list of imported tools or methods of them", {
            hint: "write tools: [Search, Repo.read]",
            fixes,
        });
        return;
    }
    for (const item of value.items) {
        if (item.kind !== "spread" && isRef(item)) {
            const found = lookUp(x, item, ({ kind }) => kind === "tool");
            if (found === null) continue;
            if (found.kind === "tool") {
                if (item.kind === "member") targetOf(x, { text: item.object.name, range: item.object.range }, item.name);
                continue;
            }
            x.report("INVALID_STAGE_ARGUMENT", item.range, `'${nameOf(item)}' is ${withArticle(found.kind)}, not a tool`);
        } else
            x.report("INVALID_STAGE_ARGUMENT", item.range, "a tool is named here, without quotes", {
                hint: "write tools: [Search, Repo.read]",
            });
    }
}

export function listOf(params: readonly Param[]): string {
    if (params.length === 0) return "nothing";
    return params.map(({ name, hasDefault }) => (hasDefault ? `${name}?` : name)).join(", ");
}
