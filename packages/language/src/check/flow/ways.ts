/**
 * Which variables pieces of code whose ways meet again behind them may assign, and whether a way leads out of them.
 *
 * Boundary: statements, for strict code; a part of what the machine finds (`waysOf` and `changesIn` in its `compile/`), and nothing that it does not.
 */
import type { Block } from "../../syntax/tree.ts";

export interface Ways {
    /** Variables that are given a value. */
    readonly assigned: Set<string>;
    /** Variables through which a list or object is changed. */
    readonly changed: Set<string>;
    /** `return`, or `break` and `continue` of a loop around. */
    leaves: boolean;
}

export function waysOf(blocks: readonly Block[]): Ways {
    const ways: Ways = { assigned: new Set(), changed: new Set(), leaves: false };
    for (const block of blocks) look(block, ways, false);
    return ways;
}

function look(block: Block, ways: Ways, inLoop: boolean): void {
    for (const s of block.statements)
        switch (s.kind) {
            case "assign":
                if (s.target.kind === "ident") ways.assigned.add(s.target.name);
                else if ((s.target.kind === "member" || s.target.kind === "index") && s.target.object.kind === "ident")
                    ways.changed.add(s.target.object.name);
                break;
            case "expr":
                if (s.value.kind === "call" && s.value.callee.kind === "member" && s.value.callee.name.text === "add")
                    if (s.value.callee.object.kind === "ident") ways.changed.add(s.value.callee.object.name);
                break;
            case "return":
                ways.leaves = true;
                break;
            case "break":
            case "continue":
                ways.leaves ||= !inLoop;
                break;
            case "if":
                for (const { body } of s.branches) look(body, ways, inLoop);
                if (s.otherwise !== undefined) look(s.otherwise, ways, inLoop);
                break;
            case "for":
            case "loop":
            case "repeat":
                look(s.body, ways, true);
                break;
            case "try":
                look(s.body, ways, inLoop);
                look(s.handler, ways, inLoop);
                break;
            case "delegate":
            case "spend":
                look(s.body, ways, inLoop);
                break;
            default:
                break;
        }
}
