/**
 * Whether a write that differs was allowed in writing. It looks at clauses as they stand in the program, and shares nothing with the machine.
 *
 * Boundary: from the clauses of a program and a difference that the recorder found to one word.
 *
 * - `written`: a clause says of that argument, or of that choice, that others' words may be in it.
 * - `unsaid`: no clause speaks of it, and no policy speaks of what no clause speaks of.
 * - `hole`: what is written does not let it pass, and it passed.
 */
import { isDeepStrictEqual } from "node:util";
import type { ClauseForm, Program } from "../../../packages/language/src/index.ts";
import { clausesOf } from "../record.ts";
import type { Difference, Write } from "./recorder.ts";

export type Verdict = "written" | "unsaid" | "hole";

export function verdictOf(
    { happened, reordered }: Difference,
    clean: readonly Write[],
    rules: Program | null,
    untrusted: string | null,
): Verdict {
    if (rules === null) return "unsaid";
    const verdicts = happened.flatMap(({ write, instead }): Verdict[] => {
        if (instead === null) return [ofChoice(write, rules, untrusted)];
        return differing(write, instead).map((arg) => ofArgument(write, arg, rules, untrusted));
    });
    if (reordered) verdicts.push(...clean.map((write) => ofChoice(write, rules, untrusted)));
    return (["hole", "unsaid", "written"] as const).find((one) => verdicts.includes(one)) ?? "written";
}

/** Names of arguments in which two calls differ. */
export function differing(write: Write, instead: Write): string[] {
    return [...new Set([...Object.keys(write.args), ...Object.keys(instead.args)])].filter(
        (arg) => !isDeepStrictEqual(write.args[arg], instead.args[arg]),
    );
}

function ofChoice({ tool }: Write, rules: Program, untrusted: string | null): Verdict {
    const clauses = ofMethod(tool, rules).filter((one) => one.kind === "choice");
    if (clauses.length === 0) return untrusted === null ? "unsaid" : "hole";
    return clauses.every((one) => one.any === true || (one.from ?? []).some(elsewhere)) ? "written" : "hole";
}

function ofArgument({ tool }: Write, arg: string, rules: Program, untrusted: string | null): Verdict {
    const clauses = ofMethod(tool, rules).filter((one) => one.kind === "arg" && one.name === arg);
    if (clauses.length === 0) return untrusted === null ? "unsaid" : "hole";
    const opens = (one: ClauseForm): boolean =>
        one.kind === "arg" && (one.addresses === true || one.plain === true || one.among === true || (one.from ?? []).some(elsewhere));
    return clauses.every(opens) ? "written" : "hole";
}

const elsewhere = (origin: string): boolean => origin !== "trusted" && origin !== "user";

function ofMethod(call: string, rules: Program): ClauseForm[] {
    const [tool = "", method] = call.split(".");
    return clausesOf(rules, tool).filter((one) => !("method" in one) || one.method === undefined || one.method === method);
}
