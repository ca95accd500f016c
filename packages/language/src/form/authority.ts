/**
 * What a form says about authority: names that are granted exist, and every clause says one thing.
 *
 * Boundary: declarations and references; what they permit is the machine's.
 */
import type { Errors, Place } from "./errors.ts";
import type { ClauseForm, FileForm, ReadersForm, RefForm, RemitForm } from "./form.ts";
import { below, type FileNames, withHint } from "./names.ts";

/** Capabilities that a remit can name. */
const GRANTABLE: ReadonlySet<string> = new Set(["tool", "llm", "agent", "memory", "skill"]);

export function checkRefs(refs: readonly RefForm[], file: FileNames, place: Place, errors: Errors): void {
    refs.forEach((ref, i) => {
        const found = file.names.get(ref.name);
        if (found === undefined || !GRANTABLE.has(found.kind))
            errors.add(
                "REMIT_REFERENCE",
                below(below(place, i), "name"),
                found === undefined
                    ? withHint(`there is no '${ref.name}' here`, ref.name, file.names.keys())
                    : `'${ref.name}' is a ${found.kind}, which is not granted`,
            );
    });
}

/** Remits and clauses of a file. `agentFile`: the names of the file that declares an imported agent. */
export function checkAuthority(
    form: FileForm,
    file: FileNames,
    agentFile: (index: number) => FileNames | undefined,
    place: Place,
    errors: Errors,
): void {
    const declared = new Map<string, RemitForm>();
    (form.remits ?? []).forEach((remit, i) => {
        const at = below(place, "remits", i);
        if (remit.name === undefined) errors.add("REMIT_REFERENCE", at, "a remit at the top of a file has a name");
        else if (declared.has(remit.name)) errors.add("REMIT_REFERENCE", below(at, "name"), `two remits are called '${remit.name}'`);
        else declared.set(remit.name, remit);
        if (remit.use !== undefined)
            errors.add("REMIT_REFERENCE", below(at, "use"), "a remit of its own has clauses, not the name of another");
        checkRemit(remit, file, at, errors);
    });
    const check = (remit: RemitForm, names: FileNames, at: Place): void => {
        if (remit.use === undefined) checkRemit(remit, names, at, errors);
        else if (!declared.has(remit.use))
            errors.add("REMIT_REFERENCE", below(at, "use"), withHint(`there is no remit '${remit.use}' here`, remit.use, declared.keys()));
    };
    form.agents.forEach((agent, i) => {
        if (agent.remit !== undefined) check(agent.remit, file, below(below(place, "agents", i), "remit"));
    });
    form.imports.forEach((one, i) => {
        const at = below(place, "imports", i);
        if (one.remit !== undefined) {
            if (one.what !== "agent") errors.add("REMIT_REFERENCE", below(at, "remit"), "only an agent has a remit");
            else check(one.remit, (one.from === undefined ? undefined : agentFile(one.from)) ?? file, below(at, "remit"));
        }
        if (one.clauses !== undefined && (one.what === "agent" || one.what === "skill"))
            errors.add(
                "REMIT_REFERENCE",
                below(at, "clauses"),
                `the import of ${one.what === "agent" ? "an agent" : "a skill"} has no clauses`,
            );
        one.clauses?.forEach((clause, c) => {
            checkClause(clause, below(at, "clauses", c), errors);
        });
    });
}

function checkRemit(remit: RemitForm, file: FileNames, place: Place, errors: Errors): void {
    remit.grants.forEach((grant, i) => {
        checkRefs(grant.refs, file, below(below(place, "grants", i), "refs"), errors);
        if (grant.all === true && grant.refs.length > 0)
            errors.add("REMIT_REFERENCE", below(below(place, "grants", i), "refs"), "`all` stands alone");
    });
}

function checkClause(clause: ClauseForm, place: Place, errors: Errors): void {
    if (clause.kind !== "reads" && clause.kind !== "audience") return;
    const said: readonly (keyof ReadersForm)[] = ["names", "arg", "result", "everyone"];
    const given = said.filter((key) => clause.readers[key] !== undefined);
    if (given.length !== 1) errors.add("FORM_VALUE", below(place, "readers"), `one of ${said.join(", ")} says who may read`);
    if (clause.kind === "audience" && clause.readers.result !== undefined)
        errors.add("FORM_VALUE", below(place, "readers"), "who reads what is sent is known before there is a result");
}
