/** Random bodies of blocks over given stages: pipes, fan-outs, and blocks in blocks, static and dynamic. */
import type { FlowForm } from "@remit/language";
import fc from "fast-check";
import { block, fan, pipe } from "./blocks.ts";

export function flowsOf(stages: readonly FlowForm[]): fc.Arbitrary<FlowForm> {
    return fc.letrec<{ flow: FlowForm }>((tie) => ({
        flow: fc.oneof(
            { maxDepth: 4 },
            fc.constantFrom(...stages),
            fc.array(tie("flow"), { minLength: 2, maxLength: 3 }).map((one) => pipe(...one)),
            fc.array(tie("flow"), { minLength: 2, maxLength: 3 }).map((branches) => fan(...branches)),
            tie("flow").map((body) => block(body)),
            tie("flow").map((body) => block(body, { mode: "dynamic" })),
        ),
    })).flow;
}
