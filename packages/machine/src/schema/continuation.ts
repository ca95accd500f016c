/**
 * The JSON Schema of a continuation: a whole image, or a delta that follows the document before it.
 *
 * Boundary: the shapes of `run/save.ts` as tables. Whether ids, labels and frames fit the program and the documents before is for the loader.
 * The state of a running `generate` is the machine's own and open here; the version of the engine stands for it.
 */
import type { Right, Way } from "../authority/decide.ts";
import type { Permit } from "../authority/policy.ts";
import type { ModelTurn } from "../effect/effect.ts";
import type { ConductDoc } from "../conduct/messages.ts";
import type { Defined } from "../run/definitions.ts";
import type { Doing, SessionDoc, WrittenDoc } from "../agent/session.ts";
import type { AccountDoc } from "../run/accounts.ts";
import type { Delegation, StandingDoc } from "../run/standing.ts";
import {
    type Cell,
    CONTINUATION,
    type CodeDoc,
    type Continuation,
    type EntryDoc,
    type FailDoc,
    type FiberDoc,
    type StoppedDoc,
    type FrameDoc,
    type NativeDoc,
    type PendingDoc,
    type ThingDoc,
} from "../run/document.ts";
import type { CapabilityKind } from "../value/value.ts";
import {
    any,
    count,
    empty,
    flag,
    is,
    json,
    list,
    nothing,
    number,
    one,
    orNull,
    record,
    ref,
    type Schema,
    says,
    schemaOf,
    text,
} from "./build.ts";
import { EFFECT_DEFS, effectOf } from "./effect.ts";

type Native<K extends string> = Extract<NativeDoc, { readonly kind: K }>;
type CellOf<K extends string> = Extract<Cell, { readonly [key in K]: unknown }>;
type ThingOf<K extends string> = Extract<ThingDoc, { readonly [key in K]: unknown }>;

const CAPABILITIES: { readonly [K in CapabilityKind]: true } = {
    tool: true,
    llm: true,
    agent: true,
    memory: true,
    func: true,
    skill: true,
};

const tuple = (...of: readonly Schema[]): Schema => ({ type: "array", prefixItems: [...of], items: false, minItems: of.length });

const CELL: Schema = any(
    nothing,
    flag,
    number,
    text,
    says(record<CellOf<"r">>({ r: count }, {}), "a list or object of the heap"),
    says(record<CellOf<"l">>({ l: { type: "integer", minimum: 1 }, v: ref("Cell") }, {}), "a value with a set of labels"),
    says(
        record<CellOf<"c">>({ c: tuple(one(Object.keys(CAPABILITIES)), count, text, orNull(text)) }, { right: ref("Right") }),
        "a capability: kind, file, name, agent",
    ),
    says(record<CellOf<"n">>({ n: one(["-0", "Infinity", "-Infinity", "NaN"]) }, {}), "a number that JSON has no text for"),
);

const THING: Schema = any(
    record<ThingOf<"list">>({ id: count, list: list(ref("Cell")) }, { o: count, at: count, all: { type: "integer", minimum: 1 } }),
    record<ThingOf<"keys">>(
        { id: count, keys: list(text), values: list(ref("Cell")) },
        { o: count, at: count, l: { type: "integer", minimum: 1 }, all: { type: "integer", minimum: 1 } },
    ),
);

const NATIVE: Schema = any(
    record<Native<"effect">>({ kind: is("effect"), path: text }, {}),
    says(
        record<Native<"ask">>({ kind: is("ask"), path: text, use: text, session: text }, {}),
        "a question about the use at the present instruction",
    ),
    says(record<Native<"describe">>({ kind: is("describe"), path: text, place: text }, {}), "a tool is asked what it has"),
    record<Native<"generate">>(
        {
            kind: is("generate"),
            path: text,
            state: { type: "object" },
            waiting: list(text),
            outcomes: list(orNull(ref("Outcome"))),
        },
        {
            envelope: says(is(true), "a reason(), which gives {data} or {error}"),
            kept: says(
                { type: "object", additionalProperties: any(is(true), count) },
                "of a delta: fields that are as they were before, or how many items at the beginning of a list are",
            ),
        },
    ),
    says(
        record<Native<"handover">>(
            { kind: is("handover"), path: text, what: text, args: ref("Cell"), state: { type: "object" } },
            { noted: says(ref("Cell"), "what the agent of agent() reported in its present turn, each note as JSON") },
        ),
        "control was handed to an agent, or act() waits for a tool",
    ),
    record<Native<"parallel">>(
        {
            kind: is("parallel"),
            path: text,
            prefix: text,
            items: ref("Cell"),
            label: count,
            next: count,
            running: count,
            done: ref("Cell"),
            failures: list(record<Native<"parallel">["failures"][number]>({ index: count, fail: ref("Fail") }, {})),
        },
        {},
    ),
);

const FRAME = record<FrameDoc>(
    {
        fn: count,
        body: count,
        pc: count,
        locals: list(ref("Cell")),
        path: text,
        parent: orNull(text),
        agent: orNull(tuple(count, text)),
        principal: text,
        token: says(count, "of what was given with this call, 0 for nothing"),
        account: says(count, "that pays, 0 for the run's own"),
        opened: says(flag, "whether that was opened for this call"),
        approved: says(orNull(text), "the use at this instruction that somebody said yes to"),
        site: orNull(ref("Site")),
        native: orNull(ref("Native")),
    },
    { strict: says(flag, "control flow carries labels in it") },
);

const FIBER = record<FiberDoc>(
    {
        id: count,
        parent: orNull(count),
        index: count,
        base: count,
        from: says(count, "frames below it are as they were"),
        frames: list(ref("Frame")),
        need: count,
        waiting: orNull(text),
    },
    {
        stop: says(
            record<NonNullable<FiberDoc["stop"]>>(
                {
                    fail: ref("Fail"),
                    again: list(record<StoppedDoc>({ pending: ref("Pending"), asked: flag }, { outcome: ref("Outcome") })),
                },
                {},
            ),
            "it stopped by a failure that nothing takes; what is asked for again when it goes on",
        ),
    },
);

const ENTRY = record<EntryDoc>(
    {
        fn: count,
        args: list(json),
        absent: list(count),
        questions: list(
            record<EntryDoc["questions"][number]>(
                { name: text, contract: ref("Contract"), param: count, field: orNull(text) },
                { description: text },
            ),
        ),
        origins: list(text),
    },
    {},
);

const PERMIT = record<Permit>(
    {
        method: orNull(text),
        gate: one(["may", "ask", "never", "open"]),
        bounds: list(record<Permit["bounds"][number]>({ arg: orNull(text), patterns: list(text) }, {})),
        site: orNull(ref("Site")),
    },
    {},
);

const LAYERS: Schema = says(list(list(ref("Permit"))), "all must permit");

const RIGHT = record<Right>(
    {
        holder: text,
        from: text,
        ways: says(
            list(
                record<Way>(
                    { layers: LAYERS, alive: says(list(count), "blocks it lives in") },
                    { stays: says(is(true), "may not be passed on") },
                ),
            ),
            "each is enough by itself",
        ),
        only: says(list(list(ref("Permit"))), "all must permit, whichever way is taken"),
        alive: says(list(count), "calls it lives in"),
    },
    {},
);

const STANDING = record<StandingDoc>(
    {
        delegations: list(
            record<Delegation>(
                {
                    token: count,
                    from: text,
                    to: text,
                    onward: flag,
                    grants: { type: "object", additionalProperties: list(LAYERS) },
                    path: text,
                },
                { all: is(true) },
            ),
        ),
        alive: list(count),
        next: count,
        answers: list(tuple(text, flag)),
        known: list(tuple(text, list(text))),
    },
    {},
);

const ACCOUNT = record<AccountDoc>(
    {
        token: count,
        parent: says(count, "0 for the run's own"),
        path: text,
        name: text,
        within: orNull(text),
        fiber: count,
        limits: record<AccountDoc["limits"]>(
            {},
            { tokens: number, usd: number, time: number, steps: number, calls: number, turns: number, bytes: number },
        ),
        used: record<AccountDoc["used"]>({ tokens: number, usd: number, calls: number, turns: number, steps: number, bytes: number }, {}),
        reserved: says(number, "tokens"),
        reservedUsd: says(number, "millionths of a US dollar"),
        began: says(orNull(number), "milliseconds of the run at which its time began to run"),
    },
    {},
);

/** What images and deltas have in common. */
type Common = Omit<Continuation, "form" | "labels" | "gone" | "answered" | "imports" | "conduct" | "texts">;
type Optionals = Pick<Continuation, "conduct" | "texts">;
type ImageDoc = Common & Optionals & Pick<Continuation, "form" | "labels" | "gone" | "answered"> & { readonly imports: readonly Cell[] };
type DeltaDoc = Common & Optionals & Pick<Continuation, "form" | "labels" | "gone" | "answered">;

const COMMON = {
    version: is(CONTINUATION.version),
    engine: is(CONTINUATION.engine),
    program: says(text, "hash of the program form"),
    code: says(
        list(record<CodeDoc>({ file: count, version: text }, { strict: says(is(true), "as it runs with labels in its control flow") })),
        "versions of the compiled code of the files that have frames here",
    ),
    run: text,
    seq: says(count, "counts saves; a delta follows the document before it"),
    heap: list(ref("Thing")),
    fibers: list(ref("Fiber")),
    asked: says(list(ref("Pending")), "effects without an outcome, not yet written"),
    inbox: list(record<Continuation["inbox"][number]>({ path: text, outcome: ref("Outcome") }, {})),
    ready: list(count),
    entry: orNull(ref("Entry")),
    budgets: record<Continuation["budgets"]>(
        {
            tokens: number,
            usd: number,
            calls: number,
            turns: number,
            bytes: number,
            given: number,
            room: number,
            reserved: number,
            reservedUsd: number,
        },
        {},
    ),
    accounts: says(list(ref("Account")), "of calls and regions that are open, parents before children"),
    sessions: says(
        list(
            record<SessionDoc>(
                {
                    path: text,
                    agent: tuple(count, text),
                    principal: text,
                    token: count,
                    account: count,
                    turns: count,
                    most: count,
                    policy: orNull(tuple(count, text)),
                    turning: says(orNull(text), "the call whose prompt turn it is"),
                    queue: says(list(text), "calls that wait for theirs, in order"),
                    reads: { type: "object", additionalProperties: list(text) },
                    told: { type: "object", additionalProperties: list(text) },
                    doing: says(
                        orNull(
                            record<Doing>(
                                {
                                    most: record<Doing["most"]>({}, { steps: number, calls: number }),
                                    steps: count,
                                    calls: count,
                                    entries: list(json),
                                    usage: orNull(json),
                                    origins: list(text),
                                },
                                {},
                            ),
                        ),
                        "what the agent of an agent() call did",
                    ),
                },
                {},
            ),
        ),
        "with agents, that are open",
    ),
    written: says(
        list(record<WrittenDoc>({ form: { type: "object" }, path: text, agent: tuple(count, text), live: flag }, {})),
        "files of functions that agents wrote, behind those of the program",
    ),
    defined: says(
        list(record<Defined>({ name: text, fn: count, agent: tuple(count, text) }, {})),
        "functions that agents defined for the rest of the run",
    ),
    described: says(
        list(tuple(text, list(text), list(text))),
        "methods of tools that were asked what they have, and which of them only read, by the place of their import",
    ),
    standing: ref("Standing"),
    steps: count,
    nextFiber: count,
    framesUntil: count,
    ended: flag,
    raised: says(
        record<Continuation["raised"]>(
            {},
            {
                tokens: number,
                usd: number,
                time: number,
                steps: number,
                calls: number,
                turns: number,
                bytes: number,
                depth: number,
                memory: number,
            },
        ),
        "bounds of the run that its owner raised",
    ),
    attempt: says(count, "of effects: 1, and one more for each retry"),
    timedOut: says(flag, "the time of the run was up"),
    failed: says(flag, "the run ended as failed, and may go on"),
};

/** A model's turn whose request follows from the state of its `generate`. */
const TURN = effectOf("model", record<Pick<ModelTurn, "op" | "maxOutput">>({ op: is("turn") }, { maxOutput: number }));

const OPTIONAL = {
    conduct: says(
        record<ConductDoc>({ spent: count, begun: list(text), sessions: list(text) }, {}),
        "the conductor's: time that counts, effects that may have been begun, sessions that may be open",
    ),
    texts: says(
        list(tuple(count, text)),
        'large texts by ids of the run: in an image all that it has, in a delta those that are new. {"$text": id} stands for one wherever it is, and {"$plain": …} for an object that has a key of either name',
    ),
};

const labelsFrom = (from: Schema): Schema => record<Continuation["labels"]>({ from, sets: list(list(text)) }, {});

const IMAGE = record<ImageDoc>(
    { ...COMMON, form: is("image"), labels: labelsFrom(is(1)), gone: empty, answered: empty, imports: list(ref("Cell")) },
    OPTIONAL,
);
const DELTA = record<DeltaDoc>(
    {
        ...COMMON,
        form: is("delta"),
        labels: labelsFrom(count),
        gone: says(list(count), "fibers that ended"),
        answered: says(list(text), "effects that have their outcome"),
    },
    OPTIONAL,
);

/** Images and deltas, with the definitions of effects and outcomes that stand in them. */
export function continuationJsonSchema(): Schema {
    return schemaOf("continuation-1", `Remit continuation (${CONTINUATION.engine})`, ["Image", "Delta"], {
        Image: IMAGE,
        Delta: DELTA,
        Cell: CELL,
        Thing: THING,
        Fiber: FIBER,
        Frame: FRAME,
        Native: NATIVE,
        Fail: record<FailDoc>(
            { kind: ref("FailureKind"), message: text, site: orNull(ref("Site")), labels: count, whole: flag },
            { detail: json, hint: text, region: count, by: text },
        ),
        Pending: record<PendingDoc>(
            {
                effect: any(ref("Effect"), TURN),
                fiber: count,
                slot: count,
                origin: text,
                account: says(count, "that pays"),
                held: says(list(number), "tokens and millionths of a dollar reserved in that account, then in those around it"),
            },
            {
                timer: says(count, "account whose time this is"),
                waits: says(count, "it is not asked for yet: account whose turns in flight have to be settled first"),
            },
        ),
        Entry: ENTRY,
        Right: RIGHT,
        Permit: PERMIT,
        Standing: STANDING,
        Account: ACCOUNT,
        ...EFFECT_DEFS,
    });
}
