/**
 * What a caller puts around the effects of a run, in the words of `wrap/`: a failure is thrown, a value comes back.
 *
 * Boundary: between a host and wrappers. The ledger sees the effect and its outcome, once, whatever a wrapper did in between.
 *
 * WRE1: questions and blocks that are runs of their own are not wrapped: their time is people's, and their effects are.
 * WRE2: what costs nothing because a wrapper remembered it is told as costing nothing.
 */
import { canonicalJson, type Json } from "@remit/language";
import { type Effect, type MemoryRequest, type Outcome, repeats, type ToolRequest } from "@remit/machine";
import { failureOf, RemitError } from "../failure/error.ts";
import type { Host, Later } from "./host.ts";
import { type About, chain, type Wrap } from "../wrap/wrap.ts";

type Good = Outcome & { readonly ok: true };

/** No answer can be had now: no failure, and nothing to remember. */
class LeftForLater extends Error {
    readonly later: Later;
    constructor(later: Later) {
        super("left for later");
        this.later = later;
    }
}

const NOT_WRAPPED: ReadonlySet<Effect["kind"]> = new Set(["ask", "input", "sleep", "run", "clock", "random"]);

/** `owner`: on whose behalf the run is. */
export function wrapped(host: Host, { wraps, owner }: { readonly wraps: readonly Wrap[]; readonly owner: string }): Host {
    if (wraps.length === 0) return host;
    const wrap = chain(...wraps);
    return {
        ...host,
        perform: async (effect, io) => {
            if (NOT_WRAPPED.has(effect.kind)) return host.perform(effect, io);
            const repeatable = repeats(effect) || (await host.repeatable?.(effect)) === true;
            let performed = false;
            const work = wrap<Good>(
                async (signal) => {
                    performed = true;
                    const outcome = await host.perform(effect, { ...io, signal });
                    if ("later" in outcome) throw new LeftForLater(outcome);
                    if (!outcome.ok) throw new FailedOutcome(outcome);
                    return outcome;
                },
                aboutOf(effect, { owner, repeatable }),
            );
            try {
                const outcome = await work(io.signal);
                return performed || outcome.usage === undefined ? outcome : { ...outcome, usage: { input: 0, output: 0 } };
            } catch (error) {
                if (error instanceof LeftForLater) return error.later;
                if (error instanceof FailedOutcome) return error.outcome;
                return { ok: false, failure: { site: effect.site, ...failureOf(error, io.signal.aborted ? "cancelled" : "tool") } };
            }
        },
    };
}

/** A failure on its way through the wrappers. */
class FailedOutcome extends RemitError {
    readonly outcome: Outcome & { readonly ok: false };
    constructor(outcome: Outcome & { readonly ok: false }) {
        super(outcome.failure);
        this.outcome = outcome;
    }
}

function aboutOf(effect: Effect, { owner, repeatable }: { readonly owner: string; readonly repeatable: boolean }): About {
    const { path, kind, principal, request } = effect;
    return {
        what: "effect",
        name: nameOf(effect),
        node: nodeOf(path),
        path,
        repeatable,
        key: () => {
            const { credential = null, as = null } = effect as { readonly credential?: unknown; readonly as?: unknown };
            return canonicalJson([kind, principal, owner, credential, as, request] as Json);
        },
    };
}

function nameOf({ kind, request }: Effect): string {
    if (kind === "tool") {
        const { tool, method, op } = request as unknown as ToolRequest;
        return `tool ${tool}.${method ?? op}`;
    }
    if (kind === "recall" || kind === "remember") return `${kind} ${(request as unknown as MemoryRequest).memory}`;
    return kind;
}

/** A path names blocks and their nodes in turn: `blocks/block#0/read#0/…`; the innermost node counts. */
function nodeOf(path: string): string | null {
    const [first, ...parts] = path.split("/");
    if (first !== "blocks") return null;
    let node: string | null = null;
    for (let at = 0; /^block#\d+$/.test(parts[at] ?? "") && parts[at + 1] !== undefined; at += 2) node = parts[at + 1] as string;
    return node;
}
