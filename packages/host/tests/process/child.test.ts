/** PC5: an owner of processes ends its own, and no other's. What ends with this process is in the command's tests (`children.test.ts`). */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Children, children } from "../../src/process/child.ts";

/** Process ids of a shell that ignores TERM, and of a process that it put into a session of its own. */
async function two(owner: Children): Promise<number[]> {
    const script = "trap '' TERM; setsid sleep 600 & echo $$ $!; wait";
    const child = owner.start({ command: "/bin/sh", args: ["-c", script], env: { PATH: "/usr/bin:/bin" }, cwd: "/" }, "ignore");
    for await (const line of child.stdout.setEncoding("utf8")) return String(line).trim().split(" ").map(Number);
    throw new Error("it said nothing");
}

function runs(pid: number): boolean {
    const status = `/proc/${pid}/status`;
    return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, "utf8"));
}

test("a closed owner leaves neither a group nor what went apart from it, and touches nothing of another owner", async () => {
    const [one, other] = [children(), children()];
    try {
        const [gone, left] = [await two(one), await two(other)];
        expect([...gone, ...left].filter(runs)).toEqual([...gone, ...left]);
        await one.close();
        await expect.poll(() => gone.filter(runs)).toEqual([]);
        expect(left.filter(runs)).toEqual(left);
        // It may start others afterwards.
        const again = await two(one);
        await one.close();
        await expect.poll(() => again.filter(runs)).toEqual([]);
        await other.close();
        await expect.poll(() => left.filter(runs)).toEqual([]);
    } finally {
        await Promise.all([one.close(), other.close()]);
    }
});

test("a program that is not there leaves nothing, and its owner closes", async () => {
    const owner = children();
    const child = owner.start({ command: "/nowhere/program", args: [], env: {}, cwd: "/" }, "ignore");
    await expect(child.started).rejects.toMatchObject({ code: "ENOENT" });
    await owner.close();
});
