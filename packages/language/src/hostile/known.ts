/**
 * What a round over a program has found so far: values of variables, insides of lists and objects, facts at places, uses.
 *
 * Boundary: maps that only grow. What is put in is `walk.ts`'s and `calls.ts`'s, what follows from it `table.ts`'s.
 */
import type { Site } from "../text/source.ts";
import { type Facts, join, NO_FACTS, PLAIN, union, type Val, madeVal, factsOf, joinOf } from "./facts.ts";
import type { Func } from "./scope.ts";

/** Any field. */
export const ANY = "*";
/** Under which stands what decided how many items or fields there are. */
const SHAPE = "#";

export class Known {
    /** Something was found that was not known before. */
    changed = false;
    private readonly vals = new Map<string, Val>();
    private readonly at = new Map<string, Facts>();
    private readonly sets = new Map<string, Set<string>>();
    private readonly insides = new Map<string, Map<string, Val>>();
    private readonly ids = new WeakMap<object, string>();
    private readonly stands = new Map<string, { readonly at?: readonly [number, number, number, number] }>();
    private next = 0;

    /** A name for a node of the program. */
    idOf(node: object): string {
        const known = this.ids.get(node);
        if (known !== undefined) return known;
        const id = `#${this.next++}`;
        this.ids.set(node, id);
        return id;
    }

    /** A node that stands for a line of the table of authority. */
    node(name: string, site: Site | null): { readonly at?: readonly [number, number, number, number] } {
        const known = this.stands.get(name);
        if (known !== undefined) return known;
        const { line, column, endLine = line, endColumn = column } = site ?? { line: 0, column: 0 };
        const node = site === null ? {} : { at: [line, column, endLine, endColumn] as const };
        this.stands.set(name, node);
        return node;
    }

    val(place: string): Val {
        return this.vals.get(place) ?? PLAIN;
    }

    add(place: string, value: Val): void {
        const before = this.val(place);
        const now = join(before, value);
        if (now === before) return;
        this.vals.set(place, now);
        this.changed = true;
    }

    facts(place: string): Facts {
        return this.at.get(place) ?? NO_FACTS;
    }

    addFacts(place: string, facts: Facts): void {
        const before = this.facts(place);
        const now = union(before, facts);
        if (now === before) return;
        this.at.set(place, now);
        this.changed = true;
    }

    set(place: string): ReadonlySet<string> {
        return this.sets.get(place) ?? new Set();
    }

    addTo(place: string, items: Iterable<string>): void {
        const known = this.sets.get(place) ?? new Set<string>();
        this.sets.set(place, known);
        for (const item of items) {
            if (known.has(item)) continue;
            known.add(item);
            this.changed = true;
        }
    }

    // ---- lists and objects -------------------------------------------------------------------------------------------

    /** What a place makes whose inside is not written in the program: everything in it is as it is. */
    opaque(id: string): Val {
        this.put(id, ANY, madeVal(id));
        return madeVal(id);
    }

    /** What stands in a list or object that a place made. */
    put(id: string, field: string, value: Val): void {
        const fields = this.insides.get(id) ?? new Map<string, Val>();
        this.insides.set(id, fields);
        const before = fields.get(field);
        const now = before === undefined ? value : join(before, value);
        if (now === before) return;
        fields.set(field, now);
        this.changed = true;
    }

    /** What decided how many items or fields a place's list or object has. */
    shape(id: string, by: Pick<Val, "data" | "picks">): void {
        if (factsOf(by).size > 0) this.put(id, SHAPE, { ...PLAIN, data: by.data, picks: by.picks });
    }

    /** What tells how many items or fields a value has. */
    shapeOf(v: Val): Facts {
        let out = factsOf(v);
        for (const id of v.made) out = union(out, factsOf(this.insides.get(id)?.get(SHAPE) ?? PLAIN));
        return out;
    }

    /** Fields by name, with `ANY`. */
    fieldsOf(id: string): readonly (readonly [string, Val])[] {
        return [...(this.insides.get(id) ?? [])].filter(([field]) => field !== SHAPE);
    }

    /** A field of it, with what its reference carries. `field` null: any. */
    read(v: Val, field: string | null): Val {
        const inner = [...v.made].flatMap((id): Val[] => {
            if (field === null) return this.fieldsOf(id).map(([, value]) => value);
            const fields = this.insides.get(id);
            return [fields?.get(field) ?? PLAIN, fields?.get(ANY) ?? PLAIN, field === "length" ? (fields?.get(SHAPE) ?? PLAIN) : PLAIN];
        });
        return joinOf([{ ...PLAIN, data: v.data, picks: v.picks }, ...inner]);
    }

    /** Everything that is in it, however deep. */
    deep(v: Val): Pick<Val, "data" | "picks"> {
        let { data, picks } = v;
        this.eachInside(v, (one) => {
            data = union(data, one.data);
            picks = union(picks, one.picks);
        });
        return { data, picks };
    }

    deepFacts(v: Val): Facts {
        return factsOf(this.deep(v));
    }

    /** Capabilities that are in it, however deep. */
    deepCaps(v: Val): ReadonlySet<string> {
        const caps = new Set(v.caps);
        this.eachInside(v, (one) => {
            for (const cap of one.caps) caps.add(cap);
        });
        return caps;
    }

    /** The lists and objects that it may be, and those in it. */
    madeIn(v: Val): ReadonlySet<string> {
        const made = new Set(v.made);
        this.eachInside(v, (one) => {
            for (const id of one.made) made.add(id);
        });
        return made;
    }

    private eachInside(v: Val, visit: (one: Val) => void): void {
        const seen = new Set(v.made);
        for (const id of seen)
            for (const one of this.insides.get(id)?.values() ?? []) {
                visit(one);
                for (const more of one.made) seen.add(more);
            }
    }
}

/** Where a variable of a function is kept. */
export function varOf(func: Pick<Func, "id">, name: string): string {
    return `var ${func.id} ${name}`;
}
