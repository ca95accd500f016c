/**
 * The arguments of a call as rules about them need them: by name, with the origins of each.
 *
 * Boundary: reads values or JSON; changes nothing. Looked at only where a rule asks.
 *
 * A3: an argument that a rule names and that cannot be told apart is every argument: the rule then binds all of them.
 * A4: the generic `call` of an MCP server is the method it names.
 */
import { type Json, schemeOf } from "@remit/language";
import { toJson, type Walking } from "../value/json.ts";
import type { Labels } from "../value/label.ts";
import { labelOf, rawOf } from "../value/operators.ts";
import { heldIn, Labelled, Obj, type Value } from "../value/value.ts";

export interface Found {
    readonly json: Json;
    /** Label set id. */
    readonly labels: number;
}

export interface Given {
    /** The arguments that a name or a place (from 1) stands for; empty where the call does not have it. */
    named(name: string): readonly Found[];
    /** Label set of all that a name or a place stands for: what most rules look at. */
    carried(name: string): number;
    /** Label set of all of them. */
    readonly whole: number;
    /** All of them. */
    readonly all: readonly Found[];
    /** What they are called: the keys of a single object, else their places from 1. */
    readonly names: readonly string[];
}

/** Arguments that the program computed. `at`: what the place of the call depends on, which the call tells even where it has no arguments. */
export function valuesGiven(args: readonly Value[], run: Walking, at = 0): Given {
    return new ValuesGiven(args, run, at);
}

/** Made before every call: nothing is looked at before it is asked for. */
class ValuesGiven implements Given {
    private readonly args: readonly Value[];
    private readonly run: Walking;
    private readonly labels: Labels;
    private readonly at: number;

    constructor(args: readonly Value[], run: Walking, at: number) {
        this.args = args;
        this.run = run;
        this.labels = run.labels;
        this.at = at;
    }

    named(name: string): readonly Found[] {
        const { values, outer } = this.meant(name);
        return values.map((value) => this.found(value, outer));
    }

    carried(name: string): number {
        const [first] = this.args;
        const object = this.args.length === 1 && first !== undefined && placeOf(name) === null ? rawOf(first) : null;
        // The usual call, one object with names: no list is made.
        if (object instanceof Obj) {
            const value = object.get(name);
            if (value === undefined) return 0;
            const { labels } = this;
            return labels.union(labels.union(labelOf(first as Value), heldIn(labels, object)), this.within(value));
        }
        const { values, outer } = this.meant(name);
        return values.reduce<number>((all, value) => this.labels.union(all, this.labels.union(outer, this.within(value))), 0);
    }

    /** The values that a name or a place stands for. `outer`: what goes along with them. */
    private meant(name: string): { readonly values: readonly Value[]; readonly outer: number } {
        const { args, labels } = this;
        const place = placeOf(name);
        const at = place === null ? undefined : args[place];
        if (at !== undefined) return { values: [at], outer: 0 };
        const [first] = args;
        const object = args.length === 1 && first !== undefined ? rawOf(first) : null;
        // A place that the call does not have is a name where its object has it (A3).
        if (!(object instanceof Obj)) return { values: place !== null ? [] : args, outer: 0 };
        const value = object.get(name);
        // Who chose the keys chose which argument a value is.
        return { values: value === undefined ? [] : [value], outer: labels.union(labelOf(first as Value), heldIn(labels, object)) };
    }

    get whole(): number {
        const { labels, args } = this;
        return args.reduce<number>((all, arg) => {
            const raw = rawOf(arg);
            if (!(raw instanceof Obj)) return labels.union(all, this.within(arg));
            return raw.slots.reduce<number>(
                (of, value) => labels.union(of, this.within(value)),
                labels.union(all, labels.union(labelOf(arg), heldIn(labels, raw))),
            );
        }, this.at);
    }

    get all(): readonly Found[] {
        const all = this.args.map((arg) => this.found(arg, 0));
        return this.at === 0 ? all : [...all, { json: null, labels: this.at }];
    }

    get names(): readonly string[] {
        const [first] = this.args;
        const object = this.args.length === 1 && first !== undefined ? rawOf(first) : null;
        return object instanceof Obj ? object.shape.keys : placesOf(this.args);
    }

    private found(value: Value, outer: number): Found {
        const out = toJson(value, this.run);
        return { json: out.json, labels: this.labels.union(outer, out.labels) };
    }

    /** Nothing else is in most values: no JSON is made of them. */
    private within(value: Value): number {
        const raw = rawOf(value);
        if (raw === null || typeof raw === "string" || typeof raw === "boolean" || (typeof raw === "number" && Number.isFinite(raw)))
            return labelOf(value);
        return toJson(value, this.run).labels;
    }
}

/** The one argument of a call that a model wrote. `seen`: label set of what it had seen; `named`: what further ones its fields have. */
export function carriedGiven(
    args: Json,
    { seen, named, labels }: { readonly seen: number; readonly named: ReadonlyMap<string, number>; readonly labels: Labels },
): Given {
    const all = [...named.values()].reduce((both, one) => labels.union(both, one), seen);
    const whole = jsonGiven([args], all);
    if (named.size === 0) return whole;
    const of = (name: string): number => (isPlace(name) && !whole.names.includes(name) ? all : labels.union(seen, named.get(name) ?? 0));
    return {
        ...whole,
        names: whole.names,
        named: (name) => whole.named(name).map(({ json }) => ({ json, labels: of(name) })),
        carried: (name) => (whole.named(name).length === 0 ? 0 : of(name)),
    };
}

/** Arguments that a model wrote: everything in them has the same origins. */
export function jsonGiven(args: readonly Json[], labels: number): Given {
    const [first] = args;
    const object = args.length === 1 && first !== null && typeof first === "object" && !Array.isArray(first) ? first : null;
    const all = args.map((json) => ({ json: json as Json, labels }));
    const named = (name: string): readonly Found[] => {
        const place = placeOf(name);
        const at = place === null ? undefined : all[place];
        if (at !== undefined) return [at];
        if (object !== null) return Object.hasOwn(object, name) ? [{ json: object[name] as Json, labels }] : [];
        return place !== null ? [] : all;
    };
    return {
        named,
        carried: (name) => (named(name).length === 0 ? 0 : labels),
        whole: labels,
        all,
        get names() {
            return object === null ? placesOf(args) : Object.keys(object);
        },
    };
}

function placesOf(args: readonly unknown[]): readonly string[] {
    return args.map((_, at) => String(at + 1));
}

/** Whether what names an argument is a place. */
export function isPlace(name: string): boolean {
    return placeOf(name) !== null;
}

function placeOf(name: string): number | null {
    const c = name.charCodeAt(0);
    if (c < 0x31 || c > 0x39) return null;
    return /^[1-9][0-9]*$/.test(name) ? Number(name) - 1 : null;
}

/** A call as the method and arguments that it is (A4). `chosen`: label set of what said which method that is. */
export interface Alias {
    readonly method: string;
    readonly args: readonly Value[];
    readonly chosen: number;
}

/** `server.call({tool, args})` of an MCP tool (A4). What else it is given, and what chose the tool, goes along with the arguments. */
export function aliasOf(uri: string, method: string, args: readonly Value[], run: Walking): Alias | null {
    const { labels } = run;
    if (!isGeneric(uri, method) || args.length !== 1) return null;
    const given = args[0] as Value;
    const object = rawOf(given);
    if (!(object instanceof Obj)) return null;
    const name = object.get("tool");
    const text = name === undefined ? null : rawOf(name);
    if (name === undefined || typeof text !== "string") return null;
    const chosen = labels.union(labels.union(labelOf(given), heldIn(labels, object)), labelOf(name));
    let all = chosen;
    for (const key of object.shape.keys)
        if (key !== "tool" && key !== "args") all = labels.union(all, toJson(object.get(key) as Value, run).labels);
    const inner = object.get("args") ?? null;
    const whole = labels.union(all, labelOf(inner));
    return { method: text, args: [whole === 0 ? inner : new Labelled(rawOf(inner), whole)], chosen };
}

/** The same of a call that a model wrote. */
export function aliasOfJson(uri: string, method: string, args: Json): { readonly method: string; readonly args: readonly Json[] } | null {
    if (!isGeneric(uri, method) || args === null || typeof args !== "object" || Array.isArray(args)) return null;
    const name = Object.hasOwn(args, "tool") ? args.tool : undefined;
    if (typeof name !== "string") return null;
    return { method: name, args: [Object.hasOwn(args, "args") ? (args.args as Json) : null] };
}

/** A call that names the method in its argument (A4). */
export function isGeneric(uri: string, method: string): boolean {
    return method === "call" && schemeOf(uri) === "mcp";
}

/** The words of an argument that a bound is held against; null where it holds more than text. */
export function wordsOf(json: Json): readonly string[] | null {
    if (typeof json === "string") return [json];
    if (typeof json === "number" || typeof json === "boolean") return [String(json)];
    if (!Array.isArray(json)) return null;
    const words = json.map(wordsOf);
    return words.some((w) => w === null) ? null : (words as string[][]).flat();
}

/** As a sentence names an argument: by its name, or by its place. */
export function argumentText(arg: string): string {
    return /^\d/.test(arg) ? `argument ${arg}` : arg;
}
