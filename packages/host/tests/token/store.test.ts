/** The store of tokens: sealed, bound to its place, private, safe with several processes (TSL1, TST1–TST3, TKY1, TPR1). */
import { fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Keychain } from "../../src/token/keys.ts";
import { newRing, seal, unseal } from "../../src/token/seal.ts";
import { tokensAt } from "../../src/token/store.ts";

let folder = "";
beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), "remit-tokens-")), "config");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

const at = (keychain: Keychain | null = null) => tokensAt({ folder, keychain });
const alice = { provider: "github", as: "user:alice" };
const bob = { provider: "github", as: "user:bob" };
const token = { access: "gho_access-of-alice", refresh: "ghr_refresh-of-alice", expires: 1, scopes: ["repo"], client: "c" };
const file = (name = "tokens.json"): string => readFileSync(join(folder, name), "utf8");

test("TST1: what was put is there again, in another process too, and nothing of it is in the clear; files are private", async () => {
    const store = at();
    expect(await store.get(alice)).toBeNull();
    await store.put(alice, token);
    await store.put(bob, { access: "gho_access-of-bob" });
    expect(await at().get(alice)).toEqual(token);
    expect(file() + file("tokens.key")).not.toMatch(/access-of|refresh-of|repo/);
    expect((await at().list()).map(({ provider, as }) => [provider, as])).toEqual([
        ["github", "user:alice"],
        ["github", "user:bob"],
    ]);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await store.remove(alice)).toEqual(token);
    expect(await store.remove(alice)).toBeNull();
    expect(await store.get(alice)).toBeNull();
    expect((await store.get(bob))?.access).toBe("gho_access-of-bob");
});

test("TSL1: a value that was moved to another identity or provider does not open, nor does one that was changed", async () => {
    await at().put(alice, token);
    await at().put(bob, { access: "gho_access-of-bob" });
    const json = JSON.parse(file()) as { tokens: { as: string; sealed: string }[] };
    const [first, second] = json.tokens as [{ as: string; sealed: string }, { as: string; sealed: string }];
    [first.sealed, second.sealed] = [second.sealed, first.sealed];
    writeFileSync(join(folder, "tokens.json"), JSON.stringify(json));
    for (const place of [alice, bob])
        await expect(at().get(place)).rejects.toMatchObject({ code: "damaged", hint: expect.stringContaining("log in again") });
    expect((await at().list()).map((one) => one.token)).toEqual([null, null]);
});

test("TSL1: sealing and opening, for every text and place", () => {
    const ring = newRing();
    fc.assert(
        fc.property(fc.string({ unit: "grapheme" }), fc.string(), fc.string(), fc.nat(), (text, provider, as, at) => {
            const sealed = seal(text, { provider, as }, ring);
            expect(unseal(sealed, { provider, as }, ring)).toBe(text);
            expect(seal(text, { provider, as }, ring)).not.toBe(sealed);
            expect(unseal(sealed, { provider: `${provider}x`, as }, ring)).toBeNull();
            expect(unseal(sealed, { provider, as: `${as}x` }, ring)).toBeNull();
            expect(unseal(sealed, { provider, as }, newRing())).toBeNull();
            const bytes = Buffer.from(sealed.split(".")[1] as string, "base64url");
            bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ 1;
            expect(unseal(`${ring.current}.${bytes.toString("base64url")}`, { provider, as }, ring)).toBeNull();
        }),
    );
});

test("new keys: everything opens, the old key is gone, and what was sealed with it opens no more", async () => {
    await at().put(alice, token);
    const [before, oldKeys] = [file(), file("tokens.key")];
    expect(await at().rotate()).toBe(1);
    expect(await at().get(alice)).toEqual(token);
    const [key] = Object.keys((JSON.parse(oldKeys) as { keys: object }).keys);
    expect(file("tokens.key")).not.toContain(key);
    writeFileSync(join(folder, "tokens.json"), before);
    await expect(at().get(alice)).rejects.toMatchObject({ code: "damaged" });
});

test.each([
    ["tokens.json", 0o644, "can be read or written by others", "chmod 600"],
    ["tokens.key", 0o640, "can be read or written by others", "chmod 600"],
    [".", 0o770, "can be written by others", "chmod 700"],
])("TPR1: %s with mode %o is refused, with what to do", async (name, mode, message, hint) => {
    await at().put(alice, token);
    chmodSync(join(folder, name), mode);
    const refused = { code: "permissions", message: expect.stringContaining(message), hint: expect.stringContaining(hint) };
    await expect(at().get(alice)).rejects.toMatchObject(refused);
    await expect(at().put(bob, token)).rejects.toMatchObject(refused);
    chmodSync(join(folder, name), name === "." ? 0o700 : 0o600);
    expect(await at().get(alice)).toEqual(token);
});

test("TPR1: a link in its place is refused", async () => {
    await at().put(alice, token);
    const content = file();
    rmSync(join(folder, "tokens.json"));
    writeFileSync(join(folder, "elsewhere.json"), content, { mode: 0o600 });
    symlinkSync(join(folder, "elsewhere.json"), join(folder, "tokens.json"));
    await expect(at().get(alice)).rejects.toMatchObject({ code: "permissions" });
});

test.each([["{"], ['{"version": 2, "tokens": []}'], ['{"version": 1, "keys": "file", "tokens": [{"provider": 1}]}']])(
    "a file that holds no tokens is told, and left as it is: %s",
    async (content) => {
        await at().put(alice, token);
        writeFileSync(join(folder, "tokens.json"), content);
        await expect(at().get(alice)).rejects.toMatchObject({ code: "damaged" });
        await expect(at().put(alice, token)).rejects.toMatchObject({ code: "damaged" });
        expect(file()).toBe(content);
    },
);

test("TKY1: keys that are in a keychain are nowhere else, and missed when it does not answer", async () => {
    let kept: string | null = null;
    const keychain: Keychain = {
        read: () => kept,
        write: (text) => {
            kept = text;
        },
    };
    await at(keychain).put(alice, token);
    expect(readdirSync(folder)).toEqual(["tokens.json"]);
    expect(await at(keychain).get(alice)).toEqual(token);
    await at(keychain).rotate();
    expect(await at(keychain).get(alice)).toEqual(token);
    await expect(at(null).get(alice)).rejects.toMatchObject({ code: "keychain" });
    await expect(at(null).put(bob, token)).rejects.toMatchObject({ code: "keychain" });
});

test("TST2: processes that write at the same time lose nothing", async () => {
    const children = Array.from({ length: 4 }, (_, i) =>
        fork(join(import.meta.dirname, "writer.ts"), [folder, `user:${i}`, "10"], { stdio: "ignore" }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
    expect(codes).toEqual([0, 0, 0, 0]);
    const all = await at().list();
    expect(all.map(({ provider, as }) => `${provider} ${as}`).sort()).toEqual(
        Array.from({ length: 40 }, (_, i) => `p${i % 10} user:${Math.floor(i / 10)}`).sort(),
    );
    expect(all.every((one) => one.token !== null)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(["tokens.json", "tokens.key"]);
});
