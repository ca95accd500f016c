/** A process that adds records: node worker.ts WORKSPACE URI NAME COUNT */
import { createMemories } from "../../src/memory/memory.ts";

const [workspace = "", uri = "", name = "", count = "0"] = process.argv.slice(2);
const memories = createMemories({ workspace });
const { signal } = new AbortController();
for (let n = 0; n < Number(count); n++) {
    const request = { memory: "M", uri, file: "main.remit", arg: { name, n, pad: "é".repeat(500) } };
    const outcome = await memories.remember(
        { path: `main/M.add#${n}`, kind: "remember", principal: "user", site: null, request, labels: [] },
        { signal },
    );
    if (!outcome.ok) throw new Error(outcome.failure.message);
}
await memories.close();
