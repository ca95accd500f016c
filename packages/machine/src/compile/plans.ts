/**
 * The plan of a block, as people and other machines read it (PROTOCOLS 5).
 *
 * Boundary: from compiled code to the document. `plan/validate.ts` checks it.
 */
import type { BlockForm } from "@remit/language";
import type { Plan, PlanNode } from "../plan/plan.ts";
import type { BlockCode, NodeCode } from "./blocks.ts";
import type { Compiled, Fn } from "./program.ts";

/** By the code of their blocks: every run of a program tells the same plans. */
const MADE = new WeakMap<BlockCode, { readonly fn: Fn; readonly hash: string; readonly plan: Plan }>();

/** `hash`: of the program form. */
export function planOf(code: BlockCode, fn: Fn, hash: string): Plan {
    const made = MADE.get(code);
    if (made !== undefined && made.fn === fn && made.hash === hash) return made.plan;
    const plan = madePlan(code, fn, hash);
    MADE.set(code, { fn, hash, plan });
    return plan;
}

function madePlan({ form, nodes, out, several }: BlockCode, fn: Fn, hash: string): Plan {
    const { program, file } = fn;
    return {
        version: 1,
        source: { file: program.fileName(file), sha256: hash },
        backend: form.backend,
        mode: form.mode,
        nodes: nodes.map((node) => nodeOf(node, nodes, fn, hash)),
        results: out.map((one) => (nodes[one] as NodeCode).id),
        several,
        ...(form.name === undefined ? {} : { name: form.name }),
    };
}

function nodeOf(node: NodeCode, nodes: readonly NodeCode[], fn: Fn, hash: string): PlanNode {
    const { program, file } = fn;
    const inner = node.block === null ? null : (program.files[file]?.blocks[node.block] ?? null);
    const shows = inner?.block != null && !inner.block.walked;
    return {
        id: node.id,
        call: node.call,
        args: node.shown.map((arg) => ({ ...arg })),
        requires: node.requires.map((one) => (nodes[one] as NodeCode).id),
        join: node.join,
        site: program.site(file, node.at),
        ...node.with,
        ...(node.branch.length === 0 ? {} : { branch: node.branch }),
        ...(node.gate ? { gate: true } : {}),
        ...(shows && inner?.block != null ? { plan: planOf(inner.block, inner, hash) } : {}),
    };
}

/** The plans of the blocks of a program's own file, in order. */
export function plansOf(compiled: Compiled, hash: string): Plan[] {
    const file = compiled.files.at(-1);
    const forms = new Set<BlockForm>(file?.form.blocks ?? []);
    return (file?.blocks ?? []).flatMap((fn) =>
        fn.block !== null && !fn.block.walked && forms.has(fn.block.form) ? [planOf(fn.block, fn, hash)] : [],
    );
}
