/**
 * What an agent is, so that another one in its place is seen: the package or the file that is started, the files it is started with, what the
 * configuration says of it.
 *
 * Boundary: reads and hashes; starts nothing.
 *
 * L1: of a package of `node_modules`: name, version, and the digest of its files (K5 in `skill/files.ts`), without packages inside it; also of those
 *     installed `optionalDependencies` that stand beside it, which is where binaries of one platform are. Of anything else: the digest of the file.
 * L2: nothing in it depends on where it is installed, on time, or on who looks.
 */
import { createHash } from "node:crypto";
import {
    closeSync,
    existsSync,
    lstatSync,
    openSync,
    readdirSync,
    readFileSync,
    readlinkSync,
    readSync,
    realpathSync,
    statSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { canonicalJson, isObject, type Json } from "@remit/language";
import { AgentFail } from "../agent/fail.ts";
import { parseStubUri } from "../agent/stub-uri.ts";
import { type AgentSources, targetOf } from "../agent/uri.ts";
import type { ProgramTree } from "../load/tree.ts";
import { byUnits, listingDigest, sha256Of } from "../skill/files.ts";

export type Identity =
    | {
          readonly kind: "package";
          readonly name: string;
          readonly version: string;
          readonly sha256: string;
          /** Packages for one platform, by name. Only those that are installed are here. */
          readonly parts?: { readonly [name: string]: { readonly version: string; readonly sha256: string } };
      }
    | { readonly kind: "file"; readonly name: string; readonly sha256: string }
    | { readonly kind: "node"; readonly version: string }
    /** Runs somewhere else: all that is known of it is where. */
    | { readonly kind: "remote"; readonly url: string }
    | { readonly kind: "stub" };

export interface AgentIdentity {
    readonly identity: Identity;
    /** Digests of the files among its arguments, by the argument. */
    readonly files?: { readonly [argument: string]: string };
    /** Digest of what the configuration says of it. */
    readonly configuration?: string;
}

/** Throws `AgentFail` where there is no such agent here. */
export function agentIdentity(uri: string, file: string, tree: ProgramTree | null, sources: AgentSources): AgentIdentity {
    if (uri.startsWith("stub:")) return stubIdentity(uri, file, tree);
    const target = targetOf(uri, sources);
    if (target.kind === "remote") return { identity: { kind: "remote", url: target.url.href } };
    const name = /^acp:\/\/([^/]+)/.exec(uri)?.[1];
    const said = name !== undefined && Object.hasOwn(sources.config.agents, name) ? sources.config.agents[name] : undefined;
    const folder = said?.file.folder ?? sources.workspace;
    const files = Object.fromEntries(
        target.args.flatMap((argument) => {
            const path = resolve(folder, argument);
            return isProgramFile(argument, path) ? [[argument, fileDigest(path)]] : [];
        }),
    );
    const { file: _, ...configured } = said ?? {};
    return {
        identity: commandIdentity(target.command),
        ...(Object.keys(files).length === 0 ? {} : { files }),
        ...(Object.keys(configured).length === 0 ? {} : { configuration: sha256Of(canonicalJson(configured as unknown as Json)) }),
    };
}

function stubIdentity(uri: string, file: string, tree: ProgramTree | null): AgentIdentity {
    const stub = parseStubUri(uri);
    if ("message" in stub) throw new AgentFail("unreachable", stub.message, { hint: stub.hint });
    if (stub.file === "") return { identity: { kind: "stub" } };
    const read = tree?.read(tree.pathOf(stub.file, file));
    if (read?.ok !== true) throw new AgentFail("unreachable", read?.message ?? "this program has no folder");
    return { identity: { kind: "stub" }, files: { [stub.file]: sha256Of(read.text) } };
}

/** L1. `command`: absolute path. */
export function commandIdentity(command: string): Identity {
    const real = realpathSync(command);
    if (real === realpathSync(process.execPath)) return { kind: "node", version: process.versions.node };
    const folder = packageOf(real);
    if (folder === null) return { kind: "file", name: basename(real), sha256: fileDigest(real) };
    const { name, version, optional } = manifest(folder);
    const parts: { [name: string]: { version: string; sha256: string } } = {};
    for (const part of optional) {
        const place = [join(folder, "node_modules", part), join(folder.slice(0, -name.length), part)].find((path) =>
            existsSync(join(path, "package.json")),
        );
        if (place !== undefined) parts[part] = { version: manifest(place).version, sha256: packageDigest(place) };
    }
    return { kind: "package", name, version, sha256: packageDigest(folder), ...(Object.keys(parts).length === 0 ? {} : { parts }) };
}

/** Folder of the package of `node_modules` that a file belongs to. */
function packageOf(path: string): string | null {
    const at = path.lastIndexOf(`${sep}node_modules${sep}`);
    if (at < 0) return null;
    const within = path.slice(at + `${sep}node_modules${sep}`.length).split(sep);
    const name = within[0]?.startsWith("@") === true ? within.slice(0, 2) : within.slice(0, 1);
    const folder = join(path.slice(0, at), "node_modules", ...name);
    return existsSync(join(folder, "package.json")) ? folder : null;
}

function manifest(folder: string): { readonly name: string; readonly version: string; readonly optional: readonly string[] } {
    const json = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Json;
    const { name, version, optionalDependencies } = isObject(json) ? json : {};
    return {
        name: typeof name === "string" ? name : basename(folder),
        version: typeof version === "string" ? version : "",
        optional: isObject(optionalDependencies) ? Object.keys(optionalDependencies).sort(byUnits) : [],
    };
}

function packageDigest(place: string): string {
    const folder = realpathSync(place);
    const files: { path: string; sha256: string }[] = [];
    const walk = (at: string): void => {
        for (const name of readdirSync(at)) {
            const path = join(at, name);
            const stat = lstatSync(path);
            if (stat.isDirectory()) {
                if (name !== "node_modules") walk(path);
            } else if (stat.isFile()) files.push({ path: relative(folder, path).split(sep).join("/"), sha256: fileDigest(path) });
            // A link counts as where it leads and as what is there: either can be changed.
            else if (stat.isSymbolicLink())
                files.push({
                    path: relative(folder, path).split(sep).join("/"),
                    sha256: sha256Of(`link ${readlinkSync(path)}\n${linkedDigest(path)}`),
                });
        }
    };
    walk(folder);
    return listingDigest(files.sort((a, b) => byUnits(a.path, b.path)));
}

/** Of the file that a link leads to; empty where it leads to none. */
function linkedDigest(path: string): string {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? fileDigest(path) : "";
}

/** Some agents are binaries of hundreds of megabytes: read in pieces. */
function fileDigest(path: string): string {
    const hash = createHash("sha256");
    const piece = Buffer.allocUnsafe(1024 * 1024);
    const fd = openSync(path, "r");
    try {
        for (let size = readSync(fd, piece); size > 0; size = readSync(fd, piece)) hash.update(piece.subarray(0, size));
    } finally {
        closeSync(fd);
    }
    return hash.digest("hex");
}

/** An argument that names a program: a script of an interpreter. */
function isProgramFile(argument: string, path: string): boolean {
    if (argument.startsWith("-") || !(argument.includes("/") || /\.(?:[cm]?[jt]s|py|sh|rb)$/.test(argument))) return false;
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true && dirname(path) !== "/dev";
}
