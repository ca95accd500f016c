/** Every example on Temporal gives the value and the canonical ledger of the local shell; its blocks with `temporal` in the place of `memory`. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Handlers, load, type LoadOptions, memoryStore, openWorld } from "@remit/host";
import type { Json } from "@remit/language";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DevServer } from "../src/index.ts";
import { asHere, canonicalOf } from "./canonical.ts";
import { type Room, roomAt, sharedServer } from "./room.ts";

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const folder = join(root, "examples");
const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

let server: DevServer;
let room: Room;
/** Folder of the example that runs. */
let at = "";
beforeAll(async () => {
    server = await sharedServer();
    room = await roomAt(server);
    await room.worker({ host: { trust: true, on: { ask: (request, about) => answering(at).ask?.(request, about) ?? null } } });
});
afterAll(async () => {
    await room[Symbol.asyncDispose]();
});

/** What a person says to each question. */
function answering(at: string): Handlers {
    const said = join(at, "answers.json");
    const answers = existsSync(said) ? (JSON.parse(readFileSync(said, "utf8")) as { [path: string]: string }) : {};
    return { ask: (_request, { effect }) => answers[effect.path] ?? "deny" };
}

test.each(names)("%s", async (name) => {
    // Inside the checkout, so that an example's own server finds the checkout's packages.
    at = mkdtempSync(join(root, ".tools-test-"));
    const fresh = (): void => {
        for (const one of readdirSync(at)) rmSync(join(at, one), { recursive: true, force: true });
        cpSync(join(folder, name), at, { recursive: true });
    };
    const options = (): LoadOptions => ({
        root: at,
        workspace: join(at, "data"),
        model: `scripted:${join(at, "replies.json")}`,
        trust: true,
        cache: false,
        concurrency: 1,
    });
    try {
        fresh();
        const input = JSON.parse(readFileSync(join(at, "input.json"), "utf8")) as Json;
        const store = memoryStore();
        const program = await load(join(at, "main.remit"), { ...options(), on: answering(at), ledger: store });
        const here = await program.run(input).result;
        await program.close();
        const expected = await canonicalOf(store, here.run);

        fresh();
        const main = join(at, "main.remit");
        writeFileSync(main, readFileSync(main, "utf8").replace(/^memory /gm, "temporal "));
        const world = await openWorld(join(at, "main.remit"), options());
        const run = await room.client.submit(world, world.kept(input));
        expect(await room.client.result(run)).toEqual(JSON.parse(readFileSync(join(at, "expected.json"), "utf8")));
        await world.close();
        expect(asHere(await canonicalOf(room.store, run))).toEqual(asHere(expected));
        expect(await room.store.verify(run)).toMatchObject({ ok: true, anchored: "yes", bound: "yes" });
    } finally {
        rmSync(at, { recursive: true, force: true });
    }
});
