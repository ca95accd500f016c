/**
 * Who may read what an effect brings, and what its server states of it.
 *
 * Boundary: from an effect and its outcome to labels, by the `reads` clauses of its import. What they mean is `authority/readers.ts`.
 *
 * RST1: what a server states adds labels and takes none away: a value of a trusted import is not trusted where its server says so, and one that it calls
 *     private goes where the person of the run reads it, and nowhere else.
 * RST3: where every import of the tool says `labels from server`, a result that its server calls trusted carries that in place of the tool's origin, and one
 *     that it calls public is for everyone, whatever `reads` says there. What a project says of readers holds, and who chose the call may restrict it
 *     still (RST2).
 * RST2: what a read on this machine gives is for those who may know what chose the read: nothing held that against it before (LANGUAGE 5).
 */
import { type Json, readsHere, schemeOf } from "@remit/language";
import { readersGiven, readersLabel } from "../authority/readers.ts";
import {
    type Claims,
    type Effect,
    type MemoryRequest,
    type ModelTurn,
    opOf,
    type Outcome,
    type Read,
    type ToolRequest,
} from "../effect/effect.ts";
import { chooserIn } from "../value/label.ts";
import type { Ops } from "./ops.ts";

const NOBODY_SAYS: readonly string[] = [];

/** RST1, also of what a failure tells. The origin beside `tool:NAME` is none that a clause trusts. */
export function claimedOf({ authority }: Ops, { kind, request }: Effect, outcome: Outcome): readonly string[] {
    return kind === "tool" ? claimedBy(authority, (request as unknown as ToolRequest).tool, outcome.claims) : NOBODY_SAYS;
}

function claimedBy(authority: Ops["authority"], tool: string, claims: Claims | undefined): readonly string[] {
    if (claims === undefined) return NOBODY_SAYS;
    const origin = `tool:${tool}`;
    return [
        ...(claims.untrusted === true && authority.trusts(origin) ? [`untrusted:${origin}`] : []),
        ...(claims.private === true ? [readersLabel([authority.base])] : []),
    ];
}

/** Origins of what an agent's own uses gave it: what its server states restricts here, too, and grants nothing. */
export function originsRead({ authority }: Pick<Ops, "authority">, read: readonly Read[]): string[] {
    return read.flatMap(({ tool, origins, claims }) => [...origins, ...claimedBy(authority, tool, claims)]);
}

const NOTHING_GRANTED = { trusted: null, isPublic: false };

/** RST3. `trusted`: the origin that what the tool gave has no more. */
export function grantedBy(
    { authority }: Ops,
    { kind, request }: Effect,
    outcome: Outcome,
): { readonly trusted: string | null; readonly isPublic: boolean } {
    const { grants, claims } = outcome.ok ? outcome : {};
    if (grants === undefined || kind !== "tool") return NOTHING_GRANTED;
    const origin = `tool:${(request as unknown as ToolRequest).tool}`;
    if (!authority.grants(origin)) return NOTHING_GRANTED;
    return {
        trusted: grants.trusted === true && claims?.untrusted !== true ? origin : null,
        isPublic: grants.public === true && claims?.private !== true,
    };
}

/** Labels that say who may read what an effect brings, or what its failure tells: `reads` clauses of its import, and who chose it (RST2). */
export function readersOfResult(m: Ops, effect: Effect, value: Json, isPublic = false): readonly string[] {
    const said = readersSaid(m, effect, value, isPublic);
    const chose = readersOfChoice(effect);
    return chose.length === 0 ? said : [...said, ...chose];
}

function readersOfChoice({ kind, request, labels }: Effect): readonly string[] {
    const chose = labels.some(isReader) && kind === "tool" && opOf(request) === "call" ? labels.filter(isReader) : NOBODY_SAYS;
    if (chose.length === 0) return NOBODY_SAYS;
    const { uri, method } = request as unknown as ToolRequest;
    return method != null && readsHere(schemeOf(uri), method) ? chose : NOBODY_SAYS;
}

const isReader = (label: string): boolean => chooserIn(label)?.startsWith("only:") === true;

function readersSaid(m: Ops, { kind, request }: Effect, value: Json, isPublic: boolean): readonly string[] {
    const { authority, compiled } = m;
    if (authority.book.plain) return NOBODY_SAYS;
    if (kind === "tool") {
        const { op, tool, uri, file, method, args } = request as unknown as ToolRequest;
        if (op === "describe") return NOBODY_SAYS;
        const { reads } = authority.clausesAt(compiled.capabilityAt(file, tool).file, tool);
        if (reads.length === 0) return NOBODY_SAYS;
        return readersGiven(
            // A project only narrows: no word of a server takes that away.
            { reads: isPublic ? reads.filter(({ project }) => project === true) : reads, people: m.standing.people },
            uri,
            method ?? null,
            args ?? [],
            value,
        );
    }
    if (kind === "recall" || kind === "remember") {
        const { memory, uri, file, arg } = request as unknown as MemoryRequest;
        const { reads } = authority.clausesAt(compiled.capabilityAt(file, memory).file, memory);
        return readersGiven({ reads, people: m.standing.people }, uri, kind === "recall" ? "query" : "add", [arg], value);
    }
    if (kind !== "model" || opOf(request) !== "turn") return NOBODY_SAYS;
    const { name, uri } = (request as unknown as ModelTurn).model;
    return readersGiven({ reads: authority.saidOfModel("reads", name, uri) }, uri, null, [], undefined);
}
