/**
 * The canonical text of a whole run, for comparing. That of a JSON value, for hashing, is the language's (`form/canonical.ts`, CAN1).
 *
 * Boundary: pure functions of what they are given.
 *
 * CAO2: the canonical ledger of a run does not hold time, sequence, run id or hashes, and events stand by path: two runs of the same program
 *     with the same effect results have the same one, whatever the order in which concurrent effects came back.
 */
import { isObject, canonicalJson, type Json } from "@remit/language";
import type { MachineEvent } from "./events.ts";

export { canonicalJson };

/** Key of `data` that holds measured times and nothing else. */
export const TIMING = "timing";

/** What two runs are compared by: the machine's own part of an event, without measured times and without how the build itself names and teaches. */
export function comparable(event: MachineEvent): MachineEvent {
    const { path, parent, kind, principal, site, labels } = event;
    const data = untimed(event.data);
    return { path, parent, kind, principal, site, labels, data: kind === "agent.asked" ? untaught(data) : data };
}

/** The beginning of a handshake: the name that the build gives the session, and the skill by which it explains the language to an agent. */
const OPENING = /^(\{"format":"remit-yield\/1",)"session":"[^"]*",("turn":\d+,"skills":\{)(?:"protocol":\{"inline":"(?:[^"\\]|\\.)*"\},?)?/;
/** The address of a handshake, by the name of the session. */
const ADDRESS = /^remit:[^/]*\//;

/** Without that name and the text of that skill: a build that names the session otherwise, or explains the language in other words, asks for the same. */
function untaught(data: Json): Json {
    if (!isObject(data) || !Array.isArray(data.prompt)) return data;
    const prompt = data.prompt.map((part): Json => {
        if (!isObject(part) || typeof part.text !== "string" || !OPENING.test(part.text)) return part;
        const text = part.text.replace(OPENING, "$1$2");
        return { ...part, text, ...(typeof part.uri === "string" && { uri: part.uri.replace(ADDRESS, "remit:") }) };
    });
    return { ...data, prompt };
}

function untimed(data: Json): Json {
    if (!isObject(data) || !Object.hasOwn(data, TIMING)) return data;
    const { [TIMING]: _, ...rest } = data;
    return rest;
}

/** The canonical ledger of a run: one line an event, by path, events of one path in their order. */
export function canonicalLedger(events: Iterable<MachineEvent>): string {
    const lines = [...events].map((event) => ({ path: event.path, line: canonicalJson(comparable(event) as unknown as Json) }));
    return lines
        .sort((a, b) => comparePaths(a.path, b.path))
        .map(({ line }) => `${line}\n`)
        .join("");
}

/** Orders paths step by step, numbers by size: `for[2]` before `for[10]`, a path before what is under it. */
export function comparePaths(a: string, b: string): number {
    if (a === b) return 0;
    const [left, right] = [a.split("/"), b.split("/")];
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
        const order = compareSteps(left[at] as string, right[at] as string);
        if (order !== 0) return order;
    }
    return left.length - right.length;
}

function compareSteps(a: string, b: string): number {
    if (a === b) return 0;
    const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)];
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
        const [x, y] = [left[at] as string, right[at] as string];
        if (x === y) continue;
        if (at % 2 === 1 && Number(x) !== Number(y)) return Number(x) - Number(y);
        return x < y ? -1 : 1;
    }
    return left.length - right.length || (a < b ? -1 : 1);
}
