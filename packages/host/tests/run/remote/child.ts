/** Performs effects for a shell in another process: JSON lines in and out, nothing else. `node child.ts MODULE ARGS…`: its `worldOf(...ARGS)` performs. */
import { createInterface } from "node:readline";
import { type Performing, performing } from "../../../src/run/performing.ts";
import { createScrubber } from "../../../src/secret/scrub.ts";
import type { Host } from "../../../src/run/host.ts";
import { Lines } from "./lines.ts";
import type { ToChild, ToShell } from "./remote.ts";

const [module = "", ...args] = process.argv.slice(2);
const { worldOf } = (await import(module)) as { worldOf(...args: string[]): Host | Promise<Host> };
const world = await worldOf(...args);
const secrets = createScrubber();
const works = new Map<number, Performing>();
const lines = new Lines("child");
const say = (line: ToShell): void => void process.stdout.write(lines.write(line));

for await (const text of createInterface({ input: process.stdin })) {
    const line = lines.read(text) as unknown as ToChild;
    const { id } = line;
    if (line.kind === "begin") {
        const work = performing(line.effect, {
            host: world,
            secrets,
            ...(line.parent === undefined ? {} : { parent: line.parent }),
            up: (up) => say({ id, kind: "up", up }),
            answered: (outcome) => say({ id, kind: "answered", outcome }),
        });
        works.set(id, work);
    } else if (line.kind === "end") void world.end?.(line.session);
    else if (line.kind === "down") works.get(id)?.down(line.down);
    else works.get(id)?.stop(line.reason, line.waits);
}
await world.close?.();
