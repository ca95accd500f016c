/**
 * Handing the keyboard to an agent while a run stands still: it looks, and says what it would do.
 *
 * Boundary: from a session and the name of an agent to a proposal. Nothing is applied here: that takes a person (`change.ts`, `fork.ts`).
 *
 * HAN1: the agent gets a read-only look at the stopped state, the failure and the source, and nothing else; its run is one of its own, under a
 *     remit of its own, and that of the run that is looked at is not written to.
 *     Secrets that are known now are taken out of all of it before anything is cut.
 * HAN2: what it is given carries `run:ID` and the origins that the run's values have; what it says carries `agent:NAME`, and is data.
 */
import { dirname, join, resolve } from "node:path";
import { readFileSync } from "node:fs";
import type { ImportForm, Json, Program } from "@remit/language";
import { checkFile } from "../load/check.ts";
import { findRoot } from "../load/tree.ts";
import { agentNames } from "../config/agents.ts";
import { RemitError } from "../failure/error.ts";
import { clipped } from "../input/clipped.ts";
import { load } from "../run/program.ts";
import type { LoadOptions } from "../run/setup.ts";
import { settingOf, surroundingsOf } from "../config/setting.ts";
import { type DebugAgent, debugSource, type KINDS, TASK } from "./bridge.ts";
import { type Change, changeOf } from "./change.ts";
import { knownSecrets } from "../secret/known.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { lookingAt } from "./looking.ts";
import type { DebugSession } from "./session.ts";

export interface Proposal {
    readonly kind: (typeof KINDS)[number];
    readonly explanation: string;
    readonly value?: Json;
    readonly place?: string;
    readonly source?: string;
}

export interface Proposed {
    /** The run in which the agent looked. */
    readonly run: string;
    /** `agent:NAME`. */
    readonly origin: string;
    readonly proposal: Proposal;
    /** For a fix that can be applied. */
    readonly change?: Change;
    /** For a value: path of the effect whose answer it would be. */
    readonly place?: string;
    /** Why it cannot be applied as it is. */
    readonly wrong?: string;
}

/** Lines of source around the place; files of fewer are given whole. */
const AROUND = 60;
/** Longest text of one field of what is told besides. */
const MAX_TEXT = 4_000;
/** Items of one list. */
const MAX_ITEMS = 100;

/** Path of the effect that the run stands at; null where it stands in the middle of computing. */
export function effectAt(session: DebugSession): string | null {
    const { state } = session.where();
    // What a run asks about itself only the run's own owner can answer.
    if (session.timeline.asking !== null) return null;
    if (state !== "waiting" && state !== "open") return null;
    return session.timeline.next ?? session.inspect().pending[0]?.path ?? null;
}

/**
 * `named`: an agent that the program imports, the name of one that the configuration or the table of known agents has, a URI, or the file of a
 * Remit agent. Throws `RemitError`: where there is no such agent, where the program of the agent fails.
 */
export async function askAgent(
    session: DebugSession,
    named: string,
    options: Omit<LoadOptions, "tools" | "entry"> = {},
): Promise<Proposed> {
    const { info } = session;
    const program = session.timeline.program;
    const { agent, folder, root } = await agentOf(named, program, info.root, options);
    const place = effectAt(session);
    const scrubber = knownSecrets(surroundingsOf(options).env);
    const bridge = await load<Json, Proposal>(
        { source: debugSource(agent), file: join(folder, "debug-bridge.remit") },
        {
            ...options,
            root,
            cache: false,
            tools: { State: lookingAt(session, scrubber) },
            inputOrigins: [`run:${info.id}`],
        },
    );
    try {
        const result = await bridge.run(given(session, place, scrubber)).result;
        if (!result.ok || result.value === undefined) {
            const failure = result.failure ?? { kind: "unreachable" as const, message: `the agent did not answer: ${result.status}` };
            throw new RemitError(failure, result.run);
        }
        const said = { run: result.run, origin: `agent:${agent.name}`, proposal: result.value };
        return { ...said, ...judged(session, program, result.value, place) };
    } finally {
        await bridge.close();
    }
}

function judged(
    session: DebugSession,
    program: Program,
    proposal: Proposal,
    at: string | null,
): Pick<Proposed, "change" | "place" | "wrong"> {
    if (proposal.kind === "nothing") return {};
    if (proposal.kind === "value") {
        const place = proposal.place ?? at;
        if (proposal.value === undefined) return { wrong: "it says no value" };
        if (place === null)
            return {
                wrong: "the run does not stand at an effect, and it names none: a value can only be the answer of one; what a statement computes changes by a fix of its source",
            };
        return { place };
    }
    if (typeof proposal.place !== "string" || typeof proposal.source !== "string") return { wrong: "a fix needs a place and its source" };
    try {
        return { change: changeOf(session.info, program, proposal.place, proposal.source) };
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        return { wrong: error.failure.message };
    }
}

function given(session: DebugSession, effect: string | null, scrubber: Scrubber): Json {
    const { info } = session;
    const where = session.where();
    const asked = session.inspect().pending.find((one) => one.path === effect);
    const at = { file: where.site?.file ?? info.file, line: where.site?.line ?? 1 };
    const clean = (json: Json): Json => clipped(scrubber.scrub(json), { text: MAX_TEXT, items: MAX_ITEMS });
    return scrubber.scrub({
        task: TASK,
        stop: {
            run: info.id,
            program: info.file,
            files: session.timeline.program.files.map((one) => one.file),
            ...at,
            function: where.frame?.name ?? "",
            path: where.frame?.path ?? "",
            state: where.state,
            effect: asked === undefined ? null : clean({ path: asked.path, kind: asked.kind, request: asked.request }),
        },
        failure: (info.failure === undefined ? null : clean(JSON.parse(JSON.stringify(info.failure)) as Json)) as Json,
        source: sourceAt(info.root, at.file, at.line),
    });
}

function sourceAt(root: string, file: string, line: number): Json {
    if (root === "") return null;
    let lines: string[];
    try {
        lines = readFileSync(resolve(root, file), "utf8").split(/\r?\n/);
    } catch {
        // The program may have moved since it ran: the state alone still helps.
        return null;
    }
    const from = lines.length <= 2 * AROUND ? 1 : Math.max(1, line - AROUND);
    const shown = lines.slice(from - 1, from - 1 + 2 * AROUND);
    return { file, from, text: shown.map((text, i) => `${from + i}  ${text}`).join("\n") };
}

// ---- which agent ---------------------------------------------------------------------------------------------------------

interface Found {
    readonly agent: DebugAgent;
    /** Folder that relative places in its URI begin in. */
    readonly folder: string;
    readonly root: string;
}

async function agentOf(named: string, program: Program, root: string, options: LoadOptions): Promise<Found> {
    const here = root === "" ? resolve(surroundingsOf(options).cwd, options.workspace ?? "") : root;
    if (/\.remit$/.test(named)) return remitAgent(named, options);
    if (/^[a-z][a-z0-9+]*:/.test(named)) return { agent: { name: "Agent", uri: named }, folder: here, root: here };
    for (const file of program.files) {
        const found = file.imports.find((one): one is ImportForm => one.what === "agent" && one.from === undefined && one.name === named);
        if (found === undefined) continue;
        const agent = { name: nameOf(named), uri: found.uri, ...(found.unconfined === true ? { unconfined: true as const } : {}) };
        return { agent, folder: join(here, dirname(file.file)), root: here };
    }
    const { config } = await settingOf(here, options);
    if (agentNames(config).includes(named)) return { agent: { name: nameOf(named), uri: `acp://${named}` }, folder: here, root: here };
    const imported = program.files.flatMap((one) => one.imports.filter(({ what, from }) => what === "agent" && from === undefined));
    throw new RemitError({
        kind: "unreachable",
        message: `there is no agent '${named}'`,
        hint: `the program imports ${imported.length === 0 ? "none from outside" : imported.map((one) => one.name).join(", ")}; a URI (acp://opencode) or the file of a Remit agent will do, too`,
    });
}

async function remitAgent(path: string, options: LoadOptions): Promise<Found> {
    const root = options.root ?? findRoot(path);
    const { checked } = await checkFile(path, { ...options, root });
    const tree = checked.files.get(checked.entry);
    const bad = checked.diagnostics.find((one) => one.severity === "error");
    if (tree === undefined || bad !== undefined)
        throw new RemitError({
            kind: "value",
            message: `${path}: ${bad?.message ?? "cannot be read"}`,
            hint: `remit check ${path} tells all of it`,
        });
    const agents = tree.items.flatMap((one) => (one.kind === "agent" && one.name !== undefined ? [one] : []));
    const agent = agents.find((one) => one.main) ?? agents[0];
    if (agent?.name === undefined)
        throw new RemitError({
            kind: "value",
            message: `${path} has no agent with a name`,
            hint: "write main agent Fixer { main func(handshake) { … } }",
        });
    const models = tree.items.flatMap((one) => (one.kind === "import" && one.what === "llm" ? [one.uri.value] : []));
    const folder = dirname(resolve(path));
    return { agent: { name: agent.name.text, uri: `./${path.split("/").at(-1) as string}`, models }, folder, root };
}

/** A name of the program that is written. */
function nameOf(named: string): string {
    const name = named.replaceAll(/[^A-Za-z0-9_]/g, "_");
    return /^[A-Za-z_]/.test(name) && name !== "State" ? name : `Agent_${name}`;
}
