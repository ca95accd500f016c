/**
 * The conditions of `when`: `contains X`, `not_contains X`, `field OP value`, `field`, `not field`.
 *
 * Boundary: patterns, and whether a text is a condition. What one is about is decided where it runs (`plain.ts`), by the same patterns.
 */

const FIELD = "\\w+(?:\\.\\w+)*";
/** `severity == "high"`, `count >= 5`, `input.length > 3`. */
export const COMPARED = `^(${FIELD})\\s*(==|!=|>=|<=|>|<)\\s*(.+)$`;
/** `done`, `not done`. */
export const PLAIN = `^(not\\s+)?(${FIELD})$`;

export const CONDITIONS = "contains X, not_contains X, field OP value (== != > >= < <=), field, not field";

/** What is wrong with a condition, null where it is one. */
export function conditionProblem(condition: string): string | null {
    const text = condition.trim();
    if (/^(?:not_)?contains\s/.test(text)) return null;
    const compared = new RegExp(COMPARED, "s").exec(text);
    if (compared !== null) {
        const [, , sign = "", value = ""] = compared;
        const isOrder = sign !== "==" && sign !== "!=";
        return isOrder && !/^(?:-?\d+(?:\.\d+)?|"-?\d+(?:\.\d+)?"|'-?\d+(?:\.\d+)?')$/.test(value.trim())
            ? `${sign} compares numbers, and ${value.trim()} is none`
            : null;
    }
    if (new RegExp(PLAIN).test(text)) return null;
    return text === "" ? "the condition is empty" : `the condition '${text}' cannot be read`;
}
