/**
 * A part of a program that runs elsewhere: the request of the effect `run`.
 *
 * Boundary: the shape. Who runs it is the host's; what of a program runs elsewhere is `native/stage.ts`.
 */
import { count, json, list, named, number, one, says, shape, type Told, text, tuple } from "../shape/build.ts";

/** A value that passes between a run and a part of it. */
export const GIVEN = shape({ json, origins: list(text) }, {});

/** How often what is counted was used: by counter, or that with the value of its argument. */
export const USES = list(tuple(text, count));
export type UsesDoc = Told<typeof USES>;

/** Rows of tables and values of fields that came, each as the run keeps it, by table or field. */
export const ROWS = list(tuple(text, list(text)));
export type RowsDoc = Told<typeof ROWS>;

export const PART_USED = {
    uses: says(USES, "of a part of the program that ran elsewhere: what it used of what is counted"),
    met: says(
        list(text),
        "of a part of the program that ran elsewhere: origins of what it computed with, which may have used up what is counted",
    ),
    rows: says(
        ROWS,
        "of a part of the program that ran elsewhere: rows of tables, and values of fields, that clauses name and that came in it; absent: it is not known",
    ),
};

export const RUN_REQUEST = shape(
    {
        backend: one(["memory", "temporal"]),
        run: says(text, "id of the run to be: the same for the same block of the same run"),
        program: says(text, "hash of the program form"),
        entry: shape({ file: count, func: text }, {}),
        path: says(text, "of the entry"),
        input: GIVEN,
        bindings: says(named(GIVEN), "what earlier blocks with a name gave"),
        limits: says(
            shape({}, { tokens: number, usd: number, calls: number, turns: number, steps: number, bytes: number }),
            "what it may use",
        ),
    },
    {
        name: says(text, "of the block"),
        under: says(list(text), "origins of what decided that the block begins"),
        evidence: says(GIVEN, "input of the run that is no part, where `among` clauses name it"),
        met: says(list(text), "origins of what was computed with before: it may have used up what is counted"),
        rows: says(ROWS, "rows of tables, and values of fields, that clauses name and that came before; absent: it is not known"),
        uses: says(USES, "how often what is counted was used before; absent: nothing is counted, or it is not known"),
    },
);
/** A part of the program that runs elsewhere, as a run of its own. Outcome value: what it gives; `bindings`: what named blocks in it gave; `uses`: what it used of what is counted. */
export type RunRequest = Told<typeof RUN_REQUEST>;
