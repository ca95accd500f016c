/**
 * Why a value is what it is: the run done again from its ledger, with every step kept.
 *
 * Boundary: reads the ledger, performs nothing, writes nothing.
 *
 * WH2: what an agent did with its own hands while it worked stands beside the chain, wherever the chain comes by that agent's turns: it is not known
 *     which of it went into its answer, so all of it may have. It is named with its entries in the ledger.
 * WH1: the chain is of the very run that is in the ledger: where doing it again goes another way, there is no answer.
 */
import { fromThisProcess } from "../process/here.ts";
import type { Json } from "@remit/language";
import { chooserIn, compileProgram, type DerivedStep as Step, Machine, type ToolRequest } from "@remit/machine";
import { type LedgerStore, type RunRecord, recordOf } from "../ledger/store.ts";
import { knownSecrets } from "../secret/known.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { leaving } from "../secret/exits.ts";
import { RemitError } from "../failure/error.ts";
import { startOptionsOf } from "./machine.ts";
import { retell } from "./retell.ts";

export interface Why {
    /** `value`, or the path of the effect. */
    readonly use: string;
    /** JSON Pointer (RFC 6901) into the value, or into the list of the effect's arguments. */
    readonly pointer: string;
    /** What was made from others comes after them. Empty for what the program's own text says. */
    readonly chain: readonly Step[];
    /** What agents of the chain did with their own hands, in order. */
    readonly hands: readonly HandUse[];
    /** Sorted. */
    readonly origins: readonly string[];
}

/** A use of a tool by an agent at work: what came of it reached the agent. */
export interface HandUse {
    /** Of the use; the turn in which it was made is what it begins with. */
    readonly path: string;
    readonly turn: string;
    readonly tool: string;
    readonly method: string;
    readonly args: readonly Json[];
    /** Null where it never ended. */
    readonly ok: boolean | null;
    /** Number of the ledger's entry that holds what came of it, of the one that it began with where it never ended. */
    readonly seq: number;
}

/**
 * `where`: a pointer into the run's value (`/diff`, `diff.0`), or the path of a tool or memory call and a pointer into its arguments
 * (`main/Mail.send#0/to`, `main/Mail.send#0:/0/to`). Empty: the value; of a run that failed, the call that was refused, else `failure`. Throws `RemitError` where there is no such place or the run cannot be done again.
 */
export async function whyOf(
    store: LedgerStore,
    id: string,
    where = "",
    secrets: Scrubber = knownSecrets(fromThisProcess().env),
): Promise<Why> {
    const record = await recordOf(store, id);
    const { info } = record;
    const machine = await derived(record, secrets);
    const tracer = machine.tracer;
    if (tracer === null) throw new Error("a run with derivations has a tracer");
    const uses = [...tracer.uses.keys()];
    const found = placeOf(where === "" ? usual(record, uses) : where, uses);
    const chain = found === null ? null : tracer.why(found.use, found.pointer);
    if (found === null || chain === null)
        // What is not there came from nowhere: to call it the program's own text would call it trusted.
        throw new RemitError({
            kind: "value",
            message: where === "" ? `run ${info.id} has no value yet` : `there is no '${where}' in this run`,
            hint: `name a part of its value, or one of ${
                uses
                    .filter((u) => u !== "value")
                    .slice(0, 8)
                    .join(", ") || "its calls (it made none)"
            }`,
        });
    const hands = handsOf(record, chain);
    const held = hands.map(({ tool }) => `tool:${tool}`);
    const carried = tracer.carries(found.use);
    const choosers = new Set([...carried].map(chooserIn));
    const origins = [...new Set([...chain.flatMap((step) => step.origins), ...held])]
        .filter((origin) => carried.has(origin) || !choosers.has(origin))
        .sort();
    return secrets.scrub({ ...found, chain, hands, origins } as unknown as Json) as unknown as Why;
}

/** What is meant where nothing is said. */
function usual({ info, events }: RunRecord, uses: readonly string[]): string {
    if (info.status !== "failed") return "";
    const refused = events.findLast(({ kind }) => kind === "policy.denied" || kind === "run.resumed");
    const isIt =
        refused?.kind === "policy.denied" && uses.includes(refused.path) && /^(?:violation\.|denied)/.test(info.failure?.kind ?? "");
    return isIt ? refused.path : "failure";
}

/** WH2. */
function handsOf({ events }: RunRecord, chain: readonly Step[]): HandUse[] {
    // What was seen in a turn is still known in the later ones of its session.
    const sessions = [
        ...new Set(chain.flatMap(({ what, path }) => (what.startsWith("agent ") ? [path.split("/turn[", 1)[0] as string] : []))),
    ];
    if (sessions.length === 0) return [];
    const out = new Map<string, HandUse>();
    for (const { kind, path, parent, seq, data } of events) {
        const { host, effect, request, ok } = data as { readonly [key: string]: Json };
        if (host !== true || effect !== "tool" || parent === null || !sessions.some((one) => path.startsWith(`${one}/`))) continue;
        const begun = out.get(path);
        if (kind === "tool.started") {
            const { tool, method, args } = request as unknown as ToolRequest;
            out.set(path, { path, turn: parent, tool, method: method ?? "", args: args ?? [], ok: null, seq });
        } else if (kind === "tool.ended" && begun !== undefined) out.set(path, { ...begun, ok: ok === true, seq });
    }
    return [...out.values()];
}

function placeOf(where: string, uses: readonly string[]): { readonly use: string; readonly pointer: string } | null {
    const colon = where.indexOf(":/");
    if (colon > 0 && uses.includes(where.slice(0, colon))) return { use: where.slice(0, colon), pointer: where.slice(colon + 1) };
    // The longest path that it begins with; what follows names a field of the one argument, or a place.
    const use = uses
        .filter((u) => where === u || where.startsWith(`${u}/`) || where.startsWith(`${u}.`))
        .sort((a, b) => b.length - a.length)[0];
    if (use !== undefined && use !== "value") {
        const rest = pointerOf(where.slice(use.length));
        return { use, pointer: rest === "" ? "" : /^\/[0-9]+(?:\/|$)/.test(rest) ? rest : `/0${rest}` };
    }
    if (where.includes("#")) return null;
    return uses.includes("value") ? { use: "value", pointer: pointerOf(where.replace(/^value/, "")) } : null;
}

function pointerOf(text: string): string {
    if (text === "" || text.startsWith("/")) return text.replace(/\/$/, "");
    return text
        .replace(/^\./, "")
        .split(".")
        .map((key) => `/${key}`)
        .join("");
}

/** The run again, with derivations, up to where its ledger ends. */
async function derived(record: RunRecord, secrets: Scrubber): Promise<Machine> {
    const machine = Machine.start(compileProgram(record.program), { ...startOptionsOf(record), derive: true });
    const { odd } = await retell(record, leaving(machine, secrets));
    if (odd !== null)
        throw new RemitError({
            kind: "value",
            message: `doing run ${record.info.id} again went another way at ${odd}`,
            hint: "remit replay shows where it differs",
        });
    return machine;
}
