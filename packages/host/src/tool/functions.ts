/**
 * `host:NAME`: tools that are functions of the program that runs Remit as a library.
 *
 * Boundary: one object argument in, JSON out. Own members only: what an object inherits is no method.
 */
import type { Json } from "@remit/language";
import { unknownMethod } from "./args.ts";
import { WithOrigins } from "./origins.ts";
import { plainJson } from "./plain.ts";
import { type MethodInfo, type Open, Sourced, ToolFail, type ToolHandle } from "./tool.ts";

/** What a function is given after the call's own arguments. */
export interface ToolCallContext {
    readonly signal: AbortSignal;
    /** Progress for the watcher. */
    emit(part: Json): void;
}

export type HostFunction = (...args: never[]) => unknown;

/** A function and what it says of itself. */
export interface HostMethod {
    readonly call: HostFunction;
    readonly description?: string;
    /** JSON Schema of its one argument. */
    readonly input?: Json;
    /** Changes nothing anywhere; false: it says that it does. */
    readonly readOnly?: boolean;
    /** May be performed a second time after a crash. Default: what only reads. */
    readonly repeatable?: boolean;
}

export interface HostTool {
    readonly [method: string]: HostFunction | HostMethod;
}

/** A tool, or what gives its methods as they are now: it is called each time they are asked for, and at each call. */
export type HostToolSource = HostTool | (() => HostTool);

export const openHost: Open = (uri, about, context) => {
    const named = uri.replace(/^host:(\/\/)?/, "");
    const name = [about.name, named].find((one) => Object.hasOwn(context.functions, one));
    const tool = name === undefined ? undefined : context.functions[name];
    if (tool === undefined) {
        const known = Object.keys(context.functions);
        throw new ToolFail(`the program that runs this brings no tool '${named}'`, {
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
        methods: () => methods().map(({ call: _call, tool: _tool, ...info }) => info),
        call: async (method, args, io) => {
            const all = methods();
            const found = all.find((one) => one.name === method);
            if (found === undefined || args === undefined)
                throw unknownMethod(
                    name,
                    method,
                    all.map((one) => one.name),
                );
            const about: ToolCallContext = { signal: io.signal, emit: io.emit };
            const call = found.call as unknown as (...all: unknown[]) => unknown;
            const gave = await call.call(found.tool, ...args, about);
            return gave instanceof WithOrigins
                ? new Sourced(plainJson(gave.value, `${name}.${method}`), gave.parts)
                : plainJson(gave, `${name}.${method}`);
        },
    };
}

interface Callable extends MethodInfo {
    readonly call: HostFunction;
    /** What it is a member of. */
    readonly tool: HostTool;
}

function methodsOf(tool: HostTool): Callable[] {
    return Object.keys(tool).flatMap((method): Callable[] => {
        const given = tool[method];
        const made = typeof given === "function" ? { call: given } : given;
        if (made === undefined || typeof made.call !== "function") return [];
        const { call, description, input = { type: "object" }, readOnly = false, repeatable = readOnly } = made as HostMethod;
        const writes = (made as HostMethod).readOnly === false ? { writes: true } : {};
        return [{ name: method, call, tool, description, input, readOnly, repeatable, ...writes }];
    });
}
