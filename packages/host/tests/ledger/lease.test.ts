/** Whether the owner of a run lives, where the system said only a part of who that is. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { isLive, isLiveAnywhere, type ProcessOwner, STALE_MS, thisOwner } from "../../src/ledger/lease.ts";
import { machine, startOf, SYSTEM, type System } from "../../src/ledger/living.ts";

const gone = (path: string): never => {
    throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: "ENOENT" });
};
/** A system that shows no file of `/proc` whose path passes `hides`, as one without it or with `hidepid` does. */
const without = (hides: (path: string) => boolean): System => ({
    ...SYSTEM,
    read: (path) => (hides(path) ? gone(path) : SYSTEM.read(path)),
    link: (path) => (hides(path) ? gone(path) : SYSTEM.link(path)),
});

let child: ChildProcess | null = null;
afterEach(() => child?.kill("SIGKILL"));

async function another(): Promise<{ readonly pid: number; readonly end: () => Promise<void> }> {
    const started = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    child = started;
    await once(started, "spawn");
    return {
        pid: started.pid ?? 0,
        end: async () => {
            started.kill("SIGKILL");
            await once(started, "exit");
        },
    };
}

/** When the owner's last heartbeat is long over. */
const LATE = 10 * STALE_MS;

test.each([
    ["no /proc", without((path) => path.startsWith("/proc"))],
    ["a /proc that hides the processes of others", without((path) => /^\/proc\/\d/.test(path))],
    ["a /proc of another process namespace", { ...SYSTEM, link: (path: string) => (path === "/proc/self" ? "1" : SYSTEM.link(path)) }],
    ["neither a start time nor a tool for it", { ...SYSTEM, platform: "win32" }],
    ["another system with /proc elsewhere", { ...SYSTEM, platform: "freebsd" }],
    ["macOS", { ...SYSTEM, platform: "darwin" }],
    ["macOS without ps", { ...SYSTEM, platform: "darwin", listed: gone as () => never }],
] as const)("LV1: an owner lives as long as its process where the system has %s", async (_, system) => {
    const { pid, end } = await another();
    const host = machine(system).name;
    const said = startOf(pid, system);
    const owners: readonly ProcessOwner[] = ["", said ?? "", startOf(pid) ?? ""]
        .slice(0, system.platform === "linux" ? 3 : 2)
        .map((start) => ({ host, pid, start, nonce: "" }));
    expect(owners.map((owner) => isLive(owner, 0, LATE, system))).toEqual(owners.map(() => true));
    await end();
    expect(startOf(pid, system)).toBeNull();
    expect(owners.map((owner) => isLive(owner, 0, LATE, system))).toEqual(owners.map(() => false));
});

test("LV1: the start of a process is in the same words whatever the language and time zone of who asks", async () => {
    const { pid } = await another();
    const macos: System = { ...SYSTEM, platform: "darwin" };
    const { TZ } = process.env;
    try {
        const words = ["Pacific/Auckland", "America/Lima"].map((zone) => {
            process.env["TZ"] = zone;
            return startOf(pid, macos);
        });
        expect(words[0]).toBe(words[1]);
        expect(words[0]).toMatch(/^(?:\w+ \w+ +\d+ [\d:]+ \d+)?$/);
    } finally {
        if (TZ === undefined) delete process.env["TZ"];
        else process.env["TZ"] = TZ;
    }
});

test("O2: where a name is all that is known of this machine, a fresh heartbeat of that name counts", async () => {
    const { pid, end } = await another();
    await end();
    const system = without((path) => path.startsWith("/proc"));
    const owner: ProcessOwner = { host: machine(system).name, pid, start: "", nonce: "" };
    expect([0, STALE_MS].map((age) => isLive(owner, 0, age, system))).toEqual([true, false]);
});

test("O4: a machine that does not say when it was started is known by its heartbeat", async () => {
    const { pid, end } = await another();
    await end();
    const owner: ProcessOwner = { ...thisOwner(), pid, start: "1 " };
    expect(
        [0, STALE_MS].map((age) =>
            isLiveAnywhere(
                owner,
                0,
                age,
                STALE_MS,
                without((path) => path.endsWith("boot_id")),
            ),
        ),
    ).toEqual([true, false]);
});

test("O1: an owner who could not be told when the system started is live while its process is, and no other process of that id is taken for it", () => {
    const { start, ...owner } = thisOwner();
    const [ticks = "", boot = ""] = start.split(" ");
    const lives = (said: string): boolean => isLive({ ...owner, start: said }, 0, Date.now());
    expect([`${ticks} ${boot}`, `${ticks} `, ""].map(lives)).toEqual([true, true, true]);
    expect([`${ticks}1 ${boot}`, `${ticks}1 `, `${ticks} another-boot`].map(lives)).toEqual([false, false, false]);
});
