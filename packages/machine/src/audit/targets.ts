/**
 * Arguments of a call that say where it goes.
 *
 * Boundary: pure; names and JSON. What their origins mean is for `rules.ts`.
 */
import { type ImportForm, isObject, type Json, type Program } from "@remit/language";
import { type Call, meant } from "./invariant.ts";

/** Arguments that say where a call goes, by their usual names. */
const TARGETS: ReadonlySet<string> = new Set(
    "to cc bcc recipient recipients email address url uri href path file account iban payee beneficiary channel user username phone host command".split(
        " ",
    ),
);

/** An argument, or a part of one, that says where a call goes. */
export interface Target {
    /** Its own name: `to`. */
    readonly name: string;
    /** As a person is told: `message.to`. */
    readonly shown: string;
    /** The argument of the call that holds it, as the event names it: by its name, or by its place from 1. */
    readonly holder: string;
    /** Nothing else is in that argument: what it carries, the target carries. */
    readonly whole: boolean;
}

/** Every part that says where a call goes, whatever it stands in. `parameters`: names of what is given by place, as far as they are known. */
export function targetsOf(call: Pick<Call, "uri" | "method" | "args">, parameters: readonly string[]): Target[] {
    const { args } = call;
    const inner = meant(call).args;
    if (inner !== args) {
        const found = inner.flatMap((json) => targetsIn(json, "", false));
        return found.map((one) => ({
            ...one,
            holder: "args",
            whole: inner.every((json) => isOnlyTargets(json, false)),
        }));
    }
    const [first] = args;
    const named = args.length === 1 && isObject(first) ? Object.entries(first) : null;
    const all = named ?? args.map((json, at): [string, Json] => [parameters[at] ?? String(at + 1), json]);
    return all.flatMap(([name, json], at) =>
        targetsIn(json, name, isTarget(name)).map((one) => ({
            ...one,
            holder: named === null ? String(at + 1) : name,
            whole: isOnlyTargets(json, isTarget(name)),
        })),
    );
}

function isTarget(name: string): boolean {
    return TARGETS.has(name.toLowerCase());
}

/** Targets of a value: itself where it is one, else the parts of it that are, each once. */
function targetsIn(json: Json, shown: string, is: boolean): { readonly name: string; readonly shown: string }[] {
    if (is) return [{ name: shown.slice(shown.lastIndexOf(".") + 1), shown }];
    const parts: (readonly [string, Json])[] = Array.isArray(json)
        ? json.map((one) => ["", one])
        : isObject(json)
          ? Object.entries(json)
          : [];
    const found = new Map<string, { readonly name: string; readonly shown: string }>();
    for (const [name, part] of parts)
        for (const one of targetsIn(part, [shown, name].filter((text) => text !== "").join("."), isTarget(name))) found.set(one.shown, one);
    return [...found.values()];
}

function isOnlyTargets(json: Json, is: boolean): boolean {
    if (is) return true;
    if (Array.isArray(json)) return json.every((one) => isOnlyTargets(one, false));
    return isObject(json) && Object.entries(json).every(([name, one]) => isOnlyTargets(one, isTarget(name)));
}

/** Whether the clauses of the tool name the origin as one that the argument may come from: the program's author has said so. */
export function letIn(program: Program, tool: string, method: string, target: string, origin: string): boolean {
    return isSaid(program, tool, method, target, (c) => c.among !== true && c.addresses !== true && c.from?.includes(origin) === true);
}

/**
 * Whether the clauses let in whole values that occurred in what they name: a call that began was held to them word by word, so that who chose it could
 * make up no target. What a person allowed all the same is told as such.
 */
export function isAmong(program: Program, tool: string, method: string, target: string): boolean {
    return isSaid(program, tool, method, target, (c) => c.among === true && c.addresses !== true && c.plain !== true);
}

type ArgClause = Extract<NonNullable<ImportForm["clauses"]>[number], { readonly kind: "arg" }>;

function isSaid(program: Program, tool: string, method: string, target: string, says: (clause: ArgClause) => boolean): boolean {
    const imports = program.files.flatMap((file) => file.imports.filter((i) => i.what === "tool" && i.name === tool));
    const isBound = (i: ImportForm): boolean =>
        i.clauses?.some((c) => c.kind === "arg" && c.name === target && (c.method === undefined || c.method === method) && says(c)) ===
        true;
    return imports.length > 0 && imports.every(isBound);
}
