/**
 * Where a value came from, step by step: label sets that remember how they were made.
 *
 * Boundary: takes the place of `Labels` in a run that is done again from its ledger; the origins are the same at every moment, so the run is.
 *
 * DR1: every step of a chain is a place in the source, or an effect; steps come after the steps they were made from.
 * DR2: a value that was only passed on unchanged inside one statement is one step; putting it into a list or an object is passing it on.
 */
import type { Site } from "@remit/language";
import { Labels } from "./label.ts";
import { Heap, Labelled, type List, type Obj, type Value } from "./value.ts";

/** One step of a derivation. */
export interface Step {
    readonly site: Site | null;
    /** Of the frame, or of the effect that brought the value. */
    readonly path: string;
    /** `value`, `input`, `tool Repo.read`, `model Claude`, `agent Fixer`, `memory Notes`, `file data.json`, `endorsed`. */
    readonly what: string;
    /** Sorted. */
    readonly origins: readonly string[];
}

interface Node extends Step {
    readonly parents: readonly number[];
}

export class DerivedLabels extends Labels {
    override readonly derives = true;
    private readonly nodes: Node[] = [{ site: null, path: "", what: "value", origins: [], parents: [] }];
    private readonly made = new Map<string, number>();
    /** What a set of origins that comes in now belongs to. */
    now: { readonly site: Site | null; readonly path: string; readonly what: string } = { site: null, path: "main", what: "value" };

    override of(origins: readonly string[]): number {
        return origins.length === 0 ? 0 : this.add({ ...this.now, origins: [...new Set(origins)].sort(), parents: [] });
    }

    override union(a: number, b: number): number {
        if (a === b || b === 0) return a;
        if (a === 0) return b;
        const left = this.nodes[a] as Node;
        const right = this.nodes[b] as Node;
        // Two things of one place, or a thing and what was made of it, are no new step.
        if (left.parents.includes(b) && this.within(b, a)) return a;
        if (right.parents.includes(a) && this.within(a, b)) return b;
        if (left.what === "value" && right.what === "value" && left.path === right.path && samePlace(left.site, right.site))
            return this.derive([a, b], left.site, left.path, "value");
        return this.derive([a, b], this.now.site, this.now.path, "value");
    }

    /** A value as it is put somewhere now. */
    passed(value: Value): Value {
        if (!(value instanceof Labelled)) return value;
        const l = this.derive([value.l], this.now.site, this.now.path, "value");
        return l === value.l ? value : new Labelled(value.v, l);
    }

    protected override derived(from: number, origins: readonly string[]): number {
        return this.derive([from], this.now.site, this.now.path, "value", [...origins].sort());
    }

    override get size(): number {
        return this.nodes.length;
    }

    override origins(id: number): readonly string[] {
        return (this.nodes[id] as Node).origins;
    }

    override within(a: number, b: number): boolean {
        const those = new Set(this.origins(b));
        return this.origins(a).every((origin) => those.has(origin));
    }

    /** A step made from others. `origins`: in place of the union of theirs. */
    derive(parents: readonly number[], site: Site | null, path: string, what: string, origins?: readonly string[]): number {
        const from = [...new Set(parents.filter((p) => p !== 0))].sort((x, y) => x - y);
        const all = origins ?? [...new Set(from.flatMap((p) => this.origins(p)))].sort();
        if (all.length === 0) return 0;
        const [only] = from;
        if (from.length === 1 && only !== undefined && same(this.nodes[only] as Node, { site, path, what, origins: all })) return only;
        return this.add({ site, path, what, origins: all, parents: from });
    }

    private add(node: Node): number {
        const key = JSON.stringify([node.parents, node.path, node.what, node.origins, node.site]);
        const known = this.made.get(key);
        if (known !== undefined) return known;
        this.met(node.origins);
        this.nodes.push(node);
        this.made.set(key, this.nodes.length - 1);
        return this.nodes.length - 1;
    }

    /** The steps behind a set, what they were made from before them. Steps at one place are one. */
    chain(id: number): Step[] {
        const out: (Step | null)[] = [];
        const seen = new Set<number>();
        const places = new Map<string, number>();
        const rest: { readonly id: number; at: number }[] = [];
        const enter = (one: number): void => {
            if (one === 0 || seen.has(one)) return;
            seen.add(one);
            rest.push({ id: one, at: 0 });
        };
        enter(id);
        for (let top = rest[rest.length - 1]; top !== undefined; top = rest[rest.length - 1]) {
            const node = this.nodes[top.id] as Node;
            const next = node.parents[top.at++];
            if (next !== undefined) {
                enter(next);
                continue;
            }
            rest.pop();
            const { site, path, what, origins } = node;
            const place = JSON.stringify([path, what, site?.file, site?.line, site?.column]);
            const before = places.get(place);
            if (before !== undefined && what === "value") continue;
            const known = before === undefined ? null : (out[before] as Step);
            // What an effect brought stands behind all that its parts were made from.
            if (before !== undefined) out[before] = null;
            places.set(place, out.length);
            out.push({ site, path, what, origins: known === null ? origins : [...new Set([...known.origins, ...origins])].sort() });
        }
        return out.filter((step) => step !== null);
    }
}

/** A heap that keeps where its lists and objects took their parts. */
export class DerivedHeap extends Heap {
    derived: DerivedLabels | null = null;

    override set(obj: Obj, key: string, value: Value): void {
        super.set(obj, key, this.derived === null ? value : this.derived.passed(value));
    }

    override push(list: List, value: Value): void {
        super.push(list, this.derived === null ? value : this.derived.passed(value));
    }

    override setItem(list: List, index: number, value: Value): void {
        super.setItem(list, index, this.derived === null ? value : this.derived.passed(value));
    }
}

function samePlace(a: Site | null, b: Site | null): boolean {
    return a?.file === b?.file && a?.line === b?.line && a?.column === b?.column;
}

function same(a: Step, b: Step): boolean {
    return (
        (b.what === "value" || (a.what === b.what && a.path === b.path)) &&
        samePlace(a.site, b.site) &&
        a.origins.length === b.origins.length &&
        a.origins.every((origin, i) => origin === b.origins[i])
    );
}
