/**
 * A no to a use that `act`, `reason` or `agent` asked about, which they tell as they tell every failure.
 *
 * Boundary: what the call gives then; the question and its answer are `gate.ts`.
 */
import type { Instruction } from "../compile/instructions.ts";
import type { Fail } from "../effect/failure.ts";
import { join, labelOf } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import type { Frame } from "../state/fiber.ts";
import type { Ops } from "../state/ops.ts";
import { argsOf, failed } from "./act.ts";
import { agentConfig, ENVELOPES } from "./agent-config.ts";
import { errorOf } from "./generate.ts";

/** What the call that stands at a frame gives; null where it fails. */
export function denialOf(m: Ops, frame: Frame, fail: Fail): Value | null {
    const { detail, site } = frame.form.code[frame.pc] as Instruction;
    if (detail?.kind !== "handover" || !fail.isTold) return null;
    const d = detail;
    // It names what was refused, which is what the call was given as a name.
    if (d.what === "act") return join(m.run, failed(m, fail), labelOf(argsOf(m, frame, d).named));
    if (d.what === "reason") return errorOf(m, fail);
    if (d.what !== "agent") return null;
    const { onError, labels = 0 } = agentConfig(m, d.args[1]?.code(frame.locals) ?? null, d, site);
    if (onError === "fail") return null;
    const { kind, message } = fail;
    const value = m.fromJson(ENVELOPES.error({ kind, message, reason: kind, tries: 0, trajectory: null }));
    return join(m.run, value, m.run.labels.union(fail.labels, labels));
}
