/**
 * What the name of a stage stands for: a function, agent or tool of the file, else a verb; and what its parameters are.
 *
 * Boundary: names. What the parameters are given is `stages.ts`.
 *
 * TGT1: what is unknown and what is not there on the block's backend are different errors, and the first lists what is known.
 */
import { toolParams, unknownIn } from "../authority/schemas.ts";
import { schemeOf, takesObject } from "../authority/thing.ts";
import type { Contract, Shapes } from "../contract/contract.ts";
import { contractOf } from "../contract/from-tree.ts";
import type { Binding, Checking, Extra, FileScope, FuncInfo, Report } from "../scope/model.ts";
import type { Name } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { withArticle } from "../text/words.ts";
import type { StageParam } from "../verbs/binding.ts";
import type { Verb, VerbParam } from "../verbs/verb.ts";
import { isOutside } from "./handover.ts";
import { elsewhere, suggestion } from "./names.ts";

export interface Param extends StageParam {
    readonly contract: Contract | null;
    /** Of a verb. */
    readonly verb: VerbParam | null;
}

export interface Target {
    readonly kind: "verb" | "func" | "agent" | "tool";
    /** As messages call it. */
    readonly name: string;
    /** Null: a tool that does not tell them. */
    readonly params: readonly Param[] | null;
    /** Of a tool that takes one object, whatever it tells: the names of its fields, as far as they are known. Null: it takes arguments by place. */
    readonly fields: readonly string[] | null;
    readonly shapes: Shapes;
    /** What it gives, where that is declared. */
    readonly result: Contract | null;
    readonly func: FuncInfo | null;
    readonly verb: Verb | null;
}

/** Where names are looked up, and what is said of them. */
export interface Place {
    readonly checking: Checking;
    readonly file: FileScope;
    readonly report: Report;
}

/** Names that are listed where one is unknown. */
const MOST_KNOWN = 40;
const CALLED: ReadonlySet<Binding["kind"]> = new Set(["func", "agent", "tool"]);

export function targetOf(x: Place, name: Name, method: Name | undefined): Target | null {
    const { text, range } = name;
    const found = x.file.names.get(text);
    if (found === undefined) {
        const verb = x.checking.verbs.get(text);
        if (verb === undefined) unknown(x, text, range);
        else if (method !== undefined)
            x.report("INVALID_STAGE", method.range, `'${text}' is a verb and has no methods`, { hint: `write ${verb.example}` });
        else return verbTarget(verb);
        return null;
    }
    found.used = true;
    if (found.func !== null && method === undefined) return funcTarget(text, "func", found.func);
    if (found.kind === "agent" && method === undefined) return agentTarget(x, found, range);
    if (found.kind === "tool" && method !== undefined) return toolTarget(x, found, method);
    x.report(
        "INVALID_STAGE",
        method === undefined ? range : { start: range.start, end: method.range.end },
        ...refusal(found, method?.text, x.checking.verbs.has(text)),
    );
    return null;
}

function unknown(x: Place, name: string, range: Range): void {
    const other = elsewhere(x.checking, x.file, name);
    if (other !== null) {
        x.report("IMPORT_NOT_SHARED", range, `'${name}' belongs to ${other.where.name}, not to this file`, other.extra);
        return;
    }
    const own = [...x.file.names.values()].filter((one) => CALLED.has(one.kind)).map((one) => one.name);
    const known = [...own, ...x.checking.verbs.keys()];
    const near = suggestion(x.checking, name, range, known);
    const list = `known are ${known.slice(0, MOST_KNOWN).join(", ")}${known.length > MOST_KNOWN ? " …" : ""}`;
    const hint = near?.hint === undefined ? list : `${near.hint} ${list}`;
    x.report("UNKNOWN_STAGE", range, `there is no verb, function, agent or tool '${name}'`, { ...near, hint });
}

/** Why something of the file is no stage. */
function refusal(found: Binding, method: string | undefined, isVerb: boolean): [message: string, extra?: Extra] {
    const { kind, name } = found;
    switch (kind) {
        case "tool":
            return [`'${name}' is a tool, and a stage calls one of its methods`, { hint: `write ${name}.method` }];
        case "func":
        case "agent":
            return [
                `'${name}.${method}' is no stage: a stage calls ${kind === "func" ? "a function" : "the main func of an agent"}`,
                { hint: kind === "func" ? `write ${name}` : `write ${name}, or a func that calls ${name}.${method}(…)` },
            ];
        case "block":
            return isVerb
                ? [`'${name}' is here the value of a block, which hides the verb '${name}'`, { hint: "give the block another name" }]
                : [`'${name}' is the value of a block, and a stage calls something`, { hint: `write echo ${name}` }];
        case "file":
            return [`'${name}' is a file, and a stage calls something`, { hint: `write echo ${name}` }];
        default:
            return [
                `'${name}' is ${withArticle(kind)}, which no stage can be`,
                { hint: kind === "llm" ? `write ask "…" with { model: ${name} }` : undefined },
            ];
    }
}

// ---- targets ---------------------------------------------------------------------------------------------------------

function verbTarget(verb: Verb): Target {
    const params = verb.params.map(
        (param): Param => ({
            name: param.name,
            hasDefault: param.default !== undefined || param.optional === true,
            contract: param.optional === true && param.contract.type !== "json" ? { type: "optional", of: param.contract } : param.contract,
            verb: param,
        }),
    );
    return { kind: "verb", name: verb.name, params, fields: null, shapes: {}, result: verb.result, func: null, verb };
}

export function funcTarget(name: string, kind: "func" | "agent", func: FuncInfo): Target {
    const { node, file } = func;
    const params = node.params.map(
        (param): Param => ({
            name: param.name.text,
            hasDefault: param.default !== undefined,
            contract: param.contract === undefined ? null : contractOf(param.contract),
            verb: null,
        }),
    );
    const shapes = Object.fromEntries([...file.shapes].map(([shape, { contract }]) => [shape, contractOf(contract)]));
    return {
        kind,
        name,
        params,
        fields: null,
        shapes,
        result: node.result === undefined ? null : contractOf(node.result),
        func,
        verb: null,
    };
}

/** Also for an agent that is named as an argument. */
export function agentTarget(x: Place, found: Binding, range: Range): Target | null {
    const { agent, name } = found;
    if (agent === null) {
        if (found.import !== null && isOutside(found.import))
            x.report("INVALID_STAGE", range, `'${name}' is an agent outside the program, and has no main func that a stage could call`, {
                hint: `call it in a func: func ask_${name}(task: string) { ${name}.send(task) }`,
            });
        return null;
    }
    if (agent.main !== null) return funcTarget(name, "agent", agent.main);
    x.report("INVALID_STAGE", range, `agent '${name}' has no main func, which a stage would call`, { hint: "mark one func with `main`" });
    return null;
}

function toolTarget(x: Place, found: Binding, method: Name): Target | null {
    const uri = found.import?.uri.value ?? "";
    const wrong = found.has === null ? null : unknownIn(found.has, uri, method.text, null);
    if (wrong !== null) {
        const extra = suggestion(x.checking, method.text, method.range, wrong.known) ?? { hint: `it has ${wrong.known.join(", ")}` };
        x.report("INVALID_STAGE", method.range, `tool '${found.name}' has no method '${method.text}'`, extra);
        return null;
    }
    const params = toolParams(uri, method.text)?.map((one): Param => ({ ...one, contract: null, verb: null })) ?? null;
    // what was pinned of a server is for messages alone: it decides nothing of what a stage sends
    const has = schemeOf(uri) === "mcp" ? null : found.has;
    const fields = takesObject(uri) ? (has?.params?.get(method.text) ?? []).map((one) => one.name) : null;
    return { kind: "tool", name: `${found.name}.${method.text}`, params, fields, shapes: {}, result: null, func: null, verb: null };
}
