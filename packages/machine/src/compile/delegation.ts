/**
 * `delegate` and `.only(…)`: from references in the source to what is given.
 */

import type { BoundForm, StmtForm } from "@remit/language";
import { bounds, keyOfMeaning, type Permit, uriOf } from "../authority/policy.ts";
import { type Context, lookUp, siteOf } from "./context.ts";
import type { DelegateDetail, PathSite } from "./instructions.ts";

export function delegation(cx: Context, s: StmtForm & { kind: "delegate" }, path: PathSite): DelegateDetail {
    const to = lookUp(cx, s.to);
    return {
        kind: "delegate",
        refs:
            s.all === true
                ? null
                : s.refs.map((ref) => {
                      const meaning = lookUp(cx, ref.name);
                      const key = meaning === undefined ? null : keyOfMeaning(cx.program, meaning);
                      const permit: Permit = {
                          method: ref.method ?? null,
                          gate: "may",
                          bounds: bounds(ref, uriOf(meaning)),
                          ...(ref.counts === undefined ? {} : { counts: ref.counts }),
                          site: siteOf(cx, ref.at),
                      };
                      // A name that means nothing is a thing that no principal has.
                      return {
                          key: key ?? `none:${ref.name}`,
                          text: ref.method === undefined ? ref.name : `${ref.name}.${ref.method}`,
                          permit,
                      };
                  }),
        to: to?.kind === "agent" ? to.agent : null,
        name: s.to,
        onward: s.onward === true,
        path,
    };
}

/** The layer that `.only(read, write in "src/**")` adds. */
export function narrowing(
    cx: Context,
    methods: readonly { readonly method: string; readonly in?: readonly BoundForm[] }[],
    at: Parameters<typeof siteOf>[1],
): Permit[] {
    return methods.map((m) => ({ method: m.method, gate: "may", bounds: bounds(m, null), site: siteOf(cx, at) }));
}
