/**
 * The tools of a `generate`: what is offered to the model, and what becomes of a call it makes.
 *
 * Boundary: descriptions and calls as JSON. The coroutine that performs them is in `generate.ts`.
 *
 * OF1: a call reaches a tool only if its name was offered and its arguments hold against the tool's schema.
 * OF2: a method that its tool does not mark as reading only is asked for first, with the whole call and the origins of its arguments.
 */
import { isObject, type Json } from "@remit/language";
import type { Right } from "../authority/decide.ts";
import type { ToolCall, ToolOffer } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { checkAgainstSchema } from "./schema.ts";

/** A tool of `generate({tools: […]})`: an import, whole or one method of it. */
export interface ToolInput {
    readonly name: string;
    readonly uri: string;
    readonly file: string;
    readonly method?: string;
    /** What it was given with, where it came as a value. */
    readonly right?: Right;
}

export interface Offer extends ToolOffer {
    readonly tool: string;
    readonly uri: string;
    readonly file: string;
    readonly method: string;
    readonly readOnly: boolean;
    readonly right?: Right;
}

/** The imports to be described, each once. */
export function importsOf(tools: readonly ToolInput[]): ToolInput[] {
    const seen = new Set<string>();
    return tools.filter((tool) => {
        const key = JSON.stringify([tool.name, tool.uri, tool.file]);
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
    });
}

/** What is offered, in the order of `tools`. `described` are the outcomes for `importsOf(tools)`. Throws `tool` where a named method is unknown. */
export function offersOf(tools: readonly ToolInput[], described: readonly Json[]): Offer[] {
    const imports = importsOf(tools);
    const offers: Offer[] = [];
    const names = new Set<string>();
    for (const tool of tools) {
        const at = imports.findIndex((other) => other.name === tool.name && other.uri === tool.uri && other.file === tool.file);
        const methods = methodsOf(tool.name, described[at] ?? null);
        const wanted = tool.method === undefined ? methods : methods.filter((method) => method.name === tool.method);
        if (tool.method !== undefined && wanted.length === 0)
            throw new Fail("tool", `Tool ${tool.name} has no method '${tool.method}'`, {
                hint: methods.length === 0 ? "it describes no methods" : `it has ${methods.map((method) => method.name).join(", ")}`,
            });
        for (const method of wanted) {
            if (offers.some((offer) => offer.tool === tool.name && offer.file === tool.file && offer.method === method.name)) continue;
            offers.push({
                ...method,
                name: offerName(`${tool.name}_${method.name}`, names),
                tool: tool.name,
                uri: tool.uri,
                file: tool.file,
                method: method.name,
                ...(tool.right === undefined ? {} : { right: tool.right }),
            });
        }
    }
    return offers;
}

interface Method {
    readonly name: string;
    readonly description?: string;
    readonly input: Json;
    readonly readOnly: boolean;
}

/** The methods of a description; what does not have their shape is left out rather than guessed at. */
function methodsOf(tool: string, described: Json): Method[] {
    if (!isObject(described) || !Array.isArray(described.methods))
        throw new Fail("tool", `Tool ${tool} gave no description of its methods`);
    return described.methods.flatMap((method): Method[] => {
        if (!isObject(method) || typeof method.name !== "string" || method.name === "") return [];
        return [
            {
                name: method.name,
                ...(typeof method.description === "string" ? { description: method.description } : {}),
                input: isObject(method.input) ? method.input : { type: "object" },
                readOnly: method.readOnly === true,
            },
        ];
    });
}

/** A name every provider takes: letters, digits, `_` and `-`, at most 64, used once. */
function offerName(wanted: string, taken: Set<string>): string {
    const base = wanted.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
    let name = base;
    for (let nth = 2; taken.has(name); nth++) name = `${base}_${nth}`;
    taken.add(name);
    return name;
}

export type Checked = { readonly offer: Offer } | { readonly error: string };

/** Whether a call may go ahead: its tool was offered, its arguments hold. The error is what the model is told. */
export function checkCall(call: ToolCall, offers: readonly Offer[]): Checked {
    if (call.unread !== undefined) return { error: `The call could not be read, so it was not made: ${call.unread}` };
    const offer = offers.find((known) => known.name === call.name);
    if (offer === undefined)
        return { error: `There is no tool '${call.name}'. The tools are: ${offers.map((known) => known.name).join(", ")}.` };
    const errors = checkAgainstSchema(call.args, offer.input);
    return errors.length === 0
        ? { offer }
        : { error: `The arguments of ${call.name} are not valid, so it was not called.\n${errors.join("\n")}` };
}
