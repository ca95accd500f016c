/**
 * Bounds of a call, kept where the host alone knows what is meant: where a link leads, where a redirect goes.
 *
 * Boundary: patterns of the request and a place to hold against them; what a pattern means is the machine's (`authority/match.ts`).
 *
 * B1: of every list one pattern must match, as the machine asked of what was written in the call.
 */
import { matches, type ToolRequest } from "@remit/machine";
import type { Jail } from "./jail.ts";
import { relative, sep } from "node:path";
import { type CallIO, ToolFail } from "./tool.ts";

function within(io: CallIO): readonly (readonly string[])[] {
    return (io.effect.request as unknown as ToolRequest).within ?? [];
}

/** May this call touch the file or folder at this real path of the jail? */
export function insideBounds(io: CallIO, jail: Jail, real: string): boolean {
    const lists = within(io);
    if (lists.length === 0) return true;
    const path = relative(jail.root, real).split(sep).join("/");
    return lists.every((patterns) => patterns.some((pattern) => matches("path", pattern, path)));
}

/** Throws where a path leads outside what the call is bound to. */
export function checkPath(io: CallIO, jail: Jail, real: string, shown: string): void {
    if (insideBounds(io, jail, real)) return;
    throw new ToolFail(`'${shown}' leads outside what this call may reach`, { kind: "denied", hint: hintOf(io) });
}

/** `base`: the import's URL. */
export function checkUrl(io: CallIO, base: string, url: URL): void {
    if (within(io).every((patterns) => patterns.some((pattern) => matches("url", pattern, url.href, base)))) return;
    throw new ToolFail(`${url.origin}${url.pathname} is outside what this call may reach`, { kind: "denied", hint: hintOf(io) });
}

function hintOf(io: CallIO): string {
    return `it may reach ${within(io)
        .map((patterns) => patterns.map((one) => JSON.stringify(one)).join(" or "))
        .join(", and of that ")}`;
}
