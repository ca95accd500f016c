/**
 * Why a value is what it is: the run done again from its ledger, with every step kept.
 *
 * Boundary: reads the ledger, performs nothing, writes nothing.
 *
 * Y1: the chain is of the very run that is in the ledger: where doing it again goes another way, there is no answer.
 */
import type { Program } from "@remit/language";
import { compileProgram, type DerivedStep as Step, Machine } from "@remit/machine";
import type { LedgerStore, RunInfo } from "../ledger/store.ts";
import { RemitError } from "./error.ts";
import { SLICE, startOptions, steppable } from "./machine.ts";
import type { KeptOptions } from "./options.ts";
import { retell } from "./retell.ts";

export interface Why {
    /** `value`, or the path of the effect. */
    readonly use: string;
    /** JSON Pointer (RFC 6901) into the value, or into the list of the effect's arguments. */
    readonly pointer: string;
    /** What was made from others comes after them. Empty for what the program's own text says. */
    readonly chain: readonly Step[];
    /** Sorted. */
    readonly origins: readonly string[];
}

/**
 * `where`: a pointer into the run's value (`/diff`, `diff.0`), or the path of a tool or memory call and a pointer into its arguments
 * (`main/Mail.send#0/to`, `main/Mail.send#0:/0/to`). Throws `RemitError` where there is no such place or the run cannot be done again.
 */
export function whyOf(store: LedgerStore, id: string, where = ""): Why {
    const info = store.run(id);
    const machine = derived(store, info, store.program(info.program));
    const tracer = machine.tracer;
    if (tracer === null) throw new Error("a run with derivations has a tracer");
    const uses = [...tracer.uses.keys()];
    const found = placeOf(where, uses);
    if (found === null)
        throw new RemitError({
            kind: "value",
            message: `there is no '${where}' in this run`,
            hint: `name a part of its value, or one of ${
                uses
                    .filter((u) => u !== "value")
                    .slice(0, 8)
                    .join(", ") || "its calls (it made none)"
            }`,
        });
    const chain = tracer.why(found.use, found.pointer) ?? [];
    const origins = [...new Set(chain.flatMap((step) => step.origins))].sort();
    return { ...found, chain, origins };
}

function placeOf(where: string, uses: readonly string[]): { readonly use: string; readonly pointer: string } | null {
    const colon = where.indexOf(":/");
    if (colon > 0 && uses.includes(where.slice(0, colon))) return { use: where.slice(0, colon), pointer: where.slice(colon + 1) };
    // The longest path that it begins with; what follows names a field of the one argument, or a place.
    const use = uses
        .filter((u) => where === u || where.startsWith(`${u}/`) || where.startsWith(`${u}.`))
        .sort((a, b) => b.length - a.length)[0];
    if (use !== undefined && use !== "value") {
        const rest = pointerOf(where.slice(use.length));
        return { use, pointer: rest === "" ? "" : /^\/[0-9]+(?:\/|$)/.test(rest) ? rest : `/0${rest}` };
    }
    if (where.includes("#")) return null;
    return uses.includes("value") ? { use: "value", pointer: pointerOf(where.replace(/^value/, "")) } : null;
}

function pointerOf(text: string): string {
    if (text === "" || text.startsWith("/")) return text.replace(/\/$/, "");
    return text
        .replace(/^\./, "")
        .split(".")
        .map((key) => `/${key}`)
        .join("");
}

/** The run again, with derivations, up to where its ledger ends. */
function derived(store: LedgerStore, info: RunInfo, program: Program): Machine {
    const options = startOptions(info.id, program, info.program, info.options as unknown as KeptOptions, SLICE);
    const machine = Machine.start(compileProgram(program), { ...options, derive: true });
    const { odd } = retell(store, info, steppable(machine));
    if (odd !== null)
        throw new RemitError({
            kind: "value",
            message: `doing run ${info.id} again went another way at ${odd}`,
            hint: "remit replay shows where it differs",
        });
    return machine;
}
