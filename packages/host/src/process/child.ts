/**
 * The processes that the host starts: each in a group of its own, none outlives its owner or this process.
 *
 * Boundary: starts, signals and ends. The caller reads the pipes; `sandbox.ts` confines.
 *
 * PC1: every process that does more than a short look is started here, without a shell, as the leader of a new session and group.
 * PC2: when the leader ends, the rest of its group is killed at once, because the group's id may be used again afterwards.
 * PC5: what started them is a value, made once a process (`process.ts`). Its `close` kills the groups that are left, and lets the watchdog look once more.
 * PC3: when this process ends, by whatever signal, each group gets TERM and, a second later, KILL. A watchdog sends them: a `/bin/sh` in a session
 *      of its own, started with the first process, that reads a pipe whose other end only this process holds.
 * PC4: on Linux the watchdog ends every process whose environment has the owner's mark, too. That reaches a grandchild in a session of its own,
 *      and a child that was started and not yet registered. A process that clears its environment is out of reach.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";

export interface Begin {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: { readonly [name: string]: string };
    readonly cwd: string;
}

export interface Ending {
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    /** The system could not start it. */
    readonly error?: NodeJS.ErrnoException;
}

export interface Child {
    /** Undefined where it could not be started. */
    readonly pid: number | undefined;
    /** Null where its input is empty. */
    readonly stdin: Writable | null;
    readonly stdout: Readable;
    readonly stderr: Readable;
    /** Rejects with the system's error where it cannot be started. */
    readonly started: Promise<void>;
    /** How it ended, once it did. */
    ending(): Ending | null;
    /** Resolves when it ended; never where it could not be started. */
    readonly ended: Promise<void>;
    /** Resolves when it ended and its pipes are read to their end, at most `DRAIN_MS` after its end. */
    readonly over: Promise<Ending>;
    /** To the whole group. Nothing happens after the leader's end. */
    signal(name: NodeJS.Signals): void;
}

/** A detached grandchild may hold the pipes open for so long after the child's end. */
const DRAIN_MS = 1000;

const MARK = "REMIT_OWNER";

/** Who owns processes. */
export interface Children {
    start(begin: Begin, stdin: "pipe" | "ignore"): Child;
    /** PC5. */
    close(): Promise<void>;
}

export function children(): Children {
    const mark = randomUUID();
    const living = new Set<Child>();
    let watchdog: Watchdog | null = null;
    return {
        start: (begin, stdin) => {
            if (watchdog?.alive() !== true) watchdog = watching(mark, living);
            const child = started({ ...begin, env: { ...begin.env, [MARK]: mark } }, stdin);
            const { pid } = child;
            if (pid === undefined) return child;
            living.add(child);
            watchdog?.tell(`+${pid}`);
            void child.ended.then(() => {
                living.delete(child);
                watchdog?.tell(`-${pid}`);
            });
            return child;
        },
        close: async () => {
            const left = [...living];
            for (const child of left) child.signal("SIGKILL");
            await Promise.all(left.map((child) => child.over));
            watchdog?.end();
            watchdog = null;
        },
    };
}

function started({ command, args, env, cwd }: Begin, stdin: "pipe" | "ignore"): Child {
    const child = spawn(command, [...args], { cwd, env, stdio: [stdin, "pipe", "pipe"], detached: true, windowsHide: true });
    const { pid } = child;
    const streams = child as unknown as { readonly stdin: Writable | null; readonly stdout: Readable; readonly stderr: Readable };
    const gone = Promise.withResolvers<void>();
    let ending: Ending | null = null;
    const signal = (name: NodeJS.Signals): void => {
        if (ending === null && pid !== undefined) toGroup(child, pid, name);
    };
    const over = new Promise<Ending>((done) => {
        child.on("error", (error) => {
            // A child that runs reports nothing else here than a signal that failed.
            if (pid !== undefined) return;
            ending = { code: null, signal: null, error };
            done(ending);
        });
        child.once("exit", (code, by) => {
            signal("SIGKILL");
            const end: Ending = { code, signal: by };
            ending = end;
            gone.resolve();
            const timer = setTimeout(() => {
                done(end);
                streams.stdout.destroy();
                streams.stderr.destroy();
            }, DRAIN_MS);
            child.once("close", () => {
                clearTimeout(timer);
                done(end);
            });
        });
    });
    const started = pid === undefined ? over.then(({ error }) => Promise.reject(error)) : Promise.resolve();
    // The caller may look at `over` alone.
    started.catch(() => undefined);
    const { stdout, stderr } = streams;
    return { pid, stdin: streams.stdin, stdout, stderr, started, ending: () => ending, ended: gone.promise, over, signal };
}

function toGroup(child: ChildProcess, group: number, signal: NodeJS.Signals): void {
    if (process.platform === "win32") {
        child.kill(signal);
        return;
    }
    try {
        process.kill(-group, signal);
    } catch (error) {
        // Nothing of the group is left. macOS says EPERM of a group whose members have ended and are not yet collected.
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "ESRCH" && code !== "EPERM") throw error;
    }
}

/** Its environment has no mark: a process that this one is a child of may sweep by its own mark, and the watchdog must still do its work then. */
const WATCH = `trap '' HUP INT QUIT TERM
groups=' '
while read -r line; do
    case $line in
    +*) groups="$groups\${line#+} " ;;
    -*) one=" \${line#-} "; groups="\${groups%%"$one"*} \${groups#*"$one"}" ;;
    esac
done
tell() {
    told=
    for group in $groups; do kill -"$1" -"$group" 2>/dev/null && told=1; done
    for file in $(grep -lsF "$mark" /proc/[0-9]*/environ 2>/dev/null); do
        file=\${file#/proc/}
        kill -"$1" "\${file%/environ}" 2>/dev/null && told=1
    done
}
mark=$1
tell TERM
[ -z "$told" ] && exit
sleep 1
for again in 1 2 3; do
    tell KILL
    [ -z "$told" ] && exit
done`;

interface Watchdog {
    alive(): boolean;
    tell(line: string): void;
    /** It looks once more, as where this process ends. */
    end(): void;
}

/** `living`: it knows them from the beginning. Null where there are no groups. */
function watching(mark: string, living: Iterable<Child>): Watchdog | null {
    if (process.platform === "win32") return null;
    const it = spawn("/bin/sh", ["-c", WATCH, "remit-watchdog", `${MARK}=${mark}`], {
        cwd: "/",
        env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" },
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
    });
    let alive = true;
    const gone = (): void => {
        alive = false;
    };
    // Without a `/bin/sh` there is no watchdog. One that was ended is started again with the next child.
    it.once("error", gone).once("exit", gone);
    it.stdin.on("error", gone);
    it.unref();
    const tell = (line: string): void => void (alive && it.stdin.write(`${line}\n`));
    for (const { pid } of living) tell(`+${pid}`);
    return { alive: () => alive, tell, end: () => it.stdin.end() };
}
