/**
 * What data from some place could still do: each use that it may choose, or choose arguments of, without a question, and the bound that is left.
 *
 * Boundary: a program form and a policy in, a table out. No run.
 *
 * HO1: sound: what the table does not list, data from there does not reach under the policy and the remits with every question answered no, as far as
 *     `ASSUMED` says. It may list more than a run allows.
 */
import { authorityHolders } from "../authority/rows.ts";
import { idOf } from "../authority/grants.ts";
import type { Holder } from "../authority/tables.ts";
import type { ProjectPolicy } from "../authority/project.ts";
import type { Program } from "../form/form.ts";
import { walk } from "../form/walk.ts";
import { flowed } from "./blocks.ts";
import { type Calling, handedOver, memoryUse, storeOf, toldTo, toolUse, userCall } from "./calls.ts";
import { dataVal, deciding, join, knownAs, through, union } from "./facts.ts";
import { ANY, Known, varOf } from "./known.ts";
import { type Reads, Rules } from "./rules.ts";
import { type Func, isOutsideAgent, Scope, USER } from "./scope.ts";
import { Seeds, type Descriptions } from "./seeds.ts";
import { type HostileTable, tableOf } from "./table.ts";
import { Uses } from "./uses.ts";
import { type Place, placeIn, Walk } from "./walk.ts";

export interface HostileOptions {
    readonly policy?: ProjectPolicy;
    /** Whether a tool says that a method only reads; undefined where that is not known. */
    readonly reads?: Reads;
    readonly descriptions?: Descriptions;
}

/** `hostile`: `Inbox.read`, `Inbox`, a memory, a file, an agent, `input`. Names that the program does not have are told by `unknownSeeds`. */
export function hostileUses(program: Program, hostile: readonly string[], options: HostileOptions = {}): HostileTable {
    const policy = options.policy ?? {};
    const scope = new Scope(program, policy);
    const known = new Known();
    const uses = new Uses();
    const holders = new Map(authorityHolders(program, policy).map((holder) => [idOf(holder), holder]));
    const rules = new Rules(scope, policy, holders, options.reads ?? (() => undefined));
    const w = new Walk({ scope, known, seeds: new Seeds(scope, policy, hostile, options.descriptions ?? (() => undefined)), rules, uses });
    begin(w);
    do {
        known.changed = false;
        uses.changed = false;
        for (const func of scope.funcs) if (known.set("reached").has(func.id)) w.func(func);
        blocks(w);
        for (const holder of holders.values()) if (holder.outside !== undefined) outside(w, holder);
        defined(w);
    } while (known.changed || uses.changed);
    return tableOf({ hostile, scope, known, rules, uses });
}

/** Where a run may begin, and what it begins with. */
function begin({ scope, known, seeds }: Walk): void {
    const { program } = scope;
    const last = program.files.length - 1;
    const start = (func: Func | undefined): void => {
        if (func === undefined) return;
        known.addTo("reached", [func.id]);
        known.addTo(`runs ${func.id}`, [func.principal ?? USER]);
        for (const { name } of func.form.params) known.add(varOf(func, name), join(known.opaque("input"), dataVal(seeds.ofInput())));
    };
    for (const one of [program.entry, program.main]) {
        const func = one === undefined ? undefined : scope.func(one.file, one.agent ?? null, one.func);
        start(func);
        // Where the program calls it, too, it runs again.
        if (func !== undefined) known.addTo(`calls ${func.id}`, ["run"]);
    }
    for (const agent of program.files[last]?.agents ?? []) start(scope.mainOf(last, agent));
    if (program.entry === undefined) for (const func of scope.funcs) if (func.file === last) start(func);
}

function standIn(file: number, id: string, principal: string): Func {
    const form = { name: id, params: [], effects: [], body: [] };
    return { id, file, agent: null, form, strict: false, locals: new Set(), fixed: new Set(), principal };
}

function blocks(w: Walk): void {
    w.scope.program.files.forEach(({ blocks: all = [] }, file) => {
        const func = standIn(file, `${file}|blocks`, USER);
        w.known.addTo(`runs ${func.id}`, [USER]);
        const input = join(w.known.opaque("input"), dataVal(w.seeds.ofInput()));
        for (const block of all) flowed(w, placeIn(func), block, input);
    });
}

/** An agent outside the program does with its own hands, and in its functions, whatever it was told to, as far as it may. */
function outside(w: Walk, holder: Holder): void {
    const { known, scope, rules, seeds } = w;
    const id = idOf(holder);
    const file = scope.program.files.findIndex((one) => one.file === holder.agent?.file);
    const meaning = scope.lookup(file, null, holder.name);
    if (meaning?.kind !== "cap" || meaning.cap.kind !== "thing" || !known.set("handed").has(meaning.cap.thing.key)) return;
    const told = toldTo(meaning.cap.thing);
    for (const { thing, gate } of holder.lines) {
        if (gate === "never") continue;
        known.addFacts(told, union(seeds.ofThing(thing), knownAs(known.facts(storeOf(thing)), [])));
        known.addFacts(told, known.facts(`memory ${thing.key}`));
    }
    known.addFacts(told, seeds.ofThing(meaning.cap.thing));
    const words = through(known.facts(told), `agent:${holder.name}`);
    if (words.size === 0) return;
    const func = standIn(file, id, id);
    known.addTo(`runs ${id}`, [id]);
    const place = { ...placeIn(func), local: deciding(words, holder.site) };
    for (const line of holder.lines) {
        if (line.gate === "never") continue;
        const { thing } = line;
        const found = scope.lookup(line.file, null, thing.name);
        if (found?.kind !== "cap" || found.cap.kind !== "thing") continue;
        const { cap } = found;
        const asked = {
            cap,
            method: line.method,
            args: new Map([[ANY, dataVal(words)]]),
            by: "agent" as const,
            named: false,
            node: known.node(`${id} ${thing.key}`, line.site),
        };
        if (thing.what === "tool") toolUse(w, place, asked);
        else if (thing.what === "memory")
            for (const method of line.method === null ? rules.methodsOf(thing) : [line.method]) memoryUse(w, place, { ...asked, method });
        else if (isOutsideAgent(thing)) handedOver(w, place, asked);
        else agentFuncs(w, place, cap.thing, words);
    }
}

/** All that an agent of the program can be called for, with anything. */
function agentFuncs(w: Calling, place: Place, thing: Parameters<Scope["agentOf"]>[0], words: Parameters<typeof dataVal>[0]): void {
    const own = w.scope.agentOf(thing);
    for (const form of own?.form.funcs ?? []) {
        const func = own === null ? undefined : w.scope.func(own.file, own.form.name, form.name);
        if (func !== undefined)
            userCall(w, place, func, { given: form.params.map(({ name }) => ({ name, value: dataVal(words) })), isOwn: false, by: null });
    }
}

/** An agent to which all is delegated may put functions in the place of the program's. */
function defined({ scope, known }: Walk): void {
    for (const func of scope.funcs)
        walk(func.form.body, (node) => {
            if (node.kind !== "delegate" || node.all !== true) return;
            const meaning = scope.lookup(func.file, null, node.to);
            if (meaning?.kind !== "cap" || meaning.cap.kind !== "thing" || !isOutsideAgent(meaning.cap.thing)) return;
            const words = knownAs(known.facts(toldTo(meaning.cap.thing)), []);
            for (const one of scope.funcs) {
                known.addFacts(`entry ${one.id}`, words);
                known.add(`result ${one.id}`, dataVal(words));
            }
        });
}
