/** Credentials on a real server: resolved on the worker, waited for where they are missing, and never in a history (TQ3). */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import {
    type CredentialSource,
    load,
    loadConfig,
    type LoadOptions,
    loginHere,
    openLedger,
    openTokens,
    openWorld,
    type ProgramWorld,
    providerOf,
    serverOf,
} from "@remit/host";
import type { Json } from "@remit/language";
import { beforeAll, expect, test } from "vitest";
import { oauthRoom } from "../../host/tests/oauth/server.ts";
import { type DevServer, temporalBlocks } from "../src/index.ts";
import { questionsOf, type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
beforeAll(async () => {
    server = await sharedServer();
});

async function api() {
    const seen: (string | null)[] = [];
    const http = createServer((request, response) => {
        seen.push(request.headers.authorization ?? null);
        response.end(`you sent ${request.headers.authorization ?? "nothing"}`);
    });
    await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
    return {
        origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
        seen,
        [Symbol.asyncDispose]: async () => {
            http.closeAllConnections();
            await new Promise((done) => http.close(done));
        },
    };
}

const world = (room: Room, source: string, options: LoadOptions = {}): Promise<ProgramWorld> =>
    openWorld({ source }, { cache: false, process: room.on, ...options });

/** All that the server has of a run, as text. */
async function history(room: Room, run: string): Promise<string> {
    return JSON.stringify(await room.client.client.workflow.getHandle(run).fetchHistory(), (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
    );
}

test("TQ3: a credential that is missing is a question, no try after the other; the answer lets the worker look again", async () => {
    await using room = await roomAt(server);
    await using there = await api();
    let value: string | null = null;
    let looks = 0;
    const secret: CredentialSource = ({ as }) => {
        looks++;
        if (value === null) return { kind: "missing", message: "nothing there", hint: `give it for ${as}` };
        return { kind: "given", value };
    };
    await room.worker({ host: { credentials: { secret } } });
    const source = `temporal static ( fetch "${there.origin}/" with { credential: secret("crm") } )`;
    const program = await world(room, source, { as: "user:alice" });
    const run = await room.client.submit(program, program.kept(null));
    const waiting = async () => {
        await expect.poll(async () => (await room.client.status(run)).questions.length).toBe(1);
        return (await room.client.status(run)).questions[0];
    };
    const question = await waiting();
    expect(question).toMatchObject({
        kind: "credential",
        request: {
            question: 'the credential secret("crm") of user:alice is missing: nothing there',
            hint: "where the worker runs: give it for user:alice",
        },
    });
    expect((await room.client.status(run)).state).toBe("waiting");
    expect(looks).toBe(1);
    const answer = { question: question?.id as string, by: question?.owner as string, decision: "once" };
    await room.client.answer(run, answer);
    await expect.poll(() => looks).toBe(2);
    await waiting();
    value = "s3cret-of-alice-17";
    await room.client.answer(run, answer);
    expect(await room.client.result(run)).toBe("you sent Bearer [secret secret:crm user:alice]");
    expect(there.seen).toEqual(["Bearer s3cret-of-alice-17"]);
    expect(await history(room, run)).not.toContain("s3cret-of-alice-17");
    for await (const event of room.store.events(run)) expect(JSON.stringify(event)).not.toContain("s3cret-of-alice-17");
    expect(await room.store.verify(run)).toMatchObject({ ok: true });
});

test("of a variable that the worker's environment lacks, the question says that the worker is started again", async () => {
    await using room = await roomAt(server);
    await using there = await api();
    const file = join(room.folder, ".config/remit/remit.json");
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ secrets: { "env:LATE_KEY": [there.origin] } }));
    await room.worker();
    const program = await world(room, `temporal static ( fetch "${there.origin}/" with { credential: env("LATE_KEY") } )`);
    const run = await room.client.submit(program, program.kept(null));
    const [question] = await questionsOf(room, run);
    expect(question).toMatchObject({
        kind: "credential",
        request: { hint: "where the worker runs: set LATE_KEY in the environment, and start the worker again" },
    });
});

test("a delegated token is renewed on the worker after a 401, and neither the old nor the new one is in a history", async () => {
    await using oauth = await oauthRoom();
    await using room = await roomAt(server);
    const file = join(room.folder, ".config/remit/remit.json");
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ oauth: { acme: oauth.described } }));
    const { env, cwd } = room.on;
    const { signal } = new AbortController();
    const provider = providerOf("acme", loadConfig({ env, from: cwd }));
    const tell = (url: string): void => void oauth.browse(url).then((redirect) => fetch(redirect));
    const token = await loginHere(await serverOf(provider, { env, signal }), { signal, tell });
    const tokens = await openTokens(env);
    await tokens.put({ provider: "acme", as: "user:alice" }, token);
    await (await oauth.provider.AccessToken.find(token.access))?.destroy();
    await room.worker();
    const program = await world(room, `temporal static ( fetch "${oauth.api}/" with { credential: oauth("acme") } )`, { as: "user:alice" });
    const run = await room.client.submit(program, program.kept(null));
    expect(await room.client.result(run)).toBe("for alice");
    expect(oauth.grants.refreshes).toBe(1);
    const renewed = await tokens.get({ provider: "acme", as: "user:alice" });
    const all = await history(room, run);
    for (const value of [token.access, token.refresh, renewed?.access, renewed?.refresh]) {
        expect(value?.length).toBeGreaterThan(20);
        expect(all).not.toContain(value);
    }
});

test("nothing is submitted where a credential has to be delegated and no identity is named", async () => {
    await using room = await roomAt(server);
    const program = await world(room, 'temporal static ( fetch "https://api.github.com/user" with { credential: oauth("github") } )');
    expect(() => program.kept(null)).toThrow("nothing says which user");
    expect(await room.store.runs()).toEqual([]);
});

test("TMC1: a run here whose block lacks a credential there waits, and goes on when it is resumed", async () => {
    await using room = await roomAt(server);
    await using there = await api();
    let value: string | null = null;
    const secret: CredentialSource = () =>
        value === null ? { kind: "missing", message: "nothing there", hint: "give it" } : { kind: "given", value };
    await room.worker({ host: { credentials: { secret } } });
    await using blocks = temporalBlocks({ connect: { address: server.address }, queue: room.queue });
    const source = `memory static ( echo "before" ) as first
temporal static ( fetch "${there.origin}/" with { credential: secret("crm") } )`;
    const program = await load<Json, Json>({ source }, { cache: false, process: room.on, ledger: room.store, blocks: blocks.blocks });
    const { status, run, failure } = await program.run(null).result;
    expect(status).toBe("waiting");
    expect(failure?.message).toContain('the credential secret("crm") is missing: nothing there');
    expect(failure?.hint).toBe(`where the worker runs: give it; then remit resume ${run} goes on`);
    const ledger = await openLedger(room.store);
    const again = await ledger.resume<Json>(run, { process: room.on, blocks: blocks.blocks });
    expect((await again.result).status).toBe("waiting");
    value = "s3cret-of-the-crm-9";
    const handle = await ledger.resume<Json>(run, { process: room.on, blocks: blocks.blocks });
    expect(await handle.value).toEqual(["before", "you sent Bearer [secret secret:crm]"]);
    expect(there.seen).toEqual(["Bearer s3cret-of-the-crm-9"]);
    await program.close();
});
