/**
 * Watching a run for derivations: which step each value came from, and what stood in the arguments of every effect.
 *
 * Boundary: reads and labels; nothing that the run can see changes. Used in a run that is done again from its ledger.
 */
import { isObject, type Json, type Site } from "@remit/language";
import type { DerivedLabels, Step } from "../value/derive.ts";
import { Labelled, List, Obj, type Value } from "../value/value.ts";
import type { Frame } from "./fiber.ts";

/** Labelled parts of a value, by JSON Pointer, containers before what they hold. */
export type Parts = readonly { readonly pointer: string; readonly label: number }[];

/** Which parts a value has, as it was when it was used: changing it later takes none away. What is shared is one here too. */
type Shape = null | readonly Shape[] | ReadonlyMap<string, Shape>;

/** Parts that one value may be told apart into, and what is looked at for them: what is shared in many places is as large as if it were not. */
const MAX_PARTS = 10_000;
const MAX_WALK = 1_000_000;
/** As deep as a value may be that leaves the run. */
const MAX_DEPTH = 500;

export class Tracer {
    readonly labels: DerivedLabels;
    /** What each effect was asked with, and what the run gave, under `value`. */
    readonly uses = new Map<string, Parts>();
    /** The same by their parts: of the list of arguments, of the run's value. */
    private readonly shapes = new Map<string, Shape>();
    /** What a `generate` or an agent saw, by the path of the call. */
    private readonly prompts = new Map<string, number[]>();
    /** What was stored, by memory and id. */
    private readonly records = new Map<string, number>();

    constructor(labels: DerivedLabels) {
        this.labels = labels;
    }

    private last: { readonly frame: Frame; readonly before: readonly Value[]; readonly site: Site | null } | null = null;

    /** Before an instruction: what the one before it put into slots came about there. */
    step(frame: Frame, site: Site | null): void {
        this.settle();
        this.last = { frame, before: [...(frame.locals as unknown as Value[])], site };
        this.at(site, frame.path);
    }

    private settle(): void {
        const { last } = this;
        if (last === null) return;
        const { locals, path } = last.frame;
        for (let i = 1; i < locals.length; i++) {
            const value = locals[i] as Value;
            if (value === last.before[i]) continue;
            locals[i] = this.taken(value, last.site, path);
        }
        this.last = null;
    }

    /** A value that a statement got, with what it holds. */
    taken(value: Value, site: Site | null, path: string): Value {
        this.fresh(value, site, path);
        return this.mark(value, site, path);
    }

    private readonly met = new WeakSet<object>();

    /** What a list or object that was made now took in. */
    private fresh(value: Value, site: Site | null, path: string): void {
        const rest: Value[] = [value];
        for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
            const raw = one instanceof Labelled ? one.v : one;
            if (!(raw instanceof List || raw instanceof Obj) || this.met.has(raw)) continue;
            this.met.add(raw);
            const held = raw instanceof List ? raw.items : raw.slots;
            for (let i = 0; i < held.length; i++) {
                const part = held[i] as Value;
                held[i] = this.mark(part, site, path);
                if (typeof part === "object" && part !== null) rest.push(part);
            }
        }
    }

    at(site: Site | null, path: string, what = "value"): void {
        this.labels.now = { site, path, what };
    }

    /** A value that a statement made or passed on. */
    mark(value: Value, site: Site | null, path: string): Value {
        if (!(value instanceof Labelled)) return value;
        const l = this.labels.derive([value.l], site, path, "value");
        return l === value.l ? value : new Labelled(value.v, l);
    }

    /** `place`: of what the place of the call depends on, which is of the whole. */
    use(path: string, values: readonly Value[], place: number): void {
        const parts = values.flatMap((value, i) => partsOf(value, `/${i}`));
        this.uses.set(path, place === 0 ? parts : [{ pointer: "", label: place }, ...parts]);
        this.shapes.set(path, values.map(shapeOf));
    }

    /** A call that a model chose. Each part of its arguments was made from everything that the model saw: `label`. */
    chosen(path: string, args: Json, label: number): void {
        this.uses.set(path, [{ pointer: "/0", label }]);
        this.shapes.set(path, shapeOfJson(args));
    }

    result(value: Value): void {
        this.uses.delete("failure");
        this.uses.set("value", partsOf(value, ""));
        this.shapes.set("value", shapeOf(value));
    }

    /** The run ended by a failure that carries this label. */
    failed(label: number): void {
        this.uses.set("failure", label === 0 ? [] : [{ pointer: "", label }]);
        this.shapes.set("failure", null);
    }

    saw(path: string, values: readonly Value[]): void {
        const known = this.prompts.get(path) ?? [];
        known.push(...values.flatMap((value) => partsOf(value, "").map((part) => part.label)));
        this.prompts.set(path, known);
    }

    sawLabel(path: string, label: number): void {
        this.prompts.set(path, [...(this.prompts.get(path) ?? []), label]);
    }

    /** The label of what a model or an agent said: made from everything that it saw. `what`: `model Claude`, `agent Fixer`. */
    said(path: string, site: Site | null, what: string, origins: readonly string[]): number {
        return this.labels.derive(this.prompts.get(path) ?? [], site, path, what, [...new Set(origins)].sort());
    }

    stored(memory: string, outcome: Json, args: number): void {
        if (isObject(outcome) && typeof outcome.id === "string") this.records.set(`${memory} ${outcome.id}`, args);
    }

    /** The label of a record that this run stored itself; 0 where it did not. */
    record(memory: string, id: Json): number {
        return typeof id === "string" ? (this.records.get(`${memory} ${id}`) ?? 0) : 0;
    }

    /** What a use carries, and who chose it: of an origin that only chose, data stands nowhere in it. */
    carries(use: string): ReadonlySet<string> {
        return new Set((this.uses.get(use) ?? []).flatMap(({ label }) => this.labels.origins(label)));
    }

    /** How the part at a pointer came about: its own label, those around it and those inside it. Null where there is no such use or part. */
    why(use: string, pointer: string): Step[] | null {
        const parts = this.uses.get(use);
        if (parts === undefined || !isPart(this.shapes.get(use) ?? null, pointer)) return null;
        const labels = parts
            .filter(
                (p) =>
                    p.pointer === pointer || pointer.startsWith(`${p.pointer}/`) || p.pointer.startsWith(`${pointer}/`) || p.pointer === "",
            )
            .map((p) => p.label);
        const { site, path } = this.labels.now;
        const whole = labels.length === 1 ? (labels[0] as number) : this.labels.derive(labels, site, path, "value");
        return this.labels.chain(whole);
    }
}

function shapeOf(value: Value): Shape {
    const known = new Map<object, Shape>();
    const walk = (given: Value, depth: number): Shape => {
        const v = given instanceof Labelled ? given.v : given;
        if (!(v instanceof List || v instanceof Obj) || depth > MAX_DEPTH) return null;
        const before = known.get(v);
        if (before !== undefined) return before;
        if (v instanceof List) {
            const items: Shape[] = [];
            known.set(v, items);
            for (const item of v.items) items.push(walk(item, depth + 1));
            return items;
        }
        const fields = new Map<string, Shape>();
        known.set(v, fields);
        for (const [slot, key] of v.shape.keys.entries()) fields.set(key, walk(v.slots[slot] as Value, depth + 1));
        return fields;
    };
    return walk(value, 0);
}

function shapeOfJson(json: Json): Shape {
    if (Array.isArray(json)) return json.map(shapeOfJson);
    return isObject(json) ? new Map(Object.entries(json).map(([key, part]) => [key, shapeOfJson(part)])) : null;
}

/** `pointer`: RFC 6901. */
function isPart(shape: Shape, pointer: string): boolean {
    let at: Shape | undefined = shape;
    for (const token of pointer.split("/").slice(1)) {
        if (at === null || at === undefined) return false;
        const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
        at = at instanceof Map ? at.get(key) : /^(?:0|[1-9]\d*)$/.test(key) ? (at as readonly Shape[])[Number(key)] : undefined;
    }
    return at !== undefined;
}

export function partsOf(value: Value, pointer: string): { pointer: string; label: number }[] {
    const out: { pointer: string; label: number }[] = [];
    const open = new Set<object>();
    let walked = 0;
    const walk = (given: Value, at: string): void => {
        if (out.length >= MAX_PARTS || open.size > MAX_DEPTH || ++walked > MAX_WALK) return;
        let v = given;
        if (v instanceof Labelled) {
            out.push({ pointer: at, label: v.l });
            v = v.v;
        }
        if (v === null || typeof v !== "object" || open.has(v)) return;
        open.add(v);
        if (v instanceof List)
            v.items.forEach((item, i) => {
                walk(item, `${at}/${i}`);
            });
        else if (v instanceof Obj)
            v.shape.keys.forEach((key, slot) => {
                walk((v as Obj).slots[slot] as Value, `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
            });
        open.delete(v);
    };
    walk(value, pointer);
    return out;
}
