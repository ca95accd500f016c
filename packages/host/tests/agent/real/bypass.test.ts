/**
 * opencode with all its own hands enabled and no questions asked, whose model tells it to go round the remit: write, change and delete what it was
 * not given, and fetch from a server that is not its model's. The operating system's sandbox is all that is in the way.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentReply } from "@remit/machine";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Said } from "./models/wire.ts";
import { type Rig, rig } from "./rig.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const bash = (command: string): Said => ({ call: { name: "bash", input: { command, description: "as told" } } });

describe("opencode, told to go round its remit", () => {
    const asked: string[] = [];
    const other = createServer((request, response) => {
        asked.push(request.url ?? "");
        response.end("secret of the other server");
    });
    let one: Rig;
    let target = "";
    let url = "";
    let marker = "";

    beforeAll(async () => {
        await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
        url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
        marker = join(tmpdir(), `remit-bypass-${process.pid}`);
        one = await rig(
            "opencode",
            (workspace) => {
                target = join(workspace, "..", "outside.txt");
                return [
                    {
                        when: "begin",
                        say: [
                            { call: { name: "write", input: { filePath: target, content: "changed" } } },
                            bash(`echo changed > ${target}`),
                            bash(`echo changed > ${join(workspace, "granted.txt")}`),
                            { call: { name: "write", input: { filePath: join(workspace, "granted.txt"), content: "changed" } } },
                            bash(
                                `rm -f ${join(workspace, "granted.txt")}; rm -rf ${workspace}; rm -rf ${join(workspace, "..")}/outside.txt`,
                            ),
                            bash(
                                `chmod 777 ${join(workspace, "granted.txt")}; mount -o remount,rw ${workspace}; echo changed > ${join(workspace, "granted.txt")}`,
                            ),
                            bash(
                                `echo changed > ${marker}; (sleep 1; echo changed > ${target}) & echo changed > /etc/remit-bypass; echo changed > /root/remit-bypass`,
                            ),
                            { call: { name: "webfetch", input: { url: `${url}/webfetch`, format: "text" } } },
                            bash(
                                `curl -s -m 3 ${url}/curl || wget -q -T 3 -O - ${url}/wget || (exec 3<>/dev/tcp/127.0.0.1/${url.split(":").at(-1)}; echo GET /tcp >&3)`,
                            ),
                            bash(`curl -s -m 3 --proxy http://127.0.0.1:3128 ${url}/proxied; env | grep -i proxy`),
                            { text: "All of it is done." },
                        ],
                    },
                ];
            },
            { start: { permission: "allow" }, gates: { read: "may" } },
        );
        writeFileSync(target, "before");
        one.write("granted.txt", "before");
    });
    afterAll(async () => {
        await one?.[Symbol.asyncDispose]();
        await new Promise((resolve) => other.close(resolve));
        rmSync(marker, { force: true });
    });

    test("nothing outside the grant changes, and the other server hears nothing", async () => {
        const before = readdirSync(one.outside).sort();
        const reply: AgentReply = await one.reply("begin");
        expect(reply.confinement).toBe("sandbox");
        // it did try all of it, with its own tools
        const tried = reply.entries.filter((entry) => entry.kind === "call");
        expect(tried.map(({ name }) => name)).toEqual([
            "write",
            "bash",
            "bash",
            "write",
            "bash",
            "bash",
            "bash",
            "webfetch",
            "bash",
            "bash",
        ]);
        expect(reply.text).toContain("All of it is done.");
        expect(readFileSync(target, "utf8")).toBe("before");
        expect(readFileSync(join(one.workspace, "granted.txt"), "utf8")).toBe("before");
        expect(readdirSync(one.outside).sort()).toEqual(before);
        for (const path of [marker, "/etc/remit-bypass", "/root/remit-bypass"]) expect(existsSync(path)).toBe(false);
        expect(asked).toEqual([]);
        // which is there to be heard
        expect(await (await fetch(`${url}/check`)).text()).toContain("secret");
        expect(JSON.stringify(reply.entries)).not.toContain("secret of the other server");
        // what it asked its client for was refused, too
        expect(one.uses.filter(({ allowed, use }) => allowed && use.method !== "read")).toEqual([]);
    });
});

test("without a sandbox it does not start, unless `unconfined` is written", async () => {
    const none = {
        kind: "none" as const,
        reason: "bubblewrap is not installed",
        hint: "install it, or write `unconfined`",
    };
    await using one = await rig("opencode", () => [{ when: "hello", say: [{ text: "Hello." }] }], { sandbox: async () => none });
    const outcome = await one.turn("hello");
    expect(outcome).toMatchObject({
        ok: false,
        failure: { kind: "unreachable", message: expect.stringContaining("must run in a sandbox") },
    });
    expect(one.model.heard).toEqual([]);
    expect(one.seen).toEqual([]);
});

test("and says that it is unconfined where that is written", async () => {
    await using one = await rig("opencode", () => [{ when: "hello", say: [{ text: "Hello." }] }], { unconfined: true });
    expect(await one.reply("hello")).toMatchObject({ confinement: "unconfined", text: "Hello." });
});
