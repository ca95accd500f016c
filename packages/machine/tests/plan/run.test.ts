import type { BlockForm, FlowForm, Json, Program } from "@remit/language";
import { expect, test } from "vitest";
import { askedCall, Compiled, Machine, type Effect, type MachineEvent, type Outcome } from "../../src/index.ts";
import { bin, call, func, lit, list, member, name, OPTIONS, runAll, stmt } from "../run/forms.ts";
import { block, blocks, fan, pipe, ref, stage } from "./blocks.ts";

const add = func("add", ["a", "n"], [stmt(bin("+", name("a"), name("n")))]);
/** Asks a tool, and gives what it was asked with. */
const ask = func("ask", ["a"], [stmt(member(call(member(name("T"), "get"), name("a")), "given"))]);
const pair = func("pair", ["a", "b"], [stmt(list(name("b"), name("a")))]);
const one = func("one", ["all"], [stmt(name("all"))]);
const none = func("none", [], [stmt(lit("free"))]);
const twice = func("twice", ["a"], [stmt(list(name("a"), name("a")))]);
const FUNCS = [add, ask, pair, one, none, twice];

const value = (body: FlowForm, input: Json = "x", funcs = FUNCS): Json => {
    const ran = runAll(blocks([block(body)], funcs), { options: { input } });
    if (!ran.result.ok) throw new Error(ran.result.failure.message);
    return ran.result.value;
};
const nodes = (events: readonly MachineEvent[]): string[] =>
    events.flatMap((e) =>
        e.kind === "plan.node.ended" ? [`${(e.data as { id: string }).id} ${(e.data as { state: string }).state}`] : [],
    );

test("a chain passes on what each stage gives; literals fill the parameters that nothing flows into", () => {
    expect(
        value(
            pipe(
                stage("add", { name: "n", value: { kind: "literal", value: 1 } }),
                stage("add", { name: "n", value: { kind: "literal", value: 10 } }),
            ),
            5,
        ),
    ).toBe(16);
});

test("a literal without a name fills from the left, what flows in takes the next parameter", () => {
    expect(value(pipe(stage("add", "a")), "b")).toBe("ab");
});

test("a fan-out feeds its values in source order: one by one where there are that many parameters, else as a list", () => {
    expect(value(pipe(fan(stage("add", 1), stage("add", 2)), stage("pair")), 10)).toEqual([12, 11]);
    expect(value(pipe(fan(stage("add", 1), stage("add", 2)), stage("one")), 10)).toEqual([11, 12]);
    expect(value(fan(stage("add", 1), fan(stage("add", 2), stage("add", 3))), 10)).toEqual([11, [12, 13]]);
    expect(value(pipe(fan(fan(stage("add", 1), stage("add", 2)), stage("add", 3)), stage("one")), 10)).toEqual([[11, 12], 13]);
});

test.each([
    { timeout: 500 },
    { timeout: 500, retries: 1 },
    { timeout: 500, on_error: "none" },
    { timeout: 500, on_error: "collect" },
    { retries: 1 },
    { timeout: 500, retries: 1, on_error: "none" },
] as const)("a stage with %o gives what it gives without", (options) => {
    const tagged = { ...stage("add", 1), with: options };
    expect(value(pipe(tagged, stage("twice")), 10)).toEqual([11, 11]);
    expect(value(pipe({ ...stage("map", { value: { kind: "ref", name: "twice" } }), with: options }), [1])).toEqual([[1, 1]]);
});

test("a stage without parameters still comes after the one before it", () => {
    const ran = runAll(blocks([block(pipe(stage("ask"), stage("none"), stage("add", "y")))], FUNCS), { options: { input: "x" } });
    expect(ran.result).toMatchObject({ value: "yfree" });
    expect(nodes(ran.events)).toEqual(["ask#0 done", "none#0 done", "add#0 done"]);
});

test("a slow branch holds up nothing but what needs it", () => {
    const p = blocks([block(fan(stage("ask"), pipe(stage("ask"), stage("ask"), stage("ask"))))], FUNCS);
    // The first branch is answered only where nothing else waits.
    const ran = runAll(p, {
        options: { input: "x" },
        pick: (waiting) =>
            Math.max(
                0,
                waiting.findIndex((e) => !e.path.includes("block#0/ask#0/")),
            ),
    });
    expect(nodes(ran.events)).toEqual(["ask#1 done", "ask#2 done", "ask#3 done", "ask#0 done"]);
});

test("the limit on concurrency holds, and what became ready first begins first", () => {
    const wide = fan(...Array.from({ length: 500 }, () => stage("ask")));
    const machine = Machine.start(new Compiled(blocks([block(wide)], FUNCS)), { ...OPTIONS, input: "x", concurrency: 7 });
    const open = new Map<string, Effect>();
    let most = 0;
    const order: string[] = [];
    for (let at = machine.advance(); at.state !== "done"; at = machine.advance()) {
        for (const effect of at.effects) {
            open.set(effect.path, effect);
            order.push(effect.path);
        }
        most = Math.max(most, open.size);
        const [first] = open.values();
        if (first === undefined) continue;
        open.delete(first.path);
        machine.resolve(first.path, { ok: true, value: { given: 1 }, origins: [] });
    }
    expect(most).toBe(7);
    expect(order).toEqual(order.map((_, i) => `blocks/block#0/ask#${i}/ask#0/T.get#0`));
    expect(machine.result).toMatchObject({ ok: true, value: Array.from({ length: 500 }, () => 1) });
});

test("blocks run in order, and the value of one is known in later blocks and in functions", () => {
    const seen = func("seen", ["a"], [stmt(bin("+", name("first"), name("a")))]);
    const p = blocks(
        [block(stage("add", 1), { name: "first" }), block(pipe(stage("seen"), stage("add", { name: "n", ...ref("first") })))],
        [...FUNCS, seen],
    );
    for (const saving of [false, true, 2])
        expect(runAll(p, { options: { input: 5 }, saving }).result).toMatchObject({ ok: true, value: [6, 17] });
});

test.each([{}, { flow: "strict" as const }])("methods of a block's value are those of data, in a lambda too; %o", (more) => {
    const joined = call(member(name("made"), "join"), lit("-"));
    const counted = func("counted", [], [stmt(call(member(name("made"), "map"), { kind: "lambda", params: ["x"], body: joined }))]);
    const { files, ...program } = blocks(
        [block(fan(stage("add", 1), stage("add", 2)), { name: "made" }), block(stage("counted"))],
        [...FUNCS, counted],
    );
    const ran = runAll({ ...program, files: files.map((file) => ({ ...file, ...more })) }, { options: { input: "x" } });
    expect(ran.result).toMatchObject({
        ok: true,
        value: [
            ["1x", "2x"],
            ["1x-2x", "1x-2x"],
        ],
    });
});

test("the value of a nested block is known by its name in later blocks, in a dynamic block too, and after it was saved", () => {
    const seen = func("seen", [], [stmt(list(name("outer"), name("inner"), name("deep")))]);
    const deep = block(stage("add", 2), { name: "deep" });
    const inner = block(pipe(stage("add", 1), block(fan(deep, stage("add", 3)), { mode: "dynamic" })), { name: "inner" });
    const p = blocks([block(pipe(inner, stage("one")), { name: "outer" }), block(stage("seen"))], [...FUNCS, seen]);
    for (const saving of [false, true, 2])
        expect(runAll(p, { options: { input: 5 }, saving }).result).toMatchObject({
            ok: true,
            value: [
                [8, 9],
                [[8, 9], [8, 9], 8],
            ],
        });
});

test("a function that reads the value of a block which has not run fails", () => {
    const seen = func("seen", ["a"], [stmt(name("later"))]);
    const p = blocks([block(stage("seen")), block(stage("add", 1), { name: "later" })], [...FUNCS, seen]);
    const { result } = runAll(p, { options: { input: 5 } });
    expect(result).toMatchObject({ ok: false, failure: { kind: "value", message: "seen#0 failed: block 'later' has not run yet" } });
});

test("a nested block is a node, and a dynamic block is one node whatever stands in it", () => {
    const inner = block(pipe(stage("ask"), stage("ask")), {});
    const ran = runAll(blocks([block(pipe(stage("ask"), inner))], FUNCS), { options: { input: "x" } });
    expect(nodes(ran.events)).toEqual(["ask#0 done", "ask#0 done", "ask#1 done", "block#0 done"]);
    const walked = runAll(blocks([block(pipe(stage("ask"), fan(stage("ask"), stage("ask"))), { mode: "dynamic" })], FUNCS), {
        options: { input: "x" },
    });
    expect(nodes(walked.events)).toEqual(["block#0 done"]);
    expect(walked.effects).toHaveLength(3);
    expect(walked.result).toMatchObject({ value: ["x", "x"] });
});

test("a block of another backend is an effect, with what earlier blocks gave", () => {
    const p = blocks([block(stage("add", 1), { name: "first" }), block(stage("ask"), { backend: "temporal", name: "second" })], FUNCS);
    const answer = (effect: Effect): Outcome => ({ ok: true, value: { asked: effect.request }, origins: ["tool:T"] });
    const { result, effects } = runAll(p, { options: { input: 5 }, answer });
    expect(effects.map((e) => e.kind)).toEqual(["run"]);
    expect(effects[0]?.request).toEqual({
        backend: "temporal",
        run: "run.blocks-block-1",
        program: "hash",
        entry: { file: 0, func: "__block#1" },
        path: "blocks/block#1",
        input: { json: 5, origins: ["user"] },
        bindings: { first: { json: 6, origins: ["user"] } },
        limits: {},
        name: "second",
    });
    expect(result).toMatchObject({ ok: true });
});

test("a block that runs as a run of its own has the paths that it would have inside", () => {
    const p = blocks(
        [
            block(stage("add", 1), { name: "first" }),
            block(pipe(stage("ask"), stage("add", { name: "n", ...ref("first") })), { backend: "temporal" }),
        ],
        FUNCS,
    );
    const options = {
        backend: "temporal" as const,
        entry: { file: 0, func: "__block#1" },
        path: "blocks/block#1",
        input: "x",
        bindings: { first: { json: 6, origins: ["user"] } },
    };
    for (const saving of [false, true]) {
        const ran = runAll(p, { options, saving });
        expect(ran.result).toMatchObject({ ok: true, value: "x6" });
        expect(ran.effects.map((e) => e.path)).toEqual(["blocks/block#1/ask#0/ask#0/T.get#0"]);
        expect(ran.events.at(-1)).toMatchObject({ kind: "run.ended", path: "blocks/block#1" });
    }
});

// ---- failures ------------------------------------------------------------------------------------------------------------

const failing = (program: Program, options = {}) => runAll(program, { options: { input: "fail", ...options } });

test("a failure names the node and its line, and what others gave is kept", () => {
    const bad = { ...stage("ask"), at: [7, 5, 7, 8] as const };
    const { result, events } = failing(blocks([block(fan(stage("add", "n"), bad))], FUNCS));
    expect(result).toMatchObject({
        ok: false,
        failure: {
            kind: "tool",
            message: "ask#0 failed: no blocks/block#0/ask#0/ask#0/T.get#0",
            site: { file: "main.remit", line: 7 },
            detail: [{ node: "ask#0", kind: "tool", site: { line: 7 } }],
        },
    });
    const kept = events.find((e) => e.kind === "plan.node.ended" && (e.data as { id: string }).id === "add#0");
    expect(kept?.data).toMatchObject({ state: "done", value: "nfail" });
});

/** Advances and answers until nothing is asked for; gives all events. */
function driven(
    machine: Machine,
    answer: (effect: Effect) => Outcome | null,
): { events: MachineEvent[]; withdrawn: string[]; open: Effect[] } {
    const events: MachineEvent[] = [];
    const withdrawn: string[] = [];
    let open: Effect[] = [];
    for (let at = machine.advance(); ; at = machine.advance()) {
        events.push(...at.events);
        withdrawn.push(...at.withdrawn);
        open.push(...at.effects);
        open = open.filter((effect) => !at.withdrawn.includes(effect.path));
        if (at.state === "done") return { events, withdrawn, open };
        const next = open.find((effect) => answer(effect) !== null);
        if (next === undefined) return { events, withdrawn, open };
        open = open.filter((effect) => effect !== next);
        machine.resolve(next.path, answer(next) as Outcome);
    }
}

const fails: Outcome = { ok: false, failure: { kind: "tool", message: "no" } };
const gives: Outcome = { ok: true, value: { given: 1 }, origins: [] };

test("siblings are cancelled at the first failure, and begin again with it at a retry", () => {
    const p = blocks([block(pipe(fan(stage("ask"), stage("ask"), stage("ask")), stage("one")))], FUNCS);
    const machine = Machine.start(new Compiled(p), { ...OPTIONS, input: "x" });
    const of = (effect: Effect): string => effect.path.split("/")[2] as string;
    const first = driven(machine, (effect) => (of(effect) === "ask#0" ? gives : of(effect) === "ask#1" ? fails : null));
    expect(nodes(first.events)).toEqual(["ask#0 done", "ask#1 failed", "ask#2 cancelled"]);
    expect(first.withdrawn).toEqual(["blocks/block#0/ask#2/ask#0/T.get#0"]);
    expect(machine.result).toMatchObject({ ok: false });
    machine.goOn({ retry: true }, "user");
    const second = driven(machine, () => gives);
    expect(nodes(second.events)).toEqual(["ask#2 done", "ask#1 done", "one#0 done"]);
    expect(machine.result).toMatchObject({ ok: true, value: [1, 1, 1] });
});

test("PLN2: what fails inside a nested block cancels the siblings of that block, which begin again with it at a retry", () => {
    const inner = (more: Partial<BlockForm>): BlockForm => block(fan(stage("ask"), stage("one")), more);
    for (const more of [{}, { mode: "dynamic" }] as const) {
        const machine = Machine.start(new Compiled(blocks([block(fan(stage("ask"), inner(more)))], FUNCS)), { ...OPTIONS, input: "x" });
        const isInner = (effect: Effect): boolean => effect.path.includes("/block#0/block#0/");
        const first = driven(machine, (effect) => (isInner(effect) ? fails : null));
        expect(first.withdrawn).toEqual(["blocks/block#0/ask#0/ask#0/T.get#0"]);
        expect(nodes(first.events)).toContain("ask#0 cancelled");
        expect(nodes(first.events).at(-2)).toBe("block#0 failed");
        expect(machine.result).toMatchObject({ ok: false, failure: { kind: "tool" } });
        machine.goOn({ retry: true }, "user");
        driven(machine, () => gives);
        expect(machine.result).toMatchObject({ ok: true, value: [1, [1, "x"]] });
    }
});

test("PLN2: a loop in a node of which one iteration fails ends first, then it cancels the siblings of the node", () => {
    const each = block(pipe(stage("twice"), stage("map", ref("ask"))));
    const machine = Machine.start(new Compiled(blocks([block(fan(stage("ask"), each))], FUNCS)), { ...OPTIONS, input: "x" });
    const asked = new Set<string>();
    const { withdrawn } = driven(machine, ({ path }) => {
        const [, index] = /\[(\d)\]/.exec(path) ?? [];
        if (index !== undefined) asked.add(index);
        return index === undefined ? null : index === "0" ? fails : gives;
    });
    expect([...asked].sort()).toEqual(["0", "1"]);
    expect(withdrawn).toEqual(["blocks/block#0/ask#0/ask#0/T.get#0"]);
    expect(machine.result).toMatchObject({ ok: false, failure: { kind: "tool" } });
});

test("with on_error collect the rest ends first, and the failure names all that failed", () => {
    const each = { ...stage("ask"), with: { on_error: "collect" as const } };
    const machine = Machine.start(new Compiled(blocks([block(fan(each, each, each))], FUNCS)), { ...OPTIONS, input: "x" });
    const { events } = driven(machine, (effect) => (effect.path.includes("ask#1") ? gives : fails));
    expect(nodes(events)).toEqual(["ask#0 failed", "ask#1 done", "ask#2 failed"]);
    expect(machine.result).toMatchObject({ ok: false, failure: { message: "ask#0 failed: no; ask#2 failed: no" } });
});

test("with on_error none a failure gives none", () => {
    const each = { ...stage("ask"), with: { on_error: "none" as const } };
    const { result } = failing(blocks([block(pipe(fan(each, stage("add", "n")), stage("one")))], FUNCS));
    expect(result).toMatchObject({ ok: true, value: [null, "nfail"] });
});

test("a failure that may pass is tried again, one that may not is not", () => {
    const each = { ...stage("ask"), with: { retries: 2 } };
    const p = blocks([block(each)], FUNCS);
    let tries = 0;
    const passing = Machine.start(new Compiled(p), { ...OPTIONS, input: "x" });
    const tried = driven(passing, (effect) => {
        tries = Number(/repeat\[(\d)\]/.exec(effect.path)?.[1] ?? 2);
        return tries < 2 ? fails : gives;
    });
    expect(tried.events.filter((e) => e.kind === "tool.started").map((e) => e.path.slice("blocks/block#0/".length))).toEqual([
        "ask#0/repeat[0]/ask#0/T.get#0",
        "ask#0/repeat[1]/ask#0/T.get#0",
        "ask#0/ask#1/T.get#0",
    ]);
    expect(passing.result).toMatchObject({ ok: true, value: 1 });
    const final = Machine.start(new Compiled(p), { ...OPTIONS, input: "x" });
    const { events } = driven(final, () => ({ ok: false, failure: { kind: "denied", message: "no" } }));
    expect(events.filter((e) => e.kind === "tool.started")).toHaveLength(1);
});

test("the time of a stage is its own", () => {
    const each = { ...stage("ask"), with: { timeout: 500 } };
    const machine = Machine.start(new Compiled(blocks([block(each)], FUNCS)), { ...OPTIONS, input: "x" });
    const { effects } = machine.advance();
    const timer = effects.find((e) => e.kind === "sleep");
    expect(timer?.request).toEqual({ ms: 500 });
    machine.resolve(timer?.path as string, { ok: true, value: null, origins: [] });
    machine.advance();
    const message = "ask#0 failed: the 500 ms of the stage ask#0 are over";
    expect(machine.result).toMatchObject({ ok: false, failure: { kind: "limit.time", message } });
});

// ---- stages that wait ----------------------------------------------------------------------------------------------------

test("wait asks for time and passes on what flows in", () => {
    const p = blocks([block(pipe(stage("wait", 2000), stage("add", "n")))], FUNCS);
    for (const saving of [false, true]) {
        const { result, effects } = runAll(p, { options: { input: "x" }, saving, answer: () => ({ ok: true, value: null, origins: [] }) });
        expect(effects).toMatchObject([{ kind: "sleep", request: { ms: 2000 } }]);
        expect(result).toMatchObject({ ok: true, value: "nx" });
    }
});

test("approve shows what flows in, passes it on after a yes, and fails after anything else", () => {
    const p = blocks([block(pipe(stage("approve", "Send it?"), stage("add", "n")))], FUNCS);
    const say = (outcome: Outcome) => runAll(p, { options: { input: "x" }, saving: true, answer: () => outcome });
    const yes = say({ ok: true, value: "once", origins: [] });
    expect(yes.effects).toMatchObject([{ kind: "ask", request: { question: "Send it?", detail: { capability: "approve", args: ["x"] } } }]);
    expect(askedCall((yes.effects[0] as Effect & { request: { detail: Json } }).request.detail)?.args).toMatchObject([
        { value: "x", origins: ["user"] },
    ]);
    expect(yes.result).toMatchObject({ ok: true, value: "nx" });
    for (const said of ["deny", "", 1, null])
        expect(say({ ok: true, value: said, origins: [] }).result).toMatchObject({ ok: false, failure: { kind: "denied" } });
    expect(yes.effects[0]?.request).not.toHaveProperty("within");
    const late = say({ ok: false, failure: { kind: "timeout", message: "the time for the answer is up" } });
    expect(late.result).toMatchObject({
        ok: false,
        failure: { kind: "denied", message: "approve#0 failed: this was not approved: the time for the answer is up" },
    });
});

test("WTS1: the timeout of an approval is how long it can be answered, and no budget, which would stand still meanwhile", () => {
    const p = blocks([block({ ...stage("approve", "Send it?"), with: { timeout: 7_200_000 } })], FUNCS);
    const { effects } = runAll(p, { options: { input: "x" }, saving: true, answer: () => ({ ok: true, value: "once", origins: [] }) });
    expect(effects).toMatchObject([{ kind: "ask", request: { question: "Send it?", within: 7_200_000 } }]);
});

test("map calls a function for each element, in order", () => {
    expect(value(pipe(stage("map", ref("ask"))), ["a", "b", "c"])).toEqual(["a", "b", "c"]);
});

test("EF3: what a stage says of credentials goes with what is sent in it, and with nothing else", () => {
    const inner = func("inner", ["a"], [stmt(call(name("ask"), name("a")))]);
    const secured = { ...stage("inner"), with: { credential: { source: "env", arg: "KEY" }, as: "user:alice" } } as const;
    const ran = runAll(blocks([block(pipe(stage("ask"), secured, stage("ask")))], [...FUNCS, inner]), { options: { input: "x" } });
    expect(ran.effects.map(({ credential, as }) => [credential, as])).toEqual([
        [undefined, undefined],
        [{ source: "env", arg: "KEY" }, "user:alice"],
        [undefined, undefined],
    ]);
});

test("EF4: what a stage says of where, in which order and how often goes with its effects", () => {
    const inner = func("inner", ["a"], [stmt(call(name("ask"), name("a")))]);
    const placed = { ...stage("inner"), with: { queue: "gpu", priority: 2, rate: 5 } } as const;
    const ran = runAll(blocks([block(pipe(stage("ask"), placed))], [...FUNCS, inner]), { options: { input: "x" } });
    const [, second] = ran.effects;
    expect(ran.effects.map(({ queue, priority, rate }) => [queue, priority, rate])).toEqual([
        [undefined, undefined, undefined],
        ["gpu", 2, { stage: second?.path.split("/").slice(0, 3).join("/"), second: 5 }],
    ]);
});

test("PBU1: blocks that run elsewhere side by side use no token twice: the second waits, and may use what the first left", () => {
    const think = func("think", ["a"], [stmt({ kind: "generate", input: name("a") })]);
    const inner = block(stage("think"), { backend: "temporal" });
    const plain = block(pipe(stage("ask"), stage("map", ref("ask"))), { backend: "temporal" });
    const p = blocks([block(fan(inner, plain, inner))], [...FUNCS, think]);
    const begin = (limits: { readonly tokens?: number }): Machine => Machine.start(new Compiled(p), { ...OPTIONS, input: "x", limits });
    expect(begin({}).advance().effects).toHaveLength(3);
    const machine = begin({ tokens: 100 });
    const runs = (): Effect[] => machine.advance().effects.filter(({ kind }) => kind === "run");
    const limits = (effect: Effect | undefined): Json => (effect?.request as { readonly limits: Json } | undefined)?.limits ?? null;
    const [first, free, ...others] = runs();
    expect(others).toEqual([]);
    expect(limits(first)).toEqual({ tokens: 100 });
    // One that reaches no model has nothing to wait for.
    expect(limits(free)).toEqual({ tokens: 0 });
    machine.resolve(free?.path as string, { ok: true, value: 0, origins: [] });
    expect(runs()).toEqual([]);
    machine.resolve(first?.path as string, { ok: true, value: 1, origins: [], usage: { input: 50, output: 10 } });
    const [second] = runs();
    expect(limits(second)).toEqual({ tokens: 40 });
    machine.resolve(second?.path as string, { ok: true, value: 2, origins: [], usage: { input: 10, output: 10 } });
    expect(machine.advance().result).toMatchObject({ ok: true, value: [1, 0, 2] });
});
