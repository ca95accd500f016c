/**
 * A no to a use that `act`, `reason` or `agent` asked about, which they tell as they tell every failure.
 *
 * Boundary: what the call gives then; the question and its answer are `gate.ts`.
 */
import type { Instruction } from "../compile/instructions.ts";
import type { Fail } from "../failure.ts";
import { join } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import { failed } from "./act.ts";
import { agentConfig, ENVELOPES } from "./agent-config.ts";
import type { Frame } from "./fiber.ts";
import type { Machine } from "./machine.ts";
import { errorOf } from "./reason.ts";

/** What the call that stands at a frame gives; null where it fails. */
export function refusedAs(m: Machine, frame: Frame, fail: Fail): Value | null {
    const { detail, site } = frame.form.code[frame.pc] as Instruction;
    if (detail?.kind !== "handover" || !fail.isTold) return null;
    const d = detail;
    if (d.what === "act") return failed(m, fail);
    if (d.what === "reason") return errorOf(m, fail);
    if (d.what !== "agent" || agentConfig(m, d.args[1]?.code(frame.locals) ?? null, d, site).onError === "fail") return null;
    const { kind, message } = fail;
    return join(m.run, m.fromJson(ENVELOPES.error({ kind, message, reason: kind, tries: 0, trajectory: null })), fail.labels);
}
