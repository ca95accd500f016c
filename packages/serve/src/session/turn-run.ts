/**
 * How a turn becomes a run, and what the run asks and tells: in this process, or carried out elsewhere.
 *
 * Boundary: from a turn to the result of its run. The order of turns, and how one ends, is the session's.
 *
 * TRUN1: wherever the run is conducted, its effects are performed in this process, with the session's own tools, and its questions go to the session's
 *     people.
 * TRUN2: a run that is over when its turn goes on is the turn's result: the server was killed between the two, or a person resumed the run.
 * TRUN3: a cancel is kept before it is acknowledged: where the server is killed before the run ends, the next one does not go on with the turn.
 */
import type { Json } from "@remit/language";
import type { Limits } from "@remit/machine";
import {
    askField,
    type Handlers,
    type HostTool,
    infoOf,
    type Ledger,
    type LedgerError,
    type LineAsker,
    RemitError,
    type RemitProgram,
    resultElsewhere,
    type RunCarrier,
    type RunInfo,
    type RunOptions,
    type RunResult,
} from "@remit/host";
import type { Picture } from "../wire/messages.ts";
import type { At } from "../watch/stalls.ts";
import type { Brain, Given } from "./brain.ts";
import { isOver } from "./ends.ts";
import type { People } from "./people.ts";
import { given } from "./pictures.ts";
import type { Turn } from "./state.ts";
import type { Teller } from "./teller.ts";

export interface TurnRunsSetup {
    readonly session: string;
    readonly ledger: Ledger;
    readonly brain: Brain;
    /** Null: this process. */
    readonly carrier: RunCarrier | null;
    readonly limits: Limits;
    /** How long a question waits for an answer, milliseconds. */
    readonly ask: number;
    readonly people: People;
    readonly tools: { readonly [name: string]: () => HostTool };
    /** Where the session may reach. */
    reach(): Given["reach"];
    /** Of the session. */
    model(): string | undefined;
    pictures(turn: string): Promise<Picture[]>;
    /** The run waits for the ledger; null: it goes on. */
    stalled(at: At, why: LedgerError | null): void;
    /** Kept before anything of the run begins. */
    started(turn: Turn, run: string): Promise<void>;
}

/** How a turn is ended before its time. */
export interface Stops {
    /** It is cancelled. */
    readonly signal: AbortSignal;
    /** The server ends, and the next one goes on with it. */
    readonly leave: AbortSignal;
}

export class TurnRuns {
    readonly #setup: TurnRunsSetup;
    readonly #programs = new Map<string, Promise<RemitProgram>>();

    constructor(setup: TurnRunsSetup) {
        this.#setup = setup;
    }

    async result(turn: Turn, teller: Teller, stops: Stops): Promise<RunResult> {
        const { session, ledger, brain, carrier, tools } = this.#setup;
        const run = turn.run ?? `${session}.${turn.id}`;
        const before = turn.status === "queued" ? null : await infoOf(ledger.store, run);
        // TRUN2.
        if (before !== null && isOver(before)) return resultElsewhere(ledger.store, run, null);
        const program = await this.#program(turn.model ?? this.#setup.model(), brain.identity(turn.by));
        const on = this.#handlers({ turn, run }, stops.signal, teller);
        if (turn.status === "queued") await this.#setup.started(turn, run);
        const isNew = before === null;
        if (carrier === null) {
            if (before?.live === true && before.by !== undefined) throw elsewhere(before);
            const signal = AbortSignal.any([stops.signal, stops.leave]);
            const model = turn.model === undefined ? {} : { model: turn.model };
            const handle = isNew
                ? program.run(await this.#input(turn), { ...this.#options(turn), id: run, signal, on })
                : await ledger.resume<Json>(run, { on, signal, park: true, tools, ...model });
            return handle.result;
        }
        const begins = isNew ? { program, kept: program.kept(await this.#input(turn), this.#options(turn)) } : null;
        const { part } = on;
        const of = { tools, ...(part === undefined ? {} : { part }), recorded: (path: string) => teller.recorded(path) };
        return carrier.carryOut({ run, begins, on, of, ...stops });
    }

    async close(): Promise<void> {
        await Promise.all([...this.#programs.values()].map(async (program) => (await program).close()));
    }

    async #input(turn: Turn): Promise<Json> {
        const images = turn.images === undefined ? null : given(await this.#setup.pictures(turn.id));
        return turn.input ?? { task: turn.text ?? "", ...(images === null ? {} : { images }) };
    }

    #options({ inputOrigins }: Turn): RunOptions {
        const { limits, ask } = this.#setup;
        return { limits, asks: { park: true, expires: ask }, ...(inputOrigins === undefined ? {} : { inputOrigins }) };
    }

    #handlers({ turn, run }: { readonly turn: Turn; readonly run: string }, signal: AbortSignal, teller: Teller): Handlers {
        const { people, stalled } = this.#setup;
        let path = "";
        return {
            ask: (request, about) => people.approve(turn, request, about.ask, about.signal),
            atServer: true,
            input: async (request, about) => {
                const what = request.description ? `${request.name} (${request.description})` : request.name;
                const line: LineAsker = async (_request, { signal, expected, again }) => {
                    const question = `${again === undefined ? "" : `${again}\n`}${what}${expected === "text" ? "" : `: ${expected}`}`;
                    const answer = (await people.question(turn, question, signal))?.answer ?? null;
                    return typeof answer === "string" || answer === null ? answer : JSON.stringify(answer);
                };
                return (await askField(request, line, about))?.value ?? null;
            },
            unknown: (effect, withdrawn) => people.unknown(turn, effect, withdrawn ?? signal),
            event: (event) => {
                ({ path } = event);
                teller.event(event);
            },
            stalled: (why) => stalled({ run, path }, why),
            kept: (path) => teller.recorded(path),
            part: (path, part) => teller.part(path, part),
        };
    }

    #program(model: string | undefined, as: string | undefined): Promise<RemitProgram> {
        const { brain, tools, reach } = this.#setup;
        const key = JSON.stringify([model, as]);
        const made = this.#programs.get(key) ?? brain.load(model, tools, { reach: reach(), as });
        this.#programs.set(key, made);
        made.catch(() => this.#programs.delete(key));
        return made;
    }
}

/** An execution on another backend has it, of a server that had turns carried out there. */
function elsewhere({ id, by }: RunInfo): RemitError {
    const hint = `start the server with the --on that it had before, or take the run: remit resume ${id} --on memory`;
    return new RemitError({ kind: "unreachable", message: `the run of the turn goes on elsewhere, with ${by}`, hint }, id);
}
