/**
 * Keeping what an agent defined: source files for a person to review, under `.remit/defined` of the program's root.
 *
 * Boundary: performs `author` effects. Nothing runs these files; a user who wants one moves it into the program.
 *
 * AO1: a file is new or holds the same source: what a person may have looked at is never overwritten, a second version gets a number.
 * AO2: nothing is written through a link.
 */
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { isName } from "@remit/language";
import type { Outcome } from "@remit/machine";
import type { Performer } from "../run/host.ts";

const FOLDER = [".remit", "defined"] as const;
const MAX_VERSIONS = 1000;

interface Keep {
    readonly op: "keep";
    readonly name: string;
    readonly author: string;
    readonly source: string;
}

export function author(root: string): Performer {
    return async (effect) => {
        const { op, name, author: who, source } = effect.request as unknown as Keep;
        if (op !== "keep" || !isName(name)) return failed("invalid_payload", "this is no source to be kept");
        let folder = root;
        for (const part of FOLDER) {
            folder = join(folder, part);
            const there = lstatSync(folder, { throwIfNoEntry: false });
            if (there === undefined) mkdirSync(folder, { mode: 0o700 });
            else if (!there.isDirectory()) return failed("denied", `${folder} is no folder`);
        }
        const text = `// Written by agent ${who.replace(/[^\w .-]/g, "_")} while a program ran. Review it before it is used.\n${source}`;
        for (let version = 1; version <= MAX_VERSIONS; version++) {
            const file = join(folder, `${name}${version === 1 ? "" : `-${version}`}.remit`);
            const there = lstatSync(file, { throwIfNoEntry: false });
            if (there === undefined) {
                writeFileSync(file, text, { mode: 0o600, flag: "wx" });
                return kept(file);
            }
            if (there.isFile() && readFileSync(file, "utf8") === text) return kept(file);
        }
        return failed("denied", `there are ${MAX_VERSIONS} versions of ${name} already`);
    };
}

function kept(file: string): Outcome {
    const value: Json = { file };
    return { ok: true, value, origins: [] };
}

function failed(kind: "invalid_payload" | "denied", message: string): Outcome {
    return { ok: false, failure: { kind, message } };
}
