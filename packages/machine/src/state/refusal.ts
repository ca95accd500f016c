/**
 * A refusal in a run: its event and its failure.
 *
 * Boundary: between the record (`authority/refusal.ts`) and the run; what is refused is decided before.
 */
import { isObject, type Json, type Site } from "@remit/language";
import { kindOf, type Refusal, refusalJson, refusalText, remedyOf } from "../authority/refusal.ts";
import { Fail } from "../effect/failure.ts";
import type { Frame } from "./fiber.ts";
import type { Call, Ops } from "./ops.ts";

/** What its event holds besides, and the origins of what is told. */
interface About {
    readonly labels?: readonly string[];
    readonly about?: { readonly [key: string]: Json };
}

/** Where a refused use stands. */
interface Where extends Pick<Call, "frame" | "path"> {
    readonly I: { readonly site: Site | null };
}

/** Whose code it was. */
type Broke = Pick<Frame, "path" | "parent" | "principal" | "placeLabel">;

/** Tells of a refusal and gives its failure. */
export function refuse(
    m: Pick<Ops, "emit" | "run">,
    { frame, path, I: { site } }: Where,
    refusal: Refusal,
    { labels = [], about = {} }: About = {},
): Fail {
    const record = refusalJson(refusal);
    m.emit("policy.denied", path, frame.parent, site, labels, { ...record, ...about });
    return new Fail(kindOf(refusal), refusalText(refusal), {
        site,
        labels: m.run.labels.of(labels),
        by: refusal.principal,
        detail: detailOf(record),
        hint: remedyOf(refusal),
    });
}

function detailOf({ principal: _, flow, ...rest }: ReturnType<typeof refusalJson>): Json {
    return { ...rest, ...(flow as object | undefined) };
}

/** BRK1. `frame`: of the code that broke the rule, or the end of the run. */
export function tellBroken(m: Pick<Ops, "emit" | "run" | "authority">, frame: Broke, fail: Fail): void {
    const { broken, labels, detail, site } = fail;
    if (broken === null) return;
    fail.broken = null;
    fail.by ??= frame.principal;
    const clause = broken.why === "change" ? m.authority.strictAt(fail.by) : null;
    const refusal: Refusal = { principal: fail.by, clause, ...broken };
    const record = refusalJson(refusal);
    if (clause !== null) fail.message = refusalText(refusal);
    const carried = m.run.labels.origins(m.run.labels.union(labels, frame.placeLabel));
    m.emit("policy.denied", `${frame.path}/${broken.why}`, frame.parent, site, carried, record);
    fail.detail = { ...(detail !== undefined && isObject(detail) ? detail : {}), ...(detailOf(record) as object) };
}
