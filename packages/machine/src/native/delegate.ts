/**
 * `delegate … to`: a block in which an agent has more than its remit.
 *
 * Boundary: the instruction. What is given, and that it ends with the block, is `delegations.ts`.
 */

import type { DelegateDetail } from "../compile/instructions.ts";
import type { Begins } from "../state/ops.ts";
import { delegated } from "../state/delegations.ts";
import { isStrictlyOwn } from "../state/agent-code.ts";
import { mayLetDefine } from "./let-define.ts";

export const delegate: Begins<DelegateDetail> = {
    begin(m, call, d) {
        const { frame, I } = call;
        if (d.refs === null && d.to !== null) mayLetDefine(m, call, d.to, { strict: isStrictlyOwn(m, frame) });
        frame.locals[I.slot] = delegated(m, call, d);
        frame.pc++;
        return true;
    },
};
