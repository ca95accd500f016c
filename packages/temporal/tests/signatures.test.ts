/** Answers that are signed (SGN1, TQ4, CRR3): what the key of a worker did not sign for this very question changes nothing, whoever sends it. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { load, openWorld } from "@remit/host";
import type { Json } from "@remit/language";
import { beforeAll, expect, test } from "vitest";
import { type DevServer, remitClient, runCarriers } from "../src/index.ts";
import { asked } from "../src/client/asked.ts";
import { signed } from "../src/wire/signature.ts";
import { type Answer, type Question, UPDATES } from "../src/wire/messages.ts";
import { BUNDLES } from "./bundles.ts";
import { questionsOf, type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

const key = () => generateKeyPairSync("ed25519").privateKey;
/** As a program of Temporal's own sends it. */
const sent = (room: Room, run: string, answer: Answer): Promise<unknown> =>
    room.client.client.workflow.getHandle(run).executeUpdate(UPDATES.answer, { args: [answer] });
/** By the workflow, or by its activity. */
async function isRefused(update: Promise<unknown>): Promise<string | undefined> {
    const error: unknown = await update.then(
        () => null,
        (reason: unknown) => reason,
    );
    const { cause } = error as {
        readonly cause: { readonly type?: string; readonly cause?: { readonly type?: string; readonly message?: string } };
    };
    expect(cause.type ?? cause.cause?.type).toBe("RemitRefused");
    return cause.cause?.message;
}

const SOURCE = `import tool Mail from "host:mail" { send: ask }
main func(name: string) {
    Mail.send(name)
    Mail.send("two")
}`;

test("unsigned, signed by another key, for another run, question, person or answer: refused; signed: taken, of every kind of question", async () => {
    await using room = await roomAt(server);
    const calls: string[] = [];
    const tools = { Mail: { send: { call: (text: string) => calls.push(text) } } };
    const own = key();
    await room.worker({ host: { tools }, signers: [createPublicKey(key()), createPublicKey(own)] });
    const program = await openWorld({ source: SOURCE }, { cache: false, process: room.on });
    const run = await room.client.submit(program, program.kept({}, { interactive: true }));
    const by = room.on.user;
    const client = remitClient({ client: room.client.client, store: room.store, queue: room.queue, signer: own });

    const [name] = (await questionsOf(room, run)) as [Question];
    expect(name).toMatchObject({ kind: "input", nonce: expect.any(String) });
    const ada = { question: name.id, by, value: "ada" };
    await isRefused(sent(room, run, ada));
    await isRefused(sent(room, run, { ...signed(own, run, name, ada), value: "eve" }));
    await isRefused(sent(room, run, signed(own, run, { ...name, nonce: "another" }, ada)));
    await client.answer(run, ada);

    const first = async (): Promise<Question> => (await questionsOf(room, run)).find(({ kind }) => kind === "ask") ?? first();
    const one = await first();
    const yes = { question: one.id, by, decision: "once" };
    const good = signed(own, run, one, yes);
    for (const forged of [
        yes,
        { ...yes, signature: "AAAA" },
        signed(key(), run, one, yes),
        signed(own, `${run}0`, one, yes),
        { ...good, decision: "session" },
        // What was shown is another call.
        signed(
            own,
            run,
            { ...one, request: { ...(one.request as object), detail: { capability: "Mail.send", args: ["harmless"] } } as Json },
            yes,
        ),
        signed(own, run, { ...one, options: ["once"] }, yes),
        { ...signed(own, run, one, { ...yes, by: "user:eve" }), by },
    ])
        await isRefused(sent(room, run, forged));
    // As a Remit before this one signs: told why, and the question stays.
    const { form: _, ...first1 } = good;
    expect(await isRefused(sent(room, run, first1))).toMatch(/form 1, which does not cover what is asked/);
    // ASD3.
    const told = Promise.withResolvers<Json>();
    const over = new AbortController();
    const news = (): Promise<void> => new Promise((resolve) => over.signal.addEventListener("abort", () => resolve()));
    const on = { ask: () => "once", part: (_: string, part: Json) => told.resolve(part) };
    const asks = asked({ client: room.client, store: room.store, run, on, by, until: over.signal, missing: () => false, news });
    expect(await told.promise).toMatchObject({ type: "notice", text: expect.stringContaining("takes signed answers alone") });
    over.abort();
    await asks;
    expect(calls).toEqual([]);
    expect(await room.store.asks.list(run)).toMatchObject([{ state: "open" }]);
    await sent(room, run, good);

    const next = async (): Promise<Question> => {
        const found = await first();
        return found.id === one.id ? next() : found;
    };
    const two = await next();
    await isRefused(sent(room, run, { ...good, question: two.id }));
    await isRefused(sent(room, run, good));
    expect(calls).toEqual(["ada"]);
    await client.answer(run, { question: two.id, by, decision: "once" });
    await client.result(run);
    expect(calls).toEqual(["ada", "two"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
});

test("CRR3: a run that a process holds takes no answer but that process's own, though none has set a key", async () => {
    await using room = await roomAt(server);
    const calls: string[] = [];
    const tools = { Mail: { send: { call: (text: string) => calls.push(text) } } };
    const source = 'import tool Mail from "host:mail" { send: ask }\nmain func() { Mail.send("hello") }';
    const program = await load({ source }, { cache: false, process: room.on, tools });
    await using carrier = await runCarriers({ connect: { address: server.address }, cache: BUNDLES, host: { process: room.on } })(
        room.store,
    );
    const decided = Promise.withResolvers<"once">();
    const never = new AbortController().signal;
    const asked = Promise.withResolvers<void>();
    const on = {
        ask: () => {
            asked.resolve();
            return decided.promise;
        },
    };
    const run = "held";
    const carried = carrier.carryOut({
        ...{ run, on, of: { tools }, signal: never, leave: never },
        begins: { program, kept: program.kept(null, { asks: { park: true } }) },
    });
    await asked.promise;
    const [question] = (await questionsOf(room, run)) as [Question];
    const yes = { question: question.id, by: room.on.user, decision: "once" };
    await isRefused(sent(room, run, yes));
    await isRefused(sent(room, run, signed(key(), run, question, yes)));
    expect(calls).toEqual([]);
    decided.resolve("once");
    expect(await carried).toMatchObject({ status: "done" });
    expect(calls).toEqual(["hello"]);
    await program.close();
});
