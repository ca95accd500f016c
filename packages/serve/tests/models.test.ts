/** Models of a server: what is listed, what a session or a turn may name, and that nothing else answers in its place. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { ended, room, watch } from "./room.ts";

interface Refused {
    readonly error: { readonly kind: string; readonly message: string; readonly hint: string };
}

test("a turn names its model by the name of the configuration; one that is not there is an error that lists what there is", async () => {
    await using provider = await startFakeProvider({ text: "from the fast one" });
    await using at = await room({ replies: [{ text: "from the server's" }, { text: "again" }] });
    const Fast = { uri: `openai://${provider.host}/v1/small` };
    mkdirSync(join(at.folder, ".config", "remit"), { recursive: true });
    writeFileSync(join(at.folder, ".config", "remit", "remit.json"), JSON.stringify({ models: { Fast } }));
    const { models, chosen } = await at.owner.models();
    expect(models.find(({ uri }) => uri === "Fast")).toMatchObject({ ok: true });
    expect(chosen.uri).toMatch(/^scripted:/);
    const { id } = await at.owner.open();
    const said = async (model?: string): Promise<unknown> => {
        const turn = await at.owner.submit(id, { text: "who?", ...(model === undefined ? {} : { model }) });
        await watch(at.owner, id, ended(turn.id));
        return (await at.owner.turn(id, turn.id)).value;
    };
    expect(await said()).toBe("from the server's");
    expect(await said("fast")).toBe("from the fast one");
    expect(provider.requests.filter(({ method }) => method === "POST").length).toBe(1);

    const { token } = await at.client("panel");
    const headers = { authorization: `Bearer ${token}` };
    for (const [model, status] of [
        ["slow", 400],
        ["https://evil.example/v1#m", 403],
        ["scripted:other.json", 403],
    ] as const) {
        for (const path of [`/v1/sessions/${id}/turns`, "/v1/sessions"]) {
            const answer = await at.raw("POST", path, { body: path.endsWith("turns") ? { text: "x", model } : { model }, headers });
            expect([model, answer.status]).toEqual([model, status]);
            const { error } = (await answer.json()) as Refused;
            expect(error.hint).toContain("there are: Fast");
        }
    }
    expect((await at.owner.session(id)).turns.length).toBe(2);
    expect((await at.owner.sessions()).sessions.length).toBe(1);
    const named = await at.owner.open({ model: "FAST" });
    expect(named.model).toBe("Fast");
});
