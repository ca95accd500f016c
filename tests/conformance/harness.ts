/**
 * Plays whole programs through the library, as somebody outside would: text and input in; value or failure, diagnostics, and every request
 * that a model got out.
 *
 * Boundary: models are played (a list of replies, or a function), everything else is the real host. What a model says is read by the host's
 * own reader, so a reply here is a text as a provider would send it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
    type RunFailure,
    type HostOptions,
    type LoadOptions,
    type Performer,
    type RunOptions,
    type RunResult,
    LoadError,
    load,
    RemitError,
} from "@remit/host";
import type { Contract, Diagnostic, Json } from "@remit/language";
import type { CountReply, Failure, LedgerEvent, ModelCount, ModelTurn } from "@remit/machine";
import { afterAll } from "vitest";
import { readReply } from "../../packages/host/src/model/reading.ts";
import { countItems, tokenizerOf } from "../../packages/host/src/model/tokens.ts";

/** A text as it is; any other JSON as its text; a failure of the provider; a text that ended early. */
export type Reply = Json | { readonly fail: Failure } | { readonly cut: string };
export type Replies = readonly Reply[] | ((turn: ModelTurn, index: number) => Reply | Promise<Reply>);

export interface Setting
    extends Pick<RunOptions, "variants" | "concurrency" | "entry" | "limits" | "interactive" | "on">,
        Pick<HostOptions, "tools" | "env" | "trust" | "performers"> {
    readonly input?: Json;
    readonly replies?: Replies;
    /** Files of the folder that is both the program's tree and the workspace. */
    readonly files?: Readonly<Record<string, string>>;
    /** A folder made before; else a new one. */
    readonly folder?: string;
    /** Name of the program's file. */
    readonly name?: string;
    /** Folders besides the tree that file imports may read. */
    readonly grants?: readonly string[];
}

export interface Item {
    /** What stands in the brackets: the label, or the index. */
    readonly heading: string;
    readonly label: string | null;
    readonly source: string;
    readonly text: string;
    readonly clipped: boolean;
    readonly original_size: number;
    readonly clipped_size: number;
    readonly labels: readonly string[];
    readonly variant?: Json;
}

/** One `generate` as its `generate.started` event has it. */
export interface Prompt {
    readonly label: string;
    readonly identity: { readonly role: string; readonly description: string };
    readonly items: readonly Item[];
    readonly instruction: string;
    readonly schema: Json;
    readonly config: Json;
}

export interface Played {
    readonly value?: Json;
    readonly failure?: RunFailure;
    /** Codes of the errors that kept it from running; empty where it ran. */
    readonly codes: readonly string[];
    readonly warnings: readonly string[];
    readonly diagnostics: readonly Diagnostic[];
    /** Every request that a model got, one for each turn. */
    readonly turns: readonly ModelTurn[];
    readonly prompts: readonly Prompt[];
    readonly events: readonly LedgerEvent[];
    readonly result?: RunResult<unknown>;
    readonly folder: string;
}

const folders: string[] = [];
afterAll(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder, removed when the tests of the file are over. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
    const folder = mkdtempSync(join(tmpdir(), "remit-conformance-"));
    folders.push(folder);
    // Marks the root of the program's tree.
    mkdirSync(join(folder, ".remit"));
    put(folder, files);
    return folder;
}

export function put(folder: string, files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
    }
}

export async function play(text: string, setting: Setting = {}): Promise<Played> {
    const folder = setting.folder ?? folderWith();
    const name = setting.name ?? "main.as";
    put(folder, { ...setting.files, [name]: text });
    const turns: ModelTurn[] = [];
    const { replies = [], files: _files, folder: _folder, name: _name, input = {}, grants, ...passed } = setting;
    const options: LoadOptions = {
        root: folder,
        workspace: folder,
        cache: false,
        folders: { cache: join(folder, ".remit/cache"), config: join(folder, ".remit/config") },
        ...(grants === undefined ? {} : { grants }),
        ...passed,
        env: { XDG_CONFIG_HOME: join(folder, ".remit/config"), ...passed.env },
        performers: { model: player(replies, turns), ...passed.performers },
    };
    const nothing = { turns, prompts: [], events: [], folder };
    let program: Awaited<ReturnType<typeof load>>;
    try {
        program = await load(join(folder, name), options);
    } catch (error) {
        if (!(error instanceof LoadError)) throw error;
        const of = (severity: string): string[] => error.diagnostics.filter((one) => one.severity === severity).map((one) => one.code);
        return { ...nothing, codes: of("error"), warnings: of("warning"), diagnostics: error.diagnostics, failure: error.failure };
    }
    try {
        const handle = program.run(input);
        const result = await handle.result;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        return {
            ...nothing,
            ...(result.ok ? { value: result.value as Json } : { failure: result.failure }),
            codes: [],
            warnings: program.diagnostics.filter((one) => one.severity === "warning").map((one) => one.code),
            diagnostics: program.diagnostics,
            prompts: events.filter((event) => event.kind === "generate.started").map((event) => promptOf(event.data)),
            events,
            result,
        };
    } catch (error) {
        // Options that the program does not know, such as a candidate of no slot: no run is begun.
        if (!(error instanceof RemitError)) throw error;
        return { ...nothing, codes: [], warnings: [], diagnostics: program.diagnostics, failure: error.failure };
    } finally {
        await program.close();
    }
}

/** Answers model turns; what was asked is kept in `turns`. */
export function player(replies: Replies, turns: ModelTurn[]): Performer {
    return async (effect) => {
        const request = effect.request as unknown as ModelTurn | ModelCount;
        if (request.op === "count") {
            const counted: CountReply = countItems(request, await tokenizerOf(""));
            return { ok: true, value: counted as unknown as Json, origins: [] };
        }
        const index = turns.push(request) - 1;
        const reply = typeof replies === "function" ? await replies(request, index) : replies[index];
        if (reply === undefined) return { ok: false, failure: { kind: "model", message: `no reply ${index} for ${request.label}` } };
        if (isPart(reply, "fail")) return { ok: false, failure: reply.fail as unknown as Failure };
        const cut = isPart(reply, "cut");
        const text = cut ? String(reply.cut) : typeof reply === "string" ? reply : JSON.stringify(reply);
        const finish = cut ? "length" : "stop";
        const read =
            request.contract === undefined
                ? {}
                : readReply(text, request.contract as Contract, request.shapes ?? {}, {
                      strict: request.strict,
                      finish,
                      constrained: false,
                  });
        const value = { text, finish, model: "played", ...read } as unknown as Json;
        return { ok: true, value, origins: [`model:${request.model.name}`] };
    };
}

function isPart<K extends string>(reply: Reply, key: K): reply is { readonly [name in K]: Json } {
    return reply !== null && typeof reply === "object" && !Array.isArray(reply) && Object.keys(reply).length === 1 && key in reply;
}

type ShownItem = Item & { readonly shown: boolean };

function promptOf(data: Json): Prompt {
    const it = data as unknown as Omit<Prompt, "instruction" | "items"> & { instruction: { text: string }; items: readonly ShownItem[] };
    return { ...it, items: it.items.filter((item) => item.shown), instruction: it.instruction.text };
}

/** The user text of a turn. */
export function userText(turn: ModelTurn): string {
    return turn.messages
        .flatMap((message) => (message.role === "user" ? message.content : []))
        .map((part) => (part.type === "text" ? part.text : ""))
        .join("");
}

export function systemText(turn: ModelTurn): string {
    return turn.messages.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n");
}

/** Everything a model could see of a turn. */
export function seenBy(turn: ModelTurn): string {
    return JSON.stringify([turn.messages, turn.contract ?? null, turn.shapes ?? null, turn.tools ?? null]);
}

/** Statements as the body of the main function, with everything `generate` needs. `before`: imports and other agents. */
export function inMain(statements: string, before = ""): string {
    return `import llm M from "openai://model-9"
${before}
main agent A {
    model M
    role "a tester"
    description "Tests one rule."
    main func(input) {
${statements}
    }
    func id(x) { x }
}
`;
}

export interface Expected {
    readonly value?: Json;
    /** `kind: message`, where the message may be cut short with `…`. */
    readonly fails?: string;
    /** Codes of the errors, in order of place; `X` twice for two. */
    readonly codes?: string;
    /** Codes of the warnings that must be among those given. */
    readonly warns?: string;
    /** For each `generate`: `heading|source|text`, an item a line. */
    readonly items?: readonly (readonly string[])[];
    /** For each `generate`: its instruction. */
    readonly instructions?: readonly string[];
    readonly turns?: number;
}

/** What of a run the expectation speaks of, in its shape; so that one `toEqual` shows every difference. */
export function summary(played: Played, expected: Expected): Expected {
    const { failure } = played;
    const said = failure === undefined ? "" : `${failure.kind}: ${failure.message}`;
    const begun = expected.fails?.endsWith("…") === true && said.startsWith(expected.fails.slice(0, -1));
    return {
        ...(played.codes.length > 0 || expected.codes !== undefined ? { codes: played.codes.join(" ") } : {}),
        ...(played.codes.length === 0 && said !== "" ? { fails: begun ? (expected.fails as string) : said } : {}),
        ...(expected.value !== undefined ? { value: played.value ?? null } : {}),
        ...(expected.warns !== undefined
            ? {
                  warns: expected.warns
                      .split(" ")
                      .filter((code) => code === "" || played.warnings.includes(code))
                      .join(" "),
              }
            : {}),
        ...(expected.items !== undefined
            ? { items: played.prompts.map((prompt) => prompt.items.map((item) => `${item.heading}|${item.source}|${item.text}`)) }
            : {}),
        ...(expected.instructions !== undefined ? { instructions: played.prompts.map((prompt) => prompt.instruction) } : {}),
        ...(expected.turns !== undefined ? { turns: played.turns.length } : {}),
    };
}
