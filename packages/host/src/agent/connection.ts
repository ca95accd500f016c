/**
 * A connection to an agent over the Agent Client Protocol, version 1: opened, asked, lost.
 *
 * Boundary: one process or server, from its start to its end; which sessions are in it is `session.ts`.
 *
 * CN1: only capabilities are announced that are served, and the version that counts is the one in the answer.
 */
import type { ClientApp, Stream } from "@agentclientprotocol/sdk";
import type { AgentReply, AgentTurn } from "@remit/machine";
import { lastLines } from "../process/piped.ts";
import { AgentFail } from "./fail.ts";
import { fileHands, gateOf } from "./hands.ts";
import { headOf } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type Link, link, refusedBy, type Sdk, type Trace } from "./link.ts";
import { type Given, objectOf } from "./given.ts";

/** What carries the messages, and what ends it. */
export interface Carrier {
    readonly stream: Stream;
    readonly confinement: AgentReply["confinement"];
    readonly cwd: string;
    /** Why nothing more comes, once it is so: the end of a process, the last of its standard error. */
    lost(): Promise<{ readonly message: string; readonly stderr?: string }>;
    alive(): boolean;
    stop(graceMs: number): Promise<void>;
}

export interface ConnectionOptions {
    readonly sdk: Sdk;
    readonly workspace: string;
    readonly graceMs: number;
    /** Takes known secrets out of what the agent says, before it is cut. */
    readonly secrets: Scrubber;
    /** It reads what its sandbox shows itself, and is offered no reading. */
    readonly readsItself?: boolean;
    readonly trace?: Trace | undefined;
}

/** What is done with what comes. */
export interface Receiver {
    readonly serve: (app: ClientApp) => ClientApp;
    readonly update: (params: unknown) => void;
    readonly life: () => void;
}

const VERSION = 1;

export class Connection {
    readonly carrier: Carrier;
    readonly link: Link;
    private readonly options: ConnectionOptions;
    private auth: readonly string[] = [];
    capabilities: Given = {};
    agent: AgentReply["agent"];

    constructor(carrier: Carrier, options: ConnectionOptions, receiver: Receiver) {
        const { sdk, trace } = options;
        this.carrier = carrier;
        this.options = options;
        this.link = link({ sdk, stream: carrier.stream, trace, ...receiver });
    }

    /** The handshake of the protocol. */
    async greet({ hands }: AgentTurn): Promise<void> {
        const files = fileHands(hands, this.options.workspace);
        const has = (method: string): boolean => files.some(({ hand }) => gateOf(hand, method) !== null);
        const said = await this.ask("initialize", "to begin", {
            protocolVersion: VERSION,
            clientInfo: { name: "remit", title: "Remit", version: "0.1.0" },
            clientCapabilities: {
                fs: { readTextFile: has("read") && this.options.readsItself !== true, writeTextFile: has("write") },
                terminal: hands.some((hand) => hand.uri.startsWith("shell:") && gateOf(hand, "run") !== null),
                elicitation: { form: {} },
                session: { compaction: {}, notices: {} },
            },
        });
        if (said.protocolVersion !== VERSION)
            throw new AgentFail(
                "unreachable",
                `it speaks version ${this.shown(said.protocolVersion)} of the Agent Client Protocol, not ${VERSION}`,
            );
        const { name, version } = objectOf(said.agentInfo);
        this.capabilities = objectOf(said.agentCapabilities);
        this.auth = listOf(said.authMethods).flatMap((one) => String(one.name ?? one.id ?? "") || []);
        this.agent = typeof name === "string" ? { name, version: typeof version === "string" ? version : "" } : undefined;
    }

    /** Asks, and gives up when the agent is lost. */
    async ask(method: string, what: string, params: unknown): Promise<Given> {
        const { sdk } = this.options;
        const gone = this.link.closed.then(() => "gone" as const);
        try {
            const said = await Promise.race([this.link.request(method, params), gone]);
            if (said === "gone") throw await this.lost();
            return objectOf(said);
        } catch (error) {
            if (error instanceof AgentFail) throw error;
            if (!this.carrier.alive() || !(error instanceof sdk.RequestError)) throw await this.lost(error);
            if (error.code !== -32000) throw refusedBy(sdk, error, { what, secrets: this.options.secrets });
            const offers = this.auth.length === 0 ? "" : `it offers: ${headOf(this.auth.join(", "), 500, this.options.secrets)}. `;
            throw new AgentFail("unreachable", "it wants to be authenticated first", {
                hint: `${offers}Give it its key: agents.NAME.env in remit.json, {"KEY": "$KEY"}`,
            });
        }
    }

    /** What it said, in a message. */
    shown(value: unknown): string {
        return typeof value === "string" || typeof value === "number" ? headOf(String(value), 100, this.options.secrets) : "nothing";
    }

    async close(): Promise<void> {
        this.link.close();
        await this.carrier.stop(this.options.graceMs);
    }

    private async lost(error?: unknown): Promise<AgentFail> {
        if (error instanceof this.options.sdk.MessageTooLargeError)
            return new AgentFail("unreachable", `it sent a message of more than ${error.maxMessageBytes} bytes`);
        const { message, stderr = "" } = await this.carrier.lost();
        if (stderr === "") return new AgentFail("unreachable", message);
        return new AgentFail("unreachable", `${message}; it wrote: ${lastLines(stderr)}`, { detail: { stderr } });
    }
}

export function listOf(given: unknown): Given[] {
    return Array.isArray(given) ? given.map(objectOf) : [];
}
