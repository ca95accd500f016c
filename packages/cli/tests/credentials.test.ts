/** `remit login`, `logout`, `credentials`, and runs with credentials, as a person uses them, against a real OAuth server (CRC1). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { oauthRoom } from "../../host/tests/oauth/server.ts";
import { BIN, type Ran, type Room, room } from "./remit.ts";

/** In a process of its own, while the servers of the test answer. `said` hears what it says so far. */
async function run(
    here: Room,
    args: string[],
    { env = {}, input = "", said }: { env?: Record<string, string>; input?: string; said?: (err: string) => void } = {},
): Promise<Ran> {
    const child = spawn(process.execPath, [BIN, ...args], { cwd: here.folder, env: { ...here.env, ...env }, stdio: "pipe" });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => {
        out += String(chunk);
    });
    child.stderr.on("data", (chunk) => {
        err += String(chunk);
        said?.(err);
    });
    child.stdin.end(input);
    const [code] = (await once(child, "close")) as [number | null];
    return { code, out, err };
}

const urlIn = (err: string): string | null => /^ {2}(http\S+)$/m.exec(err)?.[1] ?? null;

test("a run waits for a login with exit code 3, goes on after it, and a logout takes the token back; no value is shown anywhere", async () => {
    await using there = await oauthRoom();
    const here = room();
    const described = { ...there.described, parameters: { prompt: "consent" } };
    here.write("remit.json", JSON.stringify({ oauth: { acme: described } }));
    here.write("main.remit", `memory static (\n    fetch "${there.api}/me" with { credential: oauth("acme") }\n)\n`);
    const everything: Ran[] = [];
    const remit = async (...args: string[]): Promise<Ran> => {
        const ran = await run(here, args);
        everything.push(ran);
        return ran;
    };

    /** What reaches no server of this test costs no process. */
    const alone = (...args: string[]): Ran => {
        const ran = here.remit(...args);
        everything.push(ran);
        return ran;
    };

    const unnamed = alone("run", "main.remit", "--trust");
    expect(unnamed.code).toBe(1);
    expect(unnamed.err).toContain('main.remit:2:5: denied: oauth("acme") is a credential that a user delegates');
    expect(alone("runs", "--json").out.trim()).toBe("[]");

    const waiting = alone("run", "main.remit", "--trust", "--as", "user:alice");
    expect(waiting.code).toBe(3);
    expect(waiting.err).toContain('main.remit:2:5: waiting: the run waits: the credential oauth("acme") of user:alice is missing');
    expect(waiting.err).toMatch(/help: remit login acme --as user:alice; then remit resume \S+ goes on/);

    let visited = false;
    const login = await run(here, ["login", "acme", "--as", "user:alice", "--trust"], {
        said: (err) => {
            const url = urlIn(err);
            if (url === null || visited) return;
            visited = true;
            void there.browse(url).then((redirect) => fetch(redirect));
        },
    });
    everything.push(login);
    expect(login).toMatchObject({
        code: 0,
        err: expect.stringContaining(`logged in: acme for user:alice; its token goes to ${there.api}`),
    });

    expect(alone("resume", "last", "--trust", "--as", "user:bob")).toMatchObject({
        code: 2,
        err: expect.stringContaining("on behalf of user:alice"),
    });
    const resumed = await remit("resume", "last", "--trust");
    expect(resumed).toMatchObject({ code: 0, out: '"for alice"\n' });

    const listed = alone("credentials", "list");
    expect(listed.out).toMatch(new RegExp(`oauth +acme +user:alice +renews itself +${there.api}`));
    alone("trace", "last", "--full");
    alone("explain", "last");
    const out = await remit("logout", "acme", "--as", "user:alice", "--trust");
    expect(out).toMatchObject({ code: 0, err: "removed: acme of user:alice, and taken back at the provider\n" });
    expect(alone("logout", "acme", "--as", "user:alice")).toMatchObject({ code: 2 });
    expect(alone("run", "main.remit", "--trust", "--as", "user:alice").code).toBe(3);
    const token = there.seen.find((one) => one !== null)?.replace("Bearer ", "") as string;
    expect(token.length).toBeGreaterThan(20);
    for (const { out: text, err } of everything) expect(text + err).not.toContain(token);
    here.clear();
});

test("a login on another device shows the code", async () => {
    await using there = await oauthRoom();
    const here = room();
    here.write(".config/remit/remit.json", JSON.stringify({ oauth: { acme: { ...there.described, flow: "device" } } }));
    let typed = false;
    const login = await run(here, ["login", "acme", "--json"], {
        env: { REMIT_AS: "user:alice" },
        said: (err) => {
            const code = /type the code (\S+)/.exec(err)?.[1];
            if (code === undefined || typed) return;
            typed = true;
            void there.confirm(code);
        },
    });
    expect(login.code).toBe(0);
    const { updated, ...kept } = JSON.parse(login.out) as { updated: string };
    expect(Number.isNaN(Date.parse(updated))).toBe(false);
    expect(kept).toEqual({
        kind: "oauth",
        name: "acme",
        as: "user:alice",
        state: "renews itself",
        origins: [there.api],
        scopes: ["openid", "offline_access", "api:read"],
    });
    here.clear();
});

test("a secret by its name: added from standard input, sent to its origin alone, removed; bad words are told", async () => {
    const seen: (string | null)[] = [];
    const api = createServer((request, response) => {
        seen.push(request.headers.authorization ?? null);
        response.end("ok");
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    const origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const here = room();
    here.write("main.remit", `memory static ( fetch "${origin}/" with { credential: secret("crm") } )\n`);
    const waiting = here.remit("run", "main.remit");
    expect(waiting).toMatchObject({ code: 3, err: expect.stringContaining(`remit credentials add crm --origin ${origin}`) });
    expect(here.remitWith({ input: "x" }, "credentials", "add", "crm")).toMatchObject({ code: 2 });
    expect(here.remitWith({ input: "x" }, "credentials", "add", "crm", "--origin", `${origin}/path`)).toMatchObject({ code: 2 });
    const added = here.remitWith({ input: "the-key-of-the-crm\n" }, "credentials", "add", "crm", "--origin", origin);
    expect(added).toMatchObject({ code: 0, out: "", err: `kept: crm; it goes to ${origin}\n` });
    const resumed = await run(here, ["resume", "last"]);
    expect(resumed).toMatchObject({ code: 0, out: '"ok"\n' });
    expect(seen).toEqual(["Bearer the-key-of-the-crm"]);
    expect(here.remit("credentials", "rotate").err).toBe("1 sealed anew\n");
    const json = JSON.parse(here.remit("credentials", "list", "--json").out) as { name: string }[];
    expect(json).toMatchObject([{ kind: "secret", name: "crm", as: "everyone", state: "does not end", origins: [origin] }]);

    chmodSync(join(here.folder, ".config/remit/tokens.json"), 0o644);
    const open = here.remit("run", "main.remit");
    expect(open).toMatchObject({ code: 1, err: expect.stringContaining("tokens.json can be read or written by others") });
    expect(open.err).toContain("chmod 600");
    chmodSync(join(here.folder, ".config/remit/tokens.json"), 0o600);
    expect(here.remit("credentials", "remove", "crm")).toMatchObject({ code: 0 });
    expect(here.remit("credentials", "list").err).toContain("Nothing is kept");
    for (const [args, code] of [
        [["credentials", "show", "crm"], 2],
        [["login", "nobody", "--as", "user:alice"], 1],
        [["login", "github", "--as", "user alice"], 2],
        [["login", "github"], 2],
        [["login", "okta", "--as", "user:alice"], 1],
    ] as const)
        expect(here.remit(...args).code).toBe(code);
    api.closeAllConnections();
    api.close();
    here.clear();
});
