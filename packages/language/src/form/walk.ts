/**
 * Walking program forms: every statement, expression, entry and spread once, parents first, in the order of the table of nodes.
 *
 * Boundary: structure only; what a node means is decided by the caller that walks.
 */
import type { EntryForm, ExprForm, FlowForm, SpreadForm, StageForm, StmtForm } from "./form.ts";
import { NODE_ROWS, RECORD_ROWS, type RecordName, type Rule } from "./table.ts";

export type FormNode = ExprForm | StmtForm | SpreadForm | EntryForm;
export type FormPart = ExprForm | readonly StmtForm[] | undefined;

/** A key under which nodes stand; `inside` a record, under these keys of it. */
interface Place {
    readonly key: string;
    readonly inside: readonly Place[] | null;
}

const CODE: ReadonlySet<string> = new Set(["statement", "expression", "item", "entry"]);

const placesOf = (name: RecordName): Place[] => placesIn(RECORD_ROWS.get(name)?.rows ?? []);

function placesIn(rows: readonly { readonly key: string; readonly rule: Rule }[]): Place[] {
    return rows.flatMap(({ key, rule }): Place[] => {
        const of = rule.rule === "list" ? rule.of : rule;
        if (of.rule === "node") return CODE.has(of.of) ? [{ key, inside: null }] : [];
        // The body of a function that is defined is a function of its own.
        const inside = of.rule === "record" && of.of !== "Func" ? placesOf(of.of) : [];
        return inside.length === 0 ? [] : [{ key, inside }];
    });
}

const PLACES: ReadonlyMap<string, readonly Place[]> = new Map([...NODE_ROWS].map(([kind, { rows }]) => [kind, placesIn(rows)]));

/** Ends where `visit` gives true; gives whether it did. */
export function walk(part: FormPart | StmtForm, visit: (node: FormNode) => unknown): boolean {
    if (part === undefined) return false;
    return isBlock(part) ? walkAll(part, null, visit) : walkNode(part, visit);
}

function walkNode(node: FormNode, visit: (node: FormNode) => unknown): boolean {
    if (visit(node) === true) return true;
    const places = PLACES.get(node.kind) as readonly Place[];
    return places.length !== 0 && walkIn(node, places, visit);
}

function walkIn(from: object, places: readonly Place[], visit: (node: FormNode) => unknown): boolean {
    for (let i = 0; i < places.length; i++) {
        const { key, inside } = places[i] as Place;
        const held = (from as { readonly [key: string]: FormNode | readonly FormNode[] | undefined })[key];
        if (held === undefined) continue;
        if (Array.isArray(held) ? walkAll(held, inside, visit) : walkNode(held as FormNode, visit)) return true;
    }
    return false;
}

function walkAll(list: readonly FormNode[], inside: Place["inside"], visit: (node: FormNode) => unknown): boolean {
    for (let i = 0; i < list.length; i++) {
        const one = list[i] as FormNode;
        if (inside === null ? walkNode(one, visit) : walkIn(one, inside, visit)) return true;
    }
    return false;
}

export function isBlock(part: FormNode | readonly StmtForm[]): part is readonly StmtForm[] {
    return Array.isArray(part);
}

/** The stages of a block, those of blocks in it too, in the order of the source. */
export function stagesOf(flow: FlowForm): StageForm[] {
    switch (flow.kind) {
        case "pipe":
            return flow.stages.flatMap(stagesOf);
        case "fan":
            return flow.branches.flatMap(stagesOf);
        case "block":
            return stagesOf(flow.body);
        default:
            return [flow];
    }
}
