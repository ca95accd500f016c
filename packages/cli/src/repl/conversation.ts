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
import { INPUT, moved, type Piece } from "./piece.ts";

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
    readonly text: string;
    /** Offset in the program. */
    readonly start: number;
    readonly name: string;
}

const FILE = "repl.remit";
/** The model of the conversation where it imports none of this name. */
const MODEL = 'import llm Model from "openai://gpt-5-mini"';
const ROLE = `        role "an assistant"\n        description "Answers exactly what it is asked."\n`;

export class Conversation {
    readonly #options: LoadOptions;
    readonly #tools: { readonly [name: string]: HostToolSource };
    readonly #pieces: Piece[] = [];
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
        this.names.clear();
        this.run = null;
    }

    /** Tools that it imports. */
    get tools(): readonly { readonly name: string; readonly uri: string }[] {
        return this.#pieces.flatMap(({ tools }) => tools);
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
        const at = position(own, offset - part.start);
        return { site: { file: part.name, ...at }, line: part.text.split(/\r?\n/)[at.line - 1] ?? "" };
    }

    #keep(piece: Piece, value: Json): void {
        this.#pieces.push(piece);
        for (const name of piece.names) this.names.set(name, this.names.get(name) ?? []);
        if (piece.assigned !== null) this.names.set(piece.assigned, isObject(value) ? Object.keys(value) : []);
    }

    #program(more: Piece | null): { readonly text: string; readonly parts: readonly Part[] } {
        const all = more === null ? this.#pieces : [...this.#pieces, more];
        const parts: Part[] = [];
        let text = "";
        const put = (piece: Piece): void => {
            const name = piece === more ? INPUT : `${INPUT} ${all.indexOf(piece) + 1}`;
            parts.push({ text: piece.text, start: text.length, name });
            text += `${piece.text}\n`;
        };
        if (!all.some(({ models }) => models.includes("Model"))) text += `${MODEL}\n`;
        for (const piece of all) if (piece.kind === "declared") put(piece);
        text += `main agent Repl {\n    model Model\n    main func() {\n${ROLE}`;
        for (const piece of all) if (piece.kind === "done") put(piece);
        // What was given a value is what the input comes to.
        const last = all.findLast(({ kind }) => kind === "done");
        if (last?.assigned != null) text += `${last.assigned}\n`;
        return { text: `${text}    }\n}\n`, parts };
    }
}

const isError = ({ severity }: Diagnostic): boolean => severity === "error";

function partAt(offset: number, parts: readonly Part[]): Part | null {
    return parts.find(({ start, text }) => offset >= start && offset <= start + text.length) ?? null;
}

function located(one: Diagnostic, parts: readonly Part[]): Located {
    const part = one.file === FILE ? partAt(one.range.start, parts) : null;
    if (part === null) return { diagnostic: one, source: null };
    return { diagnostic: { ...moved(one, -part.start), file: part.name }, source: source(part.text, part.name) };
}
