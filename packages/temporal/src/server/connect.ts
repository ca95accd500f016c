/**
 * Where a Temporal server is and how it is reached: as Temporal's own tools read it, from flags, environment and the profile file.
 *
 * Boundary: settings in, connections out. What is done with them is the worker's and the client's.
 */
import { defined } from "@remit/language";
import { once } from "node:events";
import { connect as http2 } from "node:http2";
import { createConnection, isIP, type Socket } from "node:net";
import { connect as tls } from "node:tls";
import {
    Connection,
    type ConnectionOptions,
    defaultGrpcRetryOptions,
    isGrpcServiceError,
    makeGrpcRetryInterceptor,
} from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { NativeConnection, NativeConnectionOptions } from "@temporalio/worker";
import { workerSdk } from "./sdk.ts";

export interface ConnectSettings {
    /** `HOST:PORT`; in place of what environment and profile say. */
    readonly address?: string;
    readonly namespace?: string;
    readonly apiKey?: string;
    /** TLS with what the system trusts, where nothing more is said. */
    readonly tls?: NativeConnectionOptions["tls"];
    /** Of the profile file. Default: `TEMPORAL_PROFILE`, else `default`. */
    readonly profile?: string;
    /** The profile file. Default: `TEMPORAL_CONFIG_FILE`, else Temporal's own. */
    readonly file?: string;
    /** What is read as the environment. */
    readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Place {
    readonly options: NativeConnectionOptions;
    readonly address: string;
    readonly namespace: string;
}

/** Of Temporal. */
const [HOST, PORT] = ["localhost", "7233"];
/** What has not greeted by then is away, or no server: one that is very busy greets, and is waited for longer, milliseconds. */
const REACH_MS = 3_000;
const CONNECT_MS = 10_000;
/** After so long without an answer the caller is told that the server is waited for, milliseconds. */
const SLOW_MS = 4_000;
/** gRPC's NOT_FOUND, which a server says of a namespace. */
const NOT_FOUND = 5;

/** A call found nothing of the name that it was about. */
export function isNotFound(error: unknown): boolean {
    return isGrpcServiceError(error) && error.code === NOT_FOUND;
}

/** The server cannot be reached, or what was said of it cannot be read. */
export class ConnectError extends Error {
    override readonly name = "ConnectError";
    readonly hint: string;
    constructor(message: string, hint: string, cause: unknown) {
        super(message, { cause });
        this.hint = hint;
    }
}

/** Throws `ConnectError` where the settings cannot be read, or name no address. */
export function placeOf({ address, namespace, apiKey, tls, profile, file, env = {} }: ConnectSettings): Place {
    const overrideEnvVars = defined(env) as { [name: string]: string };
    const read = readConfig({
        overrideEnvVars,
        ...(profile === undefined ? {} : { profile }),
        ...(file === undefined ? {} : { configSource: { path: file } }),
    });
    const options: NativeConnectionOptions = {
        ...read.connectionOptions,
        ...defined({ address, apiKey, tls }),
    };
    return { options, address: withPort(options.address ?? HOST), namespace: namespace ?? read.namespace ?? "default" };
}

/** Of a host and a port alone: no scheme, no path. */
function withPort(address: string): string {
    const at = URL.parse(`tcp://${address}`);
    if (at === null || at.host === "" || at.pathname !== "" || /[?#@]/.test(address)) {
        const hint =
            "write HOST or HOST:PORT, an IPv6 address in brackets as in [::1]:7233, at --address, TEMPORAL_ADDRESS or in the profile file";
        throw new ConnectError(`'${address}' is no address of a Temporal server`, hint, null);
    }
    return at.port === "" ? `${address}:${PORT}` : address;
}

function readConfig(options: Parameters<typeof loadClientConnectConfig>[0]): ReturnType<typeof loadClientConnectConfig> {
    try {
        return loadClientConnectConfig(options);
    } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new ConnectError(
            `the settings of the Temporal server cannot be read: ${why}`,
            "mend the profile file, or name another one",
            error,
        );
    }
}

export interface ConnectPatience {
    /** Hears of a server that took the connection and says nothing: it may be busy, or stopped. */
    readonly slow?: (told: string) => void;
    /** After how long, milliseconds. Default: 4 s. */
    readonly slowMs?: number;
    /** How long it is waited for, milliseconds. Default: 10 s. */
    readonly connectMs?: number;
    /** How long a greeting is waited for, milliseconds. Default: 3 s. */
    readonly reachMs?: number;
    /** Of each later call. Default: those of Temporal's library, which tries a call for 20 s where the server has gone, and waits without end for its answer. */
    readonly calls?: CallPatience;
}

/** Of a call that the server answers by itself; one that waits for a run or its worker is not bounded by this. */
export interface CallPatience {
    readonly tries: number;
    /** All tries together, milliseconds. */
    readonly ms: number;
}

/** For clients. Rejects with `ConnectError`. */
export async function connect(
    place: Place,
    { slow = () => undefined, slowMs = SLOW_MS, connectMs = CONNECT_MS, reachMs, calls }: ConnectPatience = {},
): Promise<Connection> {
    await greeted(place, reachMs);
    const [said, most] = [slowMs, connectMs].map((ms) => `${ms / 1_000} s`);
    const timer = setTimeout(
        slow,
        slowMs,
        `the Temporal server at ${place.address} took the connection, but has said nothing for ${said}: it is very busy, or stopped. The command waits ${most} for it`,
    );
    try {
        const { options } = place;
        return await Connection.connect({
            ...(options as Parameters<typeof Connection.connect>[0]),
            address: place.address,
            connectTimeout: connectMs,
            ...(calls === undefined ? {} : { interceptors: [bounded(calls)] }),
        });
    } catch (error) {
        throw silent(place, error);
    } finally {
        clearTimeout(timer);
    }
}

/** For workers. Rejects with `ConnectError`, also where the namespace is not there. */
export async function connectWorker(place: Place, { reachMs }: Pick<ConnectPatience, "reachMs"> = {}): Promise<NativeConnection> {
    let connection: NativeConnection;
    await greeted(place, reachMs);
    try {
        connection = await workerSdk().NativeConnection.connect({ ...place.options, address: place.address });
    } catch (error) {
        throw silent(place, error);
    }
    // A worker would try for long to find it.
    try {
        await connection.workflowService.describeNamespace({ namespace: place.namespace });
    } catch (error) {
        if (!isNotFound(error)) return connection;
        await connection.close();
        throw noNamespace(place.namespace, error);
    }
    return connection;
}

/** What the server says of a namespace that it does not have. */
export function noNamespace(namespace: string, error: unknown): ConnectError {
    const hint = `name another one with --namespace, TEMPORAL_NAMESPACE or the profile file, or make it: temporal operator namespace create ${namespace}`;
    return new ConnectError(`the Temporal server has no namespace '${namespace}'`, hint, error);
}

/**
 * A client tries again for long where no server listens, or where what listens says nothing; here that is known soon: a server says first what its HTTP/2
 * or TLS is, however busy it is.
 */
async function greeted(place: Place, reachMs = REACH_MS): Promise<void> {
    const { hostname, port } = new URL(`tcp://${place.address}`);
    const host = hostname.replace(/^\[|\]$/g, "");
    const signal = AbortSignal.timeout(reachMs);
    const socket = createConnection({ host, port: Number(port) });
    // What becomes of the connection after its greeting does not matter.
    socket.on("error", () => undefined);
    try {
        await once(socket, "connect", { signal }).catch((error: unknown) => {
            throw away(place, error);
        });
        await (place.options.tls ? secured(place, socket, host, signal) : settled(place, socket, signal));
    } finally {
        socket.destroy();
    }
}

async function settled(place: Place, socket: Socket, signal: AbortSignal): Promise<void> {
    const session = http2(`http://${place.address}`, { createConnection: () => socket });
    session.on("error", () => undefined);
    const over = once(session, "close", { signal }).then(() => Promise.reject(new Error("the connection was closed before a greeting")));
    try {
        await Promise.race([once(session, "remoteSettings", { signal }), over]);
    } catch (error) {
        throw silent(place, error);
    } finally {
        session.destroy();
    }
}

/** What comes back is no record of TLS. */
const NO_TLS: ReadonlySet<unknown> = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"]);

/** Nothing is sent over this connection; that which is made then looks at the certificates, and tells what is wrong with them. */
async function secured(place: Place, socket: Socket, host: string, signal: AbortSignal): Promise<void> {
    const session = tls({ socket, rejectUnauthorized: false, ALPNProtocols: ["h2"], ...(isIP(host) === 0 ? { servername: host } : {}) });
    session.on("error", () => undefined);
    try {
        await Promise.race([once(session, "secureConnect", { signal }), once(session, "close", { signal })]);
    } catch (error) {
        if (signal.aborted || socket.bytesRead === 0 || NO_TLS.has((error as NodeJS.ErrnoException).code)) throw silent(place, error);
    } finally {
        session.destroy();
    }
}

/** Calls of which the server does not know how long they take: for the end of a run, or for its worker. */
const WAITING = /\/(GetWorkflowExecutionHistory|QueryWorkflow|(Update|PollWorkflowExecutionUpdate).*)$/;

/** In place of the library's interceptor that tries again. */
function bounded({ tries, ms }: CallPatience): Interceptor {
    const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: tries }));
    return (options, next) => {
        const isBounded = !WAITING.test(options.method_definition.path) && options.deadline === undefined;
        return retry(isBounded ? { ...options, deadline: Date.now() + ms } : options, next);
    };
}

type Interceptor = NonNullable<ConnectionOptions["interceptors"]>[number];

function away({ address }: Place, error: unknown): ConnectError {
    const hint = "start one with remit temporal dev, or say where it is with --address, TEMPORAL_ADDRESS or the profile file";
    return new ConnectError(`no Temporal server answers at ${address}`, hint, error);
}

/** Something takes connections there. */
function silent({ address }: Place, error: unknown): ConnectError {
    const hint =
        "something listens there: a server that is suspended or very busy, one that is reached with or without TLS, or no Temporal server; look at it, or say where another is with --address, TEMPORAL_ADDRESS or the profile file";
    return new ConnectError(`no Temporal server answers at ${address}`, hint, error);
}
