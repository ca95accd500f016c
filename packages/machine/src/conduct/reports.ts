/**
 * What agents report while they work: when it is kept, and what the machine is told of it.
 *
 * Boundary: from notes to an event and an outcome for the machine. What was used is counted by the machine (AC10).
 *
 * D10: what an agent reports is kept as it comes, at the latest with the next commit or after `NOTE_MS`; a text alone causes no commit. Whatever
 *     ends the turn, what came before is on record.
 */
import type { Json } from "@remit/language";
import type { AgentNote, AgentTurn, Effect } from "../effect/effect.ts";
import { mostUsage, usageSince } from "../effect/usage.ts";
import type { MachineEvent } from "../ledger/events.ts";
import { notes, usageNoted } from "../ledger/notes.ts";
import type { Answered } from "./messages.ts";
import type { Work } from "./requests.ts";
import type { RunTime } from "./time.ts";

/** How long pieces of a text that an agent reports are joined, milliseconds. */
const NOTE_MS = 1000;

export class Reports {
    /** An agent reported what is to be kept soon. */
    isDue = false;
    /** An agent reported since all were told: the works need not be looked through for it else. */
    private isAny = false;
    private readonly time: RunTime;
    private readonly told: (event: MachineEvent, answered: Answered) => void;

    constructor(time: RunTime, told: Reports["told"]) {
        this.time = time;
        this.told = told;
    }

    add(work: Work, note: AgentNote): void {
        if (work.effect.kind !== "agent" || work.of !== null) return;
        work.noted ??= notes();
        work.noted.add(note);
        this.isAny = true;
        if ("entry" in note && note.entry.kind !== "message" && note.entry.kind !== "thought") this.isDue = true;
        else if (!this.time.has("notes")) this.time.set("notes", NOTE_MS, false);
    }

    /** What the agent of an effect reported goes into the next commit, and to the machine where it can be told. */
    tell(work: Work): void {
        const { noted } = work;
        if (noted === null) return;
        const list = noted.list as unknown as Json[];
        const used = usageNoted(noted.list);
        const usage = used === undefined ? {} : { usage: usageSince(work.used, used) };
        work.used = mostUsage(work.used, used);
        work.noted = null;
        const { path, principal, site, request, labels: given } = work.effect;
        const { agent, session, turn } = request as unknown as AgentTurn;
        const origins = [`agent:${agent.name}`];
        const labels = [...new Set([...given, ...origins])].sort();
        const data: Json = { agent: agent.name, session, turn, notes: list, host: true };
        const parent = path.slice(0, path.lastIndexOf("/"));
        const event: MachineEvent = { path, parent, kind: "agent.noted", principal, site, labels, data };
        this.told(event, { path: `${path}/note[${work.told++}]`, outcome: { ok: true, value: { notes: list }, origins, ...usage } });
    }

    tellAll(works: Iterable<Work>): void {
        this.isDue = false;
        if (!this.isAny) return;
        this.isAny = false;
        this.time.clear("notes");
        for (const work of works) this.tell(work);
    }
}

/** A turn begins once more: what its agent said before was of one that broke off (AC10). Nothing for what is no turn. */
export function anew({ kind, path }: Effect): Answered[] {
    return kind === "agent" ? [{ path: `${path}/note[0]`, outcome: { ok: true, value: { notes: [] }, origins: [] } }] : [];
}
