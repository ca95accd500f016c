/**
 * A unit that is none where a time has to stand: `3 days`, `90sec`.
 *
 * Boundary: the number and the unit have been read.
 */
import { fix } from "../../text/fix.ts";
import type { Range } from "../../text/source.ts";
import { timeMeant } from "../tokens.ts";
import { report, type State } from "./state.ts";

export function noUnitOfTime(p: State, digits: string, unit: string, range: Range): void {
    const meant = timeMeant(digits, unit);
    const hint = "The units are `ms`, `s`, `min` and `h`.";
    report(
        p,
        "INVALID_NUMBER",
        `\`${unit}\` is no unit of time.`,
        range,
        hint,
        meant === null ? [] : [fix(`Write \`${meant}\``, range, meant)],
    );
}
