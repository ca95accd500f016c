/**
 * The gate before calls that a model chose in a `generate`: judged, and decided once a person answered.
 *
 * Boundary: one call of a model. The gate before uses of the program's code, and what counts as a use, is `gate.ts`.
 */
import { type Json, shownUse } from "@remit/language";
import { aliasOfJson, carriedGiven, jsonGiven } from "../authority/given.ts";
import { refusalText } from "../authority/refusal.ts";
import { type Outcome, type Reach, verdictOf } from "../effect/effect.ts";
import type { Offer } from "../prompt/offers.ts";
import { chooserIn, isOrigin } from "../value/label.ts";
import { isUnread, unreadText } from "./descriptions.ts";
import {
    allowedAs,
    countedBy,
    decideFor,
    decidersOf,
    detailOf,
    keepSaid,
    namedBy,
    pass,
    refusalOf,
    sessionKey,
    type Shown,
    type Target,
    UNBOUND,
    type Wish,
} from "./gate.ts";
import { isLater } from "./lent-counts.ts";
import type { Call, Ops } from "./ops.ts";
import { refuse } from "./refusal.ts";
import { answerFor, describedIn } from "./verdicts.ts";

/** What a `generate` asks before it makes a call of the model. */
export interface Gatekeeper {
    judge(offer: Offer, args: Json, said: Said, path: string): Judged;
    /** Origins of those who chose whether a call was still within a count; none where nothing counts it (LIC1). */
    within(offer: Offer, args: Json): readonly string[];
    /** Whether something of these origins is not trusted. */
    hides(origins: readonly string[]): boolean;
    answer(
        offer: Offer,
        args: Json,
        said: Said,
        outcome: Outcome,
    ): {
        readonly yes: boolean;
        /** Why it is not made, where not the answer says so, and origins of those who decided that. */
        readonly used?: { readonly why: string; readonly by: readonly string[] };
        readonly daily?: Reach["daily"];
        readonly decision: string;
        readonly described: string;
    };
}

/** Looks at a step before it is taken. */
export interface Lookout {
    /** Every call is a no, and nothing is changed by it. `waits`: one of them only waits for the counts (COU5). */
    ahead(): { readonly gate: Gatekeeper; waits(): boolean };
}

/** Where a call that a model made comes from. */
export interface Said {
    /** Sorted, of all that the model had seen. */
    readonly origins: readonly string[];
    /** Further ones of arguments, which the model did not see. */
    readonly carried?: { readonly [arg: string]: readonly string[] };
}

export type Judged =
    | { readonly kind: "may"; readonly reach: Reach }
    | { readonly kind: "ask"; readonly detail: Json; readonly reach: Reach }
    /** `message`: what the model is told. `by`: origins of those who decided that. */
    | { readonly kind: "refused"; readonly message: string; readonly by?: readonly string[] };

/** How a call of a model is looked at: which use it is, and what is decided about it. */
function looker(m: Ops, { fiber, frame }: Pick<Call, "fiber" | "frame">) {
    const meant = (offer: Offer, args: Json): { readonly target: Target; readonly alias: ReturnType<typeof aliasOfJson> } => {
        const alias = aliasOfJson(offer.uri, offer.method, args);
        const imported = m.compiled.capabilityAt(offer.file, offer.tool);
        const c = offer.right === undefined ? imported : imported.with(offer.right);
        const method = alias?.method ?? offer.method;
        return { target: { c, name: offer.tool, uri: offer.uri, method, direct: offer.right === undefined }, alias };
    };
    const look = (offer: Offer, args: Json, { origins, carried = {} }: Said) => {
        // What a server says of its own tool of that name is nothing that it says of another.
        const { target, alias } = meant(offer, args);
        const seen = m.run.labels.of(origins);
        const named = new Map(Object.entries(carried).map(([arg, more]) => [arg, m.run.labels.of(more)]));
        const labels = [...named.values()].reduce((all, one) => m.run.labels.union(all, one), seen);
        // Of a generic call the arguments are one, and everything else in it chose the tool.
        const chose =
            alias === null ? seen : [...named].reduce((all, [arg, one]) => (arg === "args" ? all : m.run.labels.union(all, one)), seen);
        const wish: Wish = {
            principal: frame.principal,
            target,
            given: alias === null ? carriedGiven(args, { seen, named, labels: m.run.labels }) : jsonGiven(alias.args, labels),
            chosenBy: "model",
            chosen: m.run.labels.union(namedBy(m, chose), m.run.labels.choosers(chose)),
            readOnly: alias === null && offer.readOnly,
        };
        return {
            wish,
            shown: carriedGiven(args, { seen, named, labels: m.run.labels }),
            all: m.run.labels.origins(labels),
            decision: decideFor(m, fiber, wish),
        };
    };
    return { meant, look };
}

export function gatekeeper(m: Ops, call: Call, label: string, model: string): Gatekeeper & Lookout {
    const { fiber, frame, I } = call;
    const { meant, look } = looker(m, call);
    const hides: Gatekeeper["hides"] = (origins) =>
        origins.some((one) => (isOrigin(one) ? !m.authority.trusts(one) && !m.authority.neutral(one) : chooserIn(one) !== null));
    return {
        hides,
        ahead: () => {
            let waits = false;
            const looksAt: typeof look = (...one) => {
                const looked = look(...one);
                if (isLater(m, looked.decision) && !isUnread(m, looked.wish.target.c, fiber.top.placeLabel)) waits = true;
                return looked;
            };
            const gate: Gatekeeper = {
                hides,
                judge: (offer, args, said) => {
                    looksAt(offer, args, said);
                    return { kind: "refused", message: "" };
                },
                within: () => [],
                answer: (offer, args, said, outcome) => {
                    looksAt(offer, args, said);
                    return { yes: false, decision: verdictOf(outcome), described: "" };
                },
            };
            return { gate, waits: () => waits };
        },
        judge: (offer, args, said, path) => {
            const { wish, shown: given, all, decision } = look(offer, args, said);
            if (isUnread(m, wish.target.c, fiber.top.placeLabel)) return { kind: "refused", message: unreadText(offer.tool) };
            if (decision.kind === "may") return { kind: "may", reach: pass(m, wish, decision.reach, null) };
            // What is shown is the call as it was made.
            const shown: Shown = { args: [args], given, chosenBy: `model:${model}`, site: I.site };
            const about = { ...detailOf(m, wish, decision, shown), generate: label };
            if (decision.kind === "ask") {
                const known = answerFor(m, sessionKey(m, wish, decision));
                if (typeof known === "string") return { kind: "may", reach: pass(m, wish, allowedAs(decision.reach, known), null) };
                if (known === false) {
                    const use = shownUse(`${offer.tool}.${offer.method}`, offer.uri);
                    return { kind: "refused", message: `${use} was not allowed for this session.` };
                }
                return { kind: "ask", detail: about, reach: decision.reach };
            }
            return {
                kind: "refused",
                message: refuse(m, { frame, path, I }, refusalOf(wish, decision), { labels: all, about }).message,
                by: decidersOf(m, decision, wish.target),
            };
        },
        within: (offer, args) => {
            const { target, alias } = meant(offer, args);
            const { run, daily } = countedBy(m, { target, given: jsonGiven(alias?.args ?? [args], 0) });
            return run.length + daily.length > 0 ? [...m.standing.met] : [];
        },
        answer: (offer, args, from, outcome) => {
            const said = verdictOf(outcome);
            const { wish, decision } = look(offer, args, from);
            keepSaid(m, sessionKey(m, wish, decision), outcome);
            const told = { decision: said, described: describedIn(outcome) };
            if (said !== "once" && said !== "session") return { yes: false, ...told };
            // While the person was asked, others used what is counted.
            if (decision.kind === "refused" && decision.why === "count")
                return {
                    yes: false,
                    used: { why: refusalText(refusalOf(wish, decision)), by: decidersOf(m, decision, wish.target) },
                    ...told,
                };
            const { daily } = pass(m, wish, decision.kind === "refused" ? UNBOUND : decision.reach, null);
            return { yes: true, ...told, ...(daily === undefined ? {} : { daily }) };
        },
    };
}
