/**
 * What a person reads of an effect and of a run in Temporal's own interface: one line.
 *
 * Boundary: text of names that the program wrote; never an argument, a value or a prompt.
 */
import { shownUse } from "@remit/language";
import type { Effect, ModelTurn, ToolRequest } from "@remit/machine";

/** Temporal takes 400 bytes. */
const MOST = 200;

export function summaryOf({ kind, request, path }: Effect): string {
    const what = named(kind, request);
    const text = `${what} · ${path}`;
    return text.length <= MOST ? text : `${what.slice(0, MOST / 2)} · …${path.slice(path.length - MOST / 2)}`;
}

function named(kind: Effect["kind"], request: Effect["request"]): string {
    switch (kind) {
        case "tool": {
            const { op, tool, method } = request as unknown as ToolRequest;
            return op === "describe" ? `describe ${tool}` : method === undefined ? tool : shownUse(`${tool}.${method}`);
        }
        case "model": {
            const { op, model } = request as unknown as ModelTurn;
            return (op as string) === "count" ? `count tokens for ${model.name}` : `ask model ${model.name}`;
        }
        case "agent":
            return `agent ${(request as { readonly agent: { readonly name: string } }).agent.name}`;
        case "recall":
        case "remember":
            return `${kind} ${(request as { readonly memory: string }).memory}`;
        case "ask":
            return "question to a person";
        case "input":
            return `input ${(request as { readonly name: string }).name}`;
        default:
            return kind;
    }
}
