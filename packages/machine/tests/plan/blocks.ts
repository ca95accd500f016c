/** Blocks made by hand, and programs around them. */
import type { BlockForm, FlowForm, FuncForm, ImportForm, Json, Program, StageArgForm, StageForm } from "@remit/language";
import { TOOL } from "../run/forms.ts";

export const stage = (call: string, ...args: (Json | StageArgForm)[]): StageForm => {
    const [name = "", method] = call.split(".");
    return {
        kind: "stage",
        call: name,
        ...(method === undefined ? {} : { method }),
        args: args.map((arg) =>
            typeof arg === "object" && arg !== null && "value" in arg
                ? (arg as StageArgForm)
                : { value: { kind: "literal", value: arg as Json } },
        ),
    };
};
export const ref = (name: string): StageArgForm => ({ value: { kind: "ref", name } });
export const pipe = (...stages: FlowForm[]): FlowForm => ({ kind: "pipe", stages });
export const fan = (...branches: FlowForm[]): FlowForm => ({ kind: "fan", branches });
export const block = (body: FlowForm, more: Partial<BlockForm> = {}): BlockForm => ({
    kind: "block",
    backend: "memory",
    mode: "static",
    body,
    ...more,
});

export function blocks(list: readonly BlockForm[], funcs: readonly FuncForm[], imports: readonly ImportForm[] = [TOOL]): Program {
    return {
        format: "remit-program/1",
        files: [{ file: "main.remit", imports, shapes: [], funcs, agents: [], blocks: list }],
        entry: { file: 0, func: "__blocks" },
    };
}
