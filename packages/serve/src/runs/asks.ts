/**
 * Questions that a project sends to the channel `server`: of runs in the ledger that no session of this server conducts.
 *
 * Boundary: from their records to clients, and from a client's decision to the record. What an answer is good for is the ledger's (AK1 to AK4); the run
 * goes on where it is resumed, or where a person waits at its terminal.
 *
 * RAK1: a client decides as the identity that it was paired with. A client without one is `client:ID`, and the owner of the server, who has the scope
 *     `admin`, its user.
 * RAK2: only what its record says was sent to the server is shown or decided here.
 */
import { answerTo, type Ask, AskError, SERVER_CHANNEL } from "@remit/host";
import { askedCall, mayAnswer, principalsOf } from "@remit/machine";
import type { Client } from "../access/clients.ts";
import type { Server } from "../server.ts";
import { ACCEPTED, type Ack, rejected, type RoutedAsk } from "../wire/messages.ts";

/** Oldest first. */
export async function routedAsks(server: Server, client: Client): Promise<RoutedAsk[]> {
    const own = new Set([...server.sessions.values()].flatMap((one) => one.info().asks.map(({ id }) => id)));
    const all = await server.ledger.store.asks.open();
    const who = principalOf(server, client);
    return all.filter((one) => wasSent(one) && !own.has(one.id)).map((one) => told(one, who));
}

/** Changes nothing where it is not accepted. */
export async function decideRouted(server: Server, client: Client, id: string, decision: string): Promise<Ack> {
    const found = (await server.ledger.store.asks.open()).find((one) => one.id === id);
    if (found === undefined || !wasSent(found)) return rejected("there is no open question of this id that was sent to the server");
    try {
        await answerTo(server.ledger.store, found, decision, principalOf(server, client));
        return ACCEPTED;
    } catch (error) {
        if (!(error instanceof AskError)) throw error;
        return rejected(error.message);
    }
}

/** RAK2. */
function wasSent({ notes = [] }: Ask): boolean {
    return notes.some(({ kind, who }) => kind === "sent" && who === SERVER_CHANNEL);
}

/** RAK1. */
function principalOf({ ledger: { user } }: Server, { id, as, scopes }: Client): string {
    return as ?? (scopes.includes("admin") ? user : `client:${id}`);
}

function told({ id, run, request, asked, expires, owner }: Ask, who: string): RoutedAsk {
    const { question, options, detail } = request;
    const approvers = principalsOf(owner);
    return {
        id,
        run,
        asked,
        question,
        options: [...options],
        detail,
        call: askedCall(detail),
        expires,
        approvers,
        may: mayAnswer(owner, who),
    };
}
