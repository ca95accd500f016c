/**
 * Trust in a project's configuration: whether its files may start commands, load modules and read the environment.
 *
 * Boundary: one record file in the user's own configuration folder; what trust allows is said in `config.ts`.
 *
 * TS1: trust belongs to the real path and the content of a file: a file that was moved or changed is asked about again.
 * TS2: a record that others may write, or that cannot be read, trusts nothing.
 */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { configFolder, type Environment, writePrivate } from "../ledger/place.ts";

export interface TrustState {
    /** `changed`: this path was trusted with another content. */
    readonly state: "trusted" | "changed" | "unknown";
    /** Absolute, links followed. */
    readonly path: string;
    /** Of the file's bytes, hexadecimal. */
    readonly sha256: string;
}

interface TrustEntry {
    readonly path: string;
    readonly sha256: string;
    /** When, ISO 8601. */
    readonly at: string;
}

const VERSION = 1;
/** Records kept; the oldest are forgotten first. */
const MAX_ENTRIES = 1000;

/** Is this file trusted as it is now? Throws where the file cannot be read. */
export function trustState(configPath: string, env: Environment): TrustState {
    return stateOf(configPath, readFileSync(configPath), env);
}

/** The same for content that was read already: what was looked at is what is used. */
export function stateOf(configPath: string, content: Uint8Array, env: Environment): TrustState {
    const path = realpathSync(configPath);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const known = entries(env).filter((entry) => entry.path === path);
    const state = known.some((entry) => entry.sha256 === sha256) ? "trusted" : known.length > 0 ? "changed" : "unknown";
    return { state, path, sha256 };
}

/** Trusts a file as it is now, or as it was when `seen` was made. */
export function trust(configPath: string, env: Environment, seen?: TrustState): TrustState {
    const now = seen ?? trustState(configPath, env);
    const rest = entries(env).filter((entry) => entry.path !== now.path);
    write([...rest, { path: now.path, sha256: now.sha256, at: new Date().toISOString() }], env);
    return { ...now, state: "trusted" };
}

/** Forgets a file; true if it was trusted. */
export function distrust(configPath: string, env: Environment): boolean {
    const path = realpathOr(configPath);
    const all = entries(env);
    const rest = all.filter((entry) => entry.path !== path && entry.path !== configPath);
    if (rest.length === all.length) return false;
    write(rest, env);
    return true;
}

export function trustFile(env: Environment): string {
    return join(configFolder(env), "trust.json");
}

function write(list: readonly TrustEntry[], env: Environment): void {
    writePrivate(trustFile(env), `${JSON.stringify({ version: VERSION, trusted: list.slice(-MAX_ENTRIES) }, null, 4)}\n`, true);
}

function entries(env: Environment): TrustEntry[] {
    const path = trustFile(env);
    let text: string;
    try {
        const stat = lstatSync(path);
        if (!stat.isFile() || (process.getuid !== undefined && (stat.uid !== process.getuid() || (stat.mode & 0o022) !== 0))) return [];
        text = readFileSync(path, "utf8");
    } catch {
        // No record, or none that can be read: nothing is trusted (TS2).
        return [];
    }
    let read: unknown;
    try {
        read = JSON.parse(text);
    } catch {
        // Not JSON: nothing is trusted (TS2); the next decision writes the record anew.
        return [];
    }
    if (read === null || typeof read !== "object" || !("version" in read) || read.version !== VERSION) return [];
    const list: unknown = "trusted" in read ? read.trusted : null;
    return Array.isArray(list) ? list.filter(isEntry) : [];
}

function isEntry(one: unknown): one is TrustEntry {
    return (
        one !== null &&
        typeof one === "object" &&
        "path" in one &&
        typeof one.path === "string" &&
        "sha256" in one &&
        typeof one.sha256 === "string" &&
        "at" in one &&
        typeof one.at === "string"
    );
}

function realpathOr(path: string): string {
    try {
        return realpathSync(path);
    } catch {
        // The file is gone; its record may still be forgotten.
        return path;
    }
}
