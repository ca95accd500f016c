/**
 * The conversation of a REPL: its inputs so far are one program, and each input is a run that goes on from the run before.
 *
 * Boundary: texts, runs and their values. Who types, and what is shown, is the terminal's.
 *
 * CNV1: an input that fails, is refused or is cancelled leaves the conversation as it was.
 * CNV2: no effect of an input before is performed again: its outcome is told from the record, with its origins.
 */
import { type HostToolSource, LoadError, load, type LoadOptions, type RemitProgram, type RunResult } from "@remit/host";
import { type Diagnostic, isObject, type Json, position, type Site, type Source, source } from "@remit/language";
import { FOOT, HEAD, INPUT, moved, type Piece } from "./piece.ts";
import { declaring, NONE, type Renamed, renamed, type Versions } from "./versions.ts";

/** What an input came to. */
export type Came =
    | { readonly kind: "refused"; readonly diagnostics: readonly Located[] }
    | { readonly kind: "declared" }
    | { readonly kind: "ran"; readonly result: RunResult<Json>; readonly answering: readonly string[] };

/** A diagnostic, and the text that its range is in; null: none of the inputs. */
export interface Located {
    readonly diagnostic: Diagnostic;
    readonly source: Source | null;
}

/** Where a line of the program comes from. */
interface Part {
    /** The whole input's. */
    readonly text: string;
    /** Offsets in the program. */
    readonly start: number;
    readonly end: number;
    readonly name: string;
    /** Offset from `start` → offset in the input. */
    was(offset: number): number;
}

interface Kept {
    readonly piece: Piece;
    /** What its names stand for. */
    readonly names: Versions["names"];
}

const FILE = "repl.remit";
/** The model of the conversation where it imports none of this name. */
const MODEL = 'import llm Model from "openai://gpt-5-mini"';
const ROLE = `        role "an assistant"\n        description "Answers exactly what it is asked."\n`;

export class Conversation {
    readonly #options: LoadOptions;
    readonly #tools: { readonly [name: string]: HostToolSource };
    readonly #pieces: Kept[] = [];
    #versions = NONE;
    /** Names of tools → their URIs. */
    readonly #imported = new Map<string, string>();
    /** The run that the conversation has come to. */
    run: string | null = null;
    /** Names that were given a value → fields of that value. */
    readonly names = new Map<string, readonly string[]>();

    constructor(options: LoadOptions, tools: { readonly [name: string]: HostToolSource }) {
        this.#options = options;
        this.#tools = tools;
    }

    /** Text of the program so far. */
    get text(): string {
        return this.#program(null).text;
    }

    /** `keep`: it becomes part of the conversation, where it comes to an end. `begun`: the run, before it is waited for. */
    async take(piece: Piece, how: { readonly keep: boolean; readonly signal: AbortSignal; readonly on: LoadOptions["on"] }): Promise<Came> {
        const { text, parts } = this.#program(piece);
        let program: RemitProgram;
        try {
            const { on = {} } = how;
            program = await load({ source: text, file: FILE }, { ...this.#options, tools: this.#tools, on, cache: false });
        } catch (error) {
            if (!(error instanceof LoadError)) throw error;
            return { kind: "refused", diagnostics: error.diagnostics.filter(isError).map((one) => located(one, parts)) };
        }
        try {
            if (piece.kind === "declared") {
                this.#keep(piece, null);
                return { kind: "declared" };
            }
            const options = { signal: how.signal };
            const handle = this.run === null ? program.run(null, options) : await program.after(this.run, null, options);
            const result = await handle.result;
            if (result.ok && how.keep) {
                this.run = result.run;
                this.#keep(piece, result.value ?? null);
            }
            return { kind: "ran", result, answering: program.answering().map((one) => one.text) };
        } finally {
            await program.close();
        }
    }

    clear(): void {
        this.#pieces.splice(0);
        this.#versions = NONE;
        this.#imported.clear();
        this.names.clear();
        this.run = null;
    }

    /** Tools that it imports. */
    get tools(): readonly { readonly name: string; readonly uri: string }[] {
        return [...this.#imported].map(([name, uri]) => ({ name, uri }));
    }

    /** Whether a name is one of the conversation's. */
    has(name: string): boolean {
        return this.names.has(name);
    }

    /** A place of the program as a place of an input; `piece`: the one that was being taken. Null: it is no place of an input. */
    placed(site: Site, piece: Piece | null): { readonly site: Site; readonly line: string } | null {
        if (site.file !== FILE) return null;
        const { text, parts } = this.#program(piece);
        const whole = source(text, FILE);
        const offset = (whole.lineStarts[site.line - 1] ?? 0) + site.column - 1;
        const part = partAt(offset, parts);
        if (part === null) return null;
        const own = source(part.text, part.name);
        const at = position(own, part.was(offset - part.start));
        return { site: { file: part.name, ...at }, line: part.text.split(/\r?\n/)[at.line - 1] ?? "" };
    }

    #keep(piece: Piece, value: Json): void {
        this.#versions = this.#with(piece);
        this.#pieces.push({ piece, names: this.#versions.names });
        for (const { name, uri } of piece.tools) this.#imported.set(name, uri);
        for (const name of piece.names) this.names.set(name, this.names.get(name) ?? []);
        if (piece.assigned !== null) this.names.set(piece.assigned, isObject(value) ? Object.keys(value) : []);
    }

    #with(piece: Piece): Versions {
        return declaring(this.#versions, piece.declares, this.#pieces.length);
    }

    #program(more: Piece | null): { readonly text: string; readonly parts: readonly Part[] } {
        const versions = more === null ? this.#versions : this.#with(more);
        const all = more === null ? this.#pieces : [...this.#pieces, { piece: more, names: versions.names }];
        const parts: Part[] = [];
        let text = "";
        const put = ({
            piece,
            input,
            at,
            as,
        }: {
            readonly piece: Piece;
            readonly input: number;
            readonly at: number;
            readonly as: Renamed;
        }): void => {
            const name = piece === more ? INPUT : `${INPUT} ${input + 1}`;
            parts.push({
                text: piece.text,
                start: text.length,
                end: text.length + as.text.length,
                was: (offset) => at + as.was(offset),
                name,
            });
            text += `${as.text}\n`;
        };
        if (!versions.names.has("Model")) text += `${MODEL}\n`;
        for (const { of, input, names } of versions.all)
            put({ piece: (all[input] as Kept).piece, input, at: of.at, as: renamed(of.text, names) });
        text += `main agent Repl {\n    model Model\n    main func() {\n${ROLE}`;
        for (const [input, { piece, names }] of all.entries())
            if (piece.kind === "done") put({ piece, input, at: 0, as: renamed(piece.text, names, HEAD, FOOT) });
        // What was given a value is what the input comes to.
        const last = all.findLast(({ piece }) => piece.kind === "done")?.piece;
        if (last?.assigned != null) text += `${last.assigned}\n`;
        return { text: `${text}    }\n}\n`, parts };
    }
}

const isError = ({ severity }: Diagnostic): boolean => severity === "error";

function partAt(offset: number, parts: readonly Part[]): Part | null {
    return parts.find(({ start, end }) => offset >= start && offset <= end) ?? null;
}

function located(one: Diagnostic, parts: readonly Part[]): Located {
    const part = one.file === FILE ? partAt(one.range.start, parts) : null;
    if (part === null) return { diagnostic: one, source: null };
    const { start, end } = one.range;
    const [from, to] = [part.was(start - part.start), part.was(end - part.start)];
    return {
        diagnostic: { ...moved(one, 0), range: { start: from, end: Math.max(from, to) }, file: part.name },
        source: source(part.text, part.name),
    };
}
