/**
 * What a debugger sees of a machine, without the secrets that are known now.
 *
 * Boundary: reading only; the run's own values stay as they are.
 */
import type { Json } from "@remit/language";
import type { Inspection, Machine } from "@remit/machine";
import type { Scrubber } from "../secret/scrub.ts";

/** Of values that are cut no beginning of a secret is left; requests and results are without secrets as they are. */
export function inspectedBy(machine: Machine, scrubber: Scrubber | null): Inspection {
    if (scrubber === null) return machine.inspect();
    const { pending, result, ...seen } = machine.inspect(scrubber.beginning);
    return {
        ...seen,
        pending: pending.map((one) => ({ ...one, request: scrubber.scrub(one.request) })),
        result: scrubber.scrub(result as unknown as Json) as unknown as Inspection["result"],
    };
}
