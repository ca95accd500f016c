/**
 * `temporal://QUEUE/FILE.json`: activities and workflows that a team has on a task queue of Temporal, as methods of a tool.
 *
 * Boundary: the description of the methods, from a file of the program's tree, since Temporal gives none. How they are called is the caller's that the
 * program around brings (`queues`), or the worker's.
 *
 * QT1: a call has the id of its run and path, so that a call that was cut off is found again, not made again, where it is repeated.
 * QT2: a method only reads, or is repeated without a question, where its description says so.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { isObject, type Json } from "@remit/language";
import { checkJson, type Keys, type ReadKeys } from "../config/check.ts";
import { objectArgument, unknownMethod } from "./args.ts";
import { type CallIO, fileProblem, type MethodInfo, type Open, type ToolContext, ToolFail, type ToolImport } from "./tool.ts";

/** One call of an activity or a workflow. */
export interface QueueCall {
    readonly queue: string;
    readonly kind: "activity" | "workflow";
    /** Its name on the workers of the queue. */
    readonly type: string;
    readonly args: readonly Json[];
    /** QT1. */
    readonly id: string;
    /** Milliseconds that it may take in all. */
    readonly timeout: number;
    readonly signal: AbortSignal;
    /** A second time does no harm. */
    readonly repeatable: boolean;
}

/** Gives what the call gave. Rejects with an error that says why it failed; it stops what it began where the signal says so. */
export type QueueCaller = (call: QueueCall) => Promise<Json>;

const METHOD = {
    activity: { is: "text", say: "the name of an activity" },
    workflow: { is: "text", say: "the name of a workflow" },
    description: { is: "text" },
    input: { is: "json" },
    timeout: { is: "number", min: 0.001 },
    readOnly: { is: "yes or no" },
    repeatable: { is: "yes or no" },
} as const satisfies Keys;
const FILE = { methods: { is: "map", of: { is: "object", keys: METHOD }, needed: true } } as const satisfies Keys;
type Method = ReadKeys<typeof METHOD>;

/** Of a method whose description says none, seconds. */
const TIMEOUT_S = 600;
const FORM = "temporal://QUEUE/FILE.json";

export const openQueue: Open = (uri, about, context) => {
    const [, queue = "", path = ""] = /^temporal:\/\/([^/]+)\/(.+\.json)$/.exec(uri) ?? [];
    if (queue === "") throw new ToolFail(`'${uri}' names no queue and description`, { kind: "unreachable", hint: `the form is ${FORM}` });
    const described = readDescription(about, context, path);
    const methods = Object.entries(described).map(([name, one]) => infoOf(name, one));
    return {
        methods: () => methods,
        call: async (name, args, io) => {
            const method = Object.hasOwn(described, name) ? described[name] : undefined;
            if (method === undefined) throw unknownMethod(io.name, name, Object.keys(described));
            return called(context, { queue, method, argument: objectArgument(io.name, name, args) }, io);
        },
    };
};

async function called(
    { queues }: ToolContext,
    { queue, method, argument }: { readonly queue: string; readonly method: Method; readonly argument: Json },
    { effect, run = "", signal }: CallIO,
): Promise<Json> {
    if (queues === null)
        throw new ToolFail(`no Temporal server is named whose queue ${queue} could be asked`, {
            kind: "unreachable",
            hint: "name one with --address, or give `load` the `queues` of `temporalQueues` (@remit/temporal)",
        });
    const { activity, workflow, timeout = TIMEOUT_S, readOnly = false, repeatable = readOnly } = method;
    const what =
        workflow === undefined ? ({ kind: "activity", type: activity ?? "" } as const) : ({ kind: "workflow", type: workflow } as const);
    return queues({ ...what, queue, args: [argument], id: `${run}:${effect.path}`, timeout: timeout * 1_000, signal, repeatable });
}

function infoOf(name: string, { description, input = { type: "object" }, readOnly = false, repeatable = readOnly }: Method): MethodInfo {
    return {
        name,
        input,
        readOnly,
        repeatable,
        ...(description === undefined ? {} : { description }),
        ...(readOnly ? {} : { writes: true }),
    };
}

/** The file is in the program's tree, beside the file that imports it. */
function readDescription({ file }: ToolImport, { root, workspace }: ToolContext, path: string): { readonly [name: string]: Method } {
    const tree = root === "" ? workspace : root;
    const at = join(tree, root === "" ? "" : dirname(file), path);
    const wrong = (what: string): ToolFail =>
        new ToolFail(`its description ${path} ${what}`, {
            kind: "unreachable",
            hint: 'it is JSON: {"methods": {"refund": {"activity": "refundOrder", "input": {…}, "readOnly": false}}}',
        });
    if (relative(tree, at).split(sep)[0] === "..") throw wrong("is outside the program's tree");
    let text: string;
    try {
        text = readFileSync(at, "utf8");
    } catch (error) {
        throw wrong(fileProblem(error) ?? String(error));
    }
    const { json, problems } = checkJson(text, path, FILE);
    const [first] = problems;
    if (first !== undefined) throw wrong(`is wrong: ${first.key === "" ? "" : `${first.key} `}${first.message}`);
    const methods = json.methods as { [name: string]: Method };
    for (const [name, { activity, workflow, input = {} }] of Object.entries(methods)) {
        if ((activity === undefined) === (workflow === undefined)) throw wrong(`is wrong: methods.${name} names an activity or a workflow`);
        if (!isObject(input)) throw wrong(`is wrong: methods.${name}.input is no JSON Schema`);
    }
    return methods;
}
