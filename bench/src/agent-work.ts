/**
 * What the agents of all contenders do: `book`, a tool that cannot be undone. It writes a line when it begins and one when it has ended; call 5 waits
 * as long as the file `hold` is there, so that its process can be killed in the middle of it.
 */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const HELD = 5;

/** An order of the section: a run that is begun and waited for, or one of an earlier process that is waited for. */
export interface AgentOrder {
    readonly id: string;
    readonly begin: boolean;
}

export interface AgentFacts {
    readonly ms: number;
    readonly events: number;
    readonly bytes: number;
    /** Questions that a person had to answer. */
    readonly asked: number;
}

export async function book(folder: string, i: number): Promise<string> {
    appendFileSync(join(folder, "calls"), `begun ${i}\n`);
    while (i === HELD && existsSync(join(folder, "hold"))) await sleep(20);
    appendFileSync(join(folder, "calls"), `ended ${i}\n`);
    return `booked ${i}`;
}
