/** `remit errors`: what a kind of failure, or a code of `remit check`, means and what to do about it. */
import { CODES, type Code, didYouMean } from "@remit/language";
import { FAILURE_KINDS, type FailureKind } from "@remit/machine";
import { EXIT, paint, plain, printLines, table, UsageError } from "../io.ts";
import { ABOUT_FAILURES, aboutFailure } from "../of-failures.ts";

export default async function errors(args: string[]): Promise<number> {
    const [name] = args;
    const kinds = Object.keys(FAILURE_KINDS) as FailureKind[];
    if (name === undefined) {
        printLines(
            table(
                kinds.map((kind) => [kind, ABOUT_FAILURES[kind].what]),
                ["KIND", "WHAT IT SAYS"],
            ),
        );
        printLines("\nremit errors KIND says what leads to it and what to do; remit errors CODE the same of what remit check finds.");
        return EXIT.ok;
    }
    const colour = paint(process.stdout);
    const kind = kinds.find((one) => one === name.toLowerCase());
    if (kind !== undefined) {
        printLines(`${colour("bold", kind)}: ${aboutFailure(kind)}`);
        return EXIT.ok;
    }
    const code = name.toUpperCase();
    if (Object.hasOwn(CODES, code)) {
        const { severity, summary, hint } = CODES[code as Code];
        printLines(`${colour("bold", code)} (${severity}): ${summary}${hint === undefined ? "" : `\n\nWhat to do: ${hint}`}`);
        return EXIT.ok;
    }
    throw new UsageError(
        `there is no kind of failure and no code ${plain(name)}`,
        didYouMean(name, [...kinds, ...Object.keys(CODES)]) ?? "remit errors lists the kinds",
    );
}
