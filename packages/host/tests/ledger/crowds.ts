/** Crowds of runs in processes of their own (`crowd.ts`), and what they were told is kept. */
import { spawn } from "node:child_process";
import { scriptAt } from "../script.ts";

const CROWD = scriptAt("packages/host/tests/ledger/crowd.ts");
/** Runs a crowd, killed after so many acknowledgements; what was acknowledged, by run. */
export function crowdOn(
    { ledger, config }: { readonly ledger: string; readonly config: string },
    runs: number,
    commits: number | null,
    kill: number,
): Promise<{ signal: string | null; code: number | null; acks: Map<string, number> }> {
    return new Promise((resolve, reject) => {
        const args = [CROWD, ledger, config, String(runs), ...(commits === null ? [] : [String(commits)])];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" } });
        let text = "";
        child.stdout.on("data", (data: Buffer) => {
            text += data;
            if (text.split("\n").length > kill) child.kill("SIGKILL");
        });
        child.on("error", reject);
        child.on("close", (code, signal) => {
            const acks = new Map<string, number>();
            // The last line may be cut.
            for (const line of text.slice(0, text.lastIndexOf("\n")).split("\n")) {
                const [run = "", n] = line.split(" ");
                acks.set(run, Math.max(acks.get(run) ?? 0, Number(n)));
            }
            resolve({ signal, code, acks });
        });
    });
}
