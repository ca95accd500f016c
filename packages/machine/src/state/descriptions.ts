/**
 * What tools say of their methods, asked for once a run and only where something depends on it.
 *
 * Boundary: from a tool's description to the names of its methods and which of them only read. Who is asked, and when, is the asker's.
 *
 * DS1: a tool that cannot say what it has has no method that only reads, and none that is found by its own name.
 * DS3: a use that a record holds, and that the build of the record let through without asking the tool, is told again without asking.
 * DS4: that a tool was asked is known only where the code carries what decided that it was: other code asks again.
 * DS2: where a rule names what a tool has to have, no use goes on before the tool said what it has; the next use asks it again.
 */
import { type Json, isObject, toolSchema } from "@remit/language";
import type { Standing } from "../authority/decide.ts";
import { type Arguments, argumentsTold, type Rule, schemaFor, unknownOf } from "../authority/named.ts";
import type { Outcome, ToolRequest } from "../effect/effect.ts";
import type { Capability } from "../value/value.ts";
import { askDescription, describedEvent, failureOf } from "./effects.ts";
import type { DescribeWait, Pending } from "./fiber.ts";
import type { Ops, Call, Waits } from "./ops.ts";

/** Names of methods. */
export interface Described {
    readonly methods: readonly string[];
    /** Those that only read, as the tool says. */
    readonly reads: readonly string[];
    /** Absent where the tool did not say, or an earlier build asked, which did not keep them. */
    readonly args?: Arguments;
    /** DS4. Origins of the places that asked; absent where one had none. */
    readonly under?: readonly (readonly string[])[];
}

/** DS3. `use`, `describe`: their paths. */
export type Passed = (use: string, describe: string) => boolean;
/** Of a machine that goes on by itself. */
export const NONE_PASSED: Passed = () => false;

/** An import's place in what is known of tools. */
export function placeOf(c: Capability): string {
    return c.place;
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

/** What is known of a tool at a place with these labels (DS4). */
export function toldAt({ described, run: { labels } }: Pick<Ops, "described" | "run">, c: Capability, at: number): Described | undefined {
    const told = described.get(placeOf(c));
    return told?.under === undefined || told.under.some((one) => labels.within(labels.of(one), at)) ? told : undefined;
}

/** Something is said of a tool's methods or arguments by name, and it did not say yet what it has (SN2). `at`: labels of the place. */
export function isUnread(m: Ops, c: Capability, at: number): boolean {
    return (
        m.authority.rulesAt(c.file, c.name).length > 0 &&
        toldAt(m, c, at)?.args === undefined &&
        toolSchema(c.kind, m.compiled.importOf(c)?.uri ?? "") === null
    );
}

/** A tool said something of itself to who asked under these origins. */
export function keepDescription({ described }: Pick<Ops, "described">, place: string, told: Described, labels: readonly string[]): void {
    const before = described.get(place);
    const isKnown = labels.length === 0 || (before !== undefined && before.under === undefined);
    described.set(place, isKnown ? told : { ...told, under: [...(before?.under ?? []), labels] });
}

/** DS2, where it cannot be asked now. */
export function unreadText(tool: string): string {
    return `a rule names what ${tool} has to have, and ${tool} did not say what it has`;
}

/** Keeps what a tool said. Throws what ends the whole (DS1). */
export function learnDescription(m: Ops, place: string, pending: Pending, outcome: Outcome): void {
    if (!outcome.ok) {
        const failure = failureOf(m, pending, outcome);
        if (!failure.isTold) throw failure;
    }
    keepDescription(m, place, outcome.ok ? namesIn(outcome.value) : NOTHING_TOLD, pending.effect.labels);
}

const NOTHING_TOLD: Described = { methods: [], reads: [] };

/** Whether a use waits for its tool to say what it has (DS2). */
export function isToBeAsked(m: Ops, { path, frame }: Call, c: Capability): boolean {
    return isUnread(m, c, frame.placeLabel) && !m.passed(path, describePath(path, c));
}

function describePath(use: string, { name }: Capability): string {
    return `${use}/describe[${name}]`;
}

/** The instruction waits for a tool to say what it has, and then runs again. */
export function awaitDescription(m: Ops, call: Call, c: Capability): void {
    const path = describePath(call.path, c);
    askDescription(m, call.fiber, c, { path });
    call.frame.native = { kind: "describe", path, place: placeOf(c) };
}

/** It said so. */
export const describe: Waits<DescribeWait> = {
    resume(m, { frame }, { path, place }, { pending, outcome }) {
        describedEvent(m, path.slice(0, path.lastIndexOf("/describe[")), pending.effect, outcome);
        frame.native = null;
        const { file, tool } = pending.effect.request as unknown as ToolRequest;
        if (!outcome.ok && isUnread(m, m.compiled.capabilityAt(file, tool), frame.placeLabel)) throw failureOf(m, pending, outcome);
        learnDescription(m, place, pending, outcome);
    },
};

/** What a tool has, held against what is said of it. */
export function namedOn(m: Ops, c: Capability, at: number): Named {
    const { authority, compiled } = m;
    const rules = authority.rulesAt(c.file, c.name);
    if (rules.length === 0) return NOTHING_NAMED;
    const told = toldAt(m, c, at)?.args ?? null;
    const known = NAMED.get(rules) ?? new WeakMap<object, Named>();
    NAMED.set(rules, known);
    let named = known.get(told ?? NOT_TOLD);
    if (named === undefined) {
        const uri = compiled.importOf(c)?.uri ?? "";
        const schema = schemaFor(c.kind, uri, told);
        named = {
            schema,
            unknown: schema === null ? null : unknownOf(c.name, uri, schema, rules),
            namesArgs: rules.some(({ arg }) => arg !== null),
        };
        known.set(told ?? NOT_TOLD, named);
    }
    return named;
}

type Named = Pick<Standing, "unknown" | "schema" | "namesArgs">;

/** By what is said of an import, which runs share, and what a tool told one of them of itself: else nearly all of what stands before a call. */
const NAMED = new WeakMap<readonly Rule[], WeakMap<object, Named>>();

const NOT_TOLD = {};

const NOTHING_NAMED = { unknown: null, schema: null, namesArgs: false } as const;
