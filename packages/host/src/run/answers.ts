/**
 * Answers that the caller of a resume brings along: for what the run waits for, and for what failed.
 *
 * Boundary: which places of a run take an answer, and whether one fits there. What follows from it is the conductor's and the machine's.
 *
 * BY5: an answer at a place that takes none, or one that does not fit, is refused before anything is done, with the places that take one.
 * BY6: a question that has a record is answered through it, as `Ledger.answer` does (AP1).
 */
import type { Json, Program } from "@remit/language";
import { type Answered, answeredOutcome, type Effect, type InputRequest, repeats, type Remedies, type UnknownAnswer } from "@remit/machine";
import { RemitError } from "../failure/error.ts";
import type { Ask, Asks } from "../ledger/asks.ts";
import { checkAnswer, shapesAt } from "../input/answer.ts";
import type { Continued } from "./resume.ts";

export interface GivenAnswers {
    /**
     * By the path at which they are given: the value of a missing field of the input, the chosen option of a question, or the value that an effect that
     * failed is taken to have given.
     */
    readonly answers?: { readonly [path: string]: Json };
    /** What became of effects whose outcome is unknown, by their paths. */
    readonly became?: { readonly [path: string]: UnknownAnswer };
}

/** What was given, by what it is for. */
export interface SortedAnswers {
    /** Outcomes of missing fields of the input. */
    readonly inputs: readonly Answered[];
    readonly questions: readonly { readonly ask: Ask; readonly option: string }[];
    /** Outcomes of effects that failed. */
    readonly failed: readonly Answered[];
}

type Place =
    | { readonly kind: "input" | "failed" | "unknown"; readonly path: string; readonly effect: Effect }
    | { readonly kind: "question"; readonly path: string; readonly ask: Ask };

/** Sorts what was given. Throws `RemitError` (BY5). */
export async function sortedAnswers(
    { info, machine, recovered }: Continued,
    program: Program,
    { answers = {}, became = {} }: GivenAnswers,
    asks: Asks,
): Promise<SortedAnswers> {
    const given = [...Object.keys(answers), ...Object.keys(became)];
    const sorted = { inputs: [] as Answered[], questions: [] as { ask: Ask; option: string }[], failed: [] as Answered[] };
    if (given.length === 0) return sorted;
    const places = placesOf(
        { machine, recovered },
        (await asks.list(info.id)).filter(({ state }) => state === "open"),
    );
    const wrong = (message: string, hint: string): RemitError => new RemitError({ kind: "value", message, hint }, info.id);
    for (const path of given) {
        const place = places.find((one) => one.path === path && (one.kind === "unknown") === Object.hasOwn(became, path));
        if (place === undefined) throw wrong(`run ${info.id} takes no such answer at '${path}'`, takesAnswers(places));
        const value = answers[path] as Json;
        if (place.kind === "question") {
            const { options } = place.ask.request;
            if (typeof value !== "string" || !options.includes(value))
                throw wrong(`${JSON.stringify(value)} is no answer to the question at ${path}`, `it takes ${options.join(", ")}`);
            sorted.questions.push({ ask: place.ask, option: value });
        } else if (place.kind === "input") {
            const checked = fits(place.effect, value, program);
            if (!checked.ok)
                throw wrong(`the answer at ${path} does not fit: ${checked.message}`, "give a value of that type, as JSON or as text");
            sorted.inputs.push({ path, outcome: { ok: true, value, origins: ["user"] } });
        } else if (place.kind === "failed") sorted.failed.push({ path, outcome: answeredOutcome(place.effect, value) });
    }
    return sorted;
}

function placesOf({ machine, recovered }: Pick<Continued, "machine" | "recovered">, open: readonly Ask[]): Place[] {
    const known = new Set([...recovered.outcomes, ...(recovered.answers ?? [])].map(({ path }) => path));
    const remedies: Remedies["answer"] = machine.remedies?.answer ?? [];
    return [
        ...remedies.map((effect): Place => ({ kind: "failed", path: effect.path, effect })),
        ...machine.pending.flatMap((effect): Place[] => {
            const { path, kind } = effect;
            if (known.has(path)) return [];
            if (kind === "input") return [{ kind, path, effect }];
            const isUnknown = recovered.begun.includes(path) && !repeats(effect) && !recovered.repeatable.includes(path);
            return isUnknown ? [{ kind: "unknown", path, effect }] : [];
        }),
        ...open.map((ask): Place => ({ kind: "question", path: ask.path, ask })),
    ];
}

const SHOWN: { readonly [K in Place["kind"]]: (place: Place) => string } = {
    input: () => "a missing input",
    failed: () => "an effect that failed",
    unknown: () => "an unknown outcome: done:JSON, again or give-up",
    question: (place) => `a question: ${place.kind === "question" ? place.ask.request.options.join(", ") : ""}`,
};

function takesAnswers(places: readonly Place[]): string {
    if (places.length === 0) return "it waits for no answer";
    return `it takes answers at ${places.map((place) => `${place.path} (${SHOWN[place.kind](place)})`).join("; ")}`;
}

function fits({ request, site }: Effect, value: Json, program: Program): ReturnType<typeof checkAnswer> {
    const { contract, name } = request as unknown as InputRequest;
    return checkAnswer(contract, value, shapesAt(program, site), name);
}
