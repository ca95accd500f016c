/** Remit's contender: the agent as a program whose `generate` may call the tool; worker and client in one process. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openLedger, openWorld } from "@remit/host";
import { connect, createWorker, onlyErrors, placeOf, type RemitClient, remitClient } from "@remit/temporal";
import { type AgentFacts, type AgentOrder, book } from "./agent-work.ts";
import { factsOf } from "./temporal-facts.ts";

const source = (url: string): string => `import llm Stub from "${url}#stub"
import tool Desk from "host:desk"
main agent Clerk {
    model Stub
    role "a clerk"
    description "Books what is asked for."
    remit { may Desk.book }
    main func(input) { generate({ input: "Book the rooms 0 to 9.", tools: [Desk], turns: 20 }) -> string }
}`;

export async function remit(address: string, folder: string, url: string): Promise<(order: AgentOrder) => Promise<AgentFacts>> {
    onlyErrors();
    const { store } = await openLedger(join(folder, "agents.db"));
    const schema = { type: "object", properties: { i: { type: "integer" } }, required: ["i"], additionalProperties: false };
    const tools = { Desk: { book: { call: ({ i }: { i: number }) => book(folder, i), description: "Books a room", input: schema } } };
    await createWorker({ connect: { address }, ledger: store, queue: "agent-remit", host: { tools } });
    const connection = await connect(placeOf({ address }));
    const client = remitClient({ connection, store, queue: "agent-remit", settings: { heartbeat: 5_000 } });
    const program = await openWorld({ source: source(url) }, { tools, cache: false });
    return async ({ id, begin }) => {
        const begun = performance.now();
        if (begin) await client.submit(program, program.kept(null, { asks: { park: true } }), { id });
        let asked = 0;
        const over = new AbortController();
        // A person who knows that the call in question was not carried out.
        const person = begin ? null : answering(client, id, over.signal, () => asked++);
        const value = await client.result(id);
        const ms = performance.now() - begun;
        over.abort();
        await person;
        if (value !== "all are booked") throw new Error(`${JSON.stringify(value)} is not what the model said`);
        return { ms, asked, ...(await factsOf(client.client, id)) };
    };
}

async function answering(client: RemitClient, id: string, signal: AbortSignal, count: () => void): Promise<void> {
    while (!signal.aborted) {
        // Until the worker of this process has the run, and once it has ended, the run cannot be asked.
        for (const { run, question } of await client.questions(id).catch(() => [])) {
            count();
            await client.answer(run, { question: question.id, by: question.owner, said: { answer: "again" } });
        }
        await sleep(100);
    }
}
