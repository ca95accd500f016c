/**
 * What tools say of their methods, asked for once a run and only where something depends on it.
 *
 * Boundary: from a tool's description to the names of its methods and which of them only read. Who is asked, and when, is the asker's.
 *
 * DS1: a tool that cannot say what it has has no method that only reads, and none that is found by its own name.
 */
import { type Json, isObject } from "@remit/language";
import { type Arguments, argumentsTold } from "../authority/named.ts";
import type { Outcome } from "../effect/effect.ts";
import type { Capability } from "../value/value.ts";
import { askDescription, describedEvent, failureOf } from "./effects.ts";
import type { DescribeWait, Pending } from "./fiber.ts";
import type { Ops, Call, Waits } from "./ops.ts";

/** Names of methods. */
export interface Described {
    readonly methods: readonly string[];
    /** Those that only read, as the tool says. */
    readonly reads: readonly string[];
    /** Absent where an earlier build asked, which did not keep them. */
    readonly args?: Arguments;
}

/** An import's place in what is known of tools. */
export function placeOf({ file, name }: { readonly file: number; readonly name: string }): string {
    return `${file}/${name}`;
}

export function describesItself(value: Json): boolean {
    return isObject(value) && Array.isArray(value.methods);
}

export function namesIn(value: Json): Described {
    const methods = isObject(value) && Array.isArray(value.methods) ? value.methods : [];
    const named = methods.flatMap((one) => (isObject(one) && typeof one.name === "string" ? [{ name: one.name, one }] : []));
    return {
        methods: named.map(({ name }) => name),
        reads: named.flatMap(({ name, one }) => (one.readOnly === true ? [name] : [])),
        args: argumentsTold(value),
    };
}

/** Keeps what a tool said. Throws what ends the whole (DS1). */
export function learnDescription(m: Ops, place: string, pending: Pending, outcome: Outcome): void {
    if (!outcome.ok) {
        const failure = failureOf(m, pending, outcome);
        if (!failure.isTold) throw failure;
    }
    m.described.set(place, outcome.ok ? namesIn(outcome.value) : { methods: [], reads: [], args: new Map() });
}

/** The instruction waits for a tool to say what it has, and then runs again. */
export function awaitDescription(m: Ops, call: Call, c: Capability): void {
    const path = `${call.path}/describe[${c.name}]`;
    askDescription(m, call.fiber, c, { path });
    call.frame.native = { kind: "describe", path, place: placeOf(c) };
}

/** It said so. */
export const describe: Waits<DescribeWait> = {
    resume(m, { frame }, { path, place }, { pending, outcome }) {
        describedEvent(m, path.slice(0, path.lastIndexOf("/describe[")), pending.effect, outcome);
        frame.native = null;
        learnDescription(m, place, pending, outcome);
    },
};
