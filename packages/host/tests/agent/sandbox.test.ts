/** The sandbox, attacked from inside by a process that wants out; and what is started where there is none. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { relay } from "../../src/agent/relay.ts";
import { ownFolders } from "../../src/process/own-folders.ts";
import { bwrapArgs, findSandbox, programFolders, seatbeltProfile } from "../../src/process/sandbox.ts";
import { AGENT, handOf, rig } from "./rig.ts";

const here = dirname(fileURLToPath(import.meta.url));
const ROOT = join(here, "..", "..", "..", "..");

function runs(pid: number): boolean {
    const status = `/proc/${pid}/status`;
    return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, "utf8"));
}

async function server(say: string): Promise<{ readonly port: number; readonly asked: string[] } & AsyncDisposable> {
    const asked: string[] = [];
    const made = createServer((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        response.end(say);
    });
    await new Promise<void>((done) => made.listen(0, "127.0.0.1", done));
    const { port } = made.address() as { port: number };
    return {
        port,
        asked,
        [Symbol.asyncDispose]: () =>
            new Promise((done) => {
                made.closeAllConnections();
                made.close(() => done());
            }),
    };
}

test("bubblewrap works here", async () => {
    const found = await findSandbox(process.env);
    if (found.kind === "none")
        throw new Error(
            `The sandbox of agents is tested for real: ${found.reason}. Install \`bubblewrap\`, and let this machine make user namespaces.`,
        );
    expect(found.kind).toBe("bwrap");
});

test("the user's files, other folders and other users' secrets are not there", async () => {
    await using it = rig({ agent: { env: { GIVEN: "yes", FROM: "$API_KEY" } } });
    mkdirSync(join(it.here.folder, ".ssh"));
    writeFileSync(join(it.here.folder, ".ssh", "id_ed25519"), "PRIVATE");
    writeFileSync(join(it.here.folder, "beside.txt"), "beside");
    mkdirSync(join(it.here.workspace, ".remit"));
    it.here.write(".remit/ledger.db", "the run's own");
    it.here.write("a.txt", "inside");
    const found = await it.found(
        [
            { do: "file", path: join(it.here.folder, ".ssh", "id_ed25519") },
            { do: "file", path: join(it.here.folder, "beside.txt") },
            { do: "file", path: "/etc/shadow" },
            { do: "folder", path: "/root" },
            { do: "folder", path: "/home" },
            { do: "folder", path: join(it.here.workspace, ".remit") },
            { do: "file", path: join(it.here.workspace, "a.txt") },
            { do: "env", name: "API_KEY" },
            { do: "env", name: "GIVEN" },
            { do: "env", name: "FROM" },
            { do: "env", name: "HOME" },
        ],
        { hands: [handOf("file://workspace", { read: "may", list: "may" })] },
    );
    expect(found).toEqual([
        { no: "ENOENT" },
        { no: "ENOENT" },
        { no: "ENOENT" },
        { no: "ENOENT" },
        { ok: ["agent"] },
        { ok: [] },
        { ok: "inside" },
        null,
        "yes",
        "k-0123456789abcdef",
        "/home/agent",
    ]);
});

test.each([
    ["that it reads", "src/sandbox-read", { read: "may", list: "may" }, undefined],
    ["that it writes", "src/sandbox-write", { read: "may", list: "may", write: "may" }, true],
    ["of which it edits a copy", "src/sandbox-copy", { read: "may", list: "may", write: "ask" }, undefined],
] as const)("Remit's own folders deeper in a folder %s are empty, also one behind a link", async (_, __, methods, whole) => {
    await using it = rig({ agent: { sandbox: { read: [ROOT], copy: true } }, allow: ["Repo.read"] });
    const at = (path: string): string => join(it.here.workspace, path);
    const secrets = ["apps/a/.remit/keys.json", "node_modules/lib/.remit/ledger.db", "apps/b/state/token", ".remit/ledger.db"];
    for (const path of secrets) it.here.write(path, "SECRET");
    symlinkSync("state", at("apps/b/.remit"));
    it.here.write("apps/a/main.txt", "shown");
    const found = await it.found(
        [
            ...secrets.map((path) => ({ do: "file", path: at(path) })),
            { do: "file", path: at("apps/a/main.txt") },
            {
                do: "run",
                text: `grep -rlR SECRET ${it.here.workspace}; mv ${at("apps/a")} ${at("apps/c")}; grep -rlR SECRET ${it.here.workspace}`,
            },
        ],
        { hands: [handOf("file://workspace", methods, whole)] },
    );
    expect(found).toMatchObject([...secrets.map(() => ({ no: "ENOENT" })), { ok: "shown" }, { stdout: "" }]);
    for (const path of secrets)
        expect(readFileSync(at(path).replace("apps/a/", whole === true ? "apps/c/" : "apps/a/"), "utf8")).toBe("SECRET");
});

test("a process that is started again does not see what was put into an own folder since", async () => {
    await using it = rig();
    const hands = [handOf("file://workspace", { read: "may", list: "may" })];
    mkdirSync(join(it.here.workspace, "late"));
    await it.failure([{ do: "crash" }], { hands });
    it.here.write("late/.remit/keys.json", "SECRET");
    const path = join(it.here.workspace, "late/.remit/keys.json");
    expect(await it.found([{ do: "file", path }], { hands, session: "main/Fixer.yield#1" })).toEqual([{ no: "ENOENT" }]);
});

test("an agent with a sandbox of its own asks where single edits can be allowed, and can make it", async () => {
    const began = async (write: "may" | "ask", whole?: boolean) => {
        const codex = { command: [process.execPath, AGENT], env: { FAULT: "modes of codex" }, sandbox: { read: [ROOT] } };
        await using it = rig({ uri: "acp://codex", config: { agents: { codex } } });
        const nested = "bwrap --unshare-user --ro-bind / / --dev /dev true && echo made";
        const found = await it.found([{ do: "run", text: nested }], { hands: [handOf("file://workspace", { read: "may", write }, whole)] });
        const modes = it.seen.map(({ message }) => message as { method?: string; params?: { modeId?: string } });
        return {
            mode: modes.find(({ method }) => method === "session/set_mode")?.params?.modeId,
            said: (found[0] as { stdout: string }).stdout,
        };
    };
    expect(await began("ask")).toEqual({ mode: "read-only", said: "made\n" });
    expect((await began("may", true)).mode).toBe("agent-full-access");
});

test("nothing outside is written, and the granted folder only where every write may be", async () => {
    const acts = (workspace: string, folder: string) => [
        { do: "write", path: join(workspace, "new.txt"), text: "made" },
        { do: "write", path: join(workspace, ".git", "config"), text: "made" },
        { do: "write", path: join(folder, "beside.txt"), text: "made" },
        { do: "write", path: "/usr/bin/evil", text: "made" },
        { do: "append", path: "/etc/passwd", text: "made" },
    ];
    const attempt = async (methods: { readonly [method: string]: "may" | "ask" }, whole?: boolean): Promise<readonly unknown[]> => {
        await using it = rig();
        it.here.write(".git/config", "own");
        const found = await it.found(acts(it.here.workspace, it.here.folder), { hands: [handOf("file://workspace", methods, whole)] });
        const made = existsSync(join(it.here.workspace, "new.txt"));
        expect(readFileSync(join(it.here.workspace, ".git", "config"), "utf8")).toBe("own");
        expect(existsSync(join(it.here.folder, "beside.txt"))).toBe(false);
        // beside the folder there is its own /tmp, which nobody else sees
        const refused = [1, 3, 4].map((at) => found[at]).filter((one) => typeof one === "object" && one !== null && "no" in one);
        expect(refused).toHaveLength(3);
        return [found[0], made];
    };
    expect(await attempt({ read: "may" })).toEqual([{ no: "EROFS" }, false]);
    expect(await attempt({ read: "may", write: "ask" }, true)).toEqual([{ no: "EROFS" }, false]);
    expect(await attempt({ read: "may", write: "may" }, false)).toEqual([{ no: expect.stringMatching(/EROFS|ENOENT/) }, false]);
    expect(await attempt({ read: "may", write: "may" })).toEqual([{ no: "EROFS" }, false]);
    expect(await attempt({ read: "may", write: "may" }, true)).toEqual([{ ok: null }, true]);
});

test("a folder of which only some may be read is empty for its own hands", async () => {
    await using it = rig({ allow: ["Repo.read src/a.txt"] });
    it.here.write("src/a.txt", "told");
    it.here.write("secret.txt", "not told");
    const at = (path: string): string => join(it.here.workspace, path);
    const found = await it.found(
        [
            { do: "folder", path: it.here.workspace },
            { do: "file", path: at("secret.txt") },
            { do: "request", method: "fs/read_text_file", params: { path: at("src/a.txt") } },
            { do: "request", method: "fs/read_text_file", params: { path: at("secret.txt") } },
        ],
        { hands: [handOf("file://workspace", { read: "may" }, false)] },
    );
    expect(found).toEqual([{ ok: [] }, { no: "ENOENT" }, { ok: { content: "told" } }, { no: -32603 }]);
});

test("without a file hand it works in an empty folder of its own, which goes with it", async () => {
    await using it = rig();
    const [about, inside, write] = (await it.found([
        { do: "about" },
        { do: "folder", path: "." },
        { do: "write", path: "x.txt", text: "own" },
    ])) as [{ cwd: string }, unknown, unknown];
    expect(inside).toEqual({ ok: [] });
    expect(write).toEqual({ ok: null });
    expect(about.cwd).not.toContain(it.here.folder);
    expect(existsSync(about.cwd)).toBe(true);
    await it.host.close();
    expect(existsSync(about.cwd)).toBe(false);
});

test("there is no network but the model's endpoint", async () => {
    await using model = await server("I am the model");
    await using other = await server("I am another");
    await using it = rig({ agent: { endpoints: [`http://127.0.0.1:${model.port}`] } });
    const found = await it.found([
        { do: "dial", port: other.port },
        { do: "dial", host: "192.0.2.1", port: 80 },
        { do: "fetch", url: `http://127.0.0.1:${model.port}/v1/chat` },
        { do: "fetch", url: `http://127.0.0.1:${other.port}/` },
        { do: "fetch", url: "http://example.com/" },
        { do: "fetch", url: "https://example.com/" },
        { do: "run", text: "ls /sys/class/net 2>/dev/null; cat /proc/net/route | wc -l" },
    ]);
    expect(found.slice(0, 4)).toEqual([
        { no: "ECONNREFUSED" },
        { no: "ENETUNREACH" },
        { ok: "200 I am the model" },
        { no: "fetch failed" },
    ]);
    expect(found.slice(4, 6)).toEqual([{ no: "fetch failed" }, { no: "fetch failed" }]);
    expect(model.asked).toEqual(["GET /v1/chat"]);
    expect(other.asked).toEqual([]);
    await using none = rig();
    expect(await none.found([{ do: "dial", port: model.port }])).toEqual([{ no: "ECONNREFUSED" }]);
});

test("the relay leads to the named origins and nowhere else", async () => {
    await using model = await server("I am the model");
    await using other = await server("I am another");
    const folder = mkdtempSync(join(tmpdir(), "remit-relay-"));
    const socketPath = join(folder, "s");
    const relayed = await relay(socketPath, [new URL(`http://127.0.0.1:${model.port}`)]);
    const ask = (options: object): Promise<string> =>
        new Promise((done, fail) => {
            const asked = request({ socketPath, ...options });
            asked.once("error", fail);
            asked.once("response", (answer) => {
                let text = `${answer.statusCode} `;
                answer.on("data", (chunk) => (text += chunk));
                answer.once("end", () => done(text.trim()));
            });
            asked.once("connect", (answer, socket) => {
                socket.destroy();
                done(`connect ${answer.statusCode}`);
            });
            asked.end();
        });
    try {
        expect(await ask({ path: `http://127.0.0.1:${model.port}/v1` })).toBe("200 I am the model");
        expect(await ask({ path: `http://127.0.0.1:${other.port}/v1` })).toBe("403 not an endpoint of this agent's model");
        expect(await ask({ path: "/v1", headers: { host: `127.0.0.1:${model.port}` } })).toBe("403 not an endpoint of this agent's model");
        expect(await ask({ method: "CONNECT", path: `127.0.0.1:${model.port}` })).toBe("connect 200");
        expect(await ask({ method: "CONNECT", path: `127.0.0.1:${other.port}` })).toBe("connect 403");
        expect(await ask({ method: "CONNECT", path: `127.0.0.1:${model.port}@127.0.0.1:${other.port}` })).toBe("connect 403");
        expect(other.asked).toEqual([]);
        expect(relayed.refused).toHaveLength(4);
    } finally {
        await relayed.close();
        rmSync(folder, { recursive: true });
    }
});

test("processes outside are not there, and capabilities are none", async () => {
    await using it = rig();
    const [kill, caps, mount, ptrace] = (await it.found([
        { do: "kill", pid: process.pid },
        { do: "run", text: "grep -E 'Cap(Eff|Prm|Bnd)' /proc/self/status" },
        { do: "run", text: "mount -o remount,rw / 2>&1; mount --bind /tmp /usr 2>&1; echo $?" },
        { do: "run", text: "ls /proc | grep -c '^[0-9]'" },
    ])) as [unknown, { stdout: string }, { stdout: string }, { stdout: string }];
    expect(kill).toEqual({ no: "ESRCH" });
    expect(caps.stdout.match(/[0-9a-f]{16}/g)?.every((mask) => /^0+$/.test(mask))).toBe(true);
    expect(mount.stdout.trim().endsWith("0")).toBe(false);
    expect(Number(ptrace.stdout)).toBeLessThan(10);
});

test("what it left running ends with the session", async () => {
    await using it = rig();
    const mark = `31${Math.floor(Math.random() * 1e6)}`;
    await it.found([{ do: "leave", seconds: Number(mark) }]);
    expect(sleeping(mark)).toBe(1);
    await it.host.end("main/Fixer.yield#0");
    while (sleeping(mark) > 0) await new Promise((done) => setTimeout(done, 20));
});

test("it does not outlive the process that started it, however that ends", async () => {
    const child = spawn(process.execPath, [join(here, "agents", "host.ts")], { stdio: ["ignore", "pipe", "inherit"] });
    const mark = await new Promise<string>((done, fail) => {
        let said = "";
        child.stdout.on("data", (chunk: Buffer) => {
            said += chunk.toString("utf8");
            if (said.includes("\n")) done(said.trim());
        });
        child.once("exit", () => fail(new Error(`the host ended: ${said}`)));
    });
    expect(sleeping(mark)).toBe(1);
    child.kill("SIGKILL");
    while (sleeping(mark) > 0 || runs(child.pid as number)) await new Promise((done) => setTimeout(done, 20));
});

test("where no sandbox works nothing is started, unless the import says unconfined", async () => {
    const none = async () =>
        ({ kind: "none", reason: "bubblewrap is not installed", hint: "install the package `bubblewrap`, or write `unconfined`" }) as const;
    await using it = rig({ setting: { sandbox: none } });
    const failure = await it.failure([]);
    expect(failure).toMatchObject({
        kind: "unreachable",
        message: expect.stringContaining("must run in a sandbox, and bubblewrap is not installed"),
    });
    expect(failure.hint).toContain("unconfined");
    expect(it.seen).toEqual([]);
    await using free = rig({ unconfined: true, setting: { sandbox: none } });
    expect((await free.reply([])).confinement).toBe("unconfined");
});

test("a mode that asks for nothing takes a sandbox", async () => {
    await using confined = rig({ agent: { mode: "yolo" } });
    expect((await confined.reply([])).confinement).toBe("sandbox");
    await using chosen = rig({ agent: { mode: "yolo" }, unconfined: true });
    expect(await chosen.failure([])).toMatchObject({ kind: "denied" });
    await using begun = rig({ fault: "begins askless", unconfined: true });
    expect(await begun.failure([])).toMatchObject({ kind: "denied", message: expect.stringContaining("begins in the mode 'yolo'") });
});

test("a look finds out that there is no bubblewrap", async () => {
    expect(await findSandbox({ PATH: "/nowhere" }, "linux")).toMatchObject({
        kind: "none",
        hint: expect.stringContaining("install the package `bubblewrap`"),
    });
    expect(await findSandbox({}, "win32")).toMatchObject({ kind: "none" });
});

test("the profile for macOS denies by default and names what is allowed", () => {
    const plan = {
        cwd: "/Users/a/work",
        folders: [
            { path: "/Users/a/work", access: "write" },
            { path: '/Users/a/"odd"', access: "read" },
            { path: "/Users/a/hidden", access: "none" },
        ],
        read: ["/Users/a/.npm/lib", "/Users/a/.npm/lib/node_modules"],
        home: "/private/tmp/home",
    } as const;
    const text = seatbeltProfile(plan, [3128]);
    expect(text).toContain("(deny default)");
    expect(text).toContain(
        '(allow file-read* (subpath "/private/tmp/home") (subpath "/Users/a/work") (subpath "/Users/a/\\"odd\\"") (subpath "/Users/a/.npm/lib"))',
    );
    expect(text).toContain('(allow file-write* (subpath "/private/tmp/home") (subpath "/Users/a/work")');
    expect(text).toContain('(deny file-write* (subpath "/Users/a/work/.git"))');
    expect(text).toContain('(deny file-read* file-write* (subpath "/Users/a/work/.remit")');
    // Regular expressions of the profile are those of POSIX, which JavaScript reads the same here.
    const deep = /\(require-any ([^#]*)\) \(regex #"(.*)"\)/.exec(text);
    expect(deep?.[1]).toBe('(subpath "/Users/a/work") (subpath "/Users/a/\\"odd\\"") (subpath "/Users/a/.npm/lib") (subpath "/opt")');
    const hidden = ["a/.remit", "a/b/.Remit/keys.json", "a/.remit.txt", "a/x.remit"].map((path) =>
        new RegExp(deep?.[2] ?? "").test(`/Users/a/work/${path}`),
    );
    expect(hidden).toEqual([true, true, false, false]);
    expect(text).toContain('(allow network-outbound (remote ip "localhost:3128"))');
    expect(text).not.toContain("hidden");
    expect(seatbeltProfile(plan, [])).not.toContain("network");
});

test("a folder that cannot be looked through whole is not shown", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-own-"));
    for (const path of ["a/.remit/b/.remit", "c/.REMIT", "d/x.remit"]) mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, ".remit"), "a file");
    symlinkSync("/etc", join(folder, "d", ".remit"));
    expect(await ownFolders(folder)).toEqual([join(folder, "a/.remit"), join(folder, "c/.REMIT")]);
    expect(await ownFolders(join(folder, "none"))).toEqual([]);
    const odd = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]);
    mkdirSync(odd);
    expect(await ownFolders(folder)).toHaveLength(2);
    mkdirSync(Buffer.concat([odd, Buffer.from("/.remit")]));
    await expect(ownFolders(folder)).rejects.toMatchObject({ kind: "denied", message: expect.stringContaining("not UTF-8") });
    await expect(ownFolders(folder, { most: 3 })).rejects.toMatchObject({ kind: "denied", failure: { hint: "grant a smaller folder" } });
    rmSync(folder, { recursive: true });
});

/** What the code says in a sandbox of its own, as a user who is not root. `at`: a folder that it may write. */
function asUser(at: string, args: readonly string[], code: string): string {
    const own = [
        "--unshare-user",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--cap-drop",
        "ALL",
        "--dev-bind",
        "/",
        "/",
        "--bind",
        at,
        at,
        ...args,
    ];
    const from = `const { ownFolders } = await import(${JSON.stringify(join(ROOT, "packages/host/src/process/own-folders.ts"))});
        const { bwrapArgs } = await import(${JSON.stringify(join(ROOT, "packages/host/src/process/sandbox.ts"))});`;
    const begin = [process.execPath, "--input-type=module", "-e", `${from}\n${code}`];
    return execFileSync("bwrap", [...own, "--", ...begin], { encoding: "utf8" });
}

test("a folder that the agent could open and that cannot be listed is not shown; nor is one that no path reaches", () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-own-"));
    mkdirSync(join(folder, "shut", ".remit"), { recursive: true });
    mkdirSync(join(folder, "deep"));
    mkdirSync(join(folder, "half", "inner", ".remit"), { recursive: true });
    // Longer than any path may be that a process says in one piece.
    const long = Array<string>(20).fill("d".repeat(250)).join("/");
    execFileSync("mkdir", ["-p", `${long}/.remit`], { cwd: join(folder, "deep") });
    const code = `for (const [one, mode] of [["shut", 0o000], ["shut", 0o111], ["half", 0o444], ["deep", 0o700]]) {
        (await import("node:fs")).chmodSync(${JSON.stringify(`${folder}/`)} + one, mode);
        console.log(await ownFolders(${JSON.stringify(`${folder}/`)} + one).catch(({ kind, message }) => kind + " " + /\\(E\\w+\\)/.exec(message)));
    }`;
    expect(asUser(folder, [], code)).toBe("denied (EACCES)\ndenied (EACCES)\ndenied (EACCES)\ndenied (ENAMETOOLONG)\n");
    execFileSync("rm", ["-rf", folder]);
});

test("of several folders, what a link of that name in one leads to in another is empty; so are those of projects in /opt", () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-own-"));
    for (const path of ["a", "b/state", "b/work"]) mkdirSync(join(folder, path), { recursive: true });
    symlinkSync("../b/state", join(folder, "a", ".remit"));
    const folders = ["a", "b"].map((name) => ({ path: join(folder, name), access: "read" }));
    const plan = { cwd: join(folder, "a"), folders, read: [], home: folder };
    const opt = ["--tmpfs", "/opt", "--dir", "/opt/app/.remit", "--dir", "/opt/app/lib"];
    const args = asUser(folder, opt, `console.log((await bwrapArgs(${JSON.stringify(plan)})).join(" "))`);
    expect(args).toContain("--tmpfs /opt/app/.remit ");
    expect(args).toContain(`--ro-bind ${folder}/b ${folder}/b --tmpfs ${folder}/b/state `);
    rmSync(folder, { recursive: true });
});

test("a program's folders are shown, whole homes are not", async () => {
    expect(programFolders("/home/ada/.npm/lib/node_modules/x/bin/x.js")).toContain("/home/ada/.npm/lib/node_modules");
    // Our own Node brings what lies beside it, not all that was installed where it was.
    expect(programFolders(process.execPath)).toEqual([dirname(dirname(process.execPath)), dirname(dirname(process.execPath))]);
    expect(programFolders("/home/ada/tool")).toEqual(["/home/ada/tool", "/home/ada/tool"]);
    expect(programFolders("/root/tool")).toEqual(["/root/tool", "/root/tool"]);
    const args = await bwrapArgs({ cwd: "/w", folders: [{ path: "/w", access: "read" }], read: [], home: "/h" });
    expect(args).toContain("--unshare-net");
    expect(args).toContain("--die-with-parent");
    expect(args.join(" ")).toContain("--ro-bind /w /w");
});

/** How many `sleep` run with this many seconds. */
function sleeping(seconds: string): number {
    const all = execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" });
    return all.split("\n").filter((line) => line.endsWith(`sleep ${seconds}`) && !line.startsWith("Z")).length;
}
