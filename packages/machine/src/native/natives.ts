/**
 * The table of native operations.
 *
 * Boundary: names them, nothing else. What an operation is, and what it is given, is `state/ops.ts`.
 */
import { clock } from "./clock.ts";
import { define } from "./define.ts";
import { delegate } from "./delegate.ts";
import { describe } from "../state/descriptions.ts";
import { endorse } from "./endorse.ts";
import { ask } from "../state/gate.ts";
import { generate } from "./generate.ts";
import { counts } from "../state/lent-counts.ts";
import type { Natives, Through } from "../state/ops.ts";
import { parallel } from "./parallel.ts";
import { plan } from "./plan.ts";
import { stage } from "./stage.ts";
import { askMemory, askTool, effect } from "./tools.ts";
import { handover, send } from "./yield.ts";

const through: Through = {
    use: (m, call, use) => (use.c?.kind === "memory" ? askMemory(m, call, use) : askTool(m, call, use)),
    send,
};

export const NATIVES: Natives = {
    effect,
    ask,
    describe,
    counts,
    generate,
    define,
    handover,
    "call.value": through,
    parallel,
    plan,
    stage,
    clock,
    delegate,
    endorse,
};
