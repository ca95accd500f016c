/**
 * Closes a fragment: every node gets an id and what it waits for, and a list inside a list a node that joins it.
 *
 * Boundary: pure, and knows of a stage only its name and how many values it takes.
 *
 * CLP1: the same fragment gives the same ids, whatever else the file holds.
 * CLP2: what flows into a node comes in the order of the source.
 */
import { type Draft, type Fragment, INPUT, type Port } from "./fragment.ts";

export interface Known {
    readonly call: string;
    /** Values that can flow into it. */
    readonly takes: number;
}

export interface Closed<N> {
    /** Null: it joins what flows into it to a list. */
    readonly node: N | null;
    readonly id: string;
    /** Places of the nodes that it waits for. */
    readonly requires: readonly number[];
    /** `input`: what flows into the block. */
    readonly join: "none" | "list" | "spread";
    readonly branch: readonly number[];
}

export interface ClosedPlan<N> {
    readonly nodes: readonly Closed<N>[];
    /** Places of the nodes whose values the block gives. */
    readonly out: readonly number[];
    /** It gives the list of them. */
    readonly several: boolean;
}

export const JOIN = "join";

export function finalise<N>({ nodes, out }: Fragment<N>, known: (node: N) => Known): ClosedPlan<N> {
    const closed: Closed<N>[] = [];
    const numbers = new Map<string, number>();
    const idOf = (call: string): string => {
        const n = numbers.get(call) ?? 0;
        numbers.set(call, n + 1);
        return `${call}#${n}`;
    };
    /** Where the nodes of the fragment stand now that joins stand among them. */
    const places: number[] = [];
    const placeOf = (port: Port, branch: readonly number[]): number => {
        if (typeof port === "number") return places[port] as number;
        const requires = port.map((one) => placeOf(one, branch));
        return closed.push({ node: null, id: idOf(JOIN), requires, join: "list", branch }) - 1;
    };
    const inputs = (port: Port, branch: readonly number[]): readonly number[] => {
        if (typeof port === "number") return port === INPUT ? [] : [placeOf(port, branch)];
        return port.map((one) => placeOf(one, branch));
    };
    nodes.forEach(({ node, input, branch }: Draft<N>, index) => {
        const requires = inputs(input, branch);
        const { call, takes } = known(node);
        const join = typeof input === "number" ? "none" : takes === requires.length ? "spread" : "list";
        places[index] = closed.push({ node, id: idOf(call), requires, join, branch }) - 1;
    });
    return { out: inputs(out, []), several: typeof out !== "number", nodes: closed };
}
