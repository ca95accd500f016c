/**
 * References to secrets: what stands for a secret everywhere but at the moment of its use.
 *
 * Boundary: names and where values come from. Who may use which secret where is decided by configuration, not here.
 *
 * REF1: a reference is plain data and says nothing about the value. The value is read at each use and kept nowhere.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Json } from "@remit/language";
import { systemWords } from "../failure/system.ts";

/** `env:NAME`, or `file:PATH` (absolute, or from the folder of the configuration). */
export interface SecretRef {
    readonly $secret: string;
}

/** Largest file that may hold one secret, bytes. */
const MAX_SECRET_FILE = 64 * 1024;

export function isSecretRef(value: Json | undefined): value is { $secret: string } {
    return (
        value !== null &&
        typeof value === "object" &&
        !Array.isArray(value) &&
        typeof value.$secret === "string" &&
        Object.keys(value).length === 1
    );
}

/** `missing`: nothing stands there yet. */
export type Resolved =
    | { readonly ok: true; readonly value: string }
    | { readonly ok: false; readonly message: string; readonly missing?: true };

export interface SecretSources {
    readonly env: Readonly<Record<string, string | undefined>>;
    /** Where a relative `file:` begins; absent: such references are refused. */
    readonly folder?: string;
}

/** The value that `reference` (`env:NAME`, `file:PATH`) names now. */
export function resolveSecret(reference: string, sources: SecretSources): Resolved {
    const colon = reference.indexOf(":");
    const kind = colon < 0 ? "" : reference.slice(0, colon);
    const rest = reference.slice(colon + 1);
    if (rest === "") return { ok: false, message: `'${reference}' names no secret; write env:NAME or file:PATH` };
    if (kind === "env") {
        const value = sources.env[rest];
        return value === undefined || value === ""
            ? { ok: false, message: `the environment has no ${rest}`, missing: true }
            : { ok: true, value };
    }
    if (kind === "file") return fromFile(rest, sources);
    return { ok: false, message: `secrets come from env: or file:, not from '${kind}:'` };
}

/** One trailing line break belongs to the file, not to the secret. */
function fromFile(path: string, sources: SecretSources): Resolved {
    if (!isAbsolute(path) && sources.folder === undefined)
        return { ok: false, message: `the path of the secret file ${path} is not absolute` };
    const full = resolve(sources.folder ?? "/", path);
    try {
        const stat = statSync(full);
        if (!stat.isFile()) return { ok: false, message: `the secret file ${path} is not a file` };
        if (stat.size > MAX_SECRET_FILE) return { ok: false, message: `the secret file ${path} is larger than ${MAX_SECRET_FILE} bytes` };
        if (process.platform !== "win32" && (stat.mode & 0o077) !== 0)
            return { ok: false, message: `the secret file ${path} can be read by others; chmod 600 it` };
        const value = readFileSync(full, "utf8").replace(/\r?\n$/, "");
        return value === "" ? { ok: false, message: `the secret file ${path} is empty` } : { ok: true, value };
    } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const message = `the secret file ${path} cannot be read: ${systemWords(error)}`;
        return code === "ENOENT" ? { ok: false, message, missing: true } : { ok: false, message };
    }
}
