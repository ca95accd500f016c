/** A host that starts an agent which leaves a process behind, says which, and then waits to be killed. */
import { rig } from "../rig.ts";

const here = rig();
const seconds = 4_000_000 + process.pid;
await here.found([{ do: "leave", seconds }]);
process.stdout.write(`${seconds}\n`);
setInterval(() => undefined, 60_000);
