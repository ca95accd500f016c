/**
 * Breakpoints: where a run that goes on stops.
 *
 * Boundary: shapes, reading what a person types, and matching. Moving is `session.ts`.
 *
 * BE1: a breakpoint at a line stops before a statement that begins on it; one of events stops before the statement, or the outcome, that makes
 *     the event, so that what led to it can still be looked at.
 * BE2: a `debugger` in the source is a breakpoint that needs none to be set.
 */
import { isObject } from "@remit/language";
import { EVENT_KINDS, type EventKind, type MachineEvent } from "@remit/machine";

export type Breakpoint =
    /** `within`: only where what runs is below this path: one answer of an agent among several of one name. */
    | { readonly kind: "line"; readonly file: string; readonly line: number; readonly within?: string }
    /** An event of this kind. */
    | { readonly kind: "event"; readonly event: EventKind }
    /** A call that begins, or an event, at this path. */
    | { readonly kind: "path"; readonly path: string }
    /** Something that authority or a flow policy refuses. */
    | { readonly kind: "violation" }
    /** Anything that fails, caught or not. */
    | { readonly kind: "failure" }
    /** A `debugger` in the source: never set, always there. */
    | { readonly kind: "debugger" };

const KINDS: ReadonlySet<string> = new Set(EVENT_KINDS);

/** `file.remit:12`, an event's kind, `violation`, `failure`, or a path (`main/…`). `file`: for a bare line number. Null: none of these. */
export function readBreakpoint(text: string, file: string | null): Breakpoint | null {
    const said = text.trim();
    const line = /^(?:(.+):)?(\d{1,9})$/.exec(said);
    if (line !== null) {
        const named = line[1] ?? file;
        return named === null || line[2] === "0" ? null : { kind: "line", file: named, line: Number(line[2]) };
    }
    if (said === "violation" || said === "failure") return { kind: said };
    if (KINDS.has(said)) return { kind: "event", event: said as EventKind };
    if (/^[^\s/]+(\/\S+)*$/.test(said) && said !== "") return { kind: "path", path: said };
    return null;
}

export function shownBreakpoint(one: Breakpoint): string {
    switch (one.kind) {
        case "line":
            return `${one.file}:${one.line}`;
        case "event":
            return one.event;
        case "path":
            return one.path;
        default:
            return one.kind;
    }
}

/** Whether a breakpoint's file is that of a site: the same, or the end of it after a `/`. */
export function sameFile(said: string, file: string): boolean {
    return said === file || file.endsWith(`/${said}`) || said.endsWith(`/${file}`);
}

export function below(path: string, top: string): boolean {
    return path === top || (path.startsWith(top) && path[top.length] === "/");
}

/** Whether an event is what a breakpoint waits for. */
export function matchesEvent(one: Breakpoint, event: MachineEvent): boolean {
    switch (one.kind) {
        case "event":
            return event.kind === one.event;
        case "path":
            return event.path === one.path;
        case "violation":
            return event.kind === "policy.denied" || kindIn(event)?.startsWith("violation.") === true;
        case "failure":
            return event.kind === "failure" || (field(event, "ok") === false && event.kind !== "run.ended");
        case "line":
        case "debugger":
            return false;
    }
}

function field(event: MachineEvent, name: string): unknown {
    const { data } = event;
    return isObject(data) && Object.hasOwn(data, name) ? data[name] : undefined;
}

function kindIn(event: MachineEvent): string | null {
    const said = field(event, "kind");
    return typeof said === "string" ? said : null;
}
