/**
 * `mock:`: answers every contract with its zero value, and free text with none, as AgentScript's mock does. Touches nothing.
 */
import { type Contract, zeroValue } from "@remit/language";
import type { ModelTurn } from "@remit/machine";
import { type Engine, failed, type Turned, type TurnIO } from "./engine.ts";

export function mockEngine(): Engine {
    const uri = "mock:";
    return {
        uri,
        turn: async (request: ModelTurn, io: TurnIO): Promise<Turned> => {
            const value = request.contract === undefined ? null : zeroValue(request.contract as Contract, request.shapes ?? {});
            if (value === undefined) return failed("model", `${uri} has no zero value that fits the contract of ${request.label}`);
            const text = request.contract === undefined ? "" : JSON.stringify(value);
            if (request.stream && text !== "") io.emit({ type: "text", delta: text });
            return {
                ok: true,
                raw: { text, value, finish: "stop", model: uri, constrained: true, usage: { input: 0, output: 0, usd: 0 } },
            };
        },
    };
}
