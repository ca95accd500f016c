/**
 * The JSON Schema of a snapshot: a moment of a run, as `remit snapshot` prints it.
 *
 * Boundary: one version of the document; what a program's own values hold is any JSON.
 */
import { METER_NAMES, type Meter } from "../state/accounts.ts";
import type { Account, AuthorityView, GrantView, ScopeView } from "../run/inspect.ts";
import type { RightView, ValueView } from "../run/look.ts";
import {
    SNAPSHOT,
    type Snapshot,
    type SnapshotCapability,
    type SnapshotDelegation,
    type SnapshotEffect,
    type SnapshotFrame,
    type SnapshotPrincipal,
    type SnapshotThread,
} from "../run/snapshot.ts";
import { count, flag, is, json, list, named, number, one, orNull, record, ref, type Schema, says, schemaOf, text } from "../shape/build.ts";
import { REQUESTS } from "../effect/effect.ts";
import { SITE } from "./effect.ts";

const site = orNull(ref("Site"));
const CAPABILITIES = ["tool", "llm", "memory", "agent", "func", "skill"];

/** Amounts by meter, any of them. */
const meters = (more: readonly string[] = []): Schema => ({
    type: "object",
    properties: Object.fromEntries([...METER_NAMES, ...more].map((meter) => [meter, number])),
    additionalProperties: false,
});

const RIGHT = record<RightView>(
    { holder: text, from: text, layers: count, methods: says(orNull(list(text)), "null: all of them"), live: flag },
    {},
);

const VALUE = record<ValueView>(
    {
        name: text,
        type: one(["none", "boolean", "number", "string", "list", "object", "capability"]),
        text: says(text, "one line, cut where it is long"),
        size: count,
        origins: list(text),
        inside: says(list(text), "further origins of parts inside it"),
    },
    { kind: one(CAPABILITIES), right: ref("Right") },
);

const FRAME = record<SnapshotFrame>(
    {
        name: text,
        path: text,
        site,
        principal: says(text, "key in principals"),
        scopes: list(record<ScopeView>({ name: one(["locals", "around", "imports"]), variables: list(ref("Value")) }, {})),
        delegations: says(list(count), "keys in delegations"),
    },
    {},
);

const THREAD = record<SnapshotThread>(
    {
        id: count,
        parent: orNull(count),
        path: text,
        state: one(["next", "ready", "waiting", "ended"]),
        waiting: says(orNull(text), "path of what it waits for"),
        frames: says(list(ref("Frame")), "innermost first"),
    },
    {},
);

const GRANT = record<GrantView>(
    {
        thing: text,
        method: says(orNull(text), "null: every method"),
        gate: one(["may", "open", "ask", "never"]),
        within: list(record<GrantView["within"][number]>({ arg: orNull(text), patterns: list(text) }, {})),
        site,
    },
    {},
);

const PRINCIPAL = record<SnapshotPrincipal>(
    {
        principal: text,
        name: text,
        base: flag,
        endorse: flag,
        remits: list(
            record<AuthorityView["remits"][number]>({ site, strict: flag, spend: orNull(meters()), rows: list(ref("Grant")) }, {}),
        ),
    },
    {},
);

const USED = record<Account["used"]>(
    Object.fromEntries(METER_NAMES.filter((meter) => meter !== "time").map((meter) => [meter, number])) as {
        [M in Exclude<Meter, "time">]: Schema;
    },
    {},
);

const ROOT = record<Snapshot>(
    {
        format: is(SNAPSHOT),
        run: text,
        program: { type: "string", pattern: "^[0-9a-f]{64}$" },
        moment: record<Snapshot["moment"]>({ outcomes: count, steps: count, events: count, ended: flag }, {}),
        state: text,
        site,
        threads: list(ref("Thread")),
        principals: named(ref("Principal")),
        delegations: named(
            record<SnapshotDelegation>({ token: count, from: text, to: text, onward: flag, path: text, things: list(text) }, {}),
        ),
        capabilities: list(
            record<SnapshotCapability>(
                {
                    thread: count,
                    frame: count,
                    name: text,
                    held: record<SnapshotCapability["held"]>({ kind: orNull(one(CAPABILITIES)), text, right: ref("Right") }, {}),
                },
                {},
            ),
        ),
        answers: list(record<Snapshot["answers"][number]>({ use: text, yes: flag }, {})),
        pending: list(
            record<SnapshotEffect>(
                { path: text, kind: one(Object.keys(REQUESTS)), principal: text, site, request: json, labels: list(text) },
                {},
            ),
        ),
        budget: record<Account>(
            {
                used: USED,
                limits: meters(["depth", "memory"]),
                open: list(record<Account["open"][number]>({ path: text, name: text, limits: meters(), used: USED, reserved: number }, {})),
            },
            {},
        ),
        labels: says(list(text), "every origin of anything that is shown, sorted"),
        result: json,
    },
    {},
);

export function snapshotJsonSchema(): Schema {
    return schemaOf("snapshot-1", "Remit snapshot", ["Snapshot"], {
        Snapshot: ROOT,
        Thread: THREAD,
        Frame: FRAME,
        Value: VALUE,
        Right: RIGHT,
        Principal: PRINCIPAL,
        Grant: GRANT,
        Site: SITE,
    });
}
