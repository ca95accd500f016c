/**
 * From a request in plain words to a checked program of blocks.
 *
 * Boundary: between a model, of which it knows one function, and the compiler. It runs nothing: what comes out is for a person to look at.
 *
 * TRN1: what comes out compiles, keeps the rules for translated programs, and is laid out by the formatter: the text that is shown is the text that
 *     runs.
 * TRN2: a model that does not get it right is asked so many times, each time with what the checker says of its last answer, and no more.
 */
import { type Diagnostic, fencesOf, format, NATIVE_VERBS, parse, renderDiagnostic, source } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import { LoadError } from "../load/error.ts";
import { type CompiledProgram, type CompileOptions, compile } from "../load/phases.ts";
import { systemPrompt, type TranslationPrompt, userPrompt } from "./prompt.ts";
import { NO_BLOCK, problemsOf } from "./rules.ts";
import { scheduleOf } from "./schedule.ts";

/** The model: a prompt in, its answer out. */
export type Complete = (prompt: TranslationPrompt, signal: AbortSignal) => Promise<string>;

export interface TranslateOptions extends CompileOptions {
    /** How often the model may answer, 1 to 10. Default 3. */
    readonly attempts?: number;
    /** What the program is called in messages. Default `translated.remit`. */
    readonly file?: string;
}

export interface Attempt {
    readonly answer: string;
    /** What is wrong with it; empty for the last one of a translation. */
    readonly problems: readonly string[];
}

export interface Translated {
    /** Laid out. */
    readonly source: string;
    readonly program: CompiledProgram;
    /** Five cron fields, where the request speaks of a time that comes again. */
    readonly schedule: string | null;
    readonly attempts: readonly Attempt[];
}

/** No answer was a program. */
export class TranslationError extends RemitError {
    readonly attempts: readonly Attempt[];
    constructor(attempts: readonly Attempt[]) {
        const last = attempts.at(-1)?.problems ?? [];
        const times = attempts.length === 1 ? "one answer" : `${attempts.length} answers`;
        super({
            kind: "model",
            message: `the model gave no program in ${times}; of the last one: ${last[0] ?? "it is empty"}`,
            hint: "say it in other words, use a better model (--model), or write the program yourself: remit verbs lists what there is",
        });
        this.attempts = attempts;
    }
}

/** Characters of an answer that are looked at, and of a request. */
const MOST = 64 * 1024;
/** Problems that the model is told at once. */
const MOST_PROBLEMS = 12;

/** Rejects with `TranslationError` where the model does not get it right, and with what the model fails with. */
export async function translate(request: string, complete: Complete, options: TranslateOptions = {}): Promise<Translated> {
    const { attempts: most = 3, file = "translated.remit", registry, signal = new AbortController().signal } = options;
    if (request.trim() === "") throw new RemitError({ kind: "value", message: "there is no request", hint: "say what is to be done" });
    if (request.length > MOST)
        throw new RemitError({
            kind: "limit.bytes",
            message: `a request has at most ${MOST} characters`,
            hint: "keep long texts in files",
        });
    const system = systemPrompt(registry?.verbs ?? NATIVE_VERBS);
    const attempts: Attempt[] = [];
    for (let n = 0; n < most; n++) {
        signal.throwIfAborted();
        const last = attempts.at(-1) ?? null;
        const answer = (await complete({ system, user: userPrompt(request, last) }, signal)).slice(0, MOST);
        const made = await read(answer, { ...options, file });
        attempts.push({ answer, problems: made.problems });
        if (made.program !== null) return { ...made, program: made.program, schedule: scheduleOf(made.source, request), attempts };
    }
    throw new TranslationError(attempts);
}

interface Read {
    readonly source: string;
    readonly program: CompiledProgram | null;
    readonly problems: readonly string[];
}

async function read(answer: string, options: TranslateOptions & { readonly file: string }): Promise<Read> {
    const { file } = options;
    const said = programIn(answer);
    const tree = parse(source(said, file));
    if (!tree.items.some(({ kind }) => kind === "block")) return { source: said, program: null, problems: [NO_BLOCK] };
    const isSound = !tree.diagnostics.some(({ severity }) => severity === "error");
    const text = isSound ? format(tree) : said;
    try {
        const program = await compile({ source: text, file }, options);
        const problems = problemsOf(program.program, program.plans);
        return { source: text, program: problems.length === 0 ? program : null, problems: problems.slice(0, MOST_PROBLEMS) };
    } catch (error) {
        if (error instanceof LoadError) return { source: text, program: null, problems: told(error.diagnostics, text, file) };
        // It cannot be one: it names a secret, it is too long.
        if (!(error instanceof RemitError)) throw error;
        return { source: text, program: null, problems: [error.failure.message] };
    }
}

/** The last block that is tagged as one, else the last block, else all of it. */
function programIn(answer: string): string {
    const fences = fencesOf(answer);
    return (fences.findLast(({ tag }) => tag === "remit") ?? fences.at(-1))?.text ?? answer;
}

function told(diagnostics: readonly Diagnostic[], text: string, file: string): string[] {
    const errors = diagnostics.filter(({ severity }) => severity === "error").slice(0, MOST_PROBLEMS);
    return errors.map((one) => renderDiagnostic(one, source(text, file)));
}
