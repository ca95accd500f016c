/**
 * Calls that a `never` at an import, or of the project about it, forbids whoever makes them.
 *
 * Boundary: the clauses of all imports of a thing (T6) and those of the project. What a remit says is `authority.ts`.
 *
 * NV1: told only of a call that would be refused whenever it is reached.
 */
import { addedTo } from "../authority/project.ts";
import { methodName } from "../authority/thing.ts";
import { type Checking, type FuncInfo, reporter } from "../scope/model.ts";
import type { Uses } from "../scope/uses.ts";
import { nameText } from "../syntax/strings.ts";
import { type Place, placeIn, placeOfProject } from "./flow/rules.ts";
import { keyOf } from "./things.ts";

/** Where it is said, and whether the project says it. */
interface Never {
    readonly at: Place;
    readonly project: boolean;
}

export function checkNever(checking: Checking, uses: ReadonlyMap<FuncInfo, Uses>): void {
    const nevers = neversOf(checking);
    if (nevers.size === 0) return;
    for (const [func, found] of uses) {
        const report = reporter(func);
        for (const { binding, method, how, range } of found.uses) {
            if (how !== "call" || method === null || binding.import === null) continue;
            const never = nevers.get(`${keyOf(binding, func.file)} ${methodName(binding.import.uri.value, method)}`);
            if (never === undefined || isTold(func, range.start)) continue;
            const said = never.project ? "the project's policy" : "a clause of its import";
            report("REMIT_DENIED", range, `${said} says never to ${binding.name}.${nameText(method)}`, {
                hint: "take the call or the `never` out",
                related: [
                    {
                        message: never.project ? `the project's policy (line ${never.at.line})` : "the clause",
                        file: never.at.file,
                        range: never.at.range,
                    },
                ],
            });
        }
    }
}

/** By thing and method. */
function neversOf(checking: Checking): ReadonlyMap<string, Never> {
    const nevers = new Map<string, Never>();
    const things = new Map<string, { readonly name: string; readonly what: string; readonly uri: string }[]>();
    for (const file of checking.order)
        for (const binding of file.names.values()) {
            if (binding.import === null) continue;
            const uri = binding.import.uri.value;
            const key = keyOf(binding, file);
            things.set(key, [...(things.get(key) ?? []), { name: binding.name, what: binding.kind, uri }]);
            for (const clause of binding.import.clauses ?? [])
                if (clause.kind === "clause.gate" && clause.gate.text === "never")
                    nevers.set(`${key} ${methodName(uri, clause.method.text)}`, { at: placeIn(file, clause.range), project: false });
        }
    const { project } = checking;
    if (project === null) return nevers;
    for (const [key, imports] of things)
        for (const clause of addedTo(project.policy, key, imports)) {
            if (clause.kind !== "gate" || clause.gate !== "never") continue;
            const named = `${key} ${methodName(imports[0]?.uri ?? "", clause.method)}`;
            if (!nevers.has(named)) nevers.set(named, { at: placeOfProject(project, clause.site), project: true });
        }
    return nevers;
}

/** The remit of the agent says it of the same call. */
function isTold({ file }: FuncInfo, start: number): boolean {
    return file.diagnostics.some(({ code, range }) => code === "REMIT_DENIED" && range.start === start);
}
