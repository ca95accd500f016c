/**
 * What a program and its project's policy say of the methods and arguments of tools, held against what a tool says it has.
 *
 * Boundary: from the program form to the names that its rules use; which rule binds a use, and what it forbids, is the machine's. The runtime's own
 * tools are known to the checker (`toolSchema`).
 *
 * SN2: no tool is called while a rule names a method or an argument that it does not have: such a rule would bind nothing.
 * SN3: where a tool does not tell the names of a method's arguments, none of them is called unknown.
 */
import {
    addedTo,
    type At,
    type BoundForm,
    type ClauseForm,
    type Imported,
    importsByThing,
    type Json,
    nearest,
    type Program,
    type ProjectPolicy,
    type RefForm,
    remitsOfProject,
    type Site,
    type ToolSchema,
    toolSchema,
    unknownIn,
} from "@remit/language";
import { type MethodInfo, ToolFail, type ToolImport } from "./tool.ts";

/** A method, an argument or both, as a rule names them. */
interface Rule {
    readonly method: string | null;
    readonly arg: string | null;
    /** `main.remit:3:12`. */
    readonly place: string;
}

/** The rules about the thing that an import leads to. */
export type RulesOf = (about: ToolImport) => readonly Rule[];

/** `policy`: the project's. */
export function rulesIn(program: Program, policy: ProjectPolicy | null): RulesOf {
    const known = new Map<string, readonly Rule[]>();
    let things: Map<string, Imported[]> | null = null;
    return ({ name, file }) => {
        const place = `${file}\n${name}`;
        const made = known.get(place);
        if (made !== undefined) return made;
        things ??= importsByThing(program);
        const same = (one: Imported): boolean => one.form.name === name && program.files[one.file]?.file === file;
        const found = [...things].find(([, imports]) => imports.some(same));
        const rules = found === undefined ? [] : rulesOf(program, policy, found[0], found[1]);
        known.set(place, rules);
        return rules;
    };
}

function rulesOf(program: Program, policy: ProjectPolicy | null, key: string, imports: readonly Imported[]): Rule[] {
    const nameOf = (file: number): string => program.files[file]?.file ?? "";
    const rules: Rule[] = [];
    for (const { form, file } of imports)
        for (const clause of form.clauses ?? []) rules.push(...ofClause(clause, placeOf(nameOf(file), clause.at)));
    if (policy !== null) {
        const forms = imports.map(({ form }) => form);
        for (const clause of addedTo(policy, key, forms)) rules.push(...ofClause(clause, placeOfSite(clause.site)));
    }
    program.files.forEach((one, index) => {
        const names = new Set(imports.flatMap(({ form, file }) => (file === index ? [form.name] : [])));
        if (names.size === 0) return;
        for (const ref of refsIn([one.remits, one.agents, one.funcs, ofThisFile(program, index)] as unknown as Json))
            if (names.has(ref.name)) rules.push(...ofRef(ref, placeOf(one.file, ref.at)));
        if (policy === null) return;
        for (const agent of one.agents)
            for (const remit of remitsOfProject(policy, agent.name))
                for (const ref of refsIn(remit as unknown as Json))
                    if (names.has(ref.name)) rules.push(...ofRef(ref, placeOfSite(remit.site)));
    });
    return rules;
}

/** Remits at imports of agents, which speak of the names of the file that declares the agent; of this one's where it is outside the program. */
function ofThisFile(program: Program, index: number): readonly unknown[] {
    return program.files.flatMap((file, at) =>
        file.imports.flatMap(({ from, remit }) => (remit !== undefined && (from ?? at) === index ? [remit] : [])),
    );
}

function ofClause(clause: ClauseForm, place: string): Rule[] {
    if (clause.kind === "trusted") return [];
    const arg = clause.kind === "arg" ? clause.name : clause.kind === "gate" ? undefined : clause.readers.arg;
    return clause.method === undefined && arg === undefined ? [] : [{ method: clause.method ?? null, arg: arg ?? null, place }];
}

function ofRef({ method, in: bounds = [] }: Pick<RefForm, "method" | "in">, place: string): Rule[] {
    const args = bounds.flatMap(({ arg }: BoundForm) => (arg === undefined ? [] : [arg]));
    if (args.length === 0) return method === undefined ? [] : [{ method, arg: null, place }];
    return args.map((arg) => ({ method: method ?? null, arg, place }));
}

/** What grants and delegations name, wherever in a form they stand. */
function refsIn(form: Json | undefined): RefForm[] {
    if (form === null || typeof form !== "object") return [];
    if (Array.isArray(form)) return form.flatMap(refsIn);
    const own = Array.isArray(form["refs"]) ? (form["refs"] as unknown as RefForm[]) : [];
    return [...own, ...narrowed(form), ...Object.values(form).flatMap(refsIn)];
}

/** `Repo.only(read, write in path: "a")`, where what is narrowed is named. */
function narrowed({ kind, object, methods, at }: { readonly [key: string]: Json }): RefForm[] {
    if (kind !== "narrow" || object === null || typeof object !== "object" || Array.isArray(object)) return [];
    const { name } = object as { readonly name?: Json };
    if (typeof name !== "string") return [];
    return (methods as unknown as readonly Omit<RefForm, "name">[]).map((one) => ({ ...one, name, at: at as unknown as At }));
}

function placeOf(file: string, at: At | undefined): string {
    return at === undefined ? file : `${file}:${at[0]}:${at[1]}`;
}

function placeOfSite(site: Site | undefined): string {
    return site === undefined ? "the project's policy" : `${site.file}:${site.line}:${site.column}`;
}

/** SN2. Throws `ToolFail` at the first rule that names what the tool does not have. */
export async function checkNames(
    about: ToolImport,
    rules: readonly Rule[],
    ask: () => Promise<readonly MethodInfo[]> | readonly MethodInfo[],
): Promise<void> {
    if (rules.length === 0) return;
    const has = toolSchema("tool", about.uri) ?? schemaOf(about.uri, await ask());
    for (const { method, arg, place } of rules) {
        const unknown = unknownIn(has, about.uri, method, arg);
        if (unknown === null) continue;
        const near = nearest(unknown.name, unknown.known);
        const subject = unknown.what === "method" || method === null ? about.name : `${about.name}.${method}`;
        throw new ToolFail(`the rule at ${place} names the ${unknown.what} '${unknown.name}', which ${subject} does not have`, {
            kind: "denied",
            hint: near === null ? `it has ${unknown.known.join(", ") || "none"}` : `did you mean '${near}'?`,
        });
    }
}

function schemaOf(uri: string, methods: readonly MethodInfo[]): ToolSchema {
    // A clause about the generic call of a server is one about a method of that name.
    const generic: [string, null][] = /^mcp:/i.test(uri) ? [["call", null]] : [];
    return { methods: new Map([...generic, ...methods.map(({ name, input }) => [name, argsOf(input)] as const)]) };
}

/** SN3. Null where arguments besides those that are named are taken, or where they are not all named in one place. */
function argsOf(input: Json): ReadonlySet<string> | null {
    if (input === null || typeof input !== "object" || Array.isArray(input)) return null;
    const { properties } = input;
    if (properties === null || typeof properties !== "object" || Array.isArray(properties)) return null;
    const more = input["additionalProperties"];
    if ((more !== undefined && more !== false) || OPEN.some((word) => Object.hasOwn(input, word))) return null;
    return new Set(Object.keys(properties));
}

const OPEN: readonly string[] = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "dependentSchemas"];
