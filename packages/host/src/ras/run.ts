/**
 * A RAS program as a Remit program that can be run.
 *
 * Boundary: finds what it may call, writes the bridge, loads it. Performing is the run's.
 *
 * RRU4: tools are those of the file that is named, else those of the project's configuration; `bash`, `shell` and `webfetch` are there unless one of
 *     them has that name. What is not said of them by a clause is asked about.
 */
import { existsSync, realpathSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join, resolve } from "node:path";
import { addedTo, didYouMean, type Json, keyOf, remitsOfProject } from "@remit/language";
import { checkFile } from "../load/check.ts";
import { LoadError } from "../load/error.ts";
import { findRoot } from "../load/tree.ts";
import { RemitError } from "../failure/error.ts";
import { load, type RemitProgram } from "../run/program.ts";
import type { LoadOptions } from "../run/setup.ts";
import { settingOf, surroundingsOf } from "../config/setting.ts";
import { ToolFail } from "../tool/tool.ts";
import { BRIDGE_NAMES, type BridgeImport, type BridgePolicy, bridgeSource, callSource, literal } from "./bridge.ts";
import { readsInput } from "./command.ts";
import { type CallKind, frameReader, type Fields } from "./frames.ts";
import type { RasLimits } from "./process.ts";
import { findRiffs, type Riffs, withheldOf } from "./riffs.ts";
import { rasSource } from "./source.ts";

export interface RasRunOptions extends LoadOptions {
    readonly unconfined?: boolean;
    readonly ras?: Partial<RasLimits>;
    /** A program whose tool imports the RAS program may call. */
    readonly toolsFile?: string;
    /** Files of Riffs that are registered for this run. */
    readonly riffs?: readonly string[];
    /** URI of the agent that `agent()` asks. */
    readonly agent?: string;
    /** Tools (`bash`) and methods of tools (`mail.send`) that are called without a question where their import says nothing. */
    readonly may?: readonly string[];
}

/** Tools that are there unless a file or the configuration has others of these names. */
const BUILT_IN = [
    ["bash", "shell:"],
    ["shell", "shell:"],
    ["webfetch", "webfetch:"],
    ["skills", "skills:"],
] as const;

export interface RasObservation {
    readonly output: string;
    readonly value?: Json;
    readonly error?: string;
}

export interface RasProgram {
    readonly program: RemitProgram<Json, RasObservation>;
    /** What a run of it is given. */
    input(inputs: Json): Json;
    readonly name: string;
}

/** A file, or the name of a registered Riff. Throws `RemitError`. */
export async function loadRas(what: string, options: RasRunOptions = {}): Promise<RasProgram> {
    try {
        const riffs = existsSync(what) ? null : listRiffs(options);
        const held = riffs === null ? null : withheldOf(what, riffs);
        const riff = riffs?.riffs.find((one) => one.name === what);
        if (riff === undefined && held !== null) throw new ToolFail(held.message, { kind: "denied", hint: held.hint });
        const source = rasSource(riff?.path ?? what);
        const { file, root, source: text, names, servers, folders } = await programText(`ras:${source.path}`, options);
        const program = await loaded<RasObservation>({ source: text, file }, { ...options, root });
        const given = {
            tools: names,
            servers,
            folders,
            riffs: (options.riffs ?? []).map((one) => realpathSync(one)),
            confinement: options.unconfined === true ? "unconfined" : "sandbox",
            limits: { ...options.ras },
        };
        return { program, input: (inputs) => ({ ...given, inputs }) as unknown as Json, name: riff?.name ?? source.name };
    } catch (error) {
        if (!(error instanceof ToolFail)) throw error;
        throw new RemitError({ kind: error.kind, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) });
    }
}

/** Riffs of a project, of the user and of the caller. */
export function listRiffs(options: Pick<RasRunOptions, "workspace" | "env" | "process" | "riffs" | "trust"> = {}): Riffs {
    const { cwd, env } = surroundingsOf(options);
    return findRiffs(resolve(cwd, options.workspace ?? ""), env, options.riffs ?? [], options.trust === true || env.REMIT_TRUST === "1");
}

interface ProgramText {
    readonly source: string;
    readonly file: string;
    readonly root: string;
    readonly names: readonly string[];
    /** Some of them are servers, whose tools have names of their own. */
    readonly servers: boolean;
    /** URIs of `file:` tools whose files may all be read without a question. */
    readonly folders: readonly string[];
}

async function programText(program: string, options: RasRunOptions): Promise<ProgramText> {
    const { imports, policies, file, root } = await toolsFor(options);
    const source = bridgeSource({
        model: options.model ?? "local:",
        program,
        tools: imports,
        policies,
        ...(options.agent === undefined ? {} : { agent: options.agent }),
    });
    const names = imports.map((one) => one.name);
    const folders = imports.flatMap(({ uri, isFree }) => (isFree === true && uri.startsWith("file:") ? [uri] : []));
    return { source, file, root, names, servers: imports.some((one) => /^mcp:/i.test(one.uri)), folders };
}

interface Tools {
    readonly imports: BridgeImport[];
    /** Remits that `policy` of `agent()` may name. */
    readonly policies: BridgePolicy[];
}

/** Tools that `act` reaches, as imports, and where a program with them stands. */
export async function toolsFor(options: RasRunOptions): Promise<Tools & { file: string; root: string }> {
    const named = options.toolsFile === undefined ? undefined : resolve(options.toolsFile);
    const file = join(
        named === undefined ? resolve(surroundingsOf(options).cwd, options.workspace ?? "") : dirname(named),
        "ras-bridge.remit",
    );
    const root = options.root ?? findRoot(named ?? file);
    const { imports: own, policies } =
        named === undefined ? { imports: await configured(options), policies: [] } : await importsOf(named, root, options);
    const taken = new Set([...own.map((one) => one.name), ...BRIDGE_NAMES]);
    const builtIn = BUILT_IN.flatMap(([name, uri]) => {
        if (taken.has(name)) return [];
        // One thing under several names has one gate: what the file says of it.
        const same = own.find((one) => one.uri === uri);
        return [
            same === undefined
                ? imported(name, uri, options)
                : { ...same, name, source: same.source.replace(new RegExp(`^(import\\s+tool\\s+)${same.name}\\b`), `$1${name}`) },
        ];
    });
    return { imports: withMay([...own, ...builtIn], options.may ?? []), policies, file, root };
}

/** What `--may` names, in the tools that there are. Throws `RemitError` for a name that no tool has. */
function withMay(imports: readonly BridgeImport[], may: readonly string[]): BridgeImport[] {
    const methods = new Map<string, string[]>();
    const names = imports.map((one) => one.name);
    for (const word of may) {
        const [name = "", ...rest] = word.split(".");
        const method = rest.join(".");
        const wrong = (message: string, hint: string): RemitError =>
            new RemitError({ kind: "value", message: `--may ${word}: ${message}`, hint });
        if (!names.includes(name)) throw wrong(`there is no tool '${name}'`, didYouMean(name, names) ?? `there are ${names.join(", ")}`);
        if (rest.length === 0) continue;
        if (!/^[A-Za-z_]\w*$/.test(method)) throw wrong("this is no name of a method", `write ${name}.METHOD, or ${name} for all of it`);
        methods.set(name, [...(methods.get(name) ?? []), method]);
    }
    return imports.map((one) => {
        // One thing under two names has one gate.
        const free = [...new Set(imports.flatMap(({ name, uri }) => (uri === one.uri ? (methods.get(name) ?? []) : [])))];
        return free.length === 0 ? one : { ...one, free };
    });
}

async function configured(options: RasRunOptions): Promise<BridgeImport[]> {
    const { config } = await settingOf(options.root ?? options.workspace, options);
    return Object.keys(config.servers)
        .filter((key) => /^[A-Za-z_]\w*$/.test(key) && !BRIDGE_NAMES.has(key))
        .map((key) => imported(key, `mcp://${key}`, options));
}

function imported(name: string, uri: string, options: RasRunOptions): BridgeImport {
    // One thing under two names has one gate.
    const may = options.may?.some((one) => one === name || (uri === "shell:" && (one === "bash" || one === "shell"))) === true;
    return { name, uri, source: `import tool ${name} from ${literal(uri)}`, gate: may ? "may" : "ask" };
}

async function importsOf(file: string, root: string, options: RasRunOptions): Promise<Tools> {
    const { checked } = await checkFile(file, { ...options, root });
    const tree = checked.files.get(checked.entry);
    if (tree === undefined) return { imports: [], policies: [] };
    const wrong = (message: string, hint?: string): RemitError =>
        new RemitError({ kind: "value", message: `${file}: ${message}`, ...(hint === undefined ? {} : { hint }) });
    const bad = checked.diagnostics.find((one) => one.severity === "error");
    if (bad !== undefined) throw wrong(bad.message, `remit check ${file} tells all of it`);
    const textOf = (item: (typeof tree.items)[number]): string => tree.source.text.slice(item.range.start, item.range.end);
    const isBound = await boundBy(
        tree.items.flatMap((item) => (item.kind === "import" && (item.clauses?.length ?? 0) > 0 ? [item.uri.value] : [])),
        root,
        options,
    );
    const imports = tree.items.flatMap((item): BridgeImport[] => {
        if (item.kind !== "import" || item.what !== "tool") return [];
        const name = item.name.text;
        if (BRIDGE_NAMES.has(name)) throw wrong(`a tool for RAS programs cannot be called '${name}'`);
        // An import with clauses says itself what is asked.
        const gate = (item.clauses?.length ?? 0) > 0 || options.may?.includes(name) === true ? "may" : "ask";
        return [{ name, uri: item.uri.value, source: textOf(item), gate, isFree: !isBound(name, item.uri.value) }];
    });
    const known = new Set(imports.map((one) => one.name));
    const policies = tree.items.flatMap((item): BridgePolicy[] => {
        if (item.kind !== "remit") return [];
        const name = item.name.text;
        if (BRIDGE_NAMES.has(name) || BUILT_IN.some(([tool]) => tool === name))
            throw wrong(`a policy for RAS programs cannot be called '${name}'`);
        // What speaks of models, memories or agents is for the program of that file.
        const isOfTools = item.body.clauses.every(
            (clause) => clause.kind !== "remit.grant" || clause.grant.refs.every((ref) => known.has(ref.name.text)),
        );
        return isOfTools ? [{ name, source: textOf(item) }] : [];
    });
    return { imports, policies };
}

/** Whether anything bounds a tool: a clause at any import of the same thing (`uris`), or what the project says of it or of the bridge's own agents. */
async function boundBy(uris: readonly string[], root: string, options: RasRunOptions): Promise<(name: string, uri: string) => boolean> {
    const { policy } = (await settingOf(root, options)).config;
    const all = policy !== null && [...BRIDGE_NAMES].some((agent) => remitsOfProject(policy, agent).length > 0);
    const keys = new Set(uris.map((uri) => keyOf("tool", uri, "")));
    return (name, uri) => {
        const key = keyOf("tool", uri, "");
        return all || keys.has(key) || (policy !== null && addedTo(policy, key, [{ name, what: "tool", uri }]).length > 0);
    };
}

/** One `reason`, `act` or `agent` as a program; its input is the call's arguments. Throws `RemitError`. */
export async function callProgram(kind: CallKind, options: RasRunOptions = {}): Promise<RemitProgram<Json, Json>> {
    const { imports, policies, file, root } = await toolsFor(options);
    const { model = "local:", agent } = options;
    const source = callSource({ model, tools: imports, policies, ...(agent === undefined ? {} : { agent }) }, kind);
    return loaded<Json>({ source, file: join(dirname(file), `${kind}-command.remit`) }, { ...options, root });
}

/** What is wrong with the answering program is wrong with what it was made of: no place in it is told, since no person wrote it. */
async function loaded<O>(from: { readonly source: string; readonly file: string }, options: RasRunOptions): Promise<RemitProgram<Json, O>> {
    try {
        return await load<Json, O>(from, options);
    } catch (error) {
        const bad = error instanceof LoadError ? error.diagnostics.find((one) => one.severity === "error") : undefined;
        if (bad === undefined) throw error;
        throw new RemitError({ kind: "value", message: bad.message, ...(bad.hint === undefined ? {} : { hint: bad.hint }) });
    }
}

export interface CommandSaid {
    readonly out?: string;
    readonly err?: string;
    readonly code: number;
}

/** A command inside a Bash program of a run: the run answers. Null where this process is not in one. */
export async function talkToRun(
    kind: CallKind,
    argv: readonly string[],
    input: () => Promise<string>,
    env: Readonly<Record<string, string | undefined>>,
): Promise<CommandSaid | null> {
    const { REMIT_RAS: place, REMIT_RAS_TOKEN: token } = env;
    if (place === undefined || token === undefined) return null;
    return new Promise((done) => {
        const link = connect(place);
        const over = (): void => done({ err: `${kind}: the run is over`, code: 1 });
        const read = frameReader((frame) => {
            if (frame.input === true && readsInput(kind, argv)) {
                input().then((text) => link.write(`${JSON.stringify({ input: text })}\n`), over);
                return true;
            }
            done(said(frame));
            link.destroy();
            return true;
        });
        link.on("data", (piece) => read(piece as Buffer) || link.destroy());
        link.on("error", over);
        link.on("close", over);
        link.write(`${JSON.stringify({ hello: token, as: "command", kind, argv })}\n`);
    });
}

function said({ out, err, code }: Fields): CommandSaid {
    return {
        ...(typeof out === "string" ? { out } : {}),
        ...(typeof err === "string" ? { err } : {}),
        code: typeof code === "number" ? code : 1,
    };
}
