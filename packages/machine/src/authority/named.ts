/**
 * What a program and its project's policy say of the methods and arguments of tools, held against what a tool says it has.
 *
 * Boundary: pure; from the program form to the names that its rules use, and from a description to what of them is not there. Who asks a tool, and
 * when, is `state/gate.ts`. The runtime's own tools are known without that (`toolSchema`).
 *
 * SN2: no tool is used while a rule names a method or an argument that it does not have: such a rule would bind nothing.
 * SN3: where a tool does not tell the names of a method's arguments, none of them is called unknown; those that no clause names take only what is
 *     trusted (`unnamedFlows`).
 */
import {
    addedTo,
    argumentNames,
    argumentsOf,
    argumentsOfRef,
    type ClauseForm,
    type Imported,
    type Json,
    isObject,
    keyOf,
    methodName,
    methodOf,
    type Program,
    type ProjectPolicy,
    type RefForm,
    fieldsOf,
    remitsOfProject,
    type Site,
    type ToolSchema,
    toolSchema,
    unknownIn,
} from "@remit/language";

/** A method, an argument or both, as a rule names them. */
export interface Rule {
    readonly method: string | null;
    readonly arg: string | null;
    readonly site: Site | null;
}

type SiteOf = (file: number, at: ClauseForm["at"]) => Site | null;

/** Names of arguments by method; null: the tool does not tell them. */
export type Arguments = ReadonlyMap<string, readonly string[] | null>;

/** Gives the rules about the thing that some imports lead to. */
export function rulesIn(
    program: Program,
    policy: ProjectPolicy,
    siteOf: SiteOf,
): (thing: readonly [key: string, imports: readonly Imported[]]) => Rule[] {
    const withFields = clausesWithFields(program, policy, siteOf);
    return ([key, imports]) => {
        const rules: Rule[] = [];
        for (const { form, file } of imports)
            for (const clause of form.clauses ?? []) rules.push(...ofClause(clause, siteOf(file, clause.at)));
        const forms = imports.map(({ form }) => form);
        for (const clause of addedTo(policy, key, forms)) rules.push(...ofClause(clause, clause.site ?? null));
        for (const { file, clause, site } of withFields)
            for (const { of, method } of fieldsOf(clause))
                if (imports.some((one) => one.file === file && one.form.name === of)) rules.push(...named(method, [], site));
        for (const { ref, site } of refsAbout(program, policy, imports, siteOf))
            rules.push(...named(ref.method, argumentsOfRef(ref), site));
        return rules;
    };
}

/** Clauses that name fields of results, with the file whose names they use. */
function clausesWithFields(
    program: Program,
    policy: ProjectPolicy,
    siteOf: SiteOf,
): { readonly file: number; readonly clause: ClauseForm; readonly site: Site | null }[] {
    return program.files.flatMap(({ imports }, file) =>
        imports.flatMap((form) => {
            const own = (form.clauses ?? []).map((clause) => ({ clause, site: siteOf(file, clause.at) }));
            const added = addedTo(policy, keyOf(form.what, form.uri, program.files[file]?.file ?? ""), [form]);
            return [...own, ...added.map((clause) => ({ clause, site: clause.site ?? null }))].flatMap(({ clause, site }) =>
                fieldsOf(clause).length > 0 ? [{ file, clause, site }] : [],
            );
        }),
    );
}

/** What a program and its project say of a thing by the name of an import. */
interface Naming {
    readonly ref: RefForm;
    /** Of the import that has the name. */
    readonly uri: string;
    readonly site: Site | null;
}

export function refsAbout(program: Program, policy: ProjectPolicy, imports: readonly Imported[], siteOf: SiteOf): Naming[] {
    return program.files.flatMap((one, index) => {
        const uris = new Map(imports.flatMap(({ form, file }) => (file === index ? [[form.name, form.uri] as const] : [])));
        if (uris.size === 0) return [];
        const about = (ref: RefForm, site: Site | null): Naming[] => {
            const uri = uris.get(ref.name);
            return uri === undefined ? [] : [{ ref, uri, site }];
        };
        const outside = one.imports.filter(({ what, from }) => what === "agent" && from === undefined);
        return [
            ...refsOf(program, index).flatMap((ref) => about(ref, siteOf(index, ref.at))),
            ...[...one.agents, ...outside].flatMap(({ name }) =>
                remitsOfProject(policy, name).flatMap((remit) =>
                    refsIn(remit as unknown as Json).flatMap((ref) => about(ref, remit.site ?? null)),
                ),
            ),
        ];
    });
}

/** A program is walked once, however many runs begin with it. */
const WALKED = new WeakMap<Program, Map<number, readonly RefForm[]>>();

function refsOf(program: Program, index: number): readonly RefForm[] {
    const known = WALKED.get(program) ?? new Map<number, readonly RefForm[]>();
    WALKED.set(program, known);
    let refs = known.get(index);
    if (refs === undefined) {
        const { remits, agents, funcs } = program.files[index] as Program["files"][number];
        refs = refsIn([remits, agents, funcs, ofThisFile(program, index)] as unknown as Json);
        known.set(index, refs);
    }
    return refs;
}

/** Remits at imports of agents, which speak of the names of the file that declares the agent; of this one's where it is outside the program. */
function ofThisFile(program: Program, index: number): readonly unknown[] {
    return program.files.flatMap((file, at) =>
        file.imports.flatMap(({ from, remit }) => (remit !== undefined && (from ?? at) === index ? [remit] : [])),
    );
}

function ofClause(clause: ClauseForm, site: Site | null): Rule[] {
    return named(methodOf(clause), argumentsOf(clause), site);
}

function named(method: string | undefined, args: readonly string[], site: Site | null): Rule[] {
    if (args.length === 0) return method === undefined ? [] : [{ method, arg: null, site }];
    return args.map((arg) => ({ method: method ?? null, arg, site }));
}

/** What grants and delegations name, wherever in a form they stand. A form is as deep as its writer likes: it is not gone through by calls. */
function refsIn(form: Json): RefForm[] {
    const found: RefForm[] = [];
    const left: Json[] = [form];
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
        if (one === null || typeof one !== "object") continue;
        if (!Array.isArray(one)) {
            if (Array.isArray(one["refs"])) found.push(...(one["refs"] as unknown as RefForm[]));
            found.push(...narrowed(one));
        }
        for (const inner of Object.values(one).reverse()) if (inner !== undefined) left.push(inner);
    }
    return found;
}

/** `Repo.only(read, write in path: "a")`, where what is narrowed is named. */
function narrowed({ kind, object, methods, at }: { readonly [key: string]: Json }): RefForm[] {
    if (kind !== "narrow" || object === null || typeof object !== "object" || Array.isArray(object)) return [];
    const { name } = object as { readonly name?: Json };
    if (typeof name !== "string") return [];
    return (methods as unknown as readonly Omit<RefForm, "name">[]).map((one) => ({ ...one, name, at: at as unknown as RefForm["at"] }));
}

/** The rule for an argument that no clause and no schema names. */
export const UNNAMED = "no clause names it: trusted";
/** The same where the tool says what it has: a clause that names it would be wrong. */
export const NOT_THERE = "the tool does not have it: trusted";

/** What a rule names that its tool does not have. */
export interface Unknown {
    readonly what: "method" | "argument";
    readonly name: string;
    /** `Mail.send`, `Mail`. */
    readonly of: string;
    readonly known: readonly string[];
    readonly site: Site | null;
}

/** What a tool has, as far as it is known without asking it, or as it said. */
export function schemaFor(kind: string, uri: string, told: Arguments | null): ToolSchema | null {
    const own = toolSchema(kind, uri);
    if (own !== null || told === null) return own;
    // A clause about the generic call of a server is one about a method of that name.
    const generic: [string, null][] = /^mcp:/i.test(uri) ? [["call", null]] : [];
    return { methods: new Map([...generic, ...[...told].map(([name, args]) => [name, args === null ? null : new Set(args)] as const)]) };
}

/** SN2. The first rule that names what the tool does not have. */
export function unknownOf(tool: string, uri: string, has: ToolSchema, rules: readonly Rule[]): Unknown | null {
    for (const { method, arg, site } of rules) {
        const found = unknownIn(has, uri, method, arg);
        if (found === null) continue;
        const { what, name, known } = found;
        return { what, name, known, of: what === "method" || method === null ? tool : `${tool}.${method}`, site };
    }
    return null;
}

/** The names of a method's arguments; null where the tool does not tell them. */
export function argumentsIn(schema: ToolSchema, uri: string, method: string): ReadonlySet<string> | null {
    const known = FOUND.get(schema);
    if (known?.uri === uri && known.method === method) return known.args;
    const own = [...schema.methods].find(([name]) => methodName(uri, name) === method);
    const args = own === undefined ? (schema.others ?? null) : own[1];
    FOUND.set(schema, { uri, method, args });
    return args;
}

/** What was found last in a schema: names of methods are compared as their tools do, one after another. */
const FOUND = new WeakMap<ToolSchema, { readonly uri: string; readonly method: string; readonly args: ReadonlySet<string> | null }>();

/** What a tool said of its methods. */
export function argumentsTold(said: Json): Arguments {
    const methods = isObject(said) && Array.isArray(said.methods) ? said.methods : [];
    return new Map(
        methods.flatMap((one) => {
            if (!isObject(one) || typeof one.name !== "string") return [];
            const names = argumentNames(one.input ?? null);
            return [[one.name, names] as const];
        }),
    );
}
