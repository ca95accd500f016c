/**
 * Where a Temporal server is and how it is reached: as Temporal's own tools read it, from flags, environment and the profile file.
 *
 * Boundary: settings in, connections out. What is done with them is the worker's and the client's.
 */
import { defined } from "@remit/language";
import { once } from "node:events";
import { createConnection } from "node:net";
import { Connection, isGrpcServiceError } from "@temporalio/client";
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

const ADDRESS = "localhost:7233";
/** A host that has not taken a connection by then is away, and a server that has not answered on it, milliseconds. */
const REACH_MS = 3_500;
const CONNECT_MS = 10_000;
/** After so long without an answer the caller is told that the server is waited for, milliseconds. */
const SLOW_MS = 4_000;
/** gRPC's NOT_FOUND, which a server says of a namespace. */
export const NOT_FOUND = 5;

/** The server cannot be reached, or what was said of it cannot be read. */
export class ConnectError extends Error {
    override readonly name = "ConnectError";
    readonly hint: string;
    constructor(message: string, hint: string, cause: unknown) {
        super(message, { cause });
        this.hint = hint;
    }
}

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
    return { options, address: options.address ?? ADDRESS, namespace: namespace ?? read.namespace ?? "default" };
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
}

/** For clients. Rejects with `ConnectError`. */
export async function connect(
    place: Place,
    { slow = () => undefined, slowMs = SLOW_MS, connectMs = CONNECT_MS }: ConnectPatience = {},
): Promise<Connection> {
    await taken(place);
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
        });
    } catch (error) {
        throw silent(place, error);
    } finally {
        clearTimeout(timer);
    }
}

/** For workers. Rejects with `ConnectError`, also where the namespace is not there. */
export async function connectWorker(place: Place): Promise<NativeConnection> {
    let connection: NativeConnection;
    await taken(place);
    try {
        connection = await workerSdk().NativeConnection.connect({ ...place.options, address: place.address });
    } catch (error) {
        throw silent(place, error);
    }
    // A worker would try for long to find it.
    try {
        await connection.workflowService.describeNamespace({ namespace: place.namespace });
    } catch (error) {
        if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) return connection;
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

/** A client tries again for long where no server listens; here that is known at once. */
async function taken(place: Place): Promise<void> {
    const url = URL.parse(`tcp://${place.address}`);
    if (url === null || url.port === "") return;
    const socket = createConnection({ host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port) });
    try {
        await once(socket, "connect", { signal: AbortSignal.timeout(REACH_MS) });
    } catch (error) {
        throw away(place, error);
    } finally {
        socket.destroy();
    }
}

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
