/**
 * A process for code that is not trusted: in the operating system's sandbox, or plainly where the user said `unconfined`.
 *
 * Boundary: starts and kills. What the sandbox shows is `../process/sandbox.ts`; what the process says is its caller's.
 *
 * LU1: in the sandbox there is no network, no process of others, an empty home, and of the disk: the system's programs, what is named, nothing else.
 * LU2: no variable of our environment is passed on but what programs need to start; without a sandbox, home and search path too.
 * LU3: `kill` ends everything that came of the process, also what detached itself: in the sandbox all of it, without one its process group.
 *     What left that group ends with this process (PC4 in `../process/child.ts`).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bwrapArgs, findSandbox, insideEnv, programFolders, type SandboxPlan, seatbeltProfile, unconfinedEnv } from "../process/sandbox.ts";
import type { Environment } from "../ledger/place.ts";
import type { Begin, Child, Children } from "../process/child.ts";
import { ToolFail } from "./tool.ts";

export interface Launch {
    readonly command: string;
    /** The person's own program: what it came with is seen too. One that code chose shows nothing that is not shown anyway. */
    readonly installed: boolean;
    readonly args: readonly string[];
    readonly cwd: string;
    /** Variables of its own. */
    readonly env: { readonly [name: string]: string };
    /** Absolute folders that come first on its PATH. */
    readonly path: readonly string[];
    /** Absolute paths that may be read, and changed; `cwd` is among them. */
    readonly read: readonly string[];
    readonly write: readonly string[];
    /** A folder of ours, for its home and what the sandbox itself needs. */
    readonly room: string;
    readonly unconfined: boolean;
}

export interface Launched {
    readonly child: Child;
    readonly confinement: "sandbox" | "unconfined";
    kill(): void;
}

/** Throws `ToolFail` where there is no sandbox and the user did not say `unconfined`. */
export async function launch(it: Launch, env: Environment, children: Children): Promise<Launched> {
    const begin = it.unconfined ? plain(it, env) : await confined(it, env);
    const child = children.start(begin, "ignore");
    return { child, confinement: it.unconfined ? "unconfined" : "sandbox", kill: () => child.signal("SIGKILL") };
}

function plain(it: Launch, env: Environment): Begin {
    const own = unconfinedEnv(env, it.env);
    return { command: it.command, args: it.args, env: { ...own, PATH: [...it.path, own.PATH ?? "/usr/bin:/bin"].join(":") }, cwd: it.cwd };
}

async function confined(it: Launch, env: Environment): Promise<Begin> {
    const sandbox = await findSandbox(env);
    if (sandbox.kind === "none")
        throw new ToolFail(`it must run in a sandbox, and ${sandbox.reason}`, {
            kind: "denied",
            hint: "install bubblewrap where namespaces are allowed, or say `unconfined` (`--unconfined`): then it runs with all your rights",
        });
    const home = join(it.room, "home");
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const plan: SandboxPlan = {
        cwd: it.cwd,
        folders: it.write.map((path) => ({ path, access: "write" as const })),
        read: [...(it.installed ? [it.command, process.execPath] : [process.execPath]).flatMap(programFolders), ...it.read],
        home,
    };
    const inside = insideEnv(env, it.env, [...it.path, dirname(process.execPath)]);
    if (sandbox.kind === "bwrap")
        return { command: sandbox.command, args: [...(await bwrapArgs(plan)), it.command, ...it.args], env: inside, cwd: "/" };
    const profile = join(it.room, "profile.sb");
    writeFileSync(profile, seatbeltProfile(plan, []), { mode: 0o600 });
    return {
        command: sandbox.command,
        args: ["-f", profile, it.command, ...it.args],
        env: { ...inside, HOME: home, TMPDIR: home },
        cwd: it.cwd,
    };
}
