/** `remit models`: what is configured, what answers, why not, and which one would be used. */
import { resolve } from "node:path";
import { createModels } from "@remit/host";
import type { Json } from "@remit/language";
import { EXIT, paint, plain, print, printJson, table } from "../io.ts";

export default async function models(_args: string[], options: Record<string, unknown>): Promise<number> {
    const made = createModels({ folder: resolve(String(options["workspace"] ?? ".")) });
    try {
        const listed = await made.list();
        const chosen = await made.choose(null);
        if (options["json"]) {
            printJson({ models: listed, default: chosen } as unknown as Json);
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        const rows = listed.map((one) => [plain(one.uri), one.ok ? "ready" : "not ready", plain(one.note)]);
        const [head, ...lines] = table(rows, ["MODEL", "STATE", "NOTE"]).split("\n");
        print([colour("dim", head ?? ""), ...lines].join("\n"));
        print(`\nFor a program whose own model is not reachable: ${plain(chosen.text)}`);
        return EXIT.ok;
    } finally {
        await made.close();
    }
}
