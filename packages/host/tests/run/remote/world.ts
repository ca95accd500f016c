/** A world of echoes, in this process or in another: the same answers. */
import type { Effect, Outcome } from "@remit/machine";
import { echo } from "../../../../machine/tests/run/forms.ts";
import type { Host, PerformIO } from "../../../src/run/host.ts";

export const world: Host = {
    perform: async (effect: Effect, io: PerformIO): Promise<Outcome> => {
        io.emit({ type: "text", delta: effect.path });
        // A request of its own for some: it crosses, and its answer comes back.
        if (effect.kind === "tool" && io.parent === undefined && effect.path.length % 3 === 0) {
            const inner = await io.child({ ...effect, path: `${effect.path}/elicit#0`, kind: "input", request: { name: "x" } });
            if (!inner.ok) return inner;
        }
        return echo(effect);
    },
};

export const worldOf = (): Host => world;
