// PostgreSQL for the tests: its programs from the PATH, from Debian's folders, else Debian's package.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { onPath } from "./shell.mjs";

const DEBIAN = "/usr/lib/postgresql";

/** Folder with `initdb` and `postgres`, the newest where there are several; null where there is none. */
export function postgresFolder() {
    const here = onPath("initdb");
    if (here && onPath("postgres")) return join(here, "..");
    const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((one) => /^\d+$/.test(one)) : [];
    const found = versions
        .sort((a, b) => Number(b) - Number(a))
        .map((one) => join(DEBIAN, one, "bin"))
        .find((one) => existsSync(join(one, "initdb")));
    return found ?? null;
}
