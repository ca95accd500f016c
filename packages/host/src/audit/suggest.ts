/**
 * Clauses for a project's policy, for review: from what data from elsewhere could do in a program, and from what its runs did.
 *
 * Boundary: a program form, its policy and events of runs in, clauses with their reasons out. Nothing is written.
 *
 * SUG1: a clause only takes away, is one that the program could have in its policy as it is, and is none that the program or its project has.
 * SUG2: what a clause still leaves open is what the table of hostile data has of that use with the clause in the policy, not what was hoped.
 * SUG3: of runs only what went well counts: a run that failed may have done what it should not.
 * SUG4: a clause is one clause, whatever a server calls its methods.
 */
import {
    type HostileUse,
    hostileUses,
    type ImportForm,
    isOutside,
    readsByScheme,
    isObject,
    type Json,
    type Program,
    schemeOf,
    toolSchema,
    unknownSeeds,
    walk,
    argText,
    nameText,
} from "@remit/language";
import { actingIn, addressesIn, type LedgerEvent, type Policy } from "@remit/machine";
import { checkPolicy, joinedPolicy, readPolicy } from "../config/policy.ts";
import { RemitError } from "../failure/error.ts";

export interface Suggestion {
    /** URI of the import, as `policy.clauses` of remit.json names it. */
    readonly uri: string;
    /** Its name in the program. */
    readonly tool: string;
    readonly clause: string;
    /** Sentences. */
    readonly why: readonly string[];
    readonly opens: readonly string[];
}

/** A call of a tool, as a run that went well made it. */
interface Made {
    readonly run: number;
    readonly uri: string;
    readonly method: string;
    readonly args: { readonly [name: string]: Json };
    /** Origins of all that it was given, as far as they are not the user's. */
    readonly from: readonly string[];
}

/** `runs`: the events of each, from the first on; of runs that are done. */
export function suggestPolicy(program: Program, policy: Policy | null, runs: readonly (readonly LedgerEvent[])[]): Suggestion[] {
    const made = runs.flatMap((events, run) => callsOf(events, run));
    const reads = readingOf(runs);
    const on: Setting = { program, base: withoutCatchAll(policy), seeds: seedsOf(program), reads };
    const all = [...ofHostile(on, made, runs.length), ...ofCounts(on, made, runs.length), ...ofUnused(on, made, runs)];
    return all.filter((one) => isPossible(on, one));
}

interface Setting {
    readonly program: Program;
    /** The policy without `untrusted`: what clauses alone hold back. */
    readonly base: Policy;
    readonly seeds: readonly string[];
    readonly reads: (tool: string, uri: string, method: string) => boolean | undefined;
}

function withoutCatchAll(policy: Policy | null): Policy {
    const { untrusted: _asked, ...rest } = policy ?? {};
    return rest;
}

/** Everything that the program gets from elsewhere. */
function seedsOf(program: Program): string[] {
    const isElsewhere = ({ what, uri, clauses = [] }: ImportForm): boolean =>
        (what === "tool" || what === "memory" || (what === "agent" && isOutside(uri))) && !clauses.some(({ kind }) => kind === "trusted");
    const names = program.files.flatMap(({ imports }) => imports.filter(isElsewhere).map(({ name }) => name));
    return [...new Set(names)].filter((name) => unknownSeeds(program, [name]).length === 0);
}

// ---- what data from elsewhere could do --------------------------------------------------------------------------------

interface Part {
    readonly use: HostileUse;
    /** Null: that the use happens. */
    readonly arg: string | null;
}

function ofHostile(on: Setting, made: readonly Made[], runs: number): Suggestion[] {
    const parts = new Map<string, Part[]>();
    for (const use of usesUnder(on, on.base)) {
        if (use.what !== "tool" || use.does === "reads" || use.method === "*") continue;
        const open = [
            ...(use.choice === null ? [] : [null]),
            ...use.args.filter(({ how, bounds }) => how === "writes" && bounds.every(({ kind }) => kind === "way")).map(({ name }) => name),
        ];
        for (const arg of open) if (arg !== "*") put(parts, `${use.uri} ${use.method} ${arg ?? ""}`, { use, arg });
    }
    return [...parts.values()].map((found): Suggestion => {
        const [{ use, arg }] = found as [Part];
        const calls = made.filter((one) => one.uri === use.uri && one.method === use.method);
        const clause = arg === null ? `choice ${nameText(use.method)}: trusted or ask` : clauseOfArg(use.method, arg, calls);
        const sites = [...new Set(found.map((one) => siteText(one.use)))].join(", ");
        const from = [...new Set(found.flatMap((one) => fromOf(one)))].sort().join(", ");
        const does = arg === null ? "decide that it happens" : `stand in '${arg}'`;
        const seen = calls.filter((one) => one.from.length > 0).length;
        const runsSay =
            runs === 0
                ? []
                : [
                      `in ${runs === 1 ? "1 run" : `${runs} runs`} it was called ${times(calls.length)}, ${seen} of them with data from elsewhere: at most so many would have asked`,
                  ];
        return {
            uri: use.uri,
            tool: use.tool,
            clause,
            why: [`data from ${from} may ${does} (${sites})`, ...runsSay],
            opens: [...leftOf(on, { uri: use.uri, clause }, use, arg), ...emptied(use, arg, clause, calls)],
        };
    });
}

/** Prose may come from elsewhere as long as nothing in it acts, or at least leads anywhere; anything else is chosen by who is trusted. */
function clauseOfArg(method: string, arg: string, calls: readonly Made[]): string {
    const values = valuesOf(arg, calls);
    const words = !isProse(values)
        ? ""
        : values.every((one) => actingIn(one).length === 0)
          ? "plain "
          : values.every((one) => addressesIn(one).length === 0)
            ? "addresses "
            : "";
    // As the documents recommend for a text that may quote a stranger.
    return `arg ${nameText(method)}.${argText(arg)}: ${words === "" ? "trusted" : `${words}among("user")`} or ask`;
}

/** A text without words says nothing that a clause could hold back: a line of a remit does. */
function emptied({ tool, method }: HostileUse, arg: string | null, clause: string, calls: readonly Made[]): string[] {
    if (arg === null || !/: (?:plain|addresses) /.test(clause) || valuesOf(arg, calls).includes("")) return [];
    return [`a text without words, unless a remit says \`ask ${tool}.${nameText(method)} in ${nameText(arg)}: ""\``];
}

const valuesOf = (arg: string, calls: readonly Made[]): Json[] => calls.flatMap(({ args }) => (args[arg] === undefined ? [] : [args[arg]]));
const isProse = (values: readonly Json[]): boolean => values.some((one) => typeof one === "string" && /\s\S+\s/.test(one));

/** SUG2. */
function leftOf(on: Setting, { uri, clause }: Pick<Suggestion, "uri" | "clause">, use: HostileUse, arg: string | null): string[] {
    const left = usesUnder(on, withClause(on.base, uri, clause)).filter((one) => one.uri === uri && one.method === use.method);
    const rows = left.flatMap((one) => [
        ...(one.choice === null ? [] : ["data from elsewhere may still decide that it happens"]),
        ...one.args.map(({ name, how, bounds }) => {
            const within = bounds.map(({ text }) => text).join("; ");
            const may = how === "writes" ? "stand in" : "pick which of the program's values stands in";
            return `data from elsewhere may still ${may} ${name === "*" ? "any other argument" : `'${name}'`}${within === "" ? "" : `, as far as this lets it: ${within}`}`;
        }),
    ]);
    const always =
        arg === null
            ? "what a person says yes to"
            : "what a person says yes to, and whatever the user and the program's own text put there";
    return [...new Set([...rows, always])];
}

function fromOf({ use, arg }: Part): readonly string[] {
    return arg === null ? (use.choice?.from ?? []) : (use.args.find(({ name }) => name === arg)?.from ?? []);
}

function usesUnder({ program, seeds, reads }: Setting, policy: Policy): readonly HostileUse[] {
    return hostileUses(program, seeds, { policy, reads }).uses;
}

// ---- what runs did ----------------------------------------------------------------------------------------------------

function ofCounts(on: Setting, made: readonly Made[], runs: number): Suggestion[] {
    const most = new Map<string, { readonly one: Made; readonly perRun: Map<number, number> }>();
    for (const one of made) {
        const tool = importOf(on, one.uri);
        if (tool === undefined || doesRead(on, tool, one.method)) continue;
        const key = `${one.uri} ${one.method}`;
        const { perRun } = most.get(key) ?? { perRun: new Map<number, number>() };
        perRun.set(one.run, (perRun.get(one.run) ?? 0) + 1);
        most.set(key, { one, perRun });
    }
    return [...most.values()].map(({ one: { uri, method }, perRun }) => {
        const n = Math.max(...perRun.values());
        return {
            uri,
            tool: importOf(on, uri)?.name ?? uri,
            clause: `${nameText(method)}: at most ${n}`,
            why: [`no run of ${runs} called it more often than ${times(n)}`],
            opens: [`${n === 1 ? "one call" : `${n} calls`} in each run, with whatever the other clauses let stand there`],
        };
    });
}

/** Methods that do more than read, and that neither the program names nor a run called. */
function ofUnused(on: Setting, made: readonly Made[], runs: readonly (readonly LedgerEvent[])[]): Suggestion[] {
    const { program } = on;
    const named = new Set<string>();
    const whole = new Set<string>();
    const used = new Set<string>();
    for (const { funcs, agents } of program.files)
        for (const { body } of [...funcs, ...agents.flatMap((agent) => agent.funcs)])
            walk(body, (node) => {
                if (node.kind === "member") named.add(node.name);
                if (node.kind === "name") used.add(node.name);
                if (node.kind === "generate") for (const tool of node.tools ?? []) if (tool.kind === "name") whole.add(tool.name);
            });
    const has = methodsIn(runs);
    const tools = new Map(
        program.files.flatMap(({ imports }) => imports.filter(({ what }) => what === "tool").map((one) => [one.uri, one])),
    );
    return [...tools.values()].flatMap((tool) => {
        const methods = [...(toolSchema("tool", tool.uri)?.methods.keys() ?? []), ...(has.get(tool.uri) ?? [])];
        const isOffered = whole.has(tool.name);
        if (!isOffered && !used.has(tool.name)) return [];
        // What a loop may call is told by what loops called.
        if (isOffered && runs.length === 0) return [];
        return [...new Set(methods)]
            .filter((method) => !doesRead(on, tool, method) && !named.has(method))
            .filter((method) => !made.some((one) => one.uri === tool.uri && one.method === method))
            .map((method) => ({
                uri: tool.uri,
                tool: tool.name,
                clause: `${nameText(method)}: never`,
                why: [isOffered ? `a loop is offered it, and none of ${runs.length} runs called it` : "the program does not name it"],
                opens: isOffered ? ["nothing of it; a loop that needs it one day is refused"] : ["nothing of it"],
            }));
    });
}

function callsOf(events: readonly LedgerEvent[], run: number): Made[] {
    return events.flatMap(({ kind, data, labels }): Made[] => {
        if (kind !== "tool.started" || !isObject(data)) return [];
        const { uri, method, args } = data;
        const [first = null] = Array.isArray(args) ? args : [];
        if (typeof uri !== "string" || typeof method !== "string") return [];
        const from = labels.filter((one) => one !== "user" && !one.startsWith("model:") && !one.startsWith("endorsed:"));
        return [{ run, uri, method, args: isObject(first) ? first : {}, from }];
    });
}

/** What tools said of their methods in runs. */
function* described(
    runs: readonly (readonly LedgerEvent[])[],
): Generator<{ readonly uri: string; readonly name: string; readonly reads: boolean }> {
    for (const events of runs)
        for (const { data } of events) {
            if (!isObject(data) || data["op"] !== "describe" || typeof data["uri"] !== "string" || !isObject(data["result"])) continue;
            const { methods } = data["result"];
            for (const one of Array.isArray(methods) ? methods : [])
                if (isObject(one) && typeof one["name"] === "string")
                    yield { uri: data["uri"], name: one["name"], reads: one["readOnly"] === true };
        }
}

function methodsIn(runs: readonly (readonly LedgerEvent[])[]): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const { uri, name } of described(runs)) put(found, uri, name);
    return found;
}

function readingOf(runs: readonly (readonly LedgerEvent[])[]): Setting["reads"] {
    const known = new Map([...described(runs)].map(({ uri, name, reads }) => [`${uri} ${name}`, reads]));
    return (_tool, uri, method) => known.get(`${uri} ${method}`);
}

function doesRead({ reads }: Setting, { name, uri }: ImportForm, method: string): boolean {
    return readsByScheme(schemeOf(uri), method) ?? reads(name, uri, method) ?? false;
}

function importOf({ program }: Setting, uri: string): ImportForm | undefined {
    return program.files.flatMap(({ imports }) => imports).find((one) => one.what === "tool" && one.uri === uri);
}

// ---- the policy --------------------------------------------------------------------------------------------------------

function withClause(base: Policy, uri: string, clause: string): Policy {
    const { policy } = readPolicy({ clauses: { [uri]: clause } }, { name: "suggested", text: "" });
    return joinedPolicy([{ policy: base }, { policy }]) ?? base;
}

/** SUG1, SUG4. */
function isPossible({ program, base }: Setting, { uri, clause }: Suggestion): boolean {
    const { policy, problems } = readPolicy({ clauses: { [uri]: clause } }, { name: "suggested", text: "" });
    if (policy === null || problems.length > 0) return false;
    const [wanted, ...more] = Object.values(policy.clauses ?? {}).flat();
    const imports = program.files.flatMap((file) => file.imports).filter((one) => one.uri === uri);
    const said = [
        ...imports.flatMap(({ clauses = [] }) => clauses),
        ...[uri, ...imports.map(({ name }) => name)].flatMap((place) => base.clauses?.[place] ?? []),
    ];
    if (wanted === undefined || more.length > 0 || said.some((one) => aboutOf(one) === aboutOf(wanted))) return false;
    try {
        checkPolicy(program, policy);
        return true;
    } catch (error) {
        if (error instanceof RemitError) return false;
        throw error;
    }
}

/** What a clause speaks of: two about the same are not both needed. */
function aboutOf(clause: object): string {
    const { kind, method, name } = clause as { readonly kind: string; readonly method?: string; readonly name?: string };
    return JSON.stringify([kind, method ?? null, name ?? null]);
}

function put<K, V>(into: Map<K, V[]>, key: K, value: V): void {
    const list = into.get(key);
    if (list === undefined) into.set(key, [value]);
    else list.push(value);
}

function siteText({ site, file }: HostileUse): string {
    return site === null ? file : `${site.file}:${site.line}`;
}

function times(n: number): string {
    return n === 1 ? "once" : `${n} times`;
}
