/**
 * Reading events: their data, their times, and the tree their paths make.
 *
 * Boundary: an event's data is JSON that may have been redacted, so every reader gives a plain answer where a field is absent.
 */
import { isObject, type Json, plainColumns } from "@remit/language";
import type { Part } from "../effect/effect.ts";
import { joined } from "../prompt/layers.ts";
import type { LedgerEvent, MachineEvent } from "./events.ts";

export type JsonObject = { [key: string]: Json };

export function objectIn(data: Json | undefined): JsonObject {
    return isObject(data) ? data : {};
}

export function field(event: { readonly data: Json }, key: string): Json | undefined {
    const data = objectIn(event.data);
    return Object.hasOwn(data, key) ? data[key] : undefined;
}

export function textIn(value: Json | undefined): string | undefined {
    return typeof value === "string" ? value : undefined;
}

export function numberIn(value: Json | undefined): number | undefined {
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function listIn(value: Json | undefined): readonly Json[] {
    return Array.isArray(value) ? value : [];
}

/** Parts of a message, texts that follow each other in one. */
export function partsIn(content: Json | undefined): JsonObject[] {
    return joined(listIn(content).map(objectIn) as unknown as Part[]) as unknown as JsonObject[];
}

/** Milliseconds since 1970 of an ISO 8601 UTC time; null where it is none. */
export function millis(time: string): number | null {
    const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3})\d*)?Z$/.exec(time);
    if (found === null) return null;
    const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [number, number, number, number, number, number];
    // Days from 1 March 0000: a year that begins in March has its leap day at the end.
    const y = month > 2 ? year : year - 1;
    const days =
        365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
    return (((days - 719468) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + Number((found[7] ?? "0").padEnd(3, "0"));
}

/** One thing that happened: its start and its end, either of which may be missing, or a single event. */
export interface Happening {
    readonly family: string;
    readonly start?: LedgerEvent;
    readonly end?: LedgerEvent;
    readonly single?: LedgerEvent;
}

/** Its first event. */
export function eventOf(one: Happening): LedgerEvent {
    return (one.start ?? one.single ?? one.end) as LedgerEvent;
}

/** What its events say: the last of them that says something. */
export function get(one: Happening, key: string): Json | undefined {
    let found: Json | undefined;
    for (const event of [one.end, one.single, one.start]) if (event !== undefined) found ??= field(event, key);
    return found;
}

/** What an event says of a call; a use of an agent's own hands says it in its request. */
export function saidOf(event: MachineEvent, key: string): Json | undefined {
    return field(event, key) ?? objectIn(field(event, "request"))[key];
}

/** Of a call: what its events say, or its request does. */
export function called(one: Happening, key: string): Json | undefined {
    return get(one, key) ?? saidOf(eventOf(one), key);
}

/** The model of a URI, without its scheme. */
export function modelName(uri: string): string {
    return uri.replace(/^[a-z0-9+.-]+:(\/\/)?/i, "") || uri;
}

export interface TreeNode {
    readonly path: string;
    /** Pass of a `parallel for`: its index. Such a node has no events of its own. */
    readonly iteration?: number;
    readonly happenings: readonly Happening[];
    readonly children: readonly TreeNode[];
    /** Sequence number of its first event. */
    readonly seq: number;
}

const OPENS = new Set(["started", "requested", "opened", "asked"]);
const CLOSES = new Set(["ended", "decided", "given", "closed", "withdrawn", "answered"]);
/** A turn of an agent is not the call of one. */
const FAMILIES: { readonly [kind: string]: string } = { "agent.asked": "agent.turn", "agent.answered": "agent.turn" };

/** `main/parallel[3]` → `main/` and 3. */
const ITERATION = /^(.*\/|)parallel\[(\d+)\]$/;

/**
 * The happenings of a run as a tree of paths; a node stands under the nearest path above it that has events. Passes of a `parallel for` have
 * no events of their own: each gets a node under the `parallel for` that is open in its function, of which there is never more than one.
 */
export function treeOf(events: Iterable<LedgerEvent>): TreeNode[] {
    const byPath = new Map<string, LedgerEvent[]>();
    for (const event of events) {
        // a `use` has the path of the block that it stands in: it is something that happened there, not the block itself
        const path = event.kind === "use" ? `${event.path}/use@${event.seq}` : event.path;
        const list = byPath.get(path);
        if (list === undefined) byPath.set(path, [event]);
        else list.push(event);
    }
    type Building = { path: string; happenings: Happening[]; children: Building[]; seq: number; iteration?: number };
    const nodes = new Map<string, Building>();
    for (const [path, list] of byPath)
        nodes.set(path, { path, happenings: happeningsOf(list), children: [], seq: (list[0] as LedgerEvent).seq });
    const roots: Building[] = [];
    const loops = [...nodes.values()].filter((node) => node.path.slice(node.path.lastIndexOf("/") + 1).startsWith("parallel#"));
    const parentOf = (node: Building): Building | undefined => {
        let above = node.path;
        while (above.includes("/")) {
            above = above.slice(0, above.lastIndexOf("/"));
            const known = nodes.get(above);
            if (known !== undefined) return known;
            const pass = ITERATION.exec(above);
            if (pass === null) continue;
            const loop = loops.findLast(
                (one) => one.seq < node.seq && one.path.startsWith(`${pass[1]}parallel#`) && !one.path.slice(pass[1]?.length).includes("/"),
            );
            if (loop === undefined) continue;
            const index = Number(pass[2]);
            let made = loop.children.find((child) => child.iteration === index);
            if (made === undefined) {
                made = { path: above, happenings: [], children: [], seq: node.seq, iteration: index };
                loop.children.push(made);
            }
            return made;
        }
        return undefined;
    };
    for (const node of [...nodes.values()].sort((a, b) => a.seq - b.seq)) (parentOf(node)?.children ?? roots).push(node);
    const order = (one: Building): void => {
        one.children.sort((a, b) => (a.iteration ?? a.seq) - (b.iteration ?? b.seq));
        for (const child of one.children) order(child);
    };
    for (const node of roots) order(node);
    return roots.sort((a, b) => a.seq - b.seq);
}

export function familyOf({ kind }: LedgerEvent): string {
    return FAMILIES[kind] ?? kind.replace(/\.[^.]*$/, "");
}

/** What happened at one place. */
export function happeningsOf(events: readonly LedgerEvent[]): Happening[] {
    const out: { family: string; start?: LedgerEvent; end?: LedgerEvent; single?: LedgerEvent }[] = [];
    for (const event of events) {
        const family = familyOf(event);
        const last = event.kind.includes(".") ? event.kind.slice(event.kind.lastIndexOf(".") + 1) : "";
        if (OPENS.has(last)) out.push({ family, start: event });
        else if (CLOSES.has(last)) {
            const open = out.findLast((one) => one.family === family && one.start !== undefined && one.end === undefined);
            if (open === undefined) out.push({ family, end: event });
            else open.end = event;
        } else out.push({ family: event.kind, single: event });
    }
    return out;
}

/** The path of the generate that an attempt, turn, call or count belongs to. */
export function generatePath(path: string): string {
    // A reader's is inside of the one whose model asked.
    const inner = /^.*\/call\[\d+\]\/reader(?=\/|$)/.exec(path)?.[0];
    return inner ?? path.replace(/\/(attempt|count|describe)(\[[^/]*\])?(\/.*)?$/, "");
}

/** `kind` and place of a failure in one line. */
export function siteText(event: Pick<MachineEvent, "site">): string {
    return event.site === null ? "" : `${event.site.file}:${event.site.line}:${event.site.column}`;
}

/** One line that a terminal only shows: a ledger is data, a terminal obeys. */
export function plainText(text: string): string {
    return plainColumns(text, " ");
}
