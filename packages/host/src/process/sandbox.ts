/**
 * The operating system's sandbox around an agent's process.
 *
 * Boundary: from what the agent may see to a command line; starts nothing but a look whether the sandbox works here. What comes in from outside
 * (the model's endpoints) is in `relay.ts`.
 *
 * SB1: inside there are the system's own folders, the agent's program, the named folders, an empty home and a private /tmp; nothing else of the
 *     file system exists there. The system and the program are read-only; so is a granted folder, unless its access is `write`.
 * SB2: there is no network but a loopback of its own. Processes, IPC and the host's name are its own; it has no capabilities and no terminal.
 * SB3: the sandbox dies with the process that started it.
 * SB4: each folder of Remit's own (`.remit`) in a folder that is shown, and in `/opt`, is empty inside, and the `.git` of a granted folder can never be written: what
 *     is put there runs later. Where there is none, none is put there to be guarded: a program's root, its configuration and its ledger are found by
 *     these folders, empty ones too. Bubblewrap hides those that are there when the process starts, macOS's profile later ones too.
 */
import { execFile } from "node:child_process";
import { existsSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Environment } from "../ledger/place.ts";
import { findCommand } from "./command.ts";
import { isIn, isOwn, OWN, outermost, ownFolders } from "./own-folders.ts";

export interface SandboxFolder {
    /** Absolute, links followed. */
    readonly path: string;
    /** `none`: it exists and is empty. */
    readonly access: "none" | "read" | "write";
    /** A copy that is seen in its place, and what is seen of the folder itself in it, read-only. Absolute. */
    readonly copy?: { readonly at: string; readonly shown: readonly string[] };
}

export interface SandboxPlan {
    /** Where the process begins. One of `folders`. */
    readonly cwd: string;
    readonly folders: readonly SandboxFolder[];
    /** Further paths that may be read. */
    readonly read: readonly string[];
    /** A folder of ours that becomes the home inside. */
    readonly home: string;
    /** It makes a sandbox of its own inside (`canNest`). */
    readonly nests?: boolean;
    /** A socket of ours, and where it is inside. */
    readonly socket?: { readonly outside: string; readonly inside: string };
}

/** Where the home is inside. */
export const HOME_INSIDE = "/home/agent";
export const SOCKET_INSIDE = "/run/remit/model.sock";

/** What everything needs to run: programs, libraries, and of /etc what they read. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];
/** The one of them where projects may stand, too. */
const BESIDE = "/opt";
const ETC = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
    "timezone",
];

/** Isolation that every sandbox has, the one that is tried out included. */
const ISOLATION = [
    "--unshare-user-try",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    "--hostname",
    "agent",
    "--die-with-parent",
    "--new-session",
];

/** Root without capabilities can make no further namespace of users: another user can. The files that are root's are that user's inside. */
const NESTING = ["--unshare-user", "--uid", "1000", "--gid", "1000"];
const nesting = (): string[] => (process.getuid?.() === 0 ? NESTING : []);

/** Arguments of bubblewrap up to the command, for one start of the process. Throws `RemitError` where a folder holds too much to be looked through. */
export async function bwrapArgs(plan: SandboxPlan): Promise<string[]> {
    const args = [
        ...ISOLATION,
        ...(plan.nests === true ? nesting() : []),
        ...systemArgs(),
        "--tmpfs",
        "/tmp",
        "--dir",
        "/run",
        "--dir",
        "/var/tmp",
    ];
    args.push("--bind", plan.home, HOME_INSIDE);
    const read = outermost(plan.read);
    // A program of the system's own (`/usr/bin/x`) shows no project. What is installed beside the system may be one.
    const isSystems = (path: string): boolean => path === "/usr/local" || (SYSTEM.includes(path) && path !== BESIDE);
    const granted = plan.folders.filter(({ access }) => access !== "none").map(({ path }) => path);
    const shown = [...(linkOf(BESIDE) === null ? [BESIDE] : []), ...read, ...granted].filter((path) => !isSystems(path));
    const all: string[] = [];
    for (const one of shown) all.push(...(await ownFolders(one, { shown })));
    const hide = (outer: string, isThere = (_own: string): boolean => true): void => {
        for (const own of outermost(all.filter((one) => isIn(one, [outer])))) if (isThere(own)) args.push("--tmpfs", own);
    };
    hide(BESIDE);
    const show = (path: string): void => {
        args.push("--ro-bind-try", path, path);
        if (!isSystems(path)) hide(path);
    };
    for (const path of read) show(path);
    // The outer folder first, so that one inside it keeps its own access.
    for (const { path, access, copy } of [...plan.folders].sort((a, b) => a.path.length - b.path.length)) {
        if (access === "none") {
            args.push("--perms", "0755", "--tmpfs", path);
            // What is read by name is there all the same: the agent's own program may lie in it.
            for (const one of read) if (one.startsWith(path + sep)) show(one);
        } else {
            args.push(access === "write" || copy !== undefined ? "--bind" : "--ro-bind", copy?.at ?? path, path);
            const kept = copy?.shown ?? [];
            for (const one of kept) args.push("--ro-bind", one, one);
            const git = join(path, ".git");
            if (access === "write" && existsSync(git)) args.push("--ro-bind", git, git);
            // A copy lacks most of them, and what it lacks cannot be covered.
            hide(path, (own) => copy === undefined || isIn(own, kept) || isFolder(join(copy.at, relative(path, own))));
        }
    }
    // Behind everything that stands in them.
    for (const { path, access } of plan.folders) if (access === "none") args.push("--remount-ro", path);
    if (plan.socket !== undefined) args.push("--dir", dirname(plan.socket.inside), "--ro-bind", plan.socket.outside, plan.socket.inside);
    args.push("--chdir", plan.cwd, "--");
    return args;
}

function systemArgs(): string[] {
    const args: string[] = [];
    for (const path of SYSTEM) {
        const link = linkOf(path);
        if (link !== null) args.push("--symlink", link, path);
        else if (existsSync(path)) args.push("--ro-bind", path, path);
    }
    for (const name of ETC) args.push("--ro-bind-try", `/etc/${name}`, `/etc/${name}`);
    return [...args, "--dev", "/dev", "--proc", "/proc"];
}

function linkOf(path: string): string | null {
    try {
        return readlinkSync(path);
    } catch {
        // No link, or not there.
        return null;
    }
}

function isFolder(path: string): boolean {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * What must be seen so that a program can run: its folder, and where it was installed into a `node_modules`, all of that, since it may need
 * any of it. Our own Node needs nothing but what it came with. Folders of the system are seen anyway, and whole homes are never shown.
 */
export function programFolders(command: string): string[] {
    // As it is written it may climb (`/root/../bin/x`): what is shown are folders under names of their own.
    const plain = resolve(command);
    const real = existsSync(command) ? realpathSync(command) : plain;
    return [plain, real].flatMap((path) => {
        const at = path === process.execPath ? -1 : path.indexOf(`${sep}node_modules${sep}`);
        const folder =
            at < 0
                ? path.endsWith(`${sep}bin${sep}${path.split(sep).at(-1)}`)
                    ? dirname(dirname(path))
                    : dirname(path)
                : path.slice(0, at + `${sep}node_modules`.length);
        return isBroad(folder) || (existsSync(folder) && isBroad(realpathSync(folder))) ? [path] : [folder];
    });
}

/** A program that needs nothing beside it: its name, and the file behind it where that is a link. */
export function programAlone(path: string): string[] {
    return existsSync(path) ? [path, realpathSync(path)] : [];
}

/** What a program that reads the files beside it must see: its folder, or itself alone where that is a home or holds too much. */
export function folderBeside(program: string, env: Environment): string {
    const folder = dirname(program);
    return isBroad(folder) || folder === env.HOME ? program : folder;
}

/** Folders that hold too much to be shown for the sake of one program. */
function isBroad(folder: string): boolean {
    const parts = folder.split(sep).filter((part) => part !== "");
    return (
        parts.length === 0 ||
        (parts.length === 1 && !SYSTEM.includes(folder)) ||
        (["home", "Users"].includes(parts[0] as string) && parts.length === 2)
    );
}

/** The environment inside: nothing of the outside but its language and its search path, as far as that is seen. */
export function insideEnv(env: Environment, own: { readonly [name: string]: string }, path: readonly string[]): { [name: string]: string } {
    const taken = ["LANG", "LC_ALL", "LC_CTYPE", "TZ"].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
    return {
        ...Object.fromEntries(taken),
        PATH: [...new Set([...path, "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"])].join(":"),
        HOME: HOME_INSIDE,
        TMPDIR: "/tmp",
        TERM: "dumb",
        USER: "agent",
        LOGNAME: "agent",
        SHELL: "/bin/sh",
        XDG_CONFIG_HOME: `${HOME_INSIDE}/.config`,
        XDG_CACHE_HOME: `${HOME_INSIDE}/.cache`,
        XDG_DATA_HOME: `${HOME_INSIDE}/.local/share`,
        XDG_STATE_HOME: `${HOME_INSIDE}/.local/state`,
        ...own,
    };
}

/** What an agent gets that nothing confines: its user's home and search path, and what is written for it. */
export function unconfinedEnv(env: Environment, own: { readonly [name: string]: string }): { [name: string]: string } {
    const names = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
    const windows = ["APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"];
    const taken = [...names, ...windows].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
    return { ...Object.fromEntries(taken), ...own };
}

export type Sandbox =
    | { readonly kind: "bwrap" | "seatbelt"; readonly command: string }
    | { readonly kind: "none"; readonly reason: string; readonly hint: string };

const UNCONFINED = "or write `unconfined` after the import's URI, and it runs with all that you may do yourself";
const PROBE_MS = 10_000;

/** Looks for a sandbox that works here: starts one, and a program in it. */
export async function findSandbox(env: Environment, platform: NodeJS.Platform = process.platform): Promise<Sandbox> {
    if (platform === "darwin") {
        const command = "/usr/bin/sandbox-exec";
        if (existsSync(command)) return { kind: "seatbelt", command };
        return { kind: "none", reason: "sandbox-exec is not here", hint: UNCONFINED };
    }
    if (platform !== "linux") return { kind: "none", reason: "there is no sandbox for this system", hint: UNCONFINED.slice(3) };
    const command = findCommand("bwrap", "/", env);
    if (command === null)
        return {
            kind: "none",
            reason: "bubblewrap is not installed",
            hint: `install the package \`bubblewrap\` (Debian, Ubuntu, Fedora), ${UNCONFINED}`,
        };
    const problem = await problemOf(command, [...ISOLATION, ...systemArgs(), "--tmpfs", "/tmp", "--", "/bin/sh", "-c", "exit 0"]);
    if (problem === null) return { kind: "bwrap", command };
    return {
        kind: "none",
        reason: `bubblewrap does not work here: ${problem}`,
        hint: `allow user namespaces (in a container: without the seccomp and AppArmor profiles that forbid them), ${UNCONFINED}`,
    };
}

/** Whether a process in this sandbox can make one of its own. macOS's cannot. */
export async function canNest(sandbox: Exclude<Sandbox, { kind: "none" }>): Promise<boolean> {
    if (sandbox.kind !== "bwrap") return false;
    const inner = [
        sandbox.command,
        "--unshare-user",
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "/bin/sh",
        "-c",
        "exit 0",
    ];
    return (await problemOf(sandbox.command, [...ISOLATION, ...nesting(), ...systemArgs(), "--tmpfs", "/tmp", "--", ...inner])) === null;
}

/** Null: it ran. */
function problemOf(command: string, args: readonly string[]): Promise<string | null> {
    return new Promise((done) => {
        execFile(command, args, { timeout: PROBE_MS, env: { PATH: "/usr/bin:/bin" } }, (error, _out, stderr) => {
            done(error === null ? null : stderr.trim().slice(-500) || error.message.slice(0, 500));
        });
    });
}

/** Profile of macOS's `sandbox-exec`: the same as SB1 and SB2, as far as its language goes. `ports`: of the loopback, that it may reach. */
export function seatbeltProfile(plan: SandboxPlan, ports: readonly number[]): string {
    const quoted = (path: string): string => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
    const below = (paths: readonly string[]): string => paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
    const readable = plan.folders.filter(({ access }) => access !== "none").map(({ path }) => path);
    const writable = plan.folders.filter(({ access }) => access === "write").map(({ path }) => path);
    const shown = [...new Set([...readable, ...outermost(plan.read), BESIDE])];
    // Deeper ones by their name, later ones too; a folder that lies in one itself hides the one at its top alone.
    const deep = below(shown.filter((path) => !path.split(sep).some(isOwn)));
    const hidden = shown.map((path) => join(path, OWN));
    const kept = writable.map((path) => join(path, ".git"));
    return [
        "(version 1)",
        "(deny default)",
        "(allow process-fork)",
        "(allow process-exec)",
        "(allow signal (target same-sandbox))",
        "(allow sysctl-read)",
        "(allow mach-lookup)",
        "(allow file-read-metadata)",
        `(allow file-read* (literal "/") ${below(["/System", "/usr", "/bin", "/sbin", "/opt", "/Library", "/private/etc", "/private/var/db", "/dev"])})`,
        `(allow file-read* ${below([plan.home, ...readable, ...outermost(plan.read)])})`,
        `(allow file-write* ${below([plan.home, ...writable])} (literal "/dev/null") (literal "/dev/tty"))`,
        ...(hidden.length === 0 ? [] : [`(deny file-read* file-write* ${below(hidden)})`]),
        ...(deep === ""
            ? []
            : [`(deny file-read* file-write* (require-all (require-any ${deep}) (regex #"/\\.[rR][eE][mM][iI][tT](/|$)")))`]),
        ...(kept.length === 0 ? [] : [`(deny file-write* ${below(kept)})`]),
        ...ports.map((port) => `(allow network-outbound (remote ip "localhost:${port}"))`),
        "",
    ].join("\n");
}
