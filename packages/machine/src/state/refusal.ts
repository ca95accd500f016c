/**
 * A refusal in a run: its event and its failure.
 *
 * Boundary: between the record (`authority/refusal.ts`) and the run; what is refused is decided before.
 */
import type { Json, Site } from "@remit/language";
import { kindOf, type Refusal, refusalJson, refusalText, remedyOf } from "../authority/refusal.ts";
import { Fail } from "../effect/failure.ts";
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

/** Tells of a refusal and gives its failure. */
export function refuse(
    m: Pick<Ops, "emit" | "run">,
    { frame, path, I: { site } }: Where,
    refusal: Refusal,
    { labels = [], about = {} }: About = {},
): Fail {
    const record = refusalJson(refusal);
    m.emit("policy.denied", path, frame.parent, site, labels, { ...record, ...about });
    const { principal: by, flow, ...rest } = record;
    return new Fail(kindOf(refusal), refusalText(refusal), {
        site,
        labels: m.run.labels.of(labels),
        by: by as string,
        detail: { ...rest, ...(flow as object | undefined) },
        hint: remedyOf(refusal),
    });
}
