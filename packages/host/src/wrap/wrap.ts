/**
 * One way to put something around work: around each phase of compilation, and around what the nodes of a plan ask of the host.
 *
 * Boundary: a function type and how wrappers are put together. What is wrapped, and where failures become outcomes, is its caller's.
 *
 * WRP1: work gives its value or throws; a wrapper that answers without calling it, calls it again or gives it less time needs to know no more.
 * WRP2: the first wrapper of a list is the outermost.
 */

/** Description of the work that a wrapper goes around. */
export interface About {
    /** `phase`: of compilation (`read`, `check`, `lower`, `plan`, `validate`). `effect`: a request of a node, or of code outside nodes, to the host. */
    readonly what: "phase" | "effect";
    /** Of the phase; of the effect such as `tool Files.read` or `model`. */
    readonly name: string;
    /** The node of a plan that it belongs to, such as `read#0`; null where there is none. */
    readonly node: string | null;
    /** The effect's, unique in its run; of a phase its file. */
    readonly path: string;
    /** Doing it a second time does no harm: a phase, a read, a model turn (charged twice). */
    readonly repeatable: boolean;
    /** The input of the work as text: equal for work with an equal result. */
    key(): string;
}

export type Work<T> = (signal: AbortSignal) => Promise<T>;

/** The same work with something around it. */
export type Wrap = <T>(work: Work<T>, about: About) => Work<T>;

/** Several as one (WRP2). */
export function chain(...wraps: readonly Wrap[]): Wrap {
    return (work, about) => wraps.reduceRight((inner, wrap) => wrap(inner, about), work);
}

/** A wrapper for some of the work alone. */
export function only(fits: (about: About) => boolean, wrap: Wrap): Wrap {
    return (work, about) => (fits(about) ? wrap(work, about) : work);
}
