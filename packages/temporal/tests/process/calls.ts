/** What really happened in workers (`worker.ts`). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Call {
    readonly name: string;
    readonly pid: string;
}

/** What really happened, in order: names of calls, and by which process. */
export function callsIn(folder: string): Call[] {
    const file = join(folder, "calls");
    const lines = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
    return lines.map((line) => {
        const [name = "", pid = ""] = line.split(" ");
        return { name, pid };
    });
}
