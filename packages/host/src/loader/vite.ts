/**
 * `remit-lang/vite`: programs in a server that Vite runs or builds.
 *
 * Boundary: Vite's plugin interface, by the part of it that is used. A program runs in Node: for a page, put a server between (`remit-lang/serve`).
 */
import { renderDiagnostic, source } from "@remit/language";
import { fromThisProcess } from "../process/here.ts";
import { bundled, type LoaderOptions } from "./bundled.ts";
import { PROGRAM_FILE } from "./text.ts";

export type { LoaderOptions } from "./bundled.ts";

interface Context {
    addWatchFile(file: string): void;
    warn(message: string): void;
    error(message: string): never;
}

/** A plugin for `plugins` of Vite's configuration. */
export default function remit(options: LoaderOptions = {}): {
    name: string;
    enforce: "pre";
    config(): { ssr: { external: string[] } };
    configResolved(config: { root: string }): void;
    load(this: Context, id: string): Promise<{ code: string; map: null } | null>;
} {
    let root = fromThisProcess().cwd;
    return {
        name: "remit",
        enforce: "pre",
        config: () => ({ ssr: { external: ["remit-lang"] } }),
        configResolved: (config) => {
            root = config.root;
        },
        async load(id) {
            const [path = ""] = id.split("?");
            if (!PROGRAM_FILE.test(path)) return null;
            const made = await bundled(path, root, options);
            for (const file of made.files) this.addWatchFile(file);
            const shown = made.diagnostics
                .filter((one) => one.severity !== "note")
                .map((one) => {
                    const text = made.texts.get(one.file);
                    return { severity: one.severity, text: renderDiagnostic(one, text === undefined ? undefined : source(text, one.file)) };
                });
            for (const one of shown) if (one.severity === "warning") this.warn(one.text);
            if (made.code === null)
                return this.error(
                    shown
                        .filter((one) => one.severity === "error")
                        .map((one) => one.text)
                        .join("\n\n"),
                );
            return { code: made.code, map: null };
        },
    };
}
