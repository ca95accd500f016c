/**
 * Arguments of stages as forms, and as trees again: names of things beside literals and times.
 *
 * Boundary: as `lower.ts` and `raise.ts`: says nothing about mistakes. An argument that is neither a literal nor a name becomes none.
 */
import { literalOf } from "../contract/from-tree.ts";
import type * as tree from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import type { At, StageArgForm, StageNameForm, StageValueForm } from "./form.ts";
import { at, ident, name, number, raiseJson } from "./nodes.ts";

type Places = (range: Range) => At;

export function lowerArg(arg: tree.StageArg, places: Places): StageArgForm {
    const { duration } = arg;
    const value: StageValueForm =
        duration === undefined ? lowerValue(arg.value, places) : { kind: "literal", value: duration.milliseconds, text: duration.text };
    return arg.name === undefined ? { value } : { name: arg.name.text, value };
}

function lowerValue(value: tree.Expr, places: Places): StageValueForm {
    const ref = refOf(value, places);
    if (ref !== undefined) return { kind: "ref", ...ref };
    if (value.kind === "list" && value.items.length > 0) {
        const items = value.items.map((item) => (item.kind === "spread" ? undefined : refOf(item, places)));
        if (items.every((item) => item !== undefined)) return { kind: "refs", items };
    }
    return { kind: "literal", value: literalOf(value) ?? null };
}

/** The name that an argument is, if it is one. */
function refOf(value: tree.Expr, places: Places): StageNameForm | undefined {
    if (value.kind === "paren") return refOf(value.value, places);
    if (value.kind === "ident") return { name: value.name, at: places(value.range) };
    if (value.kind !== "member" || value.object.kind !== "ident") return undefined;
    return { name: value.object.name, method: value.name.text, at: places(value.range) };
}

export function raiseArg({ name: called, value }: StageArgForm): tree.StageArg {
    const arg = { ...raiseValue(value), ...at };
    return called === undefined ? arg : { name: name(called), ...arg };
}

function raiseValue(value: StageValueForm): Pick<tree.StageArg, "value" | "duration"> {
    if (value.kind === "ref") return { value: raiseRef(value) };
    if (value.kind === "refs") return { value: { kind: "list", items: value.items.map(raiseRef), ...at } };
    const { text: written, value: milliseconds } = value;
    if (written === undefined || typeof milliseconds !== "number") return { value: raiseJson(value.value) };
    return { value: number(milliseconds, written), duration: { text: written, milliseconds, ...at } };
}

function raiseRef({ name: called, method }: StageNameForm): tree.Expr {
    if (method === undefined) return ident(called);
    return { kind: "member", object: ident(called), name: name(method), safe: false, ...at };
}
