/**
 * What lets a failed run go on, as options of `remit resume`.
 *
 * Boundary: words. What the remedies are is the machine's.
 */
import type { Remedies } from "@remit/machine";
import { shellWord } from "../process/word.ts";

/** Each is enough by itself, as far as can be told; none where nothing lets the run go on. */
export function remedyOptions({ raise, retry, answer }: Remedies): string[] {
    const bounds = raise.map(({ account, meter, amount }) => {
        const of = account === "run" ? "" : `${account}:`;
        return `--raise ${shellWord(`${of}${meter}=${larger(meter, amount)}`)}`;
    });
    const [effect] = answer;
    return [
        ...(bounds.length === 0 ? [] : [bounds.join(" ")]),
        ...(retry ? ["--retry"] : []),
        ...(effect === undefined ? [] : [`--answer ${shellWord(`${effect.path}=VALUE`)}`]),
    ];
}

/** Twice the amount, for example. */
function larger(meter: string, amount: number): string {
    const twice = 2 * amount;
    if (meter !== "time") return String(twice);
    if (twice % 60_000 === 0) return `${twice / 60_000}min`;
    return twice % 1000 === 0 ? `${twice / 1000}s` : `${twice}ms`;
}
