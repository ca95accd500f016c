/**
 * What two runs do that differ in the answers of a hostile tool alone, with no to every question, and what of it the table of `--assume-hostile` does not
 * list.
 */
import { type HostileTable, hostileUses, type Json, type Program } from "@remit/language";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import { partOf } from "./parts.ts";
import { formOf, once, said } from "./running.ts";

export interface Call {
    readonly use: string;
    readonly args: Json;
}

/** What the hostile tool answers, and what a model says that read it. */
export interface World {
    readonly hostile: Json;
    readonly word: string;
}

const RESULT: Json = { subject: "k", yes: true };

/** Calls of tools in order, and whether the run came to its end. `methods`: what each tool has; null: whatever the program speaks of. */
export function callsIn(
    form: Program,
    from: string,
    { hostile, word }: World,
    policy: Policy,
    methods: Json | null = null,
): { readonly calls: Call[]; readonly ended: boolean } {
    let stored: Json = RESULT;
    let noted: Json = [];
    let file: Json = RESULT;
    const done: Effect[] = [];
    const answer = (e: Effect): Outcome | undefined => {
        if (e.kind === "run") return partOf(form, e, { answer, options: { policy } });
        done.push(e);
        const r = e.request as { op?: string; tool?: string; method?: string; memory?: string; model?: { name: string } };
        if (e.kind === "model") {
            const name = r.model?.name ?? "";
            const text = JSON.stringify(e.request).includes(word) ? word : "k";
            return said({ text, value: text, calls: [], finish: "stop", model: name }, [`model:${name}`]);
        }
        // What keeps what it is given gives it back under its own name.
        const [given] = ((e.request as { args?: Json[] }).args ?? []) as [Json?];
        if (e.kind === "remember") noted = (e.request as { arg: Json }).arg;
        if (e.kind === "recall") return said([noted], [`memory:${r.memory}`]);
        if (r.tool === "Store" && r.method === "save") stored = given ?? null;
        if (r.tool === "Store") return said(stored, ["tool:Store"]);
        if (r.tool === "Out" && r.method === "write") file = { subject: JSON.stringify(given) };
        if (r.tool === "Out") return said(file, ["tool:Out"]);
        if (r.op === "describe" && methods !== null) return said({ methods }, [`tool:${r.tool}`]);
        if (e.kind !== "tool" || r.op === "describe") return undefined;
        return said(r.tool === from ? hostile : RESULT, [`tool:${r.tool}`]);
    };
    const ran = once(form, { answer, options: { input: { t: "k", text: "mine", ok: true, yes: true, no: false }, policy } });
    const calls = done.flatMap((e): Call[] => {
        const { op, tool, method, args = [] } = e.request as { op?: string; tool?: string; method?: string; args?: Json[] };
        if (e.kind !== "tool" || op === "describe") return [];
        const generic = method === "call" ? (args[0] as { tool: string; args?: Json }) : null;
        return [{ use: `${tool}.${generic?.tool ?? method}`, args: generic === null ? (args[0] ?? null) : (generic.args ?? null) }];
    });
    return { calls, ended: ran.result.ok };
}

/** `args` null: it happens in one of them alone. */
interface Difference {
    readonly use: string;
    readonly args: readonly string[] | null;
}

/** Calls of which two runs differ: one that failed may do less, and nothing more. */
export function differences(a: ReturnType<typeof callsIn>, b: ReturnType<typeof callsIn>): Difference[] {
    const uses = new Set([...a.calls, ...b.calls].map(({ use }) => use));
    return [...uses].flatMap((use): Difference[] => {
        const own = [a.calls, b.calls].map((calls) => calls.filter((call) => call.use === use)) as [Call[], Call[]];
        const [x, y] = apart(...own);
        if (x.length + y.length === 0) return JSON.stringify(own[0]) === JSON.stringify(own[1]) ? [] : [{ use, args: null }];
        if ((x.length < y.length && a.ended) || (x.length > y.length && b.ended)) return [{ use, args: null }];
        return x.slice(0, y.length).flatMap(({ args }, i): Difference[] => {
            const changed = namesOf(args, y[i]?.args ?? null);
            return changed.length === 0 ? [] : [{ use, args: changed }];
        });
    });
}

/** Without the calls that both have, in whichever order. */
function apart(x: readonly Call[], y: readonly Call[]): [Call[], Call[]] {
    const rest = [...y];
    const own = x.filter(({ args }) => {
        const at = rest.findIndex((one) => JSON.stringify(one.args) === JSON.stringify(args));
        if (at >= 0) rest.splice(at, 1);
        return at < 0;
    });
    return [own, rest];
}

function namesOf(a: Json, b: Json): string[] {
    if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b ? [] : ["1"];
    const of = (v: Json, key: string): string => JSON.stringify((v as { [key: string]: Json })[key] ?? null);
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => of(a, key) !== of(b, key));
}

/** Whether a table has a use, and its arguments. Null: that it happens. */
export function lists({ uses }: HostileTable, use: string, args: readonly string[] | null): boolean {
    const rows = uses.filter(({ tool, method }) => use === `${tool}.${method}` || (method === "*" && use.startsWith(`${tool}.`)));
    if (args === null) return rows.some(({ choice }) => choice !== null);
    return args.every((arg) => rows.some((row) => row.args.some(({ name }) => name === arg || name === "*")));
}

const mail = (subject: string, yes: boolean, items: string[]): Json => ({
    subject,
    items,
    yes,
    n: yes ? 2 : 1,
    none: yes ? null : 1,
    record: { amount: yes ? 3 : "3" },
});
export const MAILS: readonly [World, World] = [
    { hostile: mail("REFUND", true, ["a", "b"]), word: "REFUND" },
    { hostile: mail("x", false, []), word: "x!" },
];
export const POLICIES: readonly Policy[] = [
    {},
    { untrusted: { gate: "never" } },
    { untrusted: { gate: "ask" }, clauses: { Out: [{ kind: "choice", from: ["tool:Inbox"] }] } },
];

/** Differences of two worlds that the table does not have. */
export function unlisted(
    form: Program,
    from: string,
    [a, b]: readonly [World, World],
    policy: Policy,
): { readonly all: number; readonly not: string[] } {
    const table = hostileUses(form, [from], { policy });
    const all = differences(callsIn(form, from, a, policy), callsIn(form, from, b, policy));
    return { all: all.length, not: all.filter(({ use, args }) => !lists(table, use, args)).map(({ use, args }) => `${use} ${args ?? ""}`) };
}

const METHODS: Json = ["read", "save", "write"].map((name) => ({
    name,
    input: { type: "object", properties: { id: {}, k: {}, x: {} } },
}));

/**
 * The same for a program whose calls each stand on a line of their own and say which one they are (`id: "c7"`): each call that differs is held to the rows
 * of its line. What was not done by a run that failed is no difference: what would have come is not known. So the calls of the two runs are not put beside
 * one another by their tools alone.
 */
export function unlistedAt(text: string, policy: Policy): { readonly all: number; readonly not: string[] } {
    const form = formOf(text);
    const { uses } = hostileUses(form, ["Inbox"], { policy });
    const [a, b] = MAILS.map((mail) => callsIn(form, "Inbox", mail, policy, METHODS)) as [Ran, Ran];
    const not: string[] = [];
    let all = 0;
    for (const id of new Set([...a.calls, ...b.calls].flatMap((call) => idOf(call) ?? []))) {
        const [x, y] = [a, b].map(({ calls }) => calls.filter((call) => idOf(call) === id)) as [Call[], Call[]];
        const { use } = (x[0] ?? y[0]) as Call;
        const line = text.slice(0, text.indexOf(`id: "${id}"`)).split("\n").length;
        const rows = uses.filter(({ tool, method, site }) => `${tool}.${method}` === use && site?.line === line);
        const differs = (isListed: boolean, what: string): void => {
            all++;
            if (!isListed) not.push(`${use} ${id}: ${what}`);
        };
        if (x.length === y.length) {
            const [mine, others] = apart(x, y);
            for (const arg of new Set(mine.flatMap(({ args }, i) => namesOf(args, others[i]?.args ?? null))))
                differs(
                    rows.some(({ args }) => args.some(({ name }) => name === arg || name === "*")),
                    arg,
                );
        } else if (x.length < y.length ? a.ended : b.ended)
            differs(
                rows.some(({ choice }) => choice !== null),
                "called",
            );
    }
    return { all, not };
}

type Ran = ReturnType<typeof callsIn>;

function idOf({ args }: Call): string | null {
    const id = (args as { id?: Json } | null)?.id;
    return typeof id === "string" ? id : null;
}
