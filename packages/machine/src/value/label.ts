/**
 * Label sets: which origins a value has. Interned per run as small integers, 0 is the empty set.
 *
 * LA1: ids mean something in one run only; whatever leaves the machine writes the sorted origin names.
 * LA9: `choice:X` beside an origin says that X decided that the value is there, or which it is: what a condition depended on, where only the choice of uses
 *      is kept. It is no origin of the data, so that no rule about arguments reads it.
 * LA8: whether any set says who may read it is known without a look at values: where none does, no rule asks.
 */

const CHOICE = "choice:";

/** Whether data came from it: not who may read it (`only:`), and not who chose it (LA9). */
export function isOrigin(label: string): boolean {
    return !label.startsWith("only:") && !label.startsWith(CHOICE);
}

/** Who chose, where a label says so (LA9); else null. */
export function chooserIn(label: string): string | null {
    return label.startsWith(CHOICE) ? label.slice(CHOICE.length) : null;
}

const isChoice = (origin: string): boolean => origin.startsWith(CHOICE);
const marked = (origins: readonly string[]): string[] =>
    origins.filter((one) => one !== "user").map((one) => (isChoice(one) ? one : CHOICE + one));
const unmarked = (origins: readonly string[]): string[] => origins.flatMap((one) => chooserIn(one) ?? []);
const dataOf = (origins: readonly string[]): string[] | null => (origins.some(isChoice) ? origins.filter((one) => !isChoice(one)) : null);
const choiceOf = (origins: readonly string[]): string[] => origins.filter(isChoice);

export class Labels {
    private readonly sets: (readonly string[])[] = [[]];
    private readonly byKey = new Map<string, number>([["", 0]]);
    /** Sets of one origin, the usual case: found without a key made of text. */
    private readonly single = new Map<string, number>();
    private readonly rows: (number | undefined)[][] = [[]];

    /** Some set of this run has an `only:` (LA8). */
    isRestricted = false;

    /** Some set of this run has more in it than the user's word: before that nothing chooses (LA9). */
    isForeign = false;

    /** Every set remembers how it was made: then nothing may be put off. */
    readonly derives: boolean = false;

    /** What was last lent to a place in the code, and what the place had then: it has all of it. */
    lentBy = 0;
    lentTo: unknown = null;

    /** A set that is new. */
    protected met(origins: readonly string[]): void {
        this.isRestricted ||= origins.some((origin) => origin.startsWith("only:"));
        this.isForeign ||= origins.some((origin) => origin !== "user");
    }

    /** The id of the set of these origins. */
    of(origins: readonly string[]): number {
        if (origins.length === 0) return 0;
        const one = origins.length === 1 ? origins[0] : undefined;
        if (one !== undefined) {
            const known = this.single.get(one);
            if (known !== undefined) return known;
        }
        const sorted = [...new Set(origins)].sort();
        const key = JSON.stringify(sorted);
        const known = this.byKey.get(key);
        const id = known ?? this.sets.length;
        if (known === undefined) {
            this.met(sorted);
            this.sets.push(sorted);
            this.rows.push([]);
            this.byKey.set(key, id);
        }
        if (one !== undefined) this.single.set(one, id);
        return id;
    }

    union(a: number, b: number): number {
        if (a === b || b === 0) return a;
        if (a === 0) return b;
        const row = this.rows[a] as (number | undefined)[];
        const known = row[b];
        if (known !== undefined) return known;
        const id = this.of([...(this.sets[a] as readonly string[]), ...(this.sets[b] as readonly string[])]);
        row[b] = id;
        return id;
    }

    /** Results of the four functions below, by set; of the empty one each is empty. */
    private readonly asChoice: number[] = [0];
    private readonly fromChoice: number[] = [0];
    private readonly withoutChoice: number[] = [0];
    private readonly justChoice: number[] = [0];

    /** What decides by a value of this set, as labels of what it decided (LA9). The word of the user is no choice that a rule could be about. */
    chosenBy(id: number): number {
        return this.asChoice[id] ?? this.mapped(this.asChoice, id, marked);
    }

    /** Who decided that what has this set is there: the origins, without the mark. */
    choosers(id: number): number {
        return this.fromChoice[id] ?? this.mapped(this.fromChoice, id, unmarked);
    }

    /** A set without what only decided. */
    withoutChoosers(id: number): number {
        return this.withoutChoice[id] ?? this.mapped(this.withoutChoice, id, dataOf);
    }

    /** What only decided of a set, still marked. */
    onlyChoosers(id: number): number {
        return this.justChoice[id] ?? this.mapped(this.justChoice, id, choiceOf);
    }

    /** `to` null: the set itself. */
    private mapped(known: number[], id: number, to: (origins: readonly string[]) => readonly string[] | null): number {
        const origins = to(this.origins(id));
        const made = origins === null ? id : this.derived(id, origins);
        known[id] = made;
        return made;
    }

    protected derived(_from: number, origins: readonly string[]): number {
        return this.of(origins);
    }

    /** How many sets there are, the empty one included. Ids run from 0 to `size - 1` in the order in which sets were first met. */
    get size(): number {
        return this.sets.length;
    }

    /** Sorted origins of a set. */
    origins(id: number): readonly string[] {
        return this.sets[id] as readonly string[];
    }

    /** True where every origin of `a` is in `b`. */
    within(a: number, b: number): boolean {
        return this.union(a, b) === b;
    }
}
