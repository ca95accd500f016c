/**
 * A program as an agent of the Agent Client Protocol: editors that speak it use the program.
 *
 * Boundary: the connection and its sessions, made on the SDK's agent. What one session does is `session.ts`'s.
 *
 * ACP1: files and terminals of the editor are not used: what the program reaches are its own imports, under its own rules.
 * ACP2: an editor that goes away, however it goes, leaves its runs in the ledger, from where they go on.
 * ACP3: a session is one of this program; one that another process has, or that is of another program, is not opened.
 */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Readable, Writable } from "node:stream";
import { Readable as NodeReadable, Writable as NodeWritable } from "node:stream";
import {
    agent,
    type AgentContext,
    type InitializeRequest,
    type McpServer,
    ndJsonStream,
    RequestError,
    type SessionInfo as ShownSession,
} from "@agentclientprotocol/sdk";
import {
    knownSecrets,
    type Ledger,
    LedgerError,
    type LoadOptions,
    openLedger,
    openProcess,
    type Process,
    type RemitProgram,
} from "@remit/host";
import type { Limits } from "@remit/machine";
import { brainOf } from "../brain/program.ts";
import { entriesOf } from "../faces/entries.ts";
import { ServeError } from "../faces/error.ts";
import { EDITOR_SESSION, isEditorSession, SessionLog } from "../session/log.ts";
import type { SessionBounds } from "../session/bounds.ts";
import { Session, type SessionSetup } from "../session/session.ts";
import { LentServers } from "./lent.ts";
import { type Editor, EditorSession } from "./session.ts";

export interface AcpOptions {
    /** Default: the one that comes with the server. */
    readonly program?: string;
    readonly model?: string;
    /** Folder that tools may reach; default: the one that the editor names for a session. */
    readonly workspace?: string;
    readonly ledger?: string;
    readonly process?: Process;
    /** For the program, as for `load`. */
    readonly load?: Omit<LoadOptions, "ledger" | "process" | "model" | "tools" | "workspace">;
    /** Of each prompt. */
    readonly limits?: Limits;
    readonly bounds?: Partial<SessionBounds>;
    readonly version?: string;
    /** Default: standard input. @internal */
    readonly input?: Readable;
    /** @internal */
    readonly output?: Writable;
    readonly log?: (message: string) => void;
}

/** People think longer about a question at an editor, which says itself when it is withdrawn. */
const BOUNDS: SessionBounds = {
    queue: 16,
    tools: 1000,
    call: 10 * 60_000,
    ask: 60 * 60_000,
    away: 2 ** 31 - 1,
    back: 0,
    turn: 60 * 60_000,
};
const MAX_SESSIONS = 50;
const MAX_LISTED = 100;

export interface Serving {
    /** Resolves when the editor is gone and everything is closed. */
    readonly closed: Promise<void>;
    close(): Promise<void>;
}

/** Rejects with `ServeError`, `LedgerError`, or `RemitError` where the program has errors. */
export async function serveAcp(options: AcpOptions): Promise<Serving> {
    const on = options.process ?? openProcess();
    const ledger = await openLedger(options.ledger, { process: on });
    const desk = new Desk(options, ledger, on);
    const { program } = options;
    try {
        await desk.look();
    } catch (error) {
        await ledger.close();
        throw error;
    }
    const app = agent({ name: "remit" })
        .onRequest("initialize", ({ params }) => desk.initialize(params))
        .onRequest("authenticate", () => ({}))
        .onRequest("session/new", ({ params, client }) => desk.open(client, params))
        .onRequest("session/load", async ({ params, client }) => (await desk.load(client, params, true), {}))
        .onRequest("session/resume", async ({ params, client }) => (await desk.load(client, params, false), {}))
        .onRequest("session/list", ({ params }) => desk.list(params.cwd ?? undefined))
        .onRequest("session/close", async ({ params }) => (await desk.close(params.sessionId), {}))
        .onRequest("session/prompt", ({ params, signal }) => desk.session(params.sessionId).prompt(params.prompt, signal))
        .onNotification("session/cancel", ({ params }) => desk.cancel(params.sessionId));
    const connection = app.connect(
        ndJsonStream(
            NodeWritable.toWeb(options.output ?? process.stdout) as WritableStream<Uint8Array>,
            NodeReadable.toWeb(options.input ?? process.stdin) as ReadableStream<Uint8Array>,
        ),
    );
    options.log?.(`${program ?? "the agent that comes with Remit"}: ready for an editor on standard input and output`);
    // ACP2.
    const closed = connection.closed.then(() => desk.end());
    return {
        closed,
        close: async () => {
            connection.close();
            await closed;
        },
    };
}

type About = Pick<RemitProgram, "form" | "hash" | "file" | "root">;
type Opening = { readonly cwd: string; readonly mcpServers?: readonly McpServer[] };

class Desk {
    readonly #options: AcpOptions;
    readonly #ledger: Ledger;
    readonly #process: Process;
    readonly #sessions = new Map<string, EditorSession>();
    readonly #secrets: ReturnType<typeof knownSecrets>;
    #editor: Omit<Editor, "client"> = { id: "acp:editor", hasForms: false, hasNotices: false };
    #about: About | null = null;
    #takesLent = false;

    constructor(options: AcpOptions, ledger: Ledger, process: Process) {
        this.#options = options;
        this.#ledger = ledger;
        this.#process = process;
        this.#secrets = knownSecrets(process.env);
    }

    /** Loads the program once, and says what an editor could not give it. */
    async look(): Promise<void> {
        const program = await this.#brain(this.#options.workspace).first();
        const { form, hash, file, root } = program;
        await program.close();
        this.#about = { form, hash, file, root };
        this.#takesLent = form.files.some(({ imports }) =>
            imports.some(({ what, uri }) => what === "tool" && /^host:(\/\/)?lent$/.test(uri)),
        );
        if (form.entry === undefined)
            throw new ServeError(`${file} has no main agent and no main func`, "an editor's prompt needs one to go to");
        if (form.files.at(-1)?.blocks !== undefined) return;
        const [begin] = entriesOf(form);
        const { properties, required = [] } = (begin?.input ?? {}) as { properties?: { [name: string]: object }; required?: string[] };
        const takes = properties === undefined ? "anything" : Object.keys(properties).join(", ") || "nothing";
        const hint = `give its main func an input such as { task: string }; an editor's prompt is the task`;
        if (properties !== undefined && properties["task"] === undefined)
            throw new ServeError(`${file} takes no task: the input of its main func has ${takes}`, hint);
        const more = required.filter((name) => name !== "task");
        if (more.length > 0)
            throw new ServeError(`${file} needs more than a task: ${more.join(", ")}`, `${hint}, and what else it takes needs a default`);
    }

    initialize({ clientInfo, clientCapabilities }: InitializeRequest) {
        const name = (clientInfo?.name ?? "").replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 40) || "editor";
        const hasNotices = clientCapabilities?.session?.notices != null;
        this.#editor = { id: `acp:${name}`, hasForms: formsIn(clientCapabilities), hasNotices };
        const { file = "remit" } = this.#about ?? {};
        return {
            protocolVersion: 1,
            agentInfo: { name: "remit", title: `Remit: ${file}`, version: this.#options.version ?? "0" },
            agentCapabilities: {
                loadSession: true,
                promptCapabilities: { embeddedContext: true },
                mcpCapabilities: { http: true },
                sessionCapabilities: { list: {}, resume: {}, close: {} },
            },
            authMethods: [],
        };
    }

    async open(client: AgentContext, { cwd, mcpServers = [] }: Opening) {
        this.#roomFor(cwd);
        const id = `${EDITOR_SESSION}${randomUUID().slice(0, 13)}`;
        const { form: program, hash, file, root } = this.#about as About;
        const log = await SessionLog.make(this.#ledger.store, { id, program, hash, file, root }, this.#secrets);
        const session = await Session.open(this.#setup(log, cwd), { title: "", by: this.#editor.id, folder: cwd });
        return { sessionId: await this.#begin(client, session, { cwd, mcpServers }, false), ...this.#unused(mcpServers) };
    }

    /** ACP3. `replays`: what was said before is told first. */
    async load(
        client: AgentContext,
        { sessionId, cwd, mcpServers = [] }: Opening & { readonly sessionId: string },
        replays: boolean,
    ): Promise<void> {
        this.#roomFor(cwd);
        await this.#sessions.get(sessionId)?.close();
        this.#sessions.delete(sessionId);
        const session = await this.#again(sessionId, cwd);
        await this.#begin(client, session, { cwd, mcpServers }, replays);
    }

    async list(cwd: string | undefined): Promise<{ sessions: ShownSession[] }> {
        const sessions: ShownSession[] = [];
        for (const { id, file, root } of await this.#ledger.store.runs(Number.MAX_SAFE_INTEGER, () => undefined)) {
            if (!isEditorSession(id) || file !== this.#about?.file || root !== this.#about.root) continue;
            const shown = await this.#shown(id);
            if (shown !== null && (cwd === undefined || shown.cwd === cwd)) sessions.push(shown);
            if (sessions.length === MAX_LISTED) break;
        }
        return { sessions };
    }

    session(id: string): EditorSession {
        const found = this.#sessions.get(id);
        if (found === undefined) throw new RequestError(-32002, `there is no session ${id} here; open it with session/new or session/load`);
        return found;
    }

    async cancel(id: string): Promise<void> {
        await this.#sessions.get(id)?.cancel();
    }

    async close(id: string): Promise<void> {
        await this.session(id).close();
        this.#sessions.delete(id);
    }

    async end(): Promise<void> {
        await Promise.all([...this.#sessions.values()].map((one) => one.close()));
        await this.#ledger.close();
        if (this.#options.process === undefined) await this.#process.close();
    }

    // ---- opening ----

    async #begin(client: AgentContext, session: Session, { cwd, mcpServers = [] }: Opening, replays: boolean): Promise<string> {
        const log = this.#log;
        const lent = new LentServers({ by: this.#editor.id, cwd, version: this.#options.version ?? "0", log, secrets: this.#secrets });
        const workspace = this.#options.workspace ?? cwd;
        const made = new EditorSession({ ...this.#editor, client }, { session, ledger: this.#ledger, workspace, lent });
        try {
            if (this.#takesLent) await lent.open(session, mcpServers);
        } catch (error) {
            await session.close(false);
            throw error;
        }
        if (replays) await made.replay();
        made.begin();
        this.#sessions.set(session.id, made);
        return session.id;
    }

    async #again(id: string, cwd: string): Promise<Session> {
        const missing = new RequestError(-32002, `there is no session ${id} of this program in the ledger`);
        if (!isEditorSession(id)) throw missing;
        try {
            const { file, root } = await this.#ledger.store.run(id);
            if (file !== this.#about?.file || root !== this.#about.root) throw missing;
            return await Session.again(this.#setup(await SessionLog.again(this.#ledger.store, id, this.#secrets), cwd), false);
        } catch (error) {
            if (!(error instanceof LedgerError)) throw error;
            throw error.code === "unknown" ? missing : new RequestError(-32603, error.message);
        }
    }

    async #shown(id: string): Promise<ShownSession | null> {
        let cwd: string | null = null;
        let title = "";
        let updatedAt = "";
        for await (const { kind, data } of this.#ledger.events(id)) {
            const fields = data as { readonly [key: string]: unknown };
            if (kind === "session.opened" && typeof fields["folder"] === "string") cwd = fields["folder"];
            if (kind === "turn.submitted" && title === "") title = String(fields["text"] ?? "").slice(0, 80);
            updatedAt = String(fields["at"]);
        }
        return cwd === null ? null : { sessionId: id, cwd, title, updatedAt };
    }

    #roomFor(cwd: string): void {
        if (!isAbsolute(cwd) || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
            throw new RequestError(-32602, `cwd '${cwd.slice(0, 500)}' is no absolute path of a folder`);
        if (this.#sessions.size >= MAX_SESSIONS) throw new RequestError(-32603, `${MAX_SESSIONS} sessions are open; close one`);
    }

    #setup(log: SessionLog, cwd: string): SessionSetup {
        const bounds = { ...BOUNDS, ...this.#options.bounds };
        const { limits } = this.#options;
        const brain = this.#brain(this.#options.workspace ?? cwd);
        return { log, ledger: this.#ledger, brain, bounds, scrub: this.#secrets.scrub, ...(limits === undefined ? {} : { limits }) };
    }

    #brain(workspace: string | undefined) {
        const { program, model, load } = this.#options;
        return brainOf(
            program,
            {
                ...load,
                process: this.#process,
                ledger: this.#ledger.store,
                ...(model === undefined ? {} : { model }),
                ...(workspace === undefined ? {} : { workspace }),
            },
            // The editor's person is the one who started it.
            (_client, owner) => owner,
        );
    }

    /** Servers that a program which imports no lent tools has no use for: said, not refused, since editors send what they have with every session. */
    #unused(servers: readonly McpServer[]): object {
        if (this.#takesLent || servers.length === 0) return {};
        const names = servers.map(({ name }) => name);
        this.#log(`tool servers of the editor are not used: the program imports no tool "host:lent" (${names.join(", ")})`);
        return { _meta: { "remit/unused-mcp-servers": names } };
    }

    readonly #log = (message: string): void => this.#options.log?.(this.#secrets.scrub(message) as string);
}

function formsIn(capabilities: InitializeRequest["clientCapabilities"]): boolean {
    const { elicitation } = (capabilities ?? {}) as { readonly elicitation?: { readonly form?: unknown } | null };
    return typeof elicitation?.form === "object" && elicitation.form !== null;
}
