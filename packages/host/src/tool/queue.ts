/**
 * `temporal://QUEUE/FILE.json`: activities and workflows that a team has on a task queue of Temporal, as methods of a tool.
 *
 * Boundary: the description of the methods, from a file of the program's tree, since Temporal gives none. How they are called is the caller's that the
 * program around brings (`queues`), or the worker's.
 *
 * QT1: a call has the id of its run and path, so that a call that was cut off is found again, not made again, where it is repeated.
 * QT2: a method only reads, or is repeated without a question, where its description says so.
 * QT3: what does not fit the schema `input` is not sent, and what does not fit `output` is no result: both fail as `contract`.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { describedSchema, isObject, type Json, type ProgramFiles } from "@remit/language";
import { checkJson, type Keys, type ReadKeys } from "../config/check.ts";
import type { ProgramTree } from "../load/tree.ts";
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
    output: { is: "json" },
    timeout: { is: "number", min: 0.001 },
    readOnly: { is: "yes or no" },
    repeatable: { is: "yes or no" },
} as const satisfies Keys;
const FILE = { methods: { is: "map", of: { is: "object", keys: METHOD }, needed: true } } as const satisfies Keys;
type Method = ReadKeys<typeof METHOD>;
/** Says what of a value does not fit; null: it fits. */
type Fits = (value: Json) => Promise<string | null>;
interface Described {
    readonly method: Method;
    readonly input: Fits | null;
    readonly output: Fits | null;
}

/** Of a method whose description says none, seconds. */
const TIMEOUT_S = 600;
const FORM = "temporal://QUEUE/FILE.json";

export const openQueue: Open = async (uri, about, context) => {
    const place = placeIn(uri);
    if (place === null) throw new ToolFail(`'${uri}' names no queue and description`, { kind: "unreachable", hint: `the form is ${FORM}` });
    const { queue, path } = place;
    const described = await readDescription(about, context, path);
    const methods = Object.entries(described).map(([name, { method }]) => infoOf(name, method));
    return {
        methods: () => methods,
        call: async (name, args, io) => {
            const one = Object.hasOwn(described, name) ? described[name] : undefined;
            if (one === undefined) throw unknownMethod(io.name, name, Object.keys(described));
            const argument = objectArgument(io.name, name, args);
            await holds(one.input, argument, `the argument of ${io.name}.${name} does not fit \`input\` of ${path}`);
            const result = await called(context, { queue, method: one.method, argument }, io);
            await holds(one.output, result, `the result of ${io.name}.${name} does not fit \`output\` of ${path}`);
            return result;
        },
    };
};

/** QT3. */
async function holds(fits: Fits | null, value: Json, what: string): Promise<void> {
    const misfit = fits === null ? null : await fits(value);
    if (misfit !== null) throw new ToolFail(`${what}: ${misfit}`, { kind: "contract" });
}

async function called(
    { queues }: ToolContext,
    { queue, method, argument }: { readonly queue: string; readonly method: Method; readonly argument: Json },
    { effect, run = "", signal }: CallIO,
): Promise<Json> {
    if (queues === null)
        throw new ToolFail(`no Temporal server is named whose queue ${queue} could be asked`, {
            kind: "unreachable",
            hint: "name one with --address, or give `load` the `queues` of `temporalBlocks` (remit-lang/temporal)",
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
async function readDescription(
    { file }: ToolImport,
    { root, workspace }: ToolContext,
    path: string,
): Promise<{ readonly [name: string]: Described }> {
    const tree = root === "" ? workspace : root;
    const at = join(tree, root === "" ? "" : dirname(file), path);
    if (relative(tree, at).split(sep)[0] === "..") throw wrong(path, "is outside the program's tree");
    let text: string;
    try {
        text = readFileSync(at, "utf8");
    } catch (error) {
        throw wrong(path, fileProblem(error) ?? String(error));
    }
    const made: { [name: string]: Described } = {};
    for (const [name, method] of Object.entries(methodsIn(path, text))) {
        const fits = (which: "input" | "output", schema: Json | undefined): Promise<Fits | null> =>
            fitting(schema, (why) => wrong(path, `is wrong: methods.${name}.${which} is no JSON Schema${why}`));
        made[name] = { method, input: await fits("input", method.input), output: await fits("output", method.output) };
    }
    return made;
}

function wrong(path: string, what: string): ToolFail {
    return new ToolFail(`its description ${path} ${what}`, {
        kind: "unreachable",
        hint: 'it is JSON: {"methods": {"refund": {"activity": "refundOrder", "input": {…}, "readOnly": false}}}',
    });
}

function methodsIn(path: string, text: string): { readonly [name: string]: Method } {
    const { json, problems } = checkJson(text, path, FILE);
    const [first] = problems;
    if (first !== undefined) throw wrong(path, `is wrong: ${first.key === "" ? "" : `${first.key} `}${first.message}`);
    const methods = json.methods as { readonly [name: string]: Method };
    for (const [name, { activity, workflow }] of Object.entries(methods))
        if ((activity === undefined) === (workflow === undefined))
            throw wrong(path, `is wrong: methods.${name} names an activity or a workflow`);
    return methods;
}

/** What the checker is told of a tool (`describeTool`). `file`: of the import. */
export function queueDescription(uri: string, file: string, tree: ProgramTree): ReturnType<NonNullable<ProgramFiles["describeTool"]>> {
    const path = placeIn(uri)?.path;
    if (path === undefined) return { wrong: `'${uri}' names no queue and description`, hint: `the form is ${FORM}` };
    const read = tree.read(tree.pathOf(`./${path}`, file));
    if (!read.ok) return { wrong: `${read.message}; it describes the tool`, hint: `the form is ${FORM}, the file beside the program` };
    try {
        const inputs = Object.entries(methodsIn(path, read.text)).map(([name, { input }]) => [name, input] as const);
        return { file: tree.nameOf(read.path), text: read.text, schema: describedSchema(Object.fromEntries(inputs)) };
    } catch (error) {
        if (!(error instanceof ToolFail)) throw error;
        return { wrong: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
    }
}

function placeIn(uri: string): { readonly queue: string; readonly path: string } | null {
    const [, queue, path] = /^temporal:\/\/([^/]+)\/(.+\.json)$/.exec(uri) ?? [];
    return queue === undefined || path === undefined ? null : { queue, path };
}

async function fitting(schema: Json | undefined, wrong: (why: string) => ToolFail): Promise<Fits | null> {
    if (schema === undefined) return null;
    if (!isObject(schema)) throw wrong("");
    const { fromJsonSchema } = await import("@modelcontextprotocol/client");
    let standard: ReturnType<typeof fromJsonSchema>["~standard"];
    try {
        standard = fromJsonSchema(schema)["~standard"];
        await standard.validate(null);
    } catch (error) {
        throw wrong(`: ${Error.isError(error) ? error.message : String(error)}`);
    }
    return async (value) => {
        const { issues } = await standard.validate(value);
        return issues === undefined ? null : issues.map(({ message }) => message).join("; ");
    };
}
