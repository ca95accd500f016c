/**
 * Where the nodes of a plan stand in a picture: from left to right as values flow, the branches of a fan-out below one another.
 *
 * Boundary: boxes in, places out. (A general layout of graphs would order branches by their lines; a plan is read by its source.)
 *
 * PLY1: a branch has a strip of its own over the whole width of its fan-out, so that no line crosses a node.
 */
import { type PlanNode, type PlanRow, planTree } from "@remit/machine";

export interface Size {
    readonly width: number;
    readonly height: number;
}
export interface Box extends Size {
    readonly x: number;
    readonly y: number;
}

/** Between a node and the next one, and between two branches. */
export interface Gaps {
    readonly across: number;
    readonly down: number;
}

/** Boxes by the ids of the nodes; `size`: of all together. */
export function layoutOf(
    nodes: readonly PlanNode[],
    sizeOf: (node: PlanNode) => Size,
    gaps: Gaps,
): { readonly boxes: ReadonlyMap<string, Box>; readonly size: Size } {
    const boxes = new Map<string, Box>();
    const sizes = new Map<PlanRow, Size>();
    const measure = (row: PlanRow): Size => {
        let [width, height] = [0, 0];
        for (const item of row) {
            const one = "node" in item ? sizeOf(item.node) : stacked(item.branches.map(measure), gaps);
            width += one.width + (width === 0 ? 0 : gaps.across);
            height = Math.max(height, one.height);
        }
        const size = { width, height };
        sizes.set(row, size);
        return size;
    };
    const place = (row: PlanRow, left: number, top: number): void => {
        const { height } = sizes.get(row) as Size;
        let x = left;
        for (const item of row) {
            if ("node" in item) {
                const size = sizeOf(item.node);
                boxes.set(item.node.id, { x, y: top + (height - size.height) / 2, ...size });
                x += size.width + gaps.across;
                continue;
            }
            const inner = item.branches.map((branch) => sizes.get(branch) as Size);
            const whole = stacked(inner, gaps);
            let y = top + (height - whole.height) / 2;
            for (const [i, branch] of item.branches.entries()) {
                place(branch, x, y);
                y += (inner[i] as Size).height + gaps.down;
            }
            x += whole.width + gaps.across;
        }
    };
    const tree = planTree(nodes);
    const size = measure(tree);
    place(tree, 0, 0);
    return { boxes, size };
}

function stacked(sizes: readonly Size[], { down }: Gaps): Size {
    const width = Math.max(...sizes.map((one) => one.width));
    return { width, height: sizes.reduce((sum, one) => sum + one.height, 0) + down * (sizes.length - 1) };
}
