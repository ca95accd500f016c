/**
 * The end of a run: its last events and its result.
 *
 * Boundary: what is told at the end. When a run ends is `machine.ts` and `stops.ts`.
 */
import type { Json } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import { toJson } from "../value/json.ts";
import type { Value } from "../value/value.ts";
import { closeAll } from "../native/sessions.ts";
import { tellBroken } from "../state/refusal.ts";
import type { Machine } from "./machine.ts";

type Bindings = { readonly [name: string]: { readonly json: Json; readonly origins: readonly string[] } };

/** How a run ended. `origins` are those of the value. */
export type Result =
    | { readonly ok: true; readonly value: Json; readonly origins: readonly string[] }
    | { readonly ok: false; readonly failure: ReturnType<Fail["toFailure"]> };

/** Tells the end. `final` false: the state stays, and the run may go on. */
export function ended(m: Machine, end: Value | Fail, final: boolean): Result {
    const { run } = m;
    let failed: Fail | null = end instanceof Fail ? end : null;
    let json: Json = null;
    let origins: readonly string[] = [];
    let bindings: Bindings | null = null;
    if (!(end instanceof Fail)) {
        m.tracer?.result(end);
        try {
            const out = toJson(end, run);
            json = out.json;
            origins = run.labels.origins(out.labels);
            bindings = bindingsOf(m);
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            failed = error;
        }
    }
    if (final) {
        if (failed !== null) closeAll(m, failed);
        // Also what this very call hands out: whether it does must not depend on where a slice ended.
        m.withdrawn.push(...[...m.waiting.keys()].filter((path) => !m.own.includes(path) && !m.unpaid.has(path)));
        m.own = [];
        m.unpaid.clear();
        m.waiting.clear();
        m.inbox = [];
        m.ready = [];
        m.stopped.clear();
    }
    const path = m.entryPath;
    run.acting = m.principal;
    if (failed === null) {
        m.emit("run.ended", path, null, null, origins, {
            ok: true,
            value: json,
            ...(bindings === null ? {} : { bindings: bindings as unknown as Json }),
            ...usedHere(m),
            ...account(m),
        });
        return { ok: true, value: json, origins };
    }
    tellBroken(m, { path, parent: null, principal: m.principal, placeLabel: 0 }, failed);
    m.tracer?.failed(failed.labels);
    const failure = failed.toFailure();
    const labels = run.labels.origins(failed.labels);
    const { kind, message, detail = null, hint = null } = failure;
    m.emit("failure", path, null, failed.site, labels, { kind, message, detail, hint });
    m.emit("run.ended", path, null, failed.site, labels, { ok: false, value: null, kind, ...usedHere(m), ...account(m) });
    return { ok: false, failure };
}

/** Of a part of a run: what blocks in it with a name gave, which the run around it did not have (WTS3). */
function bindingsOf({ options, compiled, run }: Machine): Bindings | null {
    if (options.path === undefined) return null;
    const own = compiled.functions.find(({ file, name }) => file === options.entry?.file && name === options.entry.func)?.block?.form.name;
    const known = [...compiled.namedBlocks].flatMap(([number, name]) => {
        const value = run.imports[number];
        const isNew = name !== own && (options.bindings === undefined || !Object.hasOwn(options.bindings, name));
        if (value === undefined || !isNew) return [];
        const { json, labels } = toJson(value, run);
        return [[name, { json, origins: run.labels.origins(labels) }] as const];
    });
    return known.length === 0 ? null : Object.fromEntries(known);
}

/**
 * Of a part of a run: what it used of what is counted, beyond what was used before it, and who may have used it (LIC1). Nothing where a part of its own has
 * not come back (COU4).
 */
function usedHere({ options, standing, authority: { book } }: Machine): {
    readonly uses?: Json;
    readonly met?: Json;
    readonly rows?: Json;
} {
    const { uses: given, met: knew = [], path, rows: had } = options;
    // ROW1, EVI3.
    const came = path === undefined || book.told.length === 0 ? {} : { rows: standing.rowsOf(book.told, had) as unknown as Json };
    if (given === undefined || standing.isAway) return came;
    const met = [...standing.met].filter((one) => !knew.includes(one)).sort();
    const before = new Map(given);
    const used = [...standing.uses].map(([one, times]) => [one, Math.max(0, times - (before.get(one) ?? 0))] as const);
    return { ...came, uses: used.filter(([, times]) => times > 0) as unknown as Json, ...(met.length === 0 ? {} : { met }) };
}

function account(m: Machine): { steps: number; usage: Json } {
    const { steps, ...usage } = m.usage;
    return { steps, usage };
}
