/**
 * The stage of a block that code runs for: verbs are one code for all programs, and what a stage says of a model, tools and agents is the block's.
 *
 * Boundary: looks at fibers and frames, changes nothing.
 *
 * VST1: code of verbs (`prelude`) uses the models and tools of the file of its block, and no other code does.
 */
import type { FuncForm } from "@remit/language";
import type { NodeCode } from "../compile/blocks.ts";
import { labelOf, join, rawOf } from "../value/operators.ts";
import { Obj, type Value } from "../value/value.ts";
import type { Fiber, Frame } from "./fiber.ts";
import type { Ops } from "./ops.ts";

export interface StageOf {
    readonly node: NodeCode;
    /** Of the block. */
    readonly file: number;
    readonly path: string;
}

/**
 * The stage that a fiber works for; null outside every block. A node's fiber begins with the code of its block; so do those of the elements that a
 * `map` goes through, but they are none of the plan's.
 */
export function stageOf(fiber: Fiber): StageOf | null {
    for (let at: Fiber | null = fiber; at !== null; at = at.parent) {
        const first = at.frames[0];
        const node = at.parent?.top.native?.kind === "plan" ? first?.fn.block?.nodes[at.index] : undefined;
        if (first !== undefined && node !== undefined) return { node, file: first.fn.file, path: first.path };
    }
    return null;
}

export function isOfVerbs(m: Pick<Ops, "compiled">, { fn }: Frame): boolean {
    return m.compiled.files[fn.file]?.form.prelude === true;
}

/** The file whose tools and models a frame may name. */
export function ownFile(m: Pick<Ops, "compiled">, fiber: Fiber, frame: Frame): number {
    return isOfVerbs(m, frame) ? (stageOf(fiber)?.file ?? frame.fn.file) : frame.fn.file;
}

/**
 * The arguments of a call that gives one object for all: each parameter gets what has its name there. Where none has, the first one gets the whole.
 */
export function byNames(m: Pick<Ops, "run" | "fromJson">, { params }: FuncForm, given: Value): Value[] {
    const raw = rawOf(given);
    const isNamed = raw instanceof Obj && params.some((param) => raw.has(param.name));
    return params.map((param, i) => {
        const fallback = (): Value => m.fromJson(param.default ?? null);
        if (isNamed) return join(m.run, raw.get(param.name) ?? fallback(), labelOf(given));
        return i === 0 ? given : fallback();
    });
}
