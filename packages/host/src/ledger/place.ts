/**
 * Where things are kept on this machine, and how private files are made.
 *
 * Boundary: folders, file modes and the one secret key; knows neither ledgers nor caches.
 *
 * PLA1: every folder made here is 0700 and every file 0600, whatever the umask says.
 * PLA2: the key never leaves this module's callers' memory: nothing else writes it, shows it or derives a file name from it.
 *
 * The ledger is, first found wins: what the caller names, `REMIT_LEDGER`, `.remit/ledger.db` below the nearest folder upward that holds a
 * `.remit` folder of the same owner in which it is no link, `$XDG_STATE_HOME/remit/ledger.db` (`~/.local/state`).
 */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import {
    chmodSync,
    closeSync,
    existsSync,
    fsyncSync,
    linkSync,
    lstatSync,
    mkdirSync,
    openSync,
    readdirSync,
    readFileSync,
    renameSync,
    rmSync,
    statSync,
    writeSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { LedgerError } from "./error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The user's home as the environment names it; where it names none, a folder that is nowhere. */
export function homeOf(env: Environment): string {
    return env["HOME"] ?? "/nonexistent";
}

/** A base folder of the XDG Base Directory Specification: a relative value there is to be ignored. */
function base(env: Environment, name: string, fallback: string): string {
    const set = env[name];
    return set !== undefined && isAbsolute(set) ? set : join(homeOf(env), fallback);
}

export function configFolder(env: Environment): string {
    return join(base(env, "XDG_CONFIG_HOME", ".config"), "remit");
}
export function cacheFolder(env: Environment): string {
    return join(base(env, "XDG_CACHE_HOME", ".cache"), "remit");
}
export function stateFolder(env: Environment): string {
    return join(base(env, "XDG_STATE_HOME", ".local/state"), "remit");
}

/** It names a database and no file. */
export function isAddress(ledger: string): boolean {
    return /^postgres(ql)?:\/\//i.test(ledger);
}

/** The scheme of an address that is none of a ledger, such as `mysql://`; null for a path and for a database of a kind that Remit knows. */
export function foreignScheme(ledger: string): string | null {
    return isAddress(ledger) ? null : (/^[a-z][a-z0-9+.-]+:\/\//i.exec(ledger)?.[0] ?? null);
}

/** An address as it is, a path from `folder`. Throws `LedgerError` `address`, which shows the scheme alone: what follows may hold a password. */
export function placeOf(ledger: string, folder: string): string {
    const scheme = foreignScheme(ledger);
    if (scheme !== null) throw new LedgerError("address", `a ledger is a file, or a database in PostgreSQL, not ${scheme}…`);
    return isAddress(ledger) ? ledger : resolve(folder, ledger);
}

/** Path of the ledger, or its address, see above. `named` is what the person or the caller asked for; `from` is where the search for a project starts. Throws as `placeOf` does. */
export function ledgerPath(named: string | undefined, env: Environment, from: string): string {
    for (const said of [named, env.REMIT_LEDGER]) if (said !== undefined && said !== "") return placeOf(said, from);
    for (let at = resolve(from); ; at = dirname(at)) {
        if (ownPlace(join(at, ".remit"))) return join(at, ".remit", "ledger.db");
        if (at === dirname(at)) break;
    }
    return userLedger(env);
}

/** Path of the ledger of runs in folders that belong to no project. */
export function userLedger(env: Environment): string {
    return join(stateFolder(env), "ledger.db");
}

/**
 * A folder that belongs to this user, without links in the place of what is written there: neither another user's `/tmp/.remit` nor one that
 * came with a cloned repository may lead our ledgers elsewhere. One that holds nothing but what agents defined was made by a run, and chosen
 * by no user.
 */
function ownPlace(path: string): boolean {
    const look = (one: string) => lstatSync(one, { throwIfNoEntry: false });
    const stat = look(path);
    if (stat?.isDirectory() !== true || (process.getuid !== undefined && stat.uid !== process.getuid())) return false;
    if (readdirSync(path).join() === "defined") return false;
    return ["ledger.db", "ledger.db.anchors"].every((name) => look(join(path, name))?.isFile() !== false);
}

/** Makes a private folder, its parents too. A folder that was there keeps its mode: it may be the person's own. */
export function privateFolder(path: string): void {
    makeFolder(path, 0o700);
}

/**
 * Makes a folder, its parents too. Node's own `recursive` never returns where the system says of a folder in one that exists that there is no
 * such file, as `/proc` does.
 */
export function makeFolder(path: string, mode?: number): void {
    if (existsSync(path)) return;
    const parent = dirname(path);
    if (parent !== path) makeFolder(parent, mode);
    try {
        mkdirSync(path, { mode });
    } catch (error) {
        // Another process may have made it meanwhile.
        if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !existsSync(path)) throw error;
    }
}

/** Makes an empty private file where there is none; true if it made it. */
export function privateFile(path: string): boolean {
    privateFolder(dirname(path));
    try {
        closeSync(openSync(path, "wx", 0o600));
        return true;
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return false;
    }
}

/** Writes a private file so that a reader sees the old or the new content, never half of it. */
export function writePrivate(path: string, content: string | Uint8Array, durable = false): void {
    privateFolder(dirname(path));
    const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
    const fd = openSync(draft, "wx", 0o600);
    try {
        const bytes = typeof content === "string" ? Buffer.from(content) : content;
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
        if (durable) fsyncSync(fd);
        closeSync(fd);
        renameSync(draft, path);
    } catch (error) {
        rmSync(draft, { force: true });
        throw error;
    }
}

/** The user's own key for message authentication codes: 32 random bytes in `key` of the configuration folder, made at first use. */
export function privateKey(folder: string): Uint8Array {
    const path = join(folder, "key");
    for (;;) {
        let key: Buffer;
        try {
            key = readFileSync(path);
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
            makeKey(path);
            continue;
        }
        if (key.length === 32) {
            if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
            return key;
        }
        // No key of ours, or a damaged one: kept for a look, since what it bound is bound by nothing else.
        renameSync(path, `${path}.damaged`);
    }
}

/** That key, read when it is needed first. */
export function keyIn(folder: string): () => KeyObject {
    let read: KeyObject | null = null;
    return () => {
        read ??= createSecretKey(privateKey(folder));
        return read;
    };
}

/** Where two processes make the key, the first to finish wins and both read that one. */
function makeKey(path: string): void {
    appear(path, (draft) => writePrivate(draft, randomBytes(32), true));
}

/** What SQLite may make beside a database file. */
const BESIDE = ["", "-journal", "-wal", "-shm"];

/** What `appear` puts behind the name of a file, with what SQLite may add. */
const DRAFT = /^\.\d+\.[0-9a-f]{8}\.draft(?:-journal|-wal|-shm)?$/;

/** Age after which no process is at a draft any more, milliseconds. */
const LEFT_MS = 600_000;

/**
 * Takes away what processes of this user that were killed while they made this file left of it. What cannot be looked at or taken away stays: the
 * file is made all the same.
 */
function sweep(path: string): void {
    const [folder, name] = [dirname(path), basename(path)];
    try {
        const drafts = readdirSync(folder).filter((one) => one.startsWith(name) && DRAFT.test(one.slice(name.length)));
        for (const draft of drafts.map((one) => join(folder, one))) if (isLeft(draft)) rmSync(draft, { force: true });
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
}

function isLeft(draft: string): boolean {
    const there = lstatSync(draft, { throwIfNoEntry: false });
    if (there?.isFile() !== true || there.uid !== (process.getuid?.() ?? there.uid)) return false;
    return Date.now() - there.mtimeMs > LEFT_MS;
}

/**
 * Makes a private file that appears under its name whole or not at all: `make` fills a draft beside it. A file that another process made
 * meanwhile stays, and nothing is left of a draft whose making failed. What a killed process left goes when the file is made.
 */
export function appear(path: string, make: (draft: string) => void): void {
    privateFolder(dirname(path));
    sweep(path);
    const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.draft`;
    try {
        privateFile(draft);
        make(draft);
        // A link is made only where there is none of that name yet, which a look before a rename could not tell.
        linkSync(draft, path);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).syscall !== "link") throw error;
        // Another process was first. Else this file system makes no links, or one that leads nowhere stands there.
        if (!existsSync(path)) renameSync(draft, path);
    } finally {
        for (const end of BESIDE) rmSync(`${draft}${end}`, { force: true });
    }
}
