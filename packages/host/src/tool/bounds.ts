/**
 * Bounds of a call, kept where the host alone knows what is meant: where a link leads, where a redirect goes.
 *
 * Boundary: patterns of the request and a place to hold against them; what a pattern means is the machine's (`authority/match.ts`).
 *
 * BO1: of every list of `within` one pattern must match, as the machine asked of what was written in the call; of no group of `without` do all
 *     lists.
 */
import { matches, type Reach, type ToolRequest } from "@remit/machine";
import type { Jail } from "./jail.ts";
import { relative, sep } from "node:path";
import { type CallIO, ToolFail } from "./tool.ts";

function reachOf(io: CallIO): Required<Pick<Reach, "within" | "without">> {
    const { within = [], without = [] } = io.effect.request as unknown as ToolRequest;
    return { within, without };
}

/** Where names in another case name the same file. */
const FOLDS = process.platform === "darwin" || process.platform === "win32";

/** May this call touch the file or folder at this real path of the jail? */
export function insideBounds(io: CallIO, jail: Jail, real: string): boolean {
    const { within, without } = reachOf(io);
    if (within.length === 0 && without.length === 0) return true;
    const path = relative(jail.root, real).split(sep).join("/");
    const forbids = (pattern: string): boolean =>
        matches("path", pattern, path, null, true) || (FOLDS && matches("path", pattern.toLowerCase(), path.toLowerCase()));
    return (
        within.every((patterns) => patterns.some((pattern) => matches("path", pattern, path))) &&
        !without.some((lists) => lists.every((patterns) => patterns.some(forbids)))
    );
}

/** Throws where a path leads outside what the call is bound to. */
export function checkPath(io: CallIO, jail: Jail, real: string, shown: string): void {
    if (insideBounds(io, jail, real)) return;
    throw new ToolFail(`'${shown}' leads outside what this call may reach`, { kind: "denied", hint: hintOf(io) });
}

/** `base`: the import's URL. */
export function checkUrl(io: CallIO, base: string, url: URL): void {
    const { within, without } = reachOf(io);
    if (
        within.every((patterns) => patterns.some((pattern) => matches("url", pattern, url.href, base))) &&
        !without.some((lists) => lists.every((patterns) => patterns.some((pattern) => matches("url", pattern, url.href, base, true))))
    )
        return;
    throw new ToolFail(`${url.origin}${url.pathname} is outside what this call may reach`, { kind: "denied", hint: hintOf(io) });
}

function hintOf(io: CallIO): string {
    const { within, without } = reachOf(io);
    const shown = (lists: readonly (readonly string[])[]): string =>
        lists.map((patterns) => patterns.map((one) => JSON.stringify(one)).join(" or ")).join(", and of that ");
    const may = within.length === 0 ? [] : [`it may reach ${shown(within)}`];
    return [...may, ...without.map((lists) => `it does not go into ${shown(lists)} without being allowed to`)].join("; ");
}
