/** Skills in a folder of their own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Place {
    readonly folder: string;
    /** Nothing of the machine's own configuration. */
    readonly env: { readonly [name: string]: string };
    write(path: string, text: string | Uint8Array): string;
    /** A skill below `path`, which ends with its name. */
    skill(path: string, head?: string, body?: string): string;
    [Symbol.dispose](): void;
}

export function place(): Place {
    const folder = mkdtempSync(join(tmpdir(), "remit-skill-"));
    const write = (path: string, text: string | Uint8Array): string => {
        const full = join(folder, path);
        mkdirSync(dirname(full), { recursive: true });
        writeFileSync(full, text);
        return full;
    };
    return {
        folder,
        env: { HOME: join(folder, "home"), XDG_CONFIG_HOME: join(folder, "config"), XDG_CACHE_HOME: join(folder, "cache") },
        write,
        skill: (path, head, body = "Look at the log first.\n") => {
            const name = path.split("/").at(-1) as string;
            return dirname(
                write(`${path}/SKILL.md`, `---\n${head ?? `name: ${name}\ndescription: What ${name} does and when.`}\n---\n\n${body}`),
            );
        },
        [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
    };
}
