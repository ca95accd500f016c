/**
 * A moment of a run as one JSON document: shapes only.
 *
 * Boundary: what stands in a document that leaves the machine; its writer takes secrets out first.
 */
import type { Site } from "@remit/language";
import { EFFECT_KINDS } from "../effect/effect.ts";
import { count, flag, is, json, list, matching, named, one, orNull, ref, says, shape, type Told, text } from "../shape/build.ts";
import { ACCOUNT, GRANT, PRINCIPAL, SCOPE } from "./inspect.ts";
import { CAPABILITY_KINDS } from "../value/value.ts";
import { RIGHT, type RightView, VALUE } from "./look.ts";

export const SNAPSHOT = "remit-snapshot/1";

const site = orNull(ref<Site>("Site"));

const FRAME = shape(
    {
        name: text,
        path: text,
        site,
        principal: says(text, "key in principals"),
        scopes: list(SCOPE),
        /** Those to its principal that are in force here: tokens. */
        delegations: says(list(count), "keys in delegations"),
    },
    {},
);
export type SnapshotFrame = Told<typeof FRAME>;

const THREAD = shape(
    {
        id: count,
        parent: orNull(count),
        path: text,
        state: one(["next", "ready", "waiting", "ended"]),
        waiting: says(orNull(text), "path of what it waits for"),
        frames: says(list(ref<SnapshotFrame>("Frame")), "innermost first"),
    },
    {},
);
export type SnapshotThread = Told<typeof THREAD>;
export type SnapshotPrincipal = Told<typeof PRINCIPAL>;

const DELEGATION = shape({ token: count, from: text, to: text, onward: flag, path: text, things: list(text) }, {});
export type SnapshotDelegation = Told<typeof DELEGATION>;

const CAPABILITY = shape(
    {
        thread: count,
        frame: count,
        name: text,
        held: shape({ kind: orNull(one(CAPABILITY_KINDS)), text, right: ref<RightView>("Right") }, {}),
    },
    {},
);
/** A variable that holds a capability which a principal was given. */
export type SnapshotCapability = Told<typeof CAPABILITY>;

const EFFECT = shape({ path: text, kind: one(EFFECT_KINDS), principal: text, site, request: json, labels: list(text) }, {});
export type SnapshotEffect = Told<typeof EFFECT>;

const ROOT = shape(
    {
        format: is(SNAPSHOT),
        run: text,
        /** SHA-256 of the program form. */
        program: matching("^[0-9a-f]{64}$"),
        moment: shape({ outcomes: count, steps: count, events: count, ended: flag }, {}),
        state: text,
        site,
        threads: list(ref<SnapshotThread>("Thread")),
        principals: named(ref<SnapshotPrincipal>("Principal")),
        delegations: named(DELEGATION),
        capabilities: list(CAPABILITY),
        /** Answers for the session. */
        answers: list(shape({ use: text, yes: flag }, {})),
        pending: list(EFFECT),
        budget: ACCOUNT,
        labels: says(list(text), "every origin of anything that is shown, sorted"),
        /** How the run ended; null while it goes on. */
        result: json,
    },
    {},
);
export type Snapshot = Told<typeof ROOT>;

/** The definitions of its schema, that of a site apart. */
export const SNAPSHOT_SHAPES = {
    Snapshot: ROOT,
    Thread: THREAD,
    Frame: FRAME,
    Value: VALUE,
    Right: RIGHT,
    Principal: PRINCIPAL,
    Grant: GRANT,
};
