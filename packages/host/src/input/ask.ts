/**
 * Asks a person for a missing field until what was typed fits its contract.
 *
 * Boundary: no terminal here: a face of the program (a command line, a server) brings what asks for one line.
 */
import type { Json, Shapes } from "@remit/language";
import type { InputRequest } from "@remit/machine";
import { expectedOf, readAnswer } from "./answer.ts";

/** Asks for one line. Null: the person gave up. `again` says what was wrong with the line before. */
export type LineAsker = (
    request: InputRequest,
    about: { readonly signal: AbortSignal; readonly expected: string; readonly again?: string },
) => Promise<string | null>;

/** How often a person is asked for one field. */
const TRIES = 5;

/** The value of a missing field, asked for until it fits. Null: none was given. */
export async function askField(
    request: InputRequest,
    ask: LineAsker,
    { signal, shapes = {} }: { readonly signal: AbortSignal; readonly shapes?: Shapes },
): Promise<{ readonly value: Json } | null> {
    const expected = expectedOf(request.contract, shapes);
    let again: string | undefined;
    for (let nth = 0; nth < TRIES; nth++) {
        const line = await ask(request, { signal, expected, ...(again === undefined ? {} : { again }) });
        if (line === null) return null;
        const read = readAnswer(line, request.contract, shapes);
        if (read.ok) return { value: read.value };
        again = read.message;
    }
    return null;
}
