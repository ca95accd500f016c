/**
 * A project's policy: clauses and remits of a configuration file, read by the language's own parser.
 *
 * Boundary: text to forms, and several files to one policy. That it only takes away is the machine's (A2 in `authority/policy.ts`).
 *
 * PY1: what would give something (a `may` at an import, `trusted`) is a problem, not passed over: its author believes that it counts.
 * PY2: a remit that names something the program does not have is refused: a `never` with a mistake in it must not be taken for nothing.
 */
import {
    LENT,
    fieldsOf,
    type AgentForm,
    argumentsOf,
    argumentsOfRef,
    clauseText,
    gives,
    type ImportForm,
    keyOf,
    methodOf,
    nearest,
    parseClausesText,
    parseRemitText,
    type Program,
    type RemitForm,
    type Site,
    toolSchema,
    type Unknown,
    unknownIn,
    type Untrusted,
} from "@remit/language";
import type { Policy, PolicyClause, PolicyRemit } from "@remit/machine";
import { RemitError } from "../failure/error.ts";
import type { PolicyFile } from "./rules.ts";

export interface PolicyProblem {
    /** `clauses.Mail`. */
    readonly key: string;
    readonly message: string;
}

/** `from`: the configuration file, by its name and as it is written, so that a clause can say where it stands. */
export function readPolicy(
    file: PolicyFile | undefined,
    from: { readonly name: string; readonly text: string },
): { readonly policy: Policy | null; readonly problems: readonly PolicyProblem[] } {
    if (file === undefined) return { policy: null, problems: [] };
    const problems: PolicyProblem[] = [];
    const clauses: { [place: string]: readonly PolicyClause[] } = Object.create(null);
    const remits: { [agent: string]: PolicyRemit } = Object.create(null);
    for (const [place, text] of Object.entries(file.clauses ?? {})) {
        const key = `clauses.${place}`;
        const read = parseClausesText(textOf(text));
        if (!read.ok) problems.push(...read.problems.map((message) => ({ key, message })));
        else {
            for (const clause of read.value) {
                if (gives(clause))
                    problems.push({ key, message: `'${clauseText(clause)}' would give something; a policy only takes away` });
            }
            clauses[place] = read.value.map((clause, i) => ({
                ...clause,
                site: siteIn(from, ["policy", "clauses", place], lineOf(text, read.lines[i] ?? 1)),
            }));
        }
    }
    for (const [agent, text] of Object.entries(file.remits ?? {})) {
        const read = parseRemitText(textOf(text));
        if (read.ok) remits[agent] = { ...read.value, site: siteIn(from, ["policy", "remits", agent], lineOf(text, 1)) };
        else problems.push(...read.problems.map((message) => ({ key: `remits.${agent}`, message })));
    }
    if (problems.length > 0) return { policy: null, problems };
    const { untrusted, input, reach } = file;
    return {
        policy: {
            clauses,
            remits,
            ...(file.flow === "strict" ? { strict: true } : {}),
            ...(untrusted === undefined ? {} : { untrusted: { gate: untrusted, site: siteIn(from, ["policy", "untrusted"], untrusted) } }),
            ...(reach === undefined
                ? {}
                : {
                      reach: [
                          {
                              origins: reach.map((one) => new URL(one).origin),
                              tools: [LENT],
                              by: "the project's policy",
                              site: siteIn(from, ["policy", "reach"], reach[0] ?? "reach"),
                          },
                      ],
                  }),
            ...(input === undefined ? {} : { input }),
        },
        problems,
    };
}

function textOf(text: string | readonly string[]): string {
    return typeof text === "string" ? text : text.join("\n");
}

/** The text of the file that holds a line of all of them. */
function lineOf(text: string | readonly string[], line: number): string {
    let before = 0;
    for (const one of typeof text === "string" ? [text] : text) {
        before += one.split("\n").length;
        if (line <= before) return one;
    }
    return "";
}

/** Where a text stands in a file, behind its keys; where the last of them stands that is written as usual, if it is not. */
function siteIn(from: { readonly name: string; readonly text: string }, keys: readonly string[], text: string): Site {
    let at = 0;
    for (const part of [...keys, text]) {
        const found = from.text.indexOf(JSON.stringify(part), at);
        if (found < 0) break;
        at = found;
    }
    const before = from.text.slice(0, at).split("\n");
    return { file: from.name, line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** All that any file says; null where none says anything. */
export function joinedPolicy(files: readonly { readonly policy: Policy | null }[]): Policy | null {
    const said = files.flatMap(({ policy }) => (policy === null ? [] : [policy]));
    if (said.length === 0) return null;
    const clauses: { [place: string]: PolicyClause[] } = Object.create(null);
    const remits: { [agent: string]: PolicyRemit[] } = Object.create(null);
    for (const policy of said) {
        for (const [place, list] of Object.entries(policy.clauses ?? {})) clauses[place] = [...(clauses[place] ?? []), ...list];
        for (const [agent, forms] of Object.entries(policy.remits ?? {}))
            remits[agent] = [...(remits[agent] ?? []), ...[forms as PolicyRemit | readonly PolicyRemit[]].flat()];
    }
    const untrusted = strictest(said.flatMap((policy) => policy.untrusted ?? []));
    const reach = said.flatMap((policy) => policy.reach ?? []);
    return {
        clauses,
        remits,
        ...(said.some((policy) => policy.strict === true) ? { strict: true } : {}),
        ...(untrusted === undefined ? {} : { untrusted }),
        ...(reach.length === 0 ? {} : { reach }),
        ...(said.some((policy) => policy.input === "unlabelled") ? { input: "unlabelled" } : {}),
    };
}

function strictest(said: readonly Untrusted[]): Untrusted | undefined {
    return said.find((one) => one.gate === "never") ?? said[0];
}

/** The policy with what the caller of the run says besides. */
export function withUntrusted(policy: Policy | null, gate: Untrusted["gate"] | undefined): Policy | null {
    return gate === undefined ? policy : joinedPolicy([{ policy }, { policy: { untrusted: { gate } } }]);
}

/** The policy with where a caller lets a run reach besides. */
export function withReach(policy: Policy | null, reach: Policy["reach"] = []): Policy | null {
    return reach.length === 0 ? policy : joinedPolicy([{ policy }, { policy: { reach } }]);
}

/**
 * Throws `RemitError` where the policy names what this program certainly does not have (PY2): a remit for one of its agents something that is not in
 * the agent's file, or a remit or clause a method or an argument that a thing of this kind has not.
 */
export function checkPolicy(program: Program, policy: Policy): void {
    for (const [place, clauses] of Object.entries(policy.clauses ?? {}))
        for (const [one, file] of program.files.flatMap(({ file, imports }) => imports.map((form) => [form, file] as const))) {
            if (one.name !== place && keyOf(one.what, place, "") !== keyOf(one.what, one.uri, file)) continue;
            for (const clause of clauses) {
                if (one.what === "agent") isOfAgent(one, clause, `policy.clauses.${place}`);
                hasFields(program, file, clause, `policy.clauses.${place}`);
                for (const arg of [undefined, ...argumentsOf(clause)]) hasNamed(one, methodOf(clause), arg, `policy.clauses.${place}`);
            }
        }
    for (const [agent, forms] of Object.entries(policy.remits ?? {}))
        for (const [index, file] of program.files.entries()) {
            if (!file.agents.some((one) => one.name === agent)) continue;
            const known = new Set([
                ...file.imports.map((one) => one.name),
                ...file.agents.map((one) => one.name),
                ...file.funcs.map((one) => one.name),
            ]);
            for (const remit of [forms as RemitForm | readonly RemitForm[]].flat())
                for (const { refs } of remit.grants)
                    for (const ref of refs) {
                        const { name, method } = ref;
                        const imported = file.imports.find((one) => one.name === name);
                        if (imported !== undefined)
                            for (const arg of [undefined, ...argumentsOfRef(ref)])
                                hasNamed(imported, method, arg, `policy.remits.${agent}`);
                        const declared = program.files[imported?.from ?? index]?.agents.find((other) => other.name === name);
                        if (declared !== undefined && method !== undefined) hasFunc(declared, method, `policy.remits.${agent}`);
                        if (known.has(name)) continue;
                        const near = nearest(name, [...known]);
                        throw new RemitError({
                            kind: "value",
                            message: `policy.remits.${agent} of the project names ${name}, which ${file.file} does not have`,
                            hint: near === undefined || near === null ? "name an import or an agent of that file" : `did you mean ${near}?`,
                        });
                    }
        }
}

/** Fields of results are named by the imports of the file. */
function hasFields(program: Program, file: string, clause: PolicyClause, key: string): void {
    const imports = program.files.find((one) => one.file === file)?.imports ?? [];
    for (const { of, method } of fieldsOf(clause)) {
        if (method === undefined) continue;
        const named = imports.find((one) => one.name === of);
        if (named !== undefined) hasNamed(named, method, undefined, key);
        else
            throw new RemitError({
                kind: "value",
                message: `${key} of the project names results of ${of}, which ${file} does not import`,
                hint: `it imports ${imports.map((one) => one.name).join(", ") || "nothing"}`,
            });
    }
}

/** What a project says of an agent is in its remits; of its import only who may hand it control. */
function isOfAgent({ name, from }: ImportForm, { kind }: PolicyClause, key: string): void {
    if (kind === "choice" && from === undefined) return;
    throw new RemitError({
        kind: "value",
        message: `${key} of the project is a clause that the agent ${name} does not take`,
        hint: `write what ${name} may do under policy.remits.${name}${from === undefined ? ", or `choice: trusted` for who may hand it control" : ""}`,
    });
}

function hasFunc({ name, funcs }: AgentForm, method: string, key: string): void {
    const known = funcs.map((func) => func.name);
    if (!known.includes(method)) slip(key, { what: "method", name: method, known }, name);
}

function hasNamed({ name, uri, what }: ImportForm, method: string | undefined, arg: string | undefined, key: string): void {
    const has = toolSchema(what, uri);
    const unknown = has === null ? null : unknownIn(has, uri, method ?? null, arg ?? null);
    if (unknown !== null) slip(key, unknown, unknown.what === "method" || method === undefined ? name : `${name}.${method}`);
}

function slip(key: string, { what, name, known }: Unknown, subject: string): never {
    const near = nearest(name, known);
    throw new RemitError({
        kind: "value",
        message: `${key} of the project names the ${what} ${name}, which ${subject} does not have`,
        hint: near === null ? `it has ${known.join(", ") || "none"}` : `did you mean ${near}?`,
    });
}

/** Names of the policy that mean nothing in this program and are nearly ones that do; they may be another program's of the project. */
export function slipsIn(program: Program, policy: Policy): readonly string[] {
    const imports = program.files.flatMap((file) => file.imports.map((one) => one.name));
    const agents = program.files.flatMap((file) => file.agents.map((one) => one.name));
    const slips = (kind: string, said: object | undefined, known: readonly string[]): string[] =>
        Object.keys(said ?? {}).flatMap((name) => {
            const near = known.includes(name) || name.includes(":") ? null : nearest(name, known);
            return near === undefined || near === null
                ? []
                : [`policy.${kind}.${name} means nothing in this program; did you mean ${near}?`];
        });
    return [...slips("clauses", policy.clauses, [...imports, ...agents]), ...slips("remits", policy.remits, agents)];
}
