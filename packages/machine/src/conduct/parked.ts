/**
 * Turns of agents that wait for a person: what their agents asked, what was done by then, and what holds when such a turn is told again.
 *
 * Boundary: values. When a turn is stopped, and when it begins again, is the conductor's.
 *
 * H5: in a turn that is told again nothing is made twice: a use that its agent made before is answered with the outcome that it had, each once. What
 *     the agent asks about anew, because it says something else this time, is asked about anew.
 * H8: the same holds for a turn that a crash broke off and a person lets be told again: what its agent made is read from the record. What failed, and
 *     what has no outcome there, is made again.
 * H9: a turn that begins its session is told again in a new one. Any other goes on with what its session holds, which ended with the agent's process: it
 *     is told again where the agent can take the session up in another process.
 * H6: an answer stands for the use that it was given about: a yes for one use, a no to the end of the turn.
 * H10: what an agent's uses gave it counts in what is ruled about its next ones, and is told with the outcome of its turn: it may act by it, and say it. The
 *     end of a time budget is told with it, too: an agent may use the time up because of what it read.
 */
import { canonicalJson, type Json } from "@remit/language";
import { type AgentTurn, type Claims, type Effect, type Outcome, READ, type Read } from "../effect/effect.ts";
import type { LedgerEvent } from "../ledger/events.ts";
import { field, listIn, objectIn } from "../ledger/read.ts";
import type { Said } from "../state/delegations.ts";
import { any, count, flag, is, json, list, says, shape, type Told, text, tuple } from "../shape/build.ts";
import type { AgentUse, UseUp } from "./messages.ts";

/** A question about a use, at its path; `ask` puts it. */
export interface ParkedUse {
    readonly path: string;
    readonly up: UseUp;
    readonly ask: Effect;
    /** As of the question (H10). */
    readonly read: readonly Read[];
}

type Done = Outcome & { readonly ok: true };

/** A use that was made, and what it gave. */
export interface Made {
    readonly use: string;
    readonly outcome: Outcome;
}

/** What a turn of an agent keeps for the case that it is told again. */
export interface Telling {
    /** Questions that wait for a person: the turn ends, and is told again. */
    readonly parked: ParkedUse[];
    /** Answers that no use took yet (H6), by the use. */
    readonly said: Map<string, Said>;
    readonly made: Made[];
    /** Of an earlier telling: what its agent did not come to yet (H5). */
    readonly before: Made[];
    /** Of those: what its agent may make without another question, because it asked in this telling. */
    readonly agreed: Set<Made>;
    /** What its own uses gave it, by tool (H10). */
    readonly read: Map<string, Read>;
}

const USE = shape({ tool: text, method: text, args: list(json) }, { note: text });
export const PARKED = says(
    shape(
        {
            path: text,
            uses: count,
            asks: list(shape({ path: text, use: USE, make: flag }, { read: list(READ) })),
            said: list(tuple(text, any(text, is(false)))),
            made: list(shape({ use: text, outcome: json }, {})),
        },
        { read: list(READ) },
    ),
    "a turn of an agent that waits for a person: its path, how many uses it made or asked about, the open questions, answers that stand, and what was made",
);
export type ParkedDoc = Told<typeof PARKED>;

/** `goesOn`: with what an earlier telling left in its session (H9). */
export function telling(doc?: ParkedDoc, goesOn = false): Telling {
    const before = (doc?.made ?? []).map(({ use, outcome }) => ({ use, outcome: outcome as unknown as Outcome }));
    const read = new Map((goesOn ? (doc?.read ?? []) : []).map((one) => [one.tool, one]));
    return { parked: [], said: new Map(doc?.said ?? []), made: [], before, agreed: new Set(), read };
}

export function parkedDoc(path: string, uses: number, { parked, said, made, before, read }: Telling): ParkedDoc {
    return {
        path,
        uses,
        asks: parked.map(({ path, up: { use, make }, read: by }) => ({ path, use, make, ...(by.length === 0 ? {} : { read: [...by] }) })),
        said: [...said],
        made: [...made, ...before].map(({ use, outcome }) => ({ use, outcome: outcome as unknown as Json })),
        ...(read.size === 0 ? {} : { read: [...read.values()] }),
    };
}

/** H10. `outcome` null: the use is only begun, or is the agent's own to make. */
export function reads({ read }: Telling, tool: string, outcome: Partial<Pick<Done, "origins" | "parts" | "claims">> | null): void {
    const { origins: known = [], claims: stated }: Partial<Read> = read.get(tool) ?? {};
    const parts = Object.values(outcome?.parts ?? {}).flat();
    const origins = [...new Set([...known, `tool:${tool}`, ...(outcome?.origins ?? []), ...parts])].sort();
    const claims = { ...stated, ...outcome?.claims };
    read.set(tool, { tool, origins, ...(Object.keys(claims).length === 0 ? {} : { claims }) });
}

/** H10. */
export function withRead(outcome: Outcome, tellings: readonly Telling[]): Outcome {
    const read = tellings.flatMap((one) => [...one.read.values()]);
    return read.length === 0 ? outcome : { ...outcome, read };
}

/** Whether this turn of an agent begins its session. */
export function beginsSession({ request }: Effect): boolean {
    const { turn, fresh } = request as unknown as AgentTurn;
    return turn === 0 || fresh === true;
}

export function madeOf({ tool, method, args }: AgentUse): string {
    return canonicalJson([tool, method, [...args]]);
}

/**
 * What the record of a use keeps of its outcome besides the value, for `madeIn`: what it carries, and what its
 * server states, restricts after a crash, too.
 */
export function statedIn(outcome: Outcome): { [key: string]: Json } {
    const parts = outcome.ok ? outcome.parts : undefined;
    const origins = outcome.ok ? undefined : outcome.origins;
    const { claims } = outcome;
    return {
        ...(parts === undefined ? {} : { parts }),
        ...(origins === undefined ? {} : { origins }),
        ...(claims === undefined ? {} : { claims: { ...claims } }),
    } as { [key: string]: Json };
}

function textsIn(labels: Json | undefined): string[] {
    return listIn(labels).filter((one) => typeof one === "string");
}

function statedBy(event: LedgerEvent): Pick<Done, "parts" | "claims"> {
    const claims = objectIn(field(event, "claims"));
    const parts = Object.entries(objectIn(field(event, "parts"))).map(([at, labels]) => [at, textsIn(labels)] as const);
    const stated: Claims = {
        ...(claims["untrusted"] === true ? { untrusted: true } : {}),
        ...(claims["private"] === true ? { private: true } : {}),
    };
    return {
        ...(parts.length === 0 ? {} : { parts: Object.fromEntries(parts) }),
        ...(Object.keys(stated).length === 0 ? {} : { claims: stated }),
    };
}

/**
 * H8. What the agent of a turn made by these events of the run, and what that gave it. H10: the record does not say what the agent used itself where
 * no person was asked, so that it may have read all that its remit lets it use.
 */
export function madeIn({ path: turn, request }: Effect, events: Iterable<LedgerEvent>): ParkedDoc {
    const begun = new Map<string, { readonly tool: string; readonly use: string }>();
    const made: { use: string; outcome: Json }[] = [];
    const one = telling();
    for (const { tool, methods } of (request as unknown as AgentTurn).hands)
        if (methods.some(({ gate }) => gate === "may")) reads(one, tool, null);
    let uses = 0;
    for (const event of events) {
        const { path, kind, labels } = event;
        const nth = path.startsWith(turn) ? /^\/hand\[(\d+)\]/.exec(path.slice(turn.length))?.[1] : undefined;
        if (nth === undefined) continue;
        uses = Math.max(uses, Number(nth) + 1);
        const { tool, method, args } = objectIn(field(event, "request"));
        if (kind === "tool.started" && typeof tool === "string" && typeof method === "string") {
            begun.set(path, { tool, use: madeOf({ tool, method, args: listIn(args) }) });
            reads(one, tool, null);
        }
        const use = kind === "tool.ended" ? begun.get(path) : undefined;
        if (use === undefined) continue;
        if (field(event, "ok") !== true) {
            const { claims } = statedBy(event);
            reads(one, use.tool, { origins: textsIn(field(event, "origins")), ...(claims === undefined ? {} : { claims }) });
            continue;
        }
        const outcome: Outcome = { ok: true, value: field(event, "value") ?? null, origins: [...labels], ...statedBy(event) };
        made.push({ use: use.use, outcome: outcome as unknown as Json });
        reads(one, use.tool, outcome);
    }
    return { ...parkedDoc(turn, uses, one), made };
}

/** H5. What such a use gave before; undefined: it was not made before, or that was told already. */
export function toldBefore({ before, made }: Telling, use: AgentUse): Outcome | undefined {
    const key = madeOf(use);
    const at = before.findIndex((one) => one.use === key);
    if (at < 0) return undefined;
    made.push(...before.splice(at, 1));
    return made.at(-1)?.outcome;
}

/** H6. Whether the agent may make such a use because it made it before, which is told once it does; once for each. */
export function agreesToMade({ before, agreed }: Telling, use: AgentUse): boolean {
    const key = madeOf(use);
    const found = before.find((one) => one.use === key && !agreed.has(one));
    if (found !== undefined) agreed.add(found);
    return found !== undefined;
}

/** H6. Takes the answer about this use; undefined: there is none. */
export function takeSaid({ said }: Telling, use: string): Said | undefined {
    const answer = said.get(use);
    if (answer !== undefined && answer !== false) said.delete(use);
    return answer;
}
