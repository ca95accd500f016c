/**
 * `remit.lock`: the agents, skills and tools of programs as they were when a person looked at them.
 *
 * Boundary: makes, reads, writes and compares; what an agent is, is `identity.ts`. The file lies in the root of the program's tree.
 *
 * L3: the file follows from the programs and what is installed: no time, no place, keys sorted.
 * L4: frozen, a program runs only with the agents, skills and tools that are in the lock, unchanged; the first that is not is named, with what
 *     differs.
 */
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, isObject, type Json, type Program, type RemitForm, type Site, siteAt } from "@remit/language";
import { AgentFail } from "../agent/fail.ts";
import type { AgentSources } from "../agent/uri.ts";
import { createScrubber } from "../secret/scrub.ts";
import type { Config } from "../config/config.ts";
import { readJson } from "../input/json.ts";
import type { Environment } from "../ledger/place.ts";
import type { Loaded } from "../load/load.ts";
import { type ProgramTree, programTree } from "../load/tree.ts";
import { RemitError } from "../failure/error.ts";
import { systemWords } from "../failure/system.ts";
import { byUnits, sha256Of } from "../skill/files.ts";
import { type AgentIdentity, agentIdentity } from "./identity.ts";
import type { LockedTool } from "./tools.ts";

export const LOCK = "remit-lock/1";
export const LOCK_FILE = "remit.lock";

export interface LockedAgent extends Partial<AgentIdentity> {
    readonly uri: string;
    readonly unconfined?: true;
    /** Digest of its file, for an agent that is a program of Remit. */
    readonly program?: string;
    /** What it is given, and its limits: the program form of its remit without places. */
    readonly remit?: Json;
}

export interface LockedSkill {
    readonly uri: string;
    readonly name: string;
    readonly sha256: string;
}

/** The file that imports something, and its name there. */
export function lockKey(file: string, name: string): string {
    return `${file}#${name}`;
}

/** By `lockKey`. */
export interface ProgramLock {
    readonly agents: { readonly [key: string]: LockedAgent };
    readonly skills: { readonly [key: string]: LockedSkill };
    /** Absent in a lock of before they were pinned. */
    readonly tools?: { readonly [key: string]: LockedTool };
}

export interface Lock {
    readonly format: typeof LOCK;
    /** By the main file's name. */
    readonly programs: { readonly [file: string]: ProgramLock };
}

export interface LockSetting {
    readonly config: Config;
    /** Absolute. */
    readonly workspace: string;
    readonly env: Environment;
    readonly grants?: readonly string[];
}

/** Something that is not as it was locked. */
export interface LockChange {
    /** `agent main.remit#Fixer`, `skill main.remit#Triage`. */
    readonly what: string;
    /** `new`: not in the lock; `gone`: only there. */
    readonly change: "new" | "changed" | "gone";
    /** What differs: `identity.version 1.0.0 → 1.0.1`. */
    readonly differs: readonly string[];
}

/** What a program's lock is now, of agents and skills. Throws `RemitError` with the import's site where an agent cannot be found. */
export function lockOf(loaded: Pick<Loaded, "program" | "root" | "skills">, setting: LockSetting): ProgramLock {
    const tree = loaded.root === "" ? null : programTree(loaded.root, setting.grants);
    const env = setting.env;
    const sources: AgentSources = { config: setting.config, env, workspace: setting.workspace, secrets: createScrubber() };
    const agents: { [key: string]: LockedAgent } = {};
    for (const form of loaded.program.files)
        for (const one of form.imports) {
            if (one.what !== "agent") continue;
            const { name, uri, at, unconfined, remit } = one;
            const site = siteAt(form.file, at);
            agents[lockKey(form.file, name)] = {
                uri,
                ...(unconfined === undefined ? {} : { unconfined }),
                ...(one.from === undefined
                    ? found(name, site, () => agentIdentity(uri, form.file, tree, sources))
                    : { program: programDigest(loaded.program, one.from, tree) }),
                ...(remit === undefined ? {} : { remit: plainRemit(remit, form.remits ?? []) }),
            };
        }
    const skills = Object.fromEntries(
        loaded.skills.map(({ file, name, uri, skill }) => [lockKey(file, name), { uri, name: skill.name, sha256: skill.sha256 }]),
    );
    return { agents, skills };
}

/** Absolute path of the lock of a tree. */
export function lockPath(root: string): string {
    return join(root, LOCK_FILE);
}

/** Null where there is none. Throws `RemitError` where it is not one. */
export function readLock(root: string): Lock | null {
    let text: string;
    onlyFile(root);
    try {
        text = readFileSync(lockPath(root), "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw wrong(`${LOCK_FILE} cannot be read: ${systemWords(error)}`);
    }
    const read = readJson(text);
    if (!read.ok) throw wrong(`${LOCK_FILE} ${read.message}`);
    const { value } = read;
    if (!isObject(value) || value.format !== LOCK || !isObject(value.programs)) throw wrong(`${LOCK_FILE} is not of the format ${LOCK}`);
    for (const one of Object.values(value.programs))
        if (
            !isObject(one) ||
            ![one.agents, one.skills, one.tools ?? {}].every((map) => isObject(map) && Object.values(map).every(isObject)) ||
            !Object.values(one.tools ?? {}).every(isTool)
        )
            throw wrong(`${LOCK_FILE} is not of the format ${LOCK}`);
    return value as unknown as Lock;
}

function isTool(one: Json): boolean {
    if (!isObject(one) || typeof one.uri !== "string" || !isObject(one.methods)) return false;
    return Object.values(one.methods).every((digest) => typeof digest === "string");
}

/** With a program's part put in place of its old one. Parts of packages for other platforms stay while the package is the same. */
export function withLock(lock: Lock | null, file: string, now: ProgramLock): Lock {
    const was = lock?.programs[file];
    const agents = Object.fromEntries(Object.entries(now.agents).map(([key, one]) => [key, withParts(one, was?.agents[key])]));
    return { format: LOCK, programs: { ...lock?.programs, [file]: { ...now, agents } } };
}

function withParts(now: LockedAgent, was: LockedAgent | undefined): LockedAgent {
    const [a, b] = [now.identity, was?.identity];
    if (a?.kind !== "package" || b?.kind !== "package" || a.name !== b.name || a.version !== b.version || b.parts === undefined) return now;
    return { ...now, identity: { ...a, parts: { ...b.parts, ...a.parts } } };
}

/** L3. */
export function lockText(lock: Lock): string {
    return `${JSON.stringify(sorted(lock as unknown as Json), null, 2)}\n`;
}

export function writeLock(root: string, lock: Lock): void {
    onlyFile(root);
    writeFileSync(lockPath(root), lockText(lock));
}

/** A link, which may have come with a project of another author, leads neither reading nor writing elsewhere; nothing is waited for at a pipe. */
function onlyFile(root: string): void {
    if (lstatSync(lockPath(root), { throwIfNoEntry: false })?.isFile() === false)
        throw wrong(`${LOCK_FILE} is a link or something else that is no file`, "remove it, then write it anew: remit lock");
}

/** Where what is there now is not what is in the lock; empty where all is pinned and unchanged. */
export function lockChanges(locked: ProgramLock | undefined, now: ProgramLock): LockChange[] {
    const changes: LockChange[] = [];
    for (const kind of ["agents", "skills", "tools"] as const) {
        const [was, is] = [(locked?.[kind] ?? {}) as { [key: string]: object }, (now[kind] ?? {}) as { [key: string]: object }];
        for (const key of [...new Set([...Object.keys(is), ...Object.keys(was)])].sort(byUnits)) {
            const what = `${kind.slice(0, -1)} ${key}`;
            if (!Object.hasOwn(was, key)) changes.push({ what, change: "new", differs: [] });
            else if (!Object.hasOwn(is, key)) changes.push({ what, change: "gone", differs: [] });
            else {
                const differs = differences(was[key] as unknown as Json, is[key] as unknown as Json, "");
                if (differs.length > 0) changes.push({ what, change: "changed", differs });
            }
        }
    }
    return changes;
}

/** Parts of packages that are not installed here are of other platforms. */
function differences(was: Json, now: Json, at: string): string[] {
    if (isObject(was) && isObject(now))
        return [...new Set([...Object.keys(was), ...Object.keys(now)])].sort(byUnits).flatMap((key) => {
            if (at === "identity.parts" && now[key] === undefined) return [];
            const place = at === "" ? key : `${at}.${key}`;
            if (place === "identity.parts") return differences(was[key] ?? {}, now[key] ?? {}, place);
            return differences(was[key] ?? null, now[key] ?? null, place);
        });
    return canonicalJson(was) === canonicalJson(now) ? [] : [`${at} ${shown(was)} → ${shown(now)}`];
}

function shown(json: Json): string {
    if (json === null) return "nothing";
    const text = typeof json === "string" ? json : JSON.stringify(json);
    return text.length > 20 ? `${text.slice(0, 12)}…` : text;
}

function programDigest(program: Program, index: number, tree: ProgramTree | null): string {
    const form = program.files[index];
    const read = form === undefined ? undefined : tree?.read(tree.pathOf(form.file, null));
    return sha256Of(read?.ok === true ? read.text : canonicalJson((form ?? null) as unknown as Json));
}

/** With the remit that it names in its place. */
function plainRemit(remit: RemitForm, named: readonly RemitForm[]): Json {
    const meant = remit.use === undefined ? remit : (named.find((one) => one.name === remit.use) ?? remit);
    return withoutPlaces(meant as unknown as Json);
}

function withoutPlaces(json: Json): Json {
    if (Array.isArray(json)) return json.map(withoutPlaces);
    if (!isObject(json)) return json;
    return Object.fromEntries(Object.entries(json).flatMap(([key, one]) => (key === "at" ? [] : [[key, withoutPlaces(one)]])));
}

function sorted(json: Json): Json {
    if (Array.isArray(json)) return json.map(sorted);
    if (!isObject(json)) return json;
    return Object.fromEntries(
        Object.keys(json)
            .sort(byUnits)
            .map((key) => [key, sorted(json[key] as Json)]),
    );
}

function found<T>(name: string, site: Site | null, look: () => T): T {
    try {
        return look();
    } catch (error) {
        if (!(error instanceof AgentFail)) throw error;
        const { kind, message, hint } = error;
        throw new RemitError({ kind, message: `agent ${name}: ${message}`, site, ...(hint === undefined ? {} : { hint }) });
    }
}

function wrong(message: string, hint = "write it anew: remit lock"): RemitError {
    return new RemitError({ kind: "value", message, hint });
}
