/**
 * The uses that hostile data may choose, or choose arguments of, as they are found.
 *
 * Boundary: a list that only grows. What stops them is `rules.ts`'s.
 */
import type { Thing } from "../authority/tables.ts";
import type { Site } from "../text/source.ts";
import { type Facts, NO_FACTS, union } from "./facts.ts";

/** Who makes the call. */
export type By = "program" | "model" | "agent";

export interface ArgFacts {
    readonly data: Facts;
    readonly picks: Facts;
}

export interface Seen {
    readonly thing: Thing;
    readonly file: number;
    /** Null: any method that no other line names. */
    readonly method: string | null;
    readonly by: By;
    /** A model makes it that is shown references: what it passes on need not be what it chose by. */
    readonly hides: boolean;
    /** Origins that its choice carries whatever the data is. */
    readonly certain: readonly string[];
    /** Hostile data named what is called: the call counts as a model's. */
    readonly named: boolean;
    readonly site: Site | null;
    /** Functions that it stands in, or the agent that makes it. */
    readonly in: ReadonlySet<string>;
    readonly choice: Facts;
    /** By name, by place from 1, or `*` for any. */
    readonly args: ReadonlyMap<string, ArgFacts>;
    /** All arguments that it has: what tells that two calls have the same there, or null. */
    readonly given: ReadonlyMap<string, string | null>;
    /** A run may make it more than once; what a model or an agent makes, it makes as it likes. */
    readonly again: boolean;
}

export class Uses {
    readonly all = new Map<string, Seen>();
    changed = false;

    /** `place`: what tells it from other uses. Gives all that is known of it. */
    see(place: string, use: Seen): Seen {
        const id = `${place} ${use.thing.key} ${use.method ?? ""} ${use.by}`;
        const before = this.all.get(id);
        if (before === undefined) {
            this.all.set(id, use);
            this.changed = true;
            return use;
        }
        const choice = union(before.choice, use.choice);
        const where = [...use.in].every((one) => before.in.has(one)) ? before.in : new Set([...before.in, ...use.in]);
        const args = new Map(before.args);
        const given = new Map([...before.given, ...use.given]);
        for (const [name, text] of before.given) if (use.given.get(name) !== text) given.set(name, null);
        const again = before.again || use.again;
        let same = choice === before.choice && where === before.in && (before.named || !use.named) && again === before.again;
        for (const [name, text] of given) same &&= before.given.get(name) === text;
        for (const [name, { data, picks }] of use.args) {
            const known = args.get(name) ?? { data: NO_FACTS, picks: NO_FACTS };
            const now = { data: union(known.data, data), picks: union(known.picks, picks) };
            if (args.has(name) && now.data === known.data && now.picks === known.picks) continue;
            args.set(name, now);
            same = false;
        }
        if (same) return before;
        const now = { ...before, choice, in: where, args, given, again, named: before.named || use.named };
        this.all.set(id, now);
        this.changed = true;
        return now;
    }
}
