/**
 * The names in rules about a tool, where none of its arguments is spoken of: the machine asks the other tools itself what they have (SN2).
 *
 * Boundary: what a rule names and what a tool has is the machine's; here the tool is asked at its first call.
 */
import { importsByThing, type Program, type ProjectPolicy, siteAt } from "@remit/language";
import { argumentsTold, refusalText, remedyOf, type Rule, rulesOf, schemaFor, unknownOf } from "@remit/machine";
import { type MethodInfo, ToolFail, type ToolImport } from "./tool.ts";

/** The rules about the thing that an import leads to. */
export type RulesOf = (about: ToolImport) => readonly Rule[];

/** `policy`: the project's. */
export function rulesIn(program: Program, policy: ProjectPolicy | null): RulesOf {
    const known = new Map<string, readonly Rule[]>();
    return ({ name, file }) => {
        const place = `${file}\n${name}`;
        const made = known.get(place);
        if (made !== undefined) return made;
        const thing = [...importsByThing(program)].find(([, imports]) =>
            imports.some((one) => one.form.name === name && program.files[one.file]?.file === file),
        );
        const siteOf: Parameters<typeof rulesOf>[3] = (index, at) =>
            at === undefined ? null : siteAt(program.files[index]?.file ?? "", at);
        const rules = thing === undefined ? [] : rulesOf(program, policy ?? {}, thing, siteOf);
        known.set(place, rules);
        return rules;
    };
}

/** Throws `ToolFail` at the first rule that names what the tool does not have. */
export async function checkNames(
    { name, uri }: ToolImport,
    rules: readonly Rule[],
    ask: () => Promise<readonly MethodInfo[]> | readonly MethodInfo[],
): Promise<void> {
    if (rules.length === 0) return;
    const methods = (await ask()).map((one) => ({ name: one.name, input: one.input }));
    const has = schemaFor(uri, argumentsTold({ methods }));
    const unknown = has === null ? null : unknownOf(name, uri, has, rules);
    if (unknown === null) return;
    const refusal = { principal: "user", capability: name, why: "name", clause: unknown.site, unknown } as const;
    throw new ToolFail(refusalText(refusal), { kind: "denied", hint: remedyOf(refusal) });
}
