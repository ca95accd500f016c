/** The command's streams where they are pipes: what is written is there to its end, also behind a pipe that is full and does not wait. */
import { spawnSync } from "node:child_process";
import { afterAll, expect, test } from "vitest";
import { BIN, room } from "./remit.ts";

const at = room();
afterAll(() => at.clear());

/** Reads, when it is full, from a pipe whose writer is told so; ends as the command ends. */
const LATE = `import array, fcntl, os, subprocess, sys, termios, time
read, write = os.pipe()
fcntl.fcntl(write, fcntl.F_SETFL, fcntl.fcntl(write, fcntl.F_GETFL) | os.O_NONBLOCK)
child = subprocess.Popen(sys.argv[1:], stdout=write, stdin=subprocess.DEVNULL)
os.close(write)
there = array.array("i", [0])
while child.poll() is None and there[0] < 65536:
    fcntl.ioctl(read, termios.FIONREAD, there)
    time.sleep(0.01)
parts = []
while part := os.read(read, 65536):
    parts.append(part)
sys.stdout.buffer.write(b"".join(parts))
sys.exit(child.wait())
`;

test("a value larger than a pipe comes out whole, whatever the reader does meanwhile", () => {
    const text = "a".repeat(300_000);
    at.write("input.json", JSON.stringify({ text }));
    at.write("large.remit", "main func(input) { input.text }\n");
    const args = ["run", "large.remit", "-q", "-i", "@input.json"];
    const late = spawnSync("python3", ["-c", LATE, process.execPath, BIN, ...args], {
        cwd: at.folder,
        env: at.env,
        encoding: "utf8",
        maxBuffer: 2 ** 24,
    });
    expect([late.status, late.stderr, JSON.parse(late.stdout) === text]).toEqual([0, "", true]);
});
