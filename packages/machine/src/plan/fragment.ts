/**
 * Fragments of plans: stages that are joined one after another and side by side.
 *
 * Boundary: pure, and knows nothing of what a stage does. A fragment has one open input and one output; `finalise.ts` closes both.
 *
 * FG1: `sequence` is associative, and `IDENTITY` changes nothing on either side of it.
 * FG2: a fan-out of one branch is that branch.
 * FG3: nodes stand in the order of the source.
 */

/** What flows out of a fragment: a node by its place, the fragment's own input, or a list of what flows out of several. */
export type Port = number | readonly Port[];

/** The open input of a fragment. */
export const INPUT = -1;

export interface Draft<N> {
    readonly node: N;
    readonly input: Port;
    /**
     * Branches around it, outermost first: two numbers each, the fan-out (its place in the pipeline around it) and the branch. Empty outside every
     * fan-out.
     */
    readonly branch: readonly number[];
}

export interface Fragment<N> {
    readonly nodes: readonly Draft<N>[];
    readonly out: Port;
    /** Fan-outs at its own level, so that those of the next one are numbered on. */
    readonly fans: number;
}

export const IDENTITY: Fragment<never> = { nodes: [], out: INPUT, fans: 0 };

export function single<N>(node: N): Fragment<N> {
    return { nodes: [{ node, input: INPUT, branch: [] }], out: 0, fans: 0 };
}

/** One after another: what flows out of each flows into the next. */
export function sequence<N>(...fragments: readonly Fragment<N>[]): Fragment<N> {
    const nodes: Draft<N>[] = [];
    let out: Port = INPUT;
    let fans = 0;
    for (const fragment of fragments) {
        const before = out;
        const at = nodes.length;
        for (const { node, input, branch } of fragment.nodes) {
            const [first, ...rest] = branch;
            nodes.push({ node, input: moved(input, at, before), branch: first === undefined ? branch : [first + fans, ...rest] });
        }
        out = moved(fragment.out, at, before);
        fans += fragment.fans;
    }
    return { nodes, out, fans };
}

/** Side by side on the same input: what flows out is the list of what flows out of each, in this order. */
export function fanout<N>(branches: readonly Fragment<N>[]): Fragment<N> {
    const [only] = branches;
    if (branches.length === 1 && only !== undefined) return only;
    const nodes: Draft<N>[] = [];
    const out: Port[] = [];
    branches.forEach((fragment, index) => {
        const at = nodes.length;
        for (const { node, input, branch } of fragment.nodes)
            nodes.push({ node, input: moved(input, at, INPUT), branch: [0, index, ...branch] });
        out.push(moved(fragment.out, at, INPUT));
    });
    return { nodes, out, fans: 1 };
}

/** A port after `at` other nodes, with `input` in the place of the open input. */
function moved(port: Port, at: number, input: Port): Port {
    if (typeof port !== "number") return port.map((one) => moved(one, at, input));
    return port === INPUT ? input : port + at;
}
