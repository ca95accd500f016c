/**
 * What every engine runs: the programs it is given as data and texts that it reads itself, one line of JSON for each.
 *
 * Boundary: bundled by `engines.test.ts`; asks for nothing but `console.log`, so that an engine without a single permission can run it.
 */
import { check, loadProgram, lower, type Program } from "@remit/language";
import { canonicalLedger } from "@remit/machine";
import { type Ran, runAll } from "../../packages/machine/tests/run/forms.ts";

interface Given {
    readonly programs: readonly Program[];
    readonly texts: readonly string[];
    /** How often the first text is run besides. */
    readonly times: number;
}

const { programs, texts, times } = (globalThis as unknown as { readonly GIVEN: Given }).GIVEN;

function formOf(text: string): Program {
    const checked = check(loadProgram("main.remit", { read: () => text, resolve: () => null }));
    const wrong = checked.diagnostics.filter((one) => one.severity === "error");
    if (wrong.length > 0) throw new Error(`${JSON.stringify(wrong)}\n${text}`);
    return lower(checked);
}

/** A random program may build values that are huge as JSON. */
const ran = (program: Program): Ran => runAll(program, { options: { limits: { bytes: 3_000_000 } } });
const say = (what: unknown): void => console.log(JSON.stringify(what));
const tell = ({ steps, result, events }: Ran): void => say([steps, result, canonicalLedger(events)]);

for (const program of programs) tell(ran(program));
const forms = texts.map(formOf);
for (const form of forms) tell(ran(form));
say([...new Set(Array.from({ length: times }, () => ran(forms[0] as Program).steps))]);
