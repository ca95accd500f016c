/**
 * Flows that a clause refuses: what is certain to be in an argument, however it came there, against what the clauses of the program allow.
 *
 * Boundary: functions of all files of a program. Each is walked by itself (`flow/walk.ts`) and told to its callers in a summary; what is not
 * certain is the machine's to tell.
 *
 * FW1: nothing is reported as refused that a run could let pass where it gets there.
 * FW2: summaries of functions that call one another begin with "never returns" and only lose, so that every chain of calls ends.
 * FW3: where the checker stops looking at a function, it says so (`FLOW_NOT_FOLLOWED`).
 */
import type { Range } from "../text/source.ts";
import type { Project } from "../authority/project.ts";
import { entryOf } from "../syntax/entry.ts";
import { aliasesOf } from "./flow/aliases.ts";
import type { MayRefuse } from "./flow/classes.ts";
import { isStrict, type Known, knownOf } from "./flow/known.ts";
import { type Place, placeIn, type Refused, Rules } from "./flow/rules.ts";
import { GIVEN_UP, type Led, NOTHING, type Sink, type Summary } from "./flow/summary.ts";
import { carrying, deep, type Fact, given, isOpen, sameVal, type Source, type Val } from "./flow/value.ts";
import { FlowWalk, MAX_PASSES } from "./flow/walk.ts";
import { type Binding, type Checking, type FuncInfo, report } from "../scope/model.ts";
import { shown } from "../syntax/entry.ts";

/** How often a function is walked before nothing more is said of it. */
const MAX_WALKS = 12;
/** Uses that a function's callers are told of; of those that depend on nothing that they pass. */
const MAX_SINKS = 30;
const MAX_OTHERS = 5;

interface Entry {
    readonly func: FuncInfo;
    readonly known: Known;
    summary: Summary;
    walks: number;
    queued: boolean;
    last: FlowWalk | null;
    /** How many of its uses depend on what it is passed. */
    depending: number;
    readonly readers: Set<Entry>;
}

export function checkFlows(checking: Checking, funcs: readonly FuncInfo[], trusted: (binding: Binding) => boolean): void {
    const rules = new Rules(checking, trusted);
    const ownStrict = new Set(funcs.filter((func) => isStrict(func, checking.project)));
    if (rules.isEmpty && ownStrict.size === 0) return;
    const aliases = aliasesOf(funcs, (func) => ownStrict.has(func));
    for (const one of aliases.mayRefuse()) tellRefusal(one);
    if (rules.isEmpty) return;
    const entries = new Map<FuncInfo, Entry>();
    for (const func of funcs)
        entries.set(func, {
            func,
            known: knownOf(func, aliases, ownStrict.has(func)),
            summary: NOTHING,
            walks: 0,
            queued: true,
            last: null,
            depending: 0,
            readers: new Set(),
        });
    const queue = calleesFirst(entries);
    for (let at = 0; at < queue.length; at++) {
        const entry = queue[at] as Entry;
        entry.queued = false;
        const walk = new FlowWalk(entry.func, rules, (func) => entries.get(func)?.summary ?? GIVEN_UP, entry.known);
        const { value } = walk.run();
        for (const func of walk.called) entries.get(func)?.readers.add(entry);
        entry.last = walk;
        const { sinks, depending } = toldOf(walk, rules, ownStrict.size > 0);
        const summary = ++entry.walks > MAX_WALKS ? GIVEN_UP : { value, sinks };
        entry.depending = depending;
        if (sameSummary(entry.summary, summary)) continue;
        entry.summary = summary;
        if (entry.walks > MAX_WALKS + 1) continue;
        for (const reader of entry.readers)
            if (!reader.queued) {
                reader.queued = true;
                queue.push(reader);
            }
    }
    for (const entry of entries.values()) reportEntry(entry, rules);
    const start = checking.files.get(checking.entry)?.tree;
    const main = start === undefined ? undefined : entryOf(start)?.func;
    for (const { last, func } of entries.values())
        if (last !== null && func.node === main) reportInput(last, func, rules, checking.project);
}

/** A function after those that it calls, where there is such an order. */
function calleesFirst(entries: ReadonlyMap<FuncInfo, Entry>): Entry[] {
    const order: Entry[] = [];
    const seen = new Set<Entry>();
    for (const start of entries.values()) {
        if (seen.has(start)) continue;
        seen.add(start);
        const path = [{ entry: start, rest: [...start.known.callees] }];
        for (let top = path[path.length - 1]; top !== undefined; top = path[path.length - 1]) {
            const callee = top.rest.pop();
            if (callee === undefined) {
                order.push(top.entry);
                path.pop();
                continue;
            }
            const next = entries.get(callee);
            if (next === undefined || seen.has(next)) continue;
            seen.add(next);
            path.push({ entry: next, rest: [...next.known.callees] });
        }
    }
    return order;
}

/**
 * Uses that the callers decide: those that depend on parameters, and are not refused anyhow. `all`: there is strict code, which decides over what it
 * calls, whatever that is given.
 */
function toldOf(walk: FlowWalk, rules: Rules, all: boolean): { readonly sinks: Sink[]; readonly depending: number } {
    const dropped = new Set<string>();
    const told = new Map<string, Sink>();
    const add = (whole: Sink, depends = true): void => {
        if (!depends && told.size >= MAX_OTHERS) return;
        const args = rules.needed(whole.args);
        const sink = args === whole.args ? whole : { ...whole, args };
        if (dependsOn(sink) !== depends || refusedAt(whole, rules) !== null) return;
        const key = `${sink.func.file.name} ${sink.range.start} ${sink.kind} ${keyOf(sink.tool)} ${args.map(keyOf).join(";")}`;
        const known = told.get(key);
        if (known === undefined && told.size >= MAX_SINKS) {
            dropped.add(key);
            return;
        }
        // The same use by several ways: one of them is enough, a sure one if there is any.
        if (known === undefined || (sink.sure && !known.sure)) told.set(key, sink);
    };
    for (const sink of walk.sinks.values()) add(sink);
    for (const led of walk.led.values()) for (const { sink } of led) add(sink);
    if (all) {
        const others = [...walk.sinks.values(), ...[...walk.led.values()].flatMap((led) => led.map(({ sink }) => sink))];
        for (const sink of others.sort((a, b) => Number(b.sure) - Number(a.sure))) add(sink, false);
    }
    return { sinks: [...told.values()], depending: told.size + dropped.size };
}

function dependsOn(sink: Sink): boolean {
    return isOpen(sink.tool) || sink.args.some(isOpen);
}

function keyOf(v: Val): string {
    const fields = v.fields === null ? "" : [...v.fields].map(([key, field]) => `${key}:${keyOf(field)}`).join();
    return `${v.cap?.binding.name ?? ""}(${[...v.top.keys()].join()}|${[...v.inner.keys()].join()}|${fields}|${v.items === null ? "" : keyOf(v.items)})`;
}

function refusedAt({ kind, tool, method, args }: Sink, rules: Rules): Refused | null {
    return tool.cap === null ? null : rules.refused({ kind, cap: tool.cap, method, args });
}

function sameSummary(a: Summary, b: Summary): boolean {
    return (
        a === b ||
        (sameVal(a.value, b.value) &&
            a.sinks.length === b.sinks.length &&
            a.sinks.every((one, i) => {
                const other = b.sinks[i] as Sink;
                return (
                    one.range === other.range &&
                    one.sure === other.sure &&
                    sameVal(one.tool, other.tool) &&
                    one.args.length === other.args.length &&
                    one.args.every((arg, at) => sameVal(arg, other.args[at] as Val))
                );
            }))
    );
}

// ---- what is said ----------------------------------------------------------------------------------------------------

function reportEntry(entry: Entry, rules: Rules): void {
    const { last, func } = entry;
    if (last === null) return;
    reportWalk(last, func, rules);
    const why = stoppedBy(entry, last);
    const { name, range } = func.node;
    if (why !== null) report(func, "FLOW_NOT_FOLLOWED", name?.range ?? { start: range.start, end: range.start + "main".length }, why);
}

/** Why not all of a function was followed (FW3). */
function stoppedBy({ walks, depending, readers }: Entry, { lost }: FlowWalk): string | null {
    if (lost) return `a loop here is not settled after ${MAX_PASSES} looks: what flows through this function is not followed`;
    if (walks > MAX_WALKS)
        return `functions that call one another are not settled after ${MAX_WALKS} looks: what this one gives is not followed`;
    if (depending <= MAX_SINKS || readers.size === 0) return null;
    return `${depending} uses here depend on what callers pass: callers are held to the first ${MAX_SINKS} of them`;
}

function reportWalk(walk: FlowWalk, func: FuncInfo, rules: Rules): void {
    for (const sink of walk.sinks.values()) {
        const refused = refusedAt(sink, rules);
        if (refused !== null) tell(func, sink, refused, argumentOf(sink, refused), null);
    }
    for (const led of walk.led.values()) {
        const seen = new Set<string>();
        let decided = false;
        for (const one of [...led].sort((a, b) => Number(b.sure) - Number(a.sure))) {
            const refused = refusedAt(one.sink, rules);
            if (refused === null) continue;
            // What decides over a call decides over all that it leads to: one of them is enough.
            if (refused.fact.decides === true) {
                if (decided) continue;
                decided = true;
            }
            const key = `${one.sink.func.file.name} ${one.sink.range.start}`;
            if (seen.has(key)) continue;
            seen.add(key);
            tell(func, one.sink, refused, argumentWith(one, refused), one.sure ? null : `${shown(one.sink.func.name)} gets to that call`);
        }
    }
}

/** What is refused where the input has its default origin: the user's, or what the project says. */
function reportInput(walk: FlowWalk, func: FuncInfo, rules: Rules, project: Project | null): void {
    const param = func.node.params[0];
    if (param === undefined) return;
    const source: Source = { name: "the input", file: func.file, range: param.name.range };
    const isUnlabelled = project?.policy.input === "unlabelled";
    const word: Fact = { key: isUnlabelled ? "unlabelled" : "user", trusted: !isUnlabelled, source };
    const facts = isUnlabelled ? [word, { key: "!", source }] : [word];
    const input = [carrying(new Map(facts.map((fact) => [fact.key, fact])))];
    const where = isUnlabelled ? "the origin of the input is unknown" : "the input is the user's";
    const look = (sink: Sink): readonly [Sink, Refused] | null => {
        if (refusedAt(sink, rules) !== null) return null;
        const now = { ...sink, tool: given(sink.tool, input, ""), args: sink.args.map((arg) => given(arg, input, "")) };
        const refused = refusedAt(now, rules);
        return refused === null ? null : [now, refused];
    };
    for (const sink of walk.sinks.values()) {
        const found = look(sink);
        if (found !== null) tell(func, ...found, argumentOf(...found), where);
    }
    for (const led of walk.led.values())
        for (const one of led) {
            const found = look(one.sink);
            if (found === null) continue;
            const args = one.args.map((arg) => given(arg, input, ""));
            tell(func, ...found, argumentWith({ ...one, args }, found[1]), where);
            break;
        }
}

/** What the machine refuses: a change where the list or object does not carry what the reference does, and a function that nothing carries. */
const MAY_REFUSE = {
    change: {
        message:
            "a value decides which list or object changes here; `flow strict` refuses the change if that list or object lacks the value's origins",
        hint: "make a new list or object and assign it to the variable, or endorse the value that decides",
        by: "the value decides here",
    },
    let: {
        message: "a value decides that an agent may define functions here; `flow strict` refuses that if the value has origins",
        hint: "delegate by name what the agent needs, or begin the block where nothing decides over it",
        by: "the value decides here",
    },
    define: {
        message:
            "an agent that may define functions is told a value here; `flow strict` refuses what it then defines if the value has origins",
        hint: "delegate by name what the agent needs, or tell it only what stands in the program",
        by: "the value comes from here",
    },
} as const;

function tellRefusal({ what, func, range, by }: MayRefuse): void {
    const { message, hint, by: decides } = MAY_REFUSE[what];
    report(func, "FLOW_MAY_BE_REFUSED", range, message, {
        hint,
        related: [{ message: decides, file: by.func.file.name, range: by.range }],
    });
}

/** Where the argument stands that a clause names. */
function argumentOf(sink: Sink, { arg, places }: Refused): Range {
    const at = places[0] ?? 0;
    const value = sink.call?.args[at]?.value;
    const entry =
        value?.kind !== "object" || arg === null
            ? undefined
            : value.entries.findLast((one) => one.kind === "entry" && one.key.text === arg)?.value;
    return entry?.range ?? sink.ranges[at] ?? sink.range;
}

/** The argument of a call that brings it in; the call, where a function brings it itself. */
function argumentWith({ args, ranges, call }: Led, { fact }: Refused): Range {
    if (fact.decides === true) return call;
    const at = args.findIndex((arg, i) => ranges[i] !== undefined && deep(arg).has(fact.key));
    return ranges[at] ?? call;
}

/** Of what the input carries. */
const HINTS: ReadonlyMap<string, string> = new Map([
    ["user", 'name "user" in the clause, or take the value from where it says'],
    ["unlabelled", "name the origin of the input (`--input-origin`), add `or ask` to the clause, or endorse the value"],
]);

/** `where`: what it depends on; null where it is certain. */
function tell(func: FuncInfo, sink: Sink, { fact, rule, arg, why }: Refused, range: Range, where: string | null): void {
    const { source } = fact;
    const through = [...(fact.via ?? []).map(shown), ...sink.trail.slice(1).map((one) => shown(one.func.name))];
    if (sink.trail.length > 0) through.push(shown(sink.func.name));
    const way = through.length === 0 ? "" : `, goes through ${[...new Set(through)].join(", ")}`;
    const from = `comes from ${source?.name ?? "there"}${way}`;
    const message =
        fact.decides === true
            ? `what decides over this ${from}, ${arg === null ? "" : "and "}${why}`
            : arg === null
              ? `what ${from} ${why}`
              : `this ${from}, and ${why}`;
    const related: { message: string; file: string; range: Range }[] = [];
    const place = (text: string, { file, range: at, line }: Place): void => {
        if (file === func.file.name && at.start === range.start && at.end === range.end) return;
        related.push({ message: `${text}${file === func.file.name ? "" : ` (line ${line})`}`, file, range: at });
    };
    if (source !== undefined) place("it enters here", placeIn(source.file, source.range));
    for (const { func: by, range: at } of sink.trail.slice(1)) place(`it is handed on in ${shown(by.name)}`, placeIn(by.file, at));
    if (sink.trail.length > 0) place("it is refused here", placeIn(sink.func.file, sink.range));
    if (rule !== null) place("the clause", rule.at);
    report(
        func,
        where === null ? "FLOW_REFUSED" : "FLOW_MAY_BE_REFUSED",
        range,
        where === null ? message : `${message}: the run refuses it if ${where}`,
        {
            hint:
                arg === null
                    ? "send what all of them may read, name them in the `audience` of the import, or endorse the value for them"
                    : fact.decides === true
                      ? "decide by what is trusted, add `or ask` to the clause, or endorse what it depends on"
                      : (HINTS.get(fact.key) ??
                        "take the value from the input or the program, add `or ask` to the clause, or endorse the value"),
            related,
        },
    );
}
