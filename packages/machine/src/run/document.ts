/**
 * The continuation's shape, told once: the schema, the types that `save.ts` writes and `load.ts` reads, and the fields of each wait.
 *
 * Boundary: shapes. Whether ids, labels and frames fit the program and the documents before is for the loader. The state of a running `generate`
 * is the machine's own and open here; the version of the engine stands for it.
 */
import type { Contract, CountForm, Json, Site } from "@remit/language";
import type { Doing, SessionDoc, WrittenDoc } from "../agent/session.ts";
import type { Right, Way } from "../authority/decide.ts";
import type { Permit } from "../authority/policy.ts";
import { CONDUCT } from "../conduct/messages.ts";
import type { FailureKind, Outcome } from "../effect/effect.ts";
import {
    any,
    count,
    empty,
    flag,
    from1,
    is,
    json,
    list,
    named,
    nothing,
    number,
    one,
    open,
    orNull,
    record,
    ref,
    type Schema,
    type Shape,
    says,
    shape,
    type Told,
    text,
    tuple,
} from "../shape/build.ts";
import { CAPABILITY_KINDS } from "../value/value.ts";
import { ACCOUNT, type AccountDoc } from "../state/accounts.ts";
import { DEFINED } from "../state/definitions.ts";
import type { Native, Pending } from "../state/fiber.ts";
import { LAYERS, STANDING, type StandingDoc } from "../state/delegations.ts";
import type { Bound } from "./stops.ts";

export const CONTINUATION = { version: 1, engine: "remit-machine/1" } as const;

/**
 * A value: primitives stand for themselves, `{r: id}` is a list or object, `{l, v}` carries label set `l`, `{c: [kind, file, name, agent]}` is a
 * capability, `{n: text}` a number that JSON has no text for.
 */
export type Cell =
    | null
    | boolean
    | number
    | string
    | { readonly r: number }
    | { readonly l: number; readonly v: Cell }
    | { readonly c: readonly [string, number, string, string | null]; readonly right?: Right }
    | { readonly n: string };

const cell = ref<Cell>("Cell");
const site = orNull(ref<Site>("Site"));

const CELL = any(
    nothing,
    flag,
    number,
    text,
    says(shape({ r: count }, {}), "a list or object of the heap"),
    says(shape({ l: from1, v: cell }, {}), "a value with a set of labels"),
    says(
        shape({ c: tuple(one(CAPABILITY_KINDS), count, text, orNull(text)) }, { right: ref<Right>("Right") }),
        "a capability: kind, file, name, agent",
    ),
    says(shape({ n: one(["-0", "Infinity", "-Infinity", "NaN"]) }, {}), "a number that JSON has no text for"),
);

/** `at`: it grew from there, what stands before is as it was. `o`: the fiber it belongs to, absent for the run's own. `l`: the label set of its keys, `all`: of the whole. */
const PLACE = { o: count, at: count, all: from1 };
const THING = any(
    shape({ id: count, list: list(cell) }, PLACE),
    shape({ id: count, keys: list(text), values: list(cell) }, { ...PLACE, l: from1 }),
);
export type ThingDoc = Told<typeof THING>;

const FAIL = shape(
    { kind: ref<FailureKind>("FailureKind"), message: text, site, labels: count, whole: flag },
    { detail: json, hint: text, region: says(count, "account whose limit it is"), by: text },
);
export type FailDoc = Told<typeof FAIL>;

/** Fields of a wait that are written otherwise than they are kept: a list of the heap, failures, and the state of a `generate`. */
const HELD = cell;
const FAILURES = list(shape({ index: count, fail: ref<FailDoc>("Fail") }, {}));

/** What a frame waits for, by kind: the one place that tells its fields (`fiber.ts` says what they mean). */
export const WAITS = {
    effect: shape({ kind: is("effect"), path: text }, {}),
    ask: says(shape({ kind: is("ask"), path: text, use: text, session: text }, {}), "a question about the use at the present instruction"),
    describe: says(shape({ kind: is("describe"), path: text, place: text }, {}), "a tool is asked what it has"),
    counts: says(
        shape({ kind: is("counts"), path: text }, {}),
        "a part that is elsewhere has the counts of the use at the present instruction",
    ),
    generate: shape(
        { kind: is("generate"), path: text, state: open<Json>(), waiting: list(text), outcomes: list(orNull(ref<Outcome>("Outcome"))) },
        {
            envelope: says(is(true), "a reason(), which gives {data} or {error}"),
            counts: says(is(true), "a part that is elsewhere has the counts of a call that its model made"),
            kept: says(
                named(any(is(true), count)),
                "of a delta: fields that are as they were before, or how many items at the beginning of a list are",
            ),
        },
    ),
    handover: says(
        shape(
            { kind: is("handover"), path: text, what: text, args: HELD, state: open<Json>() },
            { noted: says(HELD, "what the agent of agent() reported in its present turn, each note as JSON") },
        ),
        "control was handed to an agent, or act() waits for a tool",
    ),
    parallel: shape(
        {
            kind: is("parallel"),
            path: text,
            prefix: text,
            items: HELD,
            label: count,
            next: count,
            running: count,
            done: HELD,
            failures: FAILURES,
        },
        {},
    ),
    plan: shape({ kind: is("plan"), path: text, input: HELD, started: count, closed: flag, done: HELD, failures: FAILURES }, {}),
    stage: says(shape({ kind: is("stage"), path: text }, {}), "time, a person, or a block that runs elsewhere"),
};
export type NativeDoc = Told<(typeof WAITS)[keyof typeof WAITS]>;

type None<T extends never> = T;
/** Fields of a wait that its row does not tell: this does not compile where there is one. */
export type Untold = None<
    { [K in Native["kind"]]: Exclude<keyof Extract<Native, { kind: K }>, keyof Extract<NativeDoc, { kind: K }>> }[Native["kind"]]
>;

/** How a field of a wait is written. */
export function codedAs(kind: NativeDoc["kind"], field: string): "list" | "failures" | null {
    const of = (WAITS[kind].properties as { readonly [field: string]: Schema })[field];
    return of?.$ref === HELD.$ref ? "list" : of === FAILURES ? "failures" : null;
}

const FRAME = shape(
    {
        fn: count,
        body: count,
        pc: count,
        locals: list(cell),
        path: text,
        parent: orNull(text),
        agent: orNull(tuple(count, text)),
        principal: text,
        token: says(count, "of what was given with this call, 0 for nothing"),
        account: says(count, "that pays, 0 for the run's own"),
        opened: says(flag, "whether that was opened for this call"),
        approved: says(orNull(text), "the use at this instruction that a person said yes to"),
        site: site,
        native: orNull(ref<NativeDoc>("Native")),
    },
    {
        strict: says(flag, "control flow carries labels in it"),
        described: says(text, "hash of the description under which a person said yes"),
    },
);

export type FrameDoc = Told<typeof FRAME>;

const FIBER = shape(
    {
        id: count,
        parent: orNull(count),
        index: count,
        base: count,
        from: says(count, "frames below it are as they were"),
        frames: list(ref<FrameDoc>("Frame")),
        need: count,
        waiting: orNull(text),
    },
    {
        place: says(count, "among the fibers inside strict loops: the first goes on"),
        told: says(
            list(shape({ pending: ref<PendingDoc>("Pending"), outcome: ref<Outcome>("Outcome") }, {})),
            "what came for it that it goes on with in its turn",
        ),
        stop: says(
            shape(
                {
                    fail: ref<FailDoc>("Fail"),
                    again: list(shape({ pending: ref<PendingDoc>("Pending"), asked: flag }, { outcome: ref<Outcome>("Outcome") })),
                },
                {},
            ),
            "it stopped by a failure that nothing takes; what is asked for again when it goes on",
        ),
    },
);

export type FiberDoc = Told<typeof FIBER>;

const ENTRY = shape(
    {
        fn: count,
        args: list(json),
        absent: list(count),
        questions: list(
            shape({ name: text, contract: ref<Contract>("Contract"), param: count, field: orNull(text) }, { description: text }),
        ),
        origins: list(text),
    },
    {},
);

export type EntryDoc = Told<typeof ENTRY>;

/** How often something may be used. */
export const COUNTS = list(record<CountForm>({}, { most: count, per: is("day"), by: text }));

const PERMIT = record<Permit>(
    {
        method: orNull(text),
        gate: one(["may", "ask", "never", "open"]),
        bounds: list(record<Permit["bounds"][number]>({ arg: orNull(text), patterns: list(text) }, { numbers: flag })),
        site: site,
    },
    { counts: COUNTS },
);

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

/** Versions of the compiled code of the files that have frames here (SD4). */
const CODE = shape({ file: count, version: text }, { strict: says(is(true), "as it runs with labels in its control flow") });
export type CodeDoc = Told<typeof CODE>;

/** A pending effect, with the id of its fiber. The request of a model's turn has only what does not follow from the state of its `generate`. */
export type PendingDoc = Omit<Pending, "fiber"> & { readonly fiber: number };

/** What images and deltas have in common. */
const COMMON = {
    version: is(CONTINUATION.version),
    engine: is(CONTINUATION.engine),
    program: says(text, "hash of the program form"),
    code: says(list(CODE), "versions of the compiled code of the files that have frames here"),
    run: text,
    seq: says(count, "counts saves; a delta follows the document before it"),
    heap: list(ref<ThingDoc>("Thing")),
    fibers: list(ref<FiberDoc>("Fiber")),
    asked: says(list(ref<PendingDoc>("Pending")), "effects without an outcome, not yet written"),
    inbox: list(shape({ path: text, outcome: ref<Outcome>("Outcome") }, {})),
    ready: list(count),
    entry: orNull(ref<EntryDoc>("Entry")),
    budgets: shape(
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
    accounts: says(list(ref<AccountDoc>("Account")), "of calls and regions that are open, parents before children"),
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
                    inner: says(count, "turns of sessions opened inside its answers"),
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
                { heard: says(list(text), "origins of what its agent was handed over") },
            ),
        ),
        "with agents, that are open",
    ),
    written: says(
        list(record<WrittenDoc>({ form: { type: "object" }, path: text, agent: tuple(count, text), live: flag }, {})),
        "files of functions that agents wrote, behind those of the program",
    ),
    defined: says(list(DEFINED), "functions that agents defined for the rest of the run"),
    described: says(
        list(tuple(text, list(text), list(text))),
        "methods of tools that were asked what they have, and which of them only read, by the place of their import",
    ),
    standing: ref<StandingDoc>("Standing"),
    steps: count,
    nextFiber: count,
    framesUntil: count,
    ended: flag,
    raised: says(
        record<{ readonly [B in Bound]?: number }>(
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

const OPTIONAL = {
    arguments: says(
        list(tuple(text, list(tuple(text, orNull(list(text)))))),
        "what the arguments of these methods are called, by the place of the import; null where the tool does not say",
    ),
    under: says(list(tuple(text, list(list(text)))), "origins of the places that asked these tools what they have, where each had some"),
    conduct: CONDUCT,
    held: says(list(count), "fibers that are ready and held up by others with an earlier place"),
    blocks: says(list(tuple(count, cell)), "what blocks with a name gave, by the places of their names"),
    texts: says(
        list(tuple(count, json)),
        'large texts by ids of the run: in an image all that it has, in a delta those that are new. {"$text": id, "of": "text"} stands for one wherever it is, with of "json" for a value, which then stands here as it is, and {"$plain": …} for an object that has a key of either name',
    ),
};

const labelsFrom = (from: Shape<number>) => shape({ from, sets: list(list(text)) }, {});

export const IMAGE = shape(
    { ...COMMON, form: is("image"), labels: labelsFrom(is(1) as Shape<number>), gone: empty, answered: empty, imports: list(cell) },
    OPTIONAL,
);
export const DELTA = shape(
    {
        ...COMMON,
        form: is("delta"),
        labels: labelsFrom(count),
        gone: says(list(count), "fibers that ended"),
        answered: says(list(text), "effects that have their outcome"),
    },
    OPTIONAL,
);

export type Continuation = Omit<Told<typeof DELTA>, "form"> & { readonly form: "image" | "delta"; readonly imports?: readonly Cell[] };

/** The definitions that a continuation's schema has of its own. */
export const SHAPES = {
    Image: IMAGE,
    Delta: DELTA,
    Cell: CELL,
    Thing: THING,
    Fiber: FIBER,
    Frame: FRAME,
    Native: any(...Object.values(WAITS)),
    Fail: FAIL,
    Entry: ENTRY,
    Right: RIGHT,
    Permit: PERMIT,
    Standing: STANDING,
    Account: ACCOUNT,
};
