/**
 * The lines that were typed into REPLs before, in a private file of the user.
 *
 * Boundary: a file. Lines are kept without what is known to be a secret.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { privateFolder, stateFolder, writePrivate } from "@remit/host";
import { secretsNow } from "../here.ts";

/** Lines that are kept. */
const MOST = 1000;

export class History {
    readonly #file: string;
    /** The newest first, as `readline` wants them. */
    readonly lines: string[] = [];

    constructor(env: Readonly<Record<string, string | undefined>>) {
        const folder = stateFolder(env);
        privateFolder(folder);
        this.#file = join(folder, "repl-history");
        if (!existsSync(this.#file)) writePrivate(this.#file, "");
        const all = readFileSync(this.#file, "utf8").split("\n").filter(Boolean);
        if (all.length > MOST) writePrivate(this.#file, `${all.slice(-MOST).join("\n")}\n`);
        this.lines.push(...all.slice(-MOST).reverse());
    }

    add(line: string): void {
        const kept = secretsNow().text(line).trim();
        if (kept === "" || kept === this.lines[0]) return;
        this.lines.unshift(kept);
        this.lines.splice(MOST);
        appendFileSync(this.#file, `${kept}\n`, { mode: 0o600 });
    }
}
