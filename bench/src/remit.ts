/**
 * Remit's side of the benchmarks: the packages' own entry points, nothing special.
 */
import { check, loadProgram, lower, type Program } from "@remit/language";
import { type Compiled, compileProgram, Machine } from "@remit/machine";

/** Checked and compiled; throws where the text has errors. */
export function formOf(text: string): Program {
    const checked = check(loadProgram("bench.remit", { read: (file) => (file === "bench.remit" ? text : null), resolve: () => null }));
    const errors = checked.diagnostics.filter((one) => one.severity === "error");
    if (errors.length > 0) throw new Error(errors.map((one) => `${one.code}: ${one.message}`).join("\n"));
    return lower(checked);
}

export function compileText(text: string): Compiled {
    return compileProgram(formOf(text));
}

/** Runs a program that performs no effect. */
export function runPure(compiled: Compiled, input: number, inputLabels: readonly string[]): unknown {
    const machine = Machine.start(compiled, { run: "bench", programHash: "bench", input, inputLabels });
    for (;;) {
        const advanced = machine.advance();
        if (advanced.state !== "done") continue;
        if (!advanced.result?.ok) throw new Error(JSON.stringify(advanced.result));
        return advanced.result.value;
    }
}
