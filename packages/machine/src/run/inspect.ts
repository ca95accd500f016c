/**
 * A run as a debugger sees it: threads, stack frames, variables, in the words of the Debug Adapter Protocol.
 *
 * Boundary: reading only. Values are shown as the ledger shows them.
 */
import type { Json, Site } from "@remit/language";
import type { BodyForm, FrameForm } from "../compile/instructions.ts";
import { shownName } from "../compile/program.ts";
import type { Value } from "../value/value.ts";
import type { Machine } from "./machine.ts";
import { show } from "./show.ts";

export interface Inspection {
    readonly threads: readonly {
        readonly id: number;
        /** Path of the iteration, or of the run. */
        readonly name: string;
        /** Path of what it waits for. */
        readonly waiting: string | null;
        /** Innermost first. */
        readonly stackFrames: readonly {
            readonly name: string;
            readonly path: string;
            readonly site: Site | null;
            readonly variables: readonly { readonly name: string; readonly value: Json; readonly origins: readonly string[] }[];
        }[];
    }[];
}

export function inspect(m: Machine): Inspection {
    const threads = [...m.fibers.values()].map((fiber) => ({
        id: fiber.id,
        name: fiber.frames[0]?.path ?? m.entryPath,
        waiting: fiber.frames[fiber.frames.length - 1]?.native?.path ?? null,
        stackFrames: fiber.frames
            .map((frame) => ({
                name: frame.fn.agent === null ? frame.fn.name : `${shownName(frame.fn.agent)}.${frame.fn.name}`,
                path: frame.path,
                site: frame.form.code[frame.pc]?.site ?? null,
                variables: namesAt(frame.fn.frames, frame.body, frame.pc).map((n) => {
                    const shown = show(frame.locals[n.slot] as Value, m.run.labels);
                    return { name: n.name, value: shown.json, origins: m.run.labels.origins(shown.labels) };
                }),
            }))
            .reverse(),
    }));
    return { threads };
}

/** Names visible at an instruction of a body, those around a parallel for included. */
function namesAt(form: FrameForm, body: number, pc: number): BodyForm["names"] {
    const own = (form.bodies[body] as BodyForm).names.filter((n) => n.from <= pc && pc < n.to);
    if (body === 0) return own;
    for (let outer = 0; outer < body; outer++) {
        const at = (form.bodies[outer] as BodyForm).code.findIndex((i) => i.detail?.kind === "parallel" && i.detail.body === body);
        if (at >= 0) return [...namesAt(form, outer, at), ...own];
    }
    return own;
}
