/**
 * What a tool is to its host: methods that are described, and calls that give JSON or fail with a kind.
 *
 * Boundary: shapes and the one way to fail. Schemes are in their own files, the table of them in `schemes.ts`.
 */
import type { Json } from "@remit/language";
import type { Claims, Effect, FailureKind, Grants } from "@remit/machine";
import type { Config } from "../config/config.ts";
import type { Credentials } from "../credential/credentials.ts";
import type { Environment } from "../ledger/place.ts";
import type { HostToolSource } from "./functions.ts";
import type { PerformIO } from "../run/host.ts";
import type { Children } from "../process/child.ts";
import type { Pool } from "../process/pool.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Connection, Servers } from "./mcp-servers.ts";
import type { QueueCaller } from "./queue.ts";

export interface MethodInfo {
    readonly name: string;
    readonly description?: string;
    /** JSON Schema of the one object argument. */
    readonly input: Json;
    /** Changes nothing anywhere. */
    readonly readOnly: boolean;
    /** The tool says that it changes something; absent where it says nothing. */
    readonly writes?: boolean;
    /** Performed again after a crash without asking: a second time does no harm. */
    readonly repeatable: boolean;
}

/** One call as its tool sees it. */
export interface CallIO extends Pick<PerformIO, "signal" | "emit" | "child" | "traceparent" | "run" | "owner"> {
    /** Import name in the program. */
    readonly name: string;
    readonly effect: Effect;
}

/** A result of which something is known about where its parts come from. */
export class Sourced {
    readonly json: Json;
    readonly parts: { readonly [pointer: string]: readonly string[] } | undefined;
    /** What its server states of it. */
    readonly claims: Claims | undefined;
    readonly grants: Grants | undefined;
    constructor(
        json: Json,
        parts: Sourced["parts"],
        stated: { readonly claims?: Claims | undefined; readonly grants?: Grants | undefined } = {},
    ) {
        this.json = json;
        this.parts = parts;
        this.claims = stated.claims;
        this.grants = stated.grants;
    }
}

/** Who asks what a tool has. */
export interface Asked extends Pick<CallIO, "owner"> {
    readonly signal?: AbortSignal | undefined;
    /** What is performed meanwhile. */
    readonly effect?: Pick<Effect, "credential" | "as">;
}

export interface ToolHandle {
    methods(asked?: Asked): readonly MethodInfo[] | Promise<readonly MethodInfo[]>;
    /** `args` absent: the member is read, not called. Throws `ToolFail`. */
    call(method: string, args: readonly Json[] | undefined, io: CallIO): Promise<Json | Sourced>;
    close?(): Promise<void>;
}

/** What tools are opened with. */
export interface ToolContext {
    readonly config: Config;
    /** Absolute folder of the program's tree, links followed; empty where there is none. */
    readonly root: string;
    /** Absolute folder that tools may reach. */
    readonly workspace: string;
    readonly env: Environment;
    /** On whose behalf the program runs. */
    readonly user: string;
    /** Connections of the process to tool servers. */
    readonly pool: Pool<Connection>;
    readonly children: Children;
    /** Folder for what must outlive a crash (the undo journal). */
    readonly state: string;
    /** Tools that the calling program brings. */
    readonly functions: { readonly [name: string]: HostToolSource };
    /** Told of each secret before its first use; takes known ones out of what the world says, before it is cut. */
    readonly secrets: Scrubber;
    /** What stages name. */
    readonly credentials: Credentials;
    /** Calls what is on task queues of Temporal; null: there is no server. */
    readonly queues: QueueCaller | null;
    /** The tool servers of the program, the same for all its imports. */
    readonly servers: () => Promise<Servers>;
}

/** The import a tool is opened for. */
export interface ToolImport {
    readonly name: string;
    readonly uri: string;
    /** File of the program that imports it, as named in the program form. */
    readonly file: string;
}

/** Opens the tool of an import. Throws `ToolFail` where the import cannot be met. */
export type Open = (uri: string, about: ToolImport, context: ToolContext) => ToolHandle | Promise<ToolHandle>;

/** The one way in which a tool fails. */
export class ToolFail extends Error {
    override readonly name = "ToolFail";
    readonly kind: FailureKind;
    readonly hint: string | undefined;
    readonly detail: Json | undefined;
    /** What its server states of what it tells. */
    claims?: Claims;
    constructor(message: string, more: { kind?: FailureKind; hint?: string; detail?: Json } = {}) {
        super(message);
        this.kind = more.kind ?? "tool";
        this.hint = more.hint;
        this.detail = more.detail;
    }
}

/** The same failure of a call of which something has left already: that it was refused then does not mean that it was not made. */
export function made(fail: ToolFail): ToolFail {
    if (fail.kind !== "denied") return fail;
    return new ToolFail(fail.message, { kind: fail.kind, detail: { made: true }, ...(fail.hint === undefined ? {} : { hint: fail.hint }) });
}

/** Why a file system call failed, in words. Null for what is no such failure. */
export function fileProblem(error: unknown): string | null {
    if (!Error.isError(error) || !("code" in error) || typeof error.code !== "string") return null;
    return FILE_PROBLEMS[error.code] ?? `cannot be used (${error.code})`;
}
/** Of a file that is not there. */
export const ABSENT = "does not exist";
const FILE_PROBLEMS: { readonly [code: string]: string } = {
    ENOENT: ABSENT,
    ENOTDIR: "is not in a folder",
    EISDIR: "is a folder",
    EACCES: "may not be used by this user",
    EPERM: "may not be used by this user",
    ELOOP: "is a link that was put there meanwhile, or leads in a circle",
    ENAMETOOLONG: "has too long a name",
    ENOSPC: "cannot be written: the disk is full",
    EROFS: "is on a disk that is read-only",
    EXDEV: "is on another disk",
    EMFILE: "cannot be opened: too many files are open",
    ENXIO: "is not a regular file",
};

/** `orders` of `host:orders`. */
export const hostName = (uri: string): string => uri.replace(/^host:(\/\/)?/, "");

/** The name under which the program that runs this brings the functions of an import; undefined where it brings none. */
export function broughtAs({ name, uri }: ToolImport, functions: ToolContext["functions"]): string | undefined {
    return [name, ...(uri.startsWith("host:") ? [hostName(uri)] : [])].find((one) => Object.hasOwn(functions, one));
}
