/**
 * An agent's process in its sandbox, or without one: folders of its own, the way to its model, and their end.
 *
 * Boundary: puts `sandbox.ts`, `relay.ts` and `../process/piped.ts` together for one process.
 *
 * S5: without a sandbox nothing is started unless the import says `unconfined`.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../ledger/place.ts";
import type { Begin, Children } from "../process/child.ts";
import { type Running, start } from "../process/piped.ts";
import { AgentFail } from "./fail.ts";
import { INSIDE, loopbackPorts, PROXY_PORT, proxyEnv, type Relay, relay } from "./relay.ts";
import {
    bwrapArgs,
    canNest,
    insideEnv,
    programAlone,
    programFolders,
    type Sandbox,
    type SandboxFolder,
    type SandboxPlan,
    seatbeltProfile,
    SOCKET_INSIDE,
    unconfinedEnv,
} from "../process/sandbox.ts";
import type { ProcessTarget } from "./uri.ts";
import { unlock, type WorkingCopy, workingCopy } from "./working-copy.ts";

export interface Confined {
    readonly confinement: "sandbox" | "unconfined";
    /** Where the agent works. */
    readonly cwd: string;
    /** Of folders that it reads, for the edits that it is allowed to make. */
    readonly copies: readonly WorkingCopy[];
    /** It can put its commands into a sandbox of its own. */
    readonly nests: boolean;
    /** Starts the process; again where it was lost. */
    start(): Promise<Running>;
    /** Removes what was made for it. */
    close(): Promise<void>;
}

/** `edits`: it is read-only, and single files in it may be written all the same. */
export type GrantedFolder = SandboxFolder & { readonly edits?: boolean };

export interface ConfineOptions {
    readonly target: ProcessTarget;
    readonly folders: readonly GrantedFolder[];
    readonly sandbox: () => Promise<Sandbox>;
    readonly unconfined: boolean;
    /** It makes its edits itself: in copies of the folders that are read-only for it. */
    readonly writesItself: boolean;
    readonly env: Environment;
    readonly children: Children;
    /** Programs that the agent starts: seen inside, too. */
    readonly programs: readonly string[];
    /** Further paths that may be read. */
    readonly files?: readonly string[];
    /** Where its home is, and the folder that it works in where it is given none: they outlast this process. Null: they end with it. */
    readonly kept: string | null;
}

export async function confine(options: ConfineOptions): Promise<Confined> {
    const { target, unconfined, env, children } = options;
    const sandbox: Sandbox | null = unconfined ? null : await options.sandbox();
    if (sandbox?.kind === "none")
        throw new AgentFail("unreachable", `it must run in a sandbox, and ${sandbox.reason}`, { hint: sandbox.hint });
    const room = realpathSync(mkdtempSync(join(tmpdir(), "remit-agent-")));
    const made = (name: string, within = room): string => {
        const path = join(within, name);
        mkdirSync(path, { recursive: true, mode: 0o700 });
        return path;
    };
    const outlasts = options.kept === null ? room : realpathSync(options.kept);
    const folders = options.folders.length > 0 ? options.folders : [{ path: made("work", outlasts), access: "write" as const }];
    const cwd = (folders[0] as SandboxFolder).path;
    let relayed: Relay | null = null;
    const copies: WorkingCopy[] = [];
    const close = async (): Promise<void> => {
        await relayed?.close();
        for (const { at } of copies) unlock(at);
        rmSync(room, { recursive: true, force: true, maxRetries: 3 });
    };
    try {
        if (sandbox === null) {
            const begin: Begin = { command: target.command, args: target.fullArgs, env: unconfinedEnv(env, target.env), cwd };
            return { confinement: "unconfined", cwd, copies, nests: false, start: () => started(children, begin), close };
        }
        const socket = sandbox.kind === "bwrap" ? join(room, "model.sock") : null;
        if (target.endpoints.length > 0) relayed = await relay(socket, target.endpoints);
        const nests = target.modesInSandbox !== undefined && (await canNest(sandbox));
        const plan: SandboxPlan = {
            cwd,
            nests,
            folders: folders.map((folder, index) => {
                if (sandbox.kind !== "bwrap" || !options.writesItself || folder.edits !== true) return folder;
                const copy = workingCopy(folder.path, made(`copy-${index}`));
                if (copy !== null) copies.push(copy);
                return copy === null ? folder : { ...folder, copy };
            }),
            read: [target.command, process.execPath, ...options.programs]
                .flatMap(programFolders)
                .concat(target.programs.flatMap(programAlone), target.read, options.files ?? []),
            home: made("home", outlasts),
            ...(relayed === null || socket === null ? {} : { socket: { outside: socket, inside: SOCKET_INSIDE } }),
        };
        const command = [target.command, ...target.fullArgs];
        const path = [target.command, process.execPath, ...target.programs].map(dirname);
        const own = relayed === null ? target.env : { ...proxyEnv(relayed.port ?? PROXY_PORT), ...target.env };
        const environment = insideEnv(env, own, path);
        if (sandbox.kind === "bwrap") {
            const script = { socket: SOCKET_INSIDE, proxy: PROXY_PORT, ports: loopbackPorts(target.endpoints), command };
            const inner = relayed === null ? command : [process.execPath, "-e", INSIDE, JSON.stringify(script)];
            const begin = async (): Promise<Running> =>
                started(children, { command: sandbox.command, args: [...(await bwrapArgs(plan)), ...inner], env: environment, cwd: "/" });
            return { confinement: "sandbox", cwd, copies, nests, start: begin, close };
        }
        // There is one loopback on this system: its own ports are reached as they are, everything else through the relay.
        const ports = [...(relayed?.port == null ? [] : [relayed.port]), ...loopbackPorts(target.endpoints).map(({ port }) => port)];
        const profile = join(room, "profile.sb");
        writeFileSync(profile, seatbeltProfile(plan, ports), { mode: 0o600 });
        const begin: Begin = {
            command: sandbox.command,
            args: ["-f", profile, ...command],
            env: { ...environment, HOME: plan.home, TMPDIR: plan.home },
            cwd,
        };
        return { confinement: "sandbox", cwd, copies, nests, start: () => started(children, begin), close };
    } catch (error) {
        await close();
        throw error;
    }
}

async function started(children: Children, begin: Begin): Promise<Running> {
    try {
        return await start(children, begin);
    } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        throw new AgentFail("unreachable", `it cannot be started: ${begin.command} (${code ?? message})`);
    }
}
