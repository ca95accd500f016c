/**
 * `acp:` in its forms: a process of ours in its sandbox, or a server somewhere else, each with a session of the Agent Client Protocol.
 *
 * Boundary: from a URI to a session; the session itself is in `session.ts`.
 */
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Stream } from "@agentclientprotocol/sdk";
import type { Json } from "@remit/language";
import type { AgentHand, AgentTurn } from "@remit/machine";
import { expand } from "../config/expand.ts";
import { utf8Check } from "../input/bytes.ts";
import { MAX_STDERR, type Running } from "../process/piped.ts";
import { tidy } from "../tool/mcp-servers.ts";
import type { OpenAgent, AgentsContext } from "./agents.ts";
import { besideOf, fileFrom } from "./beside.ts";
import { AgentFail } from "./fail.ts";
import { confine, type Confined, type GrantedFolder } from "./confine.ts";
import { fileHands, gateOf } from "./hands.ts";
import { MAX_MESSAGE } from "./link.ts";
import type { Carrier } from "./connection.ts";
import { acpSession, type AgentSession } from "./session.ts";
import { findCommand } from "../process/command.ts";
import { type ProcessTarget, type RemoteTarget, targetOf } from "./uri.ts";
import { version2 } from "./version2.ts";

/** How long the end of a process is waited for once its output has ended, milliseconds. */
const EXIT_MS = 1_000;

export const openAcp: OpenAgent = (first, context, kept) => {
    const target = targetOf(first.agent.uri, context);
    return target.kind === "remote" ? openRemote(target, first, context) : openProcess({ target, kept }, first, context);
};

async function openProcess(
    { target, kept }: { readonly target: ProcessTarget; readonly kept: Parameters<OpenAgent>[2] },
    first: AgentTurn,
    context: AgentsContext,
): Promise<AgentSession> {
    const sdk = await import("@agentclientprotocol/sdk");
    const unconfined = first.agent.unconfined === true;
    const servers = passedOn(first.hands, context);
    const folders = foldersOf(first.hands, context.workspace);
    const room = unconfined && folders.length > 0 ? null : kept();
    const confined = await confine({
        target,
        folders,
        kept: room,
        sandbox: context.sandbox,
        unconfined,
        env: context.env,
        children: context.children,
        writesItself: target.writesItself,
        programs: servers.flatMap(({ program }) => (program === null ? [] : [program])),
        files: servers.flatMap(({ files }) => files.flatMap((file) => besideOf(file, context))),
    });
    const reachable = new Set(target.endpoints.map(({ origin }) => origin));
    return acpSession({
        sdk,
        secrets: context.secrets,
        carry: async () => {
            const running = await confined.start();
            const output = Readable.toWeb(running.output) as ReadableStream<Uint8Array>;
            const stream = sdk.ndJsonStream(Writable.toWeb(running.input), output.pipeThrough(textAlone()), {
                maxMessageBytes: MAX_MESSAGE,
            });
            return carrierOf(target.protocol === 2 ? version2(stream) : stream, running, { ...confined, secrets: context.secrets });
        },
        name: first.agent.name,
        workspace: context.workspace,
        outlasts: room !== null || (unconfined && folders.length > 0),
        mode: target.mode,
        modeIfThere: modeIn(confined, target),
        readsItself: target.readsItself && !unconfined && folders.every(({ access }) => access !== "none"),
        copies: confined.copies,
        writable: unconfined ? null : folders.filter(({ access }) => access === "write").map(({ path }) => path),
        options: target.options,
        graceMs: target.graceMs,
        servers: ({ http }) =>
            servers.filter(({ origin }) => origin === null || (http && (unconfined || reachable.has(origin)))).map(({ server }) => server),
        meta: context.meta,
        trace: context.trace,
        // Without a sandbox it finds, or fetches, what it needs itself.
        notices: unconfined ? [] : target.lacks,
        ...(context.startMs === undefined ? {} : { startMs: context.startMs }),
        close: confined.close,
    });
}

function modeIn({ confinement, nests, copies }: Confined, { modesInSandbox: modes }: ProcessTarget): string | undefined {
    if (confinement === "unconfined") return undefined;
    return nests && copies.length > 0 ? modes?.asking : modes?.free;
}

/** LN3 */
function textAlone(): TransformStream<Uint8Array, Uint8Array> {
    const isText = utf8Check();
    return new TransformStream({
        transform: (piece, out) =>
            isText(piece) ? out.enqueue(piece) : out.error(new AgentFail("unreachable", "it sent bytes that are not UTF-8")),
    });
}

type About = Pick<Carrier, "confinement" | "cwd"> & Pick<AgentsContext, "secrets">;

function carrierOf(stream: Stream, running: Running, { confinement, cwd, secrets }: About): Carrier {
    return {
        stream,
        confinement,
        cwd,
        alive: () => running.ended() === null,
        lost: async () => {
            let timer: NodeJS.Timeout | undefined;
            await Promise.race([running.over, new Promise((done) => (timer = setTimeout(done, EXIT_MS)))]);
            clearTimeout(timer);
            const how = running.ended();
            return {
                message: how === null ? "it closed its output" : `its process is gone: ${how}`,
                stderr: tidy(running.stderr(secrets), MAX_STDERR, secrets),
            };
        },
        stop: running.stop,
    };
}

async function openRemote(target: RemoteTarget, first: AgentTurn, context: AgentsContext): Promise<AgentSession> {
    const sdk = await import("@agentclientprotocol/sdk");
    const { remoteStream } = await import("./remote.ts");
    const cwd = fileHands(first.hands, context.workspace)[0]?.real ?? "/";
    return acpSession({
        sdk,
        secrets: context.secrets,
        carry: async () => {
            const { stream, why, close } = await remoteStream(target, context);
            let alive = true;
            return {
                stream,
                confinement: "remote",
                cwd,
                alive: () => alive,
                lost: async () => {
                    alive = false;
                    return { message: why() ?? `${target.url.host} cannot be reached, or closed the connection` };
                },
                stop: async () => {
                    alive = false;
                    await close();
                },
            };
        },
        name: first.agent.name,
        workspace: context.workspace,
        outlasts: true,
        mode: undefined,
        options: {},
        graceMs: target.graceMs,
        servers: () => [],
        meta: context.meta,
        trace: context.trace,
        ...(context.startMs === undefined ? {} : { startMs: context.startMs }),
        close: async () => undefined,
    });
}

/** What the agent sees of the folders it was given: only what every call of the hand might see or write anyway. */
export function foldersOf(hands: readonly AgentHand[], workspace: string): GrantedFolder[] {
    const rank = { none: 0, read: 1, write: 2 } as const;
    const folders: GrantedFolder[] = [];
    for (const { hand, real } of fileHands(hands, workspace)) {
        const [read, write] = [gateOf(hand, "read"), gateOf(hand, "write")];
        const sees = read?.gate === "may" && read.whole !== false;
        const access = !sees ? "none" : write?.gate === "may" && write.whole === true ? "write" : "read";
        const granted = { path: real, access, ...(access === "read" && write !== null ? { edits: true } : {}) } as const;
        const same = folders.findIndex(({ path }) => path === real);
        if (same < 0) folders.push(granted);
        else if (rank[access] > rank[(folders[same] as GrantedFolder).access]) folders[same] = granted;
    }
    // What an outer folder gives, an empty one inside it does not take away.
    return folders.filter(
        ({ path, access }) =>
            !folders.some((outer) => path !== outer.path && path.startsWith(`${outer.path}/`) && rank[outer.access] >= rank[access]),
    );
}

interface Passed {
    readonly server: Json;
    /** Absolute path of its program; null where it is reached by http. */
    readonly program: string | null;
    /** Absolute paths of files and folders among its arguments. */
    readonly files: readonly string[];
    readonly origin: string | null;
}

/** Servers of which every method is allowed without asking, in the protocol's words. */
function passedOn(hands: readonly AgentHand[], context: AgentsContext): Passed[] {
    return hands.flatMap((hand): Passed[] => {
        const key = /^mcp:\/\/(.+)$/.exec(hand.uri)?.[1];
        const all = hand.methods.find(({ method }) => method === null);
        const server = key !== undefined && Object.hasOwn(context.config.servers, key) ? context.config.servers[key] : undefined;
        if (key === undefined || server === undefined || all?.gate !== "may" || all.whole === false) return [];
        if (hand.methods.some(({ gate, whole }) => gate !== "may" || whole === false)) return [];
        const put = (text: string): string => {
            const { text: out, used } = expand(text, context.env);
            for (const one of used) context.secrets.add({ name: `env:${one}`, value: context.env[one] ?? "" });
            return out;
        };
        const pairs = (map: { readonly [name: string]: string } | undefined): Json =>
            Object.entries(map ?? {}).map(([name, text]) => ({ name, value: put(text) }));
        if (server.url !== undefined)
            return [
                {
                    server: { type: "http", name: key, url: server.url, headers: pairs(server.headers) },
                    program: null,
                    files: [],
                    origin: new URL(server.url).origin,
                },
            ];
        const program = server.command === "node" ? process.execPath : findCommand(server.command ?? "", server.file.folder, context.env);
        if (program === null) return [];
        // The agent starts it in a folder of its own: what is written from the server's folder is found from there no more.
        const base = resolve(server.file.folder, server.cwd ?? ".");
        const files: string[] = [];
        const args = (server.args ?? []).map((arg): string => {
            const named = arg === "" ? null : fileFrom(base, arg, server.file.folder);
            if (named !== null) files.push(named);
            return named ?? arg;
        });
        return [{ server: { name: key, command: program, args, env: pairs(server.env) }, program, files, origin: null }];
    });
}
