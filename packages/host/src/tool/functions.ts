/**
 * `host:NAME`: tools that are functions of the program that runs Remit as a library.
 *
 * Boundary: one object argument in, JSON out. Own members only: what an object inherits is no method.
 */
import type { Json } from "@remit/language";
import { unknownMethod } from "./args.ts";
import { sourcedBy } from "./origins.ts";
import { plainJson } from "./plain.ts";
import { accepted, isStandard, jsonSchemaOf, type StandardSchema } from "./standard.ts";
import { broughtAs, hostName, type MethodInfo, type Open, Sourced, ToolFail, type ToolHandle } from "./tool.ts";

/** What a function is given after the call's own arguments. */
export interface ToolCallContext {
    readonly signal: AbortSignal;
    /** Id of the run that calls, where the call belongs to one. */
    readonly run: string | undefined;
    /** Progress for the watcher. */
    emit(part: Json): void;
}

export type HostFunction = (...args: never[]) => unknown;

/** A function with its description and its contract. */
export interface HostMethod {
    readonly call: HostFunction;
    readonly description?: string;
    /** Schema of its one argument. JSON Schema describes the argument; a Standard Schema, such as one of zod, also checks it at every call. */
    readonly input?: Json | StandardSchema;
    /** Standard Schema of its result. */
    readonly output?: StandardSchema;
    /** True: it changes nothing anywhere. False: it states that it does. */
    readonly readOnly?: boolean;
    /** Remit may call it a second time after a crash. Default: the value of `readOnly`. */
    readonly repeatable?: boolean;
}

export interface HostTool {
    readonly [method: string]: HostFunction | HostMethod;
}

/** A tool, or a function that gives the tool as it is now. Remit calls that function whenever it lists the methods, and at each call. */
export type HostToolSource = HostTool | (() => HostTool);

export const openHost: Open = (uri, about, context) => {
    const name = broughtAs(about, context.functions);
    const tool = name === undefined ? undefined : context.functions[name];
    if (tool === undefined) {
        const known = Object.keys(context.functions);
        throw new ToolFail(`the program that runs this brings no tool '${hostName(uri)}'`, {
            kind: "unreachable",
            hint:
                known.length === 0
                    ? "it is given to `run` as `tools: { NAME: { method: async (args) => … } }`"
                    : `it brings ${known.join(", ")}`,
        });
    }
    return functionTool(about.name, tool);
};

export function functionTool(name: string, source: HostToolSource): ToolHandle {
    const isLive = typeof source === "function";
    const fixed = isLive ? null : methodsOf(source as HostTool);
    const methods = (): readonly Callable[] => fixed ?? methodsOf((source as () => HostTool)());
    return {
        methods: () => methods().map(({ call: _call, tool: _tool, contract: _contract, output: _output, ...info }) => info),
        call: async (method, args, io) => {
            const all = methods();
            const found = all.find((one) => one.name === method);
            if (found === undefined || args === undefined)
                throw unknownMethod(
                    name,
                    method,
                    all.map((one) => one.name),
                );
            const about: ToolCallContext = { signal: io.signal, run: io.run, emit: io.emit };
            const call = found.call as unknown as (...all: unknown[]) => unknown;
            return resultOf(
                { input: found.contract, output: found.output },
                `${name}.${method}`,
                (given) => call.call(found.tool, ...given, about),
                args.map(ownCopy),
            );
        },
    };
}

/** Calls it with arguments that hold its contract, where it has one; what it gives is JSON. Throws `ToolFail`. */
export async function resultOf(
    { input, output }: Pick<HostMethod, "input" | "output">,
    name: string,
    call: (args: readonly unknown[]) => unknown,
    args: readonly unknown[],
): Promise<Json | Sourced> {
    const given = isStandard(input) ? [await accepted(input, args[0], `the argument of ${name}`), ...args.slice(1)] : args;
    const gave = await call(given);
    const sourced = sourcedBy(gave);
    const value = sourced === null ? gave : sourced.value;
    const json = plainJson(output === undefined ? value : await accepted(output, value, `what ${name} gave`), name);
    return sourced === null ? json : new Sourced(json, sourced.parts);
}

/** With the usual prototype, as after a journey to another process; what a function changes in it changes nothing that the ledger tells of the call. */
export function ownCopy(one: Json): Json {
    if (one === null || typeof one !== "object") return one;
    for (const key in one) if (typeof (one as { readonly [key: string]: Json })[key] === "object") return structuredClone(one);
    // Most arguments hold texts and numbers alone, for which a clone takes ten times as long.
    return Array.isArray(one) ? one.slice() : { ...one };
}

/** What a function says of itself, or that it says nothing. Null where it is none. */
export function methodOf(given: unknown): HostMethod | null {
    if (typeof given === "function") return { call: given as HostFunction };
    if (typeof given !== "object" || given === null || !Object.hasOwn(given, "call")) return null;
    const method = given as HostMethod;
    return typeof method.call === "function" ? method : null;
}

/** As methods are listed. `readOnly`: where it does not say itself whether it changes something. */
export function describedBy(name: string, { description, input, readOnly, repeatable }: HostMethod, elsewise = false): MethodInfo {
    const reads = readOnly ?? elsewise;
    return {
        name,
        ...(description === undefined ? {} : { description }),
        input: isStandard(input) ? jsonSchemaOf(input, name) : (input ?? { type: "object" }),
        readOnly: reads,
        repeatable: repeatable ?? reads,
        ...(readOnly === false ? { writes: true } : {}),
    };
}

/**
 * A method with its contract as a value, for `tools` or to be exported by a module that a program imports: the function's types are those of the
 * schemas.
 */
export function method<Input, Given = Input, Output = unknown>(
    about: Omit<HostMethod, "call" | "input" | "output"> & {
        readonly input: StandardSchema<Input, Given>;
        readonly output?: StandardSchema<Output, unknown>;
        readonly call: (input: Given, context: ToolCallContext) => Output | Promise<Output>;
    },
): Omit<HostMethod, "call" | "input"> & {
    readonly input: StandardSchema<Input, Given>;
    readonly call: (input: Given, context: ToolCallContext) => Output | Promise<Output>;
} {
    return about;
}

interface Callable extends MethodInfo, Pick<HostMethod, "output"> {
    readonly call: HostFunction;
    /** What it is a member of. */
    readonly tool: HostTool;
    readonly contract: HostMethod["input"];
}

function methodsOf(tool: HostTool): Callable[] {
    return Object.keys(tool).flatMap((name): Callable[] => {
        const made = methodOf(tool[name]);
        if (made === null) return [];
        const { call, input, output } = made;
        return [{ ...describedBy(name, made), call, tool, contract: input, ...(output === undefined ? {} : { output }) }];
    });
}
