/**
 * What a reading of nearly-JSON is made of: its values and its state.
 *
 * Boundary: shapes. `lenient.ts` reads brackets and names, `bareword.ts` and `quoted.ts` what stands in them.
 */
/** A value without quotes, as written: `yes`, `None`, `John Smith`. */
export class Bare {
    readonly text: string;
    constructor(text: string) {
        this.text = text;
    }
}

/** An object as read: keys in order, each once. */
export class Loose {
    readonly keys: string[] = [];
    readonly values: Value[] = [];
    get(key: string): Value | undefined {
        const at = this.keys.indexOf(key);
        return at < 0 ? undefined : this.values[at];
    }
}

export type Value = null | boolean | number | string | Bare | Loose | Value[];

export interface Problem {
    readonly kind: "duplicate" | "elided" | "hole" | "unclear" | "inexact";
    readonly message: string;
}

/** State of one reading. Plain fields: the hot loops of this folder work on it. */
export interface Cursor {
    readonly s: string;
    i: number;
    depth: number;
    /** Where a quote may end its string: anywhere plausible (lazy) or only where what follows is certain (greedy). */
    readonly greedy: boolean;
    inner: boolean;
    cut: boolean;
    closable: boolean;
    evidence: boolean;
    why: string;
    repairs: Set<string>;
    problems: Problem[];
}

export function stop(c: Cursor, why: string): undefined {
    const near = c.s.slice(c.i, c.i + 24).replace(/\s+/g, " ");
    c.why = near === "" ? why : `${why}, at '${near}'`;
    return undefined;
}
