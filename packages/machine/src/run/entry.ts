/**
 * The beginning of a run: which function, with which arguments.
 *
 * Boundary: input JSON to arguments. Missing fields of the entry's contract are asked for as `input` effects, one after another, where
 * a person is there to answer.
 *
 * ER2: a part of another run begins under what decided there that it begins.
 * ROW1: a part knows the rows of tables that came before it, and the run around it those that came in it: where it does not, no row names a person.
 * ER3: evidence of the input is what the run began with: what flows into a part of it proves nothing there, also where the user gave it.
 * ER1: everything of the input carries its origins, `user` unless said otherwise; a file import carries the origins of its content.
 */
import { isObject, type Contract, type Field, type Json, shownName } from "@remit/language";
import { readersGiven } from "../authority/readers.ts";
import { type Slots, slotsOf } from "../compile/code.ts";
import { checkArguments } from "../compile/contracts.ts";
import { agentUses } from "../compile/uses.ts";
import type { FrameForm } from "../compile/instructions.ts";
import { enterStrict, flowOf, raiseBy } from "../compile/strict.ts";
import { NOTHING_ALONG } from "../compile/ways.ts";
import type { Fn } from "../compile/program.ts";
import type { InputRequest, Outcome } from "../effect/effect.ts";
import { valuesIn } from "../authority/evidence.ts";
import { Fail } from "../effect/failure.ts";
import { fromJson } from "../value/json.ts";
import { join } from "../value/operators.ts";
import { Labelled, type Value } from "../value/value.ts";
import { failFrom, raise } from "../state/effects.ts";
import { useEvent } from "../state/events.ts";
import { Frame } from "../state/fiber.ts";
import { failOf } from "../state/handlers.ts";
import type { Machine } from "./machine.ts";
import { DEFAULTS, type FileContent } from "../state/options.ts";
import { openAccount, spendOf } from "../state/spending.ts";

interface Question {
    readonly name: string;
    readonly contract: Contract;
    readonly description?: string;
    readonly param: number;
    /** Null: the parameter itself. */
    readonly field: string | null;
}

/** What is known of the arguments while questions are open. Plain JSON but for the function. */
export interface Entry {
    readonly fn: Fn;
    readonly args: (Json | undefined)[];
    questions: Question[];
    origins: string[];
}

export function startEntry(m: Machine): void {
    const { compiled, options, run } = m;
    const entry = options.entry ?? compiled.program.entry;
    const fn =
        entry === undefined
            ? undefined
            : compiled.functions.find((f) => f.file === entry.file && f.agent === (entry.agent ?? null) && f.form.name === entry.func);
    for (const i of compiled.fileImports) {
        m.tracer?.at(compiled.site(i.file, i.form.at), "main", `file ${i.form.uri}`);
        const place = `${i.file}/${i.form.name}`;
        const content = options.imports !== undefined && Object.hasOwn(options.imports, place) ? options.imports[place] : undefined;
        const raw = content === undefined ? null : fromJson(content.json, run.heap);
        const { reads } = m.authority.clausesAt(i.file, i.form.name);
        const l =
            content === undefined ? 0 : run.labels.of([...content.origins, ...readersGiven({ reads }, i.form.uri, null, [], content.json)]);
        run.imports[i.number] = l === 0 ? raw : new Labelled(raw, l);
    }
    if (fn !== undefined) m.entryPath = options.path ?? fn.name;
    for (const [number, name] of compiled.namedBlocks) {
        const bound = options.bindings !== undefined && Object.hasOwn(options.bindings, name) ? options.bindings[name] : undefined;
        if (bound !== undefined) run.imports[number] = join(run, fromJson(bound.json, run.heap), run.labels.of(bound.origins));
    }
    for (const [one, times] of options.uses ?? []) m.standing.uses.set(one, times);
    // COU4: a part that was told nothing of the counts has none.
    if (options.bindings !== undefined && options.uses === undefined) m.standing.lend("");
    // The caller says what the origin of the input is; the project says it where the caller does not.
    const origins = [...(options.inputLabels ?? [options.policy?.input ?? "user"])].sort();
    m.emit("run.started", fn === undefined ? "main" : m.entryPath, null, null, origins, {
        program: options.programHash,
        entry:
            fn === undefined
                ? null
                : { file: compiled.fileName(fn.file), agent: fn.agent === null ? null : shownName(fn.agent), function: fn.name },
        input: options.input,
        limits: {
            steps: DEFAULTS.steps,
            depth: DEFAULTS.depth,
            tokens: null,
            usd: null,
            calls: null,
            turns: null,
            bytes: null,
            memory: DEFAULTS.memory,
            time: null,
            ...options.limits,
        },
        concurrency: m.concurrency,
        principal: m.principal,
        ...(options.policy === undefined ? {} : { policy: options.policy as unknown as Json }),
    });
    if (fn === undefined) {
        m.finish(
            new Fail(
                "value",
                entry === undefined ? "the program has no main function" : `the program has no function '${entry.func}' to start with`,
            ),
        );
        return;
    }
    for (const i of compiled.fileImports)
        if (options.imports === undefined || !Object.hasOwn(options.imports, `${i.file}/${i.form.name}`)) {
            m.finish(
                new Fail("value", `the content of file import ${i.form.name} (${i.form.uri}) was not given`, {
                    site: compiled.site(i.file, i.form.at),
                }),
            );
            return;
        }
    const args = argumentsOf(fn, options.input);
    m.entry = { fn, args, questions: questionsOf(m, fn, args), origins };
    next(m);
}

function argumentsOf(fn: Fn, input: Json): (Json | undefined)[] {
    const { params } = fn.form;
    const object = isObject(input) ? input : null;
    const field = (name: string): Json | undefined => (object !== null && Object.hasOwn(object, name) ? object[name] : undefined);
    if (params.length === 0) return [];
    const [only] = params;
    if (params.length === 1 && only !== undefined && !isScalar(only.contract)) return [input];
    if (params.length === 1 && object === null) return [input];
    return params.map((p) => field(p.name));
}

/** A lone parameter with such a contract takes its field of the input, as several parameters do. */
function isScalar(contract: Contract | undefined): boolean {
    if (contract === undefined) return false;
    if (contract.type === "optional") return isScalar(contract.of);
    return (
        contract.type === "string" ||
        contract.type === "number" ||
        contract.type === "boolean" ||
        contract.type === "list" ||
        contract.type === "literal"
    );
}

function questionsOf(m: Machine, fn: Fn, args: (Json | undefined)[]): Question[] {
    const shapes = m.compiled.shapesOf(fn.file);
    const open: Question[] = [];
    fn.form.params.forEach((p, param) => {
        const given = args[param];
        if (given === undefined) {
            if (p.default !== undefined) args[param] = p.default;
            else if (p.contract?.type === "optional") args[param] = null;
            else open.push({ name: p.name, contract: p.contract ?? { type: "json" }, param, field: null });
            return;
        }
        const contract = resolve(p.contract, shapes);
        if (contract?.type !== "object" || !isObject(given)) return;
        for (const f of contract.fields) {
            const own = Object.hasOwn(given, f.name) ? given[f.name] : null;
            if (own === null && !mayBeNone(f))
                open.push({
                    name: `${p.name}.${f.name}`,
                    contract: f.contract,
                    ...(f.description === undefined ? {} : { description: f.description }),
                    param,
                    field: f.name,
                });
        }
    });
    return open;
}

function resolve(contract: Contract | undefined, shapes: { readonly [name: string]: Contract }): Contract | undefined {
    return contract?.type === "ref" ? (Object.hasOwn(shapes, contract.name) ? shapes[contract.name] : undefined) : contract;
}

function mayBeNone(f: Field): boolean {
    return f.optional === true || f.default !== undefined || f.contract.type === "optional" || f.contract.type === "none";
}

/** The next question, or the beginning. */
function next(m: Machine): void {
    const entry = m.entry as Entry;
    const [question] = entry.questions;
    if (question === undefined) {
        begin(m, entry);
        return;
    }
    const path = `${m.entryPath}/${question.name}`;
    const site = entry.fn.site(entry.fn.form.at);
    if (m.options.interactive !== true) {
        m.finish(new Fail("contract", `Missing input '${question.name}': no value was given, and there is no person to ask`, { site }));
        return;
    }
    const request: InputRequest = {
        name: question.name,
        contract: question.contract,
        ...(question.description === undefined ? {} : { description: question.description }),
    };
    raise(m, m.root, { kind: "input", path, site, request: request as unknown as Json, labels: [], origin: "user" });
    m.emit("input.requested", path, null, site, [], { path: question.name, contract: question.contract as unknown as Json });
}

export function answerEntry(m: Machine, outcome: Outcome): void {
    const entry = m.entry as Entry;
    const [question, ...rest] = entry.questions as [Question, ...Question[]];
    const path = `${m.entryPath}/${question.name}`;
    const site = entry.fn.site(entry.fn.form.at);
    if (!outcome.ok) {
        m.finish(failFrom(m, outcome.failure, site, ["user"]));
        return;
    }
    m.emit("input.given", path, null, site, outcome.origins, { path: question.name, value: outcome.value });
    entry.questions = rest;
    entry.origins = [...new Set([...entry.origins, ...outcome.origins])].sort();
    if (question.field === null) entry.args[question.param] = outcome.value;
    else {
        const before = entry.args[question.param] as { [key: string]: Json };
        entry.args[question.param] = { ...before, [question.field]: outcome.value };
    }
    next(m);
}

/** What `among` clauses will ask about, where it is the user's word (ER3). */
function learnInput(m: Machine, entry: Entry): void {
    const { watched, fields } = m.authority.book;
    const { json, origins } = m.options.path === undefined ? inputOf(entry) : (m.options.evidence ?? NO_EVIDENCE);
    if (!origins.every((origin) => origin === "user")) return;
    if (watched.has("user")) m.standing.learn("user", json);
    for (const { id, key, path } of fields.values()) if (key === null) m.standing.learn(id, valuesIn(json, path));
}

const NO_EVIDENCE: FileContent = { json: null, origins: ["unlabelled"] };

function inputOf({ fn, args, origins }: Entry): FileContent {
    const { params } = fn.form;
    const json = params.length === 1 ? (args[0] ?? null) : Object.fromEntries(params.map(({ name }, i) => [name, args[i] ?? null]));
    return { json, origins };
}

function begin(m: Machine, entry: Entry): void {
    const { run } = m;
    const { fn } = entry;
    learnInput(m, entry);
    const { path: within, rows } = m.options;
    if (within !== undefined) m.standing.rowsCame(within, m.authority.book.tables.keys(), rows);
    m.tracer?.at(fn.site(fn.form.at), fn.name, "input");
    const came = [...Object.values(m.options.imports ?? {}), ...Object.values(m.options.bindings ?? {})];
    const { under = [], met = [] } = m.options;
    for (const some of [entry.origins, under, met, ...came.map(({ origins }) => origins)]) m.standing.meets(some);
    const l = run.labels.of(entry.origins);
    const values = entry.args.map((json): Value => {
        const raw = fromJson(json ?? null, run.heap);
        return l === 0 ? raw : new Labelled(raw, l);
    });
    const agent = fn.agent === null ? undefined : m.compiled.agent(fn.file, fn.agent);
    const principal = agent === undefined ? m.principal : m.authority.principalOf(agent);
    let form: FrameForm;
    let locals: Slots;
    try {
        const strict = fn.strict || m.authority.isStrict(principal);
        form = fn.framesFor(strict || run.tracks);
        locals = slotsOf(form.slots, run, values);
        if (strict || run.tracks) {
            enterStrict(locals, fn, null, 0, !strict);
            raiseBy(locals, flowOf(fn), run.labels.of(under), NOTHING_ALONG);
        }
        checkArguments(run, fn, locals, fn.site(fn.form.at));
    } catch (error) {
        const fail = failOf(m, error);
        if (fail === null) throw error;
        m.finish(fail);
        return;
    }
    const path = m.entryPath;
    if (fn.agent !== null) for (const use of agentUses(m.compiled, fn.file, fn.agent)) useEvent(m, null, path, use);
    const spend = agent === undefined || principal === m.principal ? null : spendOf(m, principal);
    const site = fn.site(fn.form.at);
    m.run.acting = principal;
    const account =
        spend === null
            ? 0
            : openAccount(m, m.root, { parent: 0, limits: spend, path, name: m.authority.nameOf(principal), within: null }, site);
    m.run.acting = m.principal;
    m.root.frames.push(
        new Frame(fn, 0, form.bodies[0] as Frame["form"], locals, {
            path,
            parent: null,
            agent: null,
            principal,
            token: 0,
            account,
            opened: account !== 0,
        }),
    );
    m.ready.push(m.root);
}
