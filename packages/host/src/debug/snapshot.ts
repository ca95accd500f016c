/**
 * A moment of a recorded run as one JSON document: frames, principals, delegations, capabilities, budgets, labels.
 *
 * Boundary: reads a session (`session.ts`) and takes known secrets out; what stands in it is what a debugger shows there.
 *
 * SNA1: two snapshots of one moment are equal, byte by byte; nothing in them depends on the clock, the process or the machine.
 * SNA2: nothing of it is put in without passing the scrubber, texts of failures and requests included; what is cut passes it before.
 */
import type { Json } from "@remit/language";
import {
    type AuthorityView,
    SNAPSHOT,
    type Snapshot,
    type SnapshotCapability,
    type SnapshotDelegation,
    type SnapshotFrame,
    type SnapshotPrincipal,
} from "@remit/machine";
import type { Scrubber } from "../secret/scrub.ts";
import { inspectedBy } from "./inspected.ts";
import type { DebugSession } from "./session.ts";

/** Where the session stands. */
export function snapshotOf(session: DebugSession, scrubber: Scrubber): Snapshot {
    const where = session.where();
    const { threads, pending, account, result } = inspectedBy(session.timeline.machine, scrubber);
    const principals: { [id: string]: SnapshotPrincipal } = {};
    const delegations: { [token: string]: SnapshotDelegation } = {};
    const capabilities: SnapshotCapability[] = [];
    const labels = new Set<string>();
    let answers: AuthorityView["answers"] = [];
    const views = threads.map((thread) => ({
        id: thread.id,
        parent: thread.parent,
        path: thread.name,
        state: thread.state,
        waiting: thread.waiting,
        frames: thread.stackFrames.map((frame, index): SnapshotFrame => {
            const view = session.authority(thread.id, index);
            if (view !== null) {
                const { delegations: inForce, answers: said, ...own } = view;
                principals[view.principal] = own;
                for (const one of inForce) delegations[one.token] = { ...one, to: view.name };
                answers = said;
            }
            for (const scope of frame.scopes)
                for (const v of scope.variables) {
                    for (const origin of [...v.origins, ...v.inside]) labels.add(origin);
                    if (v.right === undefined) continue;
                    const held = { kind: v.kind ?? null, text: v.text, right: v.right };
                    capabilities.push({ thread: thread.id, frame: index, name: v.name, held });
                }
            return {
                name: frame.name,
                path: frame.path,
                site: frame.site,
                principal: frame.principal,
                scopes: frame.scopes,
                delegations: (view?.delegations ?? []).map((one) => one.token),
            };
        }),
    }));
    const { outcomes, steps, events, ended } = where.moment;
    const made: Snapshot = {
        format: SNAPSHOT,
        run: session.info.id,
        program: session.info.program,
        moment: { outcomes, steps, events, ended },
        state: where.state,
        site: where.site,
        threads: views,
        principals: sorted(principals),
        delegations: sorted(delegations),
        capabilities,
        answers,
        pending: pending.map(({ path, kind, principal, site, request, labels: carried }) => {
            for (const origin of carried) labels.add(origin);
            return { path, kind, principal, site, request, labels: [...carried] };
        }),
        budget: account,
        labels: [...labels].sort(),
        result: result as unknown as Json,
    };
    return scrubber.scrub(JSON.parse(JSON.stringify(made)) as Json) as unknown as Snapshot;
}

function sorted<T>(of: { readonly [key: string]: T }): { [key: string]: T } {
    return Object.fromEntries(Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A place where two snapshots differ: a JSON Pointer, and what stands there; absent where nothing does. */
export interface SnapshotChange {
    readonly at: string;
    readonly before?: Json;
    readonly after?: Json;
}

/** The differences of two documents, in the order of the first; what `applyChanges` needs to make the second of the first. */
export function diffSnapshots(a: Json, b: Json): SnapshotChange[] {
    const changes: SnapshotChange[] = [];
    const walk = (x: Json | undefined, y: Json | undefined, at: string): void => {
        if (x === undefined || y === undefined) {
            if (x !== y) changes.push({ at, ...(x === undefined ? {} : { before: x }), ...(y === undefined ? {} : { after: y }) });
            return;
        }
        const [left, right] = [partsOf(x), partsOf(y)];
        if (left !== null && right !== null && Array.isArray(x) === Array.isArray(y)) {
            for (const key of new Set([...left.keys(), ...right.keys()]))
                walk(left.get(key), right.get(key), `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
        } else if (JSON.stringify(x) !== JSON.stringify(y)) changes.push({ at, before: x, after: y });
    };
    walk(a, b, "");
    return changes;
}

function partsOf(value: Json): Map<string, Json> | null {
    return value !== null && typeof value === "object" ? new Map(Object.entries(value)) : null;
}

/** The second document, from the first and their differences. */
export function applyChanges(a: Json, changes: readonly SnapshotChange[]): Json {
    let made = structuredClone(a);
    // From the end of lists, so that what is taken out does not move what comes after it.
    const ordered = [...changes.filter((c) => c.after !== undefined), ...changes.filter((c) => c.after === undefined).reverse()];
    for (const { at, after } of ordered) {
        const keys = at
            .split("/")
            .slice(1)
            .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
        const last = keys.pop();
        if (last === undefined) {
            made = after ?? null;
            continue;
        }
        let holder = made as { [key: string]: Json };
        for (const key of keys) holder = holder[key] as { [key: string]: Json };
        // Also where a key is `__proto__`.
        if (after !== undefined)
            Object.defineProperty(holder, last, { value: after, enumerable: true, writable: true, configurable: true });
        else if (Array.isArray(holder)) holder.splice(Number(last), 1);
        else delete holder[last];
    }
    return made;
}
