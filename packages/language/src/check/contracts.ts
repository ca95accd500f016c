/**
 * Declared contracts: fields named once, types that exist, defaults that fit, shapes of which a value can exist.
 *
 * Boundary: contract nodes and the shapes of their file. Whether a value meets a contract is in `types.ts` (`misfit`).
 */
import { fix } from "../text/fix.ts";
import { nearest } from "../diagnostics/nearest.ts";
import { FOREIGN_TYPES } from "../syntax/foreign.ts";
import { isLiteral } from "../syntax/nodes.ts";
import type { ContractNode, ContractUnion, ShapeDecl } from "../syntax/tree.ts";
import { type FileScope, meant, type Report, reporter } from "../scope/model.ts";
import { BASIC, literalType, misfit } from "../scope/types.ts";

/** One of `"a" | b`: beside a text, a name that is nearly none is one without its quotes. */
function checkMember(report: Report, file: FileScope, { members }: ContractUnion, node: ContractNode): void {
    if (node.kind !== "c.name" || !members.some((one) => one.kind === "c.literal")) {
        checkContract(report, file, node, false);
        return;
    }
    const quoted = `"${node.name.text}"`;
    const wrong: Report = (code, range, message, extra) => {
        const isBare = code === "UNKNOWN_CONTRACT_TYPE" && extra?.fixes === undefined;
        report(code, range, message, isBare ? { hint: "a text stands in quotes", fixes: [fix(`write ${quoted}`, range, quoted)] } : extra);
    };
    checkContract(wrong, file, node, false);
}

/** `input`: the contract of a parameter, where a field needs a type of its own. */
export function checkContract(report: Report, file: FileScope, node: ContractNode, input: boolean): void {
    switch (node.kind) {
        case "c.name": {
            const name = node.name.text;
            if (Object.hasOwn(BASIC, name) || file.shapes.has(name) || name === "") return;
            const found = FOREIGN_TYPES.get(name.toLowerCase()) ?? nearest(name, [...Object.keys(BASIC), ...file.shapes.keys()]);
            const known = `known are ${Object.keys(BASIC).join(", ")}, and shapes of this file`;
            report(
                "UNKNOWN_CONTRACT_TYPE",
                node.range,
                `there is no type '${name}'`,
                found === null ? { hint: known } : meant(found, node.range, found),
            );
            return;
        }
        case "c.list":
            checkContract(report, file, node.item, false);
            return;
        case "c.optional":
            checkContract(report, file, node.of, input);
            return;
        case "c.union":
            for (const member of node.members) checkMember(report, file, node, member);
            return;
        case "c.literal":
            return;
        case "c.object": {
            let names: Set<string> | null = null;
            for (const field of node.fields) {
                const { text } = field.name;
                if (names === null) names = new Set();
                if (names.has(text)) report("DUPLICATE_CONTRACT_FIELD", field.name.range, `the field '${text}' is declared twice`);
                names.add(text);
                if (field.type === undefined) {
                    if (input)
                        report("INVALID_PARAM_CONTRACT", field.range, `the field '${text}' of a parameter needs a type`, {
                            hint: `write ${text}: string`,
                            fixes: [fix(`write '${text}: string'`, field.name.range, `${text}: string`)],
                        });
                } else checkContract(report, file, field.type, input);
                if (field.default !== undefined && field.type !== undefined) {
                    const reason = isLiteral(field.default)
                        ? misfit(literalType(field.default), field.default, field.type, file)
                        : "it is no literal";
                    if (reason !== null)
                        report("INVALID_CONTRACT_DEFAULT", field.default.range, `the default of '${text}' does not fit: ${reason}`);
                }
            }
        }
    }
}

/** Shapes that require themselves: through fields that must be there, aliases and every alternative of a union. */
export function checkShapes(file: FileScope): void {
    const report = reporter(file);
    const finite = new Set<string>();
    const has = (node: ContractNode): boolean => {
        switch (node.kind) {
            case "c.name":
                return !file.shapes.has(node.name.text) || finite.has(node.name.text);
            case "c.object":
                return node.fields.every(
                    (field) => field.optional || field.default !== undefined || field.type === undefined || has(field.type),
                );
            case "c.union":
                return node.members.some(has);
            default:
                return true;
        }
    };
    // Least fixpoint: what is not found to have a value after it has none.
    for (let rest: ShapeDecl[] = [...file.shapes.values()]; ; ) {
        const left = rest.filter((shape) => {
            if (!has(shape.contract)) return true;
            finite.add(shape.name.text);
            return false;
        });
        if (left.length === rest.length || left.length === 0) {
            for (const shape of left)
                report("ENDLESS_SHAPE", shape.name.range, `every value of '${shape.name.text}' would hold another one, without end`, {
                    hint: "make the field optional (`name?: …`) or a list",
                });
            break;
        }
        rest = left;
    }
    for (const shape of file.shapes.values()) checkContract(report, file, shape.contract, false);
}
