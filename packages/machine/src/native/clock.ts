/**
 * `time.now()`: what time it is.
 *
 * Boundary: the request and its outcome. A host has the clock.
 */
import type { ClockDetail } from "../compile/instructions.ts";
import type { Begins } from "../state/ops.ts";

export const clock: Begins<ClockDetail> = {
    begin(m, { fiber, frame, path, I }) {
        m.countCall();
        const labels = m.run.labels.origins(frame.placeLabel);
        m.raise(fiber, { kind: "clock", path, site: I.site, request: {}, labels, origin: "user" });
        frame.native = { kind: "effect", path };
        return false;
    },
};
