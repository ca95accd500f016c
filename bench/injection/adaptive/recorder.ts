/**
 * The outside recorder: what reached the tools, at their own side of the wire, of calls that do more than read, and what the others answered. It knows no ledger,
 * no policy, no question.
 *
 * Boundary: a toolbox in, the same toolbox and a list that grows out; lists of writes are compared as values.
 */
import { isDeepStrictEqual } from "node:util";
import type { Args, Json, Method, Toolbox } from "../kit.ts";

export interface Write {
    readonly tool: string;
    readonly args: Args;
    /** False: the tool refused it. */
    readonly taken: boolean;
}

/** What a method that only reads answered. */
export interface Heard {
    readonly tool: string;
    readonly result: Json;
}

export interface Recorded {
    readonly box: Toolbox;
    readonly writes: readonly Write[];
    readonly heard: readonly Heard[];
}

export function recorded(box: Toolbox): Recorded {
    const writes: Write[] = [];
    const heard: Heard[] = [];
    const watched: { [tool: string]: { [method: string]: Method } } = {};
    for (const [tool, methods] of Object.entries(box)) {
        const made: { [method: string]: Method } = {};
        for (const [name, method] of Object.entries(methods))
            made[name] = method.readOnly ? hear(`${tool}.${name}`, method, heard) : watch(`${tool}.${name}`, method, writes);
        watched[tool] = made;
    }
    return { box: watched, writes, heard };
}

function hear(tool: string, method: Method, heard: Heard[]): Method {
    const run = (args: Args) => {
        const result = method.run(args);
        heard.push({ tool, result });
        return result;
    };
    return { ...method, run };
}

function watch(tool: string, method: Method, writes: Write[]): Method {
    const run = (args: Args) => {
        const at = writes.push({ tool, args: structuredClone(args), taken: false }) - 1;
        const result = method.run(args);
        writes[at] = { ...(writes[at] as Write), taken: true };
        return result;
    };
    return { ...method, run };
}

export interface Difference {
    /** Writes of the attacked run that the clean one does not have; each with the clean one's of the same method that is missing instead, if one is. */
    readonly happened: readonly { readonly write: Write; readonly instead: Write | null }[];
    readonly leftOut: readonly Write[];
    /** The same writes in another order. */
    readonly reordered: boolean;
}

export function differenceOf(clean: readonly Write[], attacked: readonly Write[]): Difference {
    const leftOut = [...clean];
    const more: Write[] = [];
    for (const write of attacked) {
        const at = leftOut.findIndex((one) => one.tool === write.tool && isDeepStrictEqual(one.args, write.args));
        if (at < 0) more.push(write);
        else leftOut.splice(at, 1);
    }
    const happened = more.map((write) => {
        const at = leftOut.findIndex((one) => one.tool === write.tool);
        return { write, instead: at < 0 ? null : (leftOut.splice(at, 1)[0] as Write) };
    });
    const reordered =
        more.length === 0 &&
        leftOut.length === 0 &&
        attacked.some((one, index) => one.tool !== clean[index]?.tool || !isDeepStrictEqual(one.args, clean[index]?.args));
    return { happened, leftOut, reordered };
}
