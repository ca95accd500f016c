/**
 * Random plans in this process and on Temporal: the same value or failure, and the same canonical ledger.
 *
 * PLM1: plan `n` is the same in every process, so that one that failed can be run alone.
 */
import { isDeepStrictEqual } from "node:util";
import { load, memoryStore, openWorld, RemitError } from "@remit/host";
import type { FlowForm, Json, StageForm } from "@remit/language";
import fc from "fast-check";
import { flowsOf } from "../../../machine/tests/plan/arbitrary.ts";
import { pipe, stage } from "../../../machine/tests/plan/blocks.ts";
import { asHere, canonicalOf } from "../canonical.ts";
import type { Room } from "../room.ts";

const NONE: Pick<StageForm, "with"> = { with: { on_error: "none" } };
const BAD = stage("bad");
const flows = flowsOf([
    ...[stage("wrap"), stage("both", 7), stage("look"), stage("write"), stage("look"), stage("write")],
    ...[stage("when", "input"), stage("echo", null), stage("echo", "text"), stage("merge"), stage("wait", 1)],
    ...[{ ...BAD, ...NONE }, pipe(stage("wrap"), { ...stage("map", { value: { kind: "ref", name: "write" } }), ...NONE }), BAD],
]);

export const tools = {
    Work: {
        look: { readOnly: true, call: (value: Json) => ["looked", value] },
        write: { call: async (value: Json) => ["wrote", value] },
        bad: {
            call: () => {
                throw new Error("it is down");
            },
        },
    },
};

const HEAD = `import tool Work from "host:work"
func wrap(a) { ["wrap", a] }
func both(a, b) { ["both", a, b] }
func look(a) { Work.look(a) }
func write(a) { Work.write(a) }
func bad(a) { Work.bad(a) }
`;

/** What a block of the form is as text. */
function textOf(flow: FlowForm, backend: string): string {
    switch (flow.kind) {
        case "pipe":
            return `( ${flow.stages.map((one) => textOf(one, backend)).join(" >=> ")} )`;
        case "fan":
            return `( ${flow.branches.map((one) => textOf(one, backend)).join(" <*> ")} )`;
        case "block":
            return `${backend} ${flow.mode} ( ${textOf(flow.body, backend)} )`;
        case "stage": {
            const args = flow.args.map(({ value }) =>
                value.kind === "literal" ? literal(value.value, flow.call) : value.kind === "ref" ? value.name : "",
            );
            return [flow.call, ...args, ...(flow.with?.on_error === undefined ? [] : [`with { on_error: "${flow.with.on_error}" }`])].join(
                " ",
            );
        }
    }
}

function literal(value: Json, call: string): string {
    return value === null ? "none" : call === "wait" ? `${String(value)}ms` : JSON.stringify(value);
}

/** A failure anywhere cancels what happens to run beside it: alone, it is always the same. */
function canFail(flow: FlowForm): boolean {
    switch (flow.kind) {
        case "pipe":
            return flow.stages.some(canFail);
        case "fan":
            return flow.branches.some(canFail);
        case "block":
            return canFail(flow.body);
        case "stage":
            return flow.call === "bad" && flow.with?.on_error !== "none";
    }
}

type End = { readonly value: Json } | { readonly kind: string; readonly message: string };

/** What does not hold of plan `n`; null where all does. `room`: has a worker with `tools`. */
export async function planCase(room: Room, n: number): Promise<string | null> {
    const [flow] = fc.sample(flows, { seed: n, numRuns: 1 });
    if (flow === undefined) throw new Error("there is no plan");
    const source = (backend: string): string => `${HEAD}${backend} static ( ${textOf(flow, backend)} )`;
    const options = { tools, cache: false, concurrency: canFail(flow) ? 1 : 3 } as const;
    const ledger = memoryStore();
    const program = await load<Json, Json>({ source: source("memory") }, { ...options, ledger });
    const { run, value, failure } = await program.run("in").result;
    await program.close();
    const here: End = failure === undefined ? { value: value as Json } : { kind: failure.kind, message: failure.message };

    const world = await openWorld({ source: source("temporal") }, { ...options, process: room.on });
    const there = await room.client.submit(world, world.kept("in"));
    await world.close();
    const end = await room.client.result(there).then(
        (one): End => ({ value: one }),
        (error: unknown): End => {
            if (!(error instanceof RemitError)) throw error;
            return { kind: error.kind, message: error.failure.message };
        },
    );
    const wrong = (what: string, a: unknown, b: unknown): string =>
        `plan ${n}: ${what}\n${source("temporal").slice(HEAD.length)}\n  in memory   ${JSON.stringify(a)}\n  on Temporal ${JSON.stringify(b)}`;
    if (!isDeepStrictEqual(here, end)) return wrong("another end", here, end);
    const verified = await room.store.verify(there);
    if (!verified.ok || verified.anchored !== "yes") return wrong("the chain does not verify", true, verified as unknown);
    const [a, b] = [asHere(await canonicalOf(ledger, run)), asHere(await canonicalOf(room.store, there))];
    const at = a.findIndex((line, i) => line !== b[i]);
    return at < 0 && a.length === b.length ? null : wrong("another ledger", a[at] ?? a.length, b[at] ?? b.length);
}

/** Runs plans `first` up to `first + count`, some at once; gives what did not hold. */
export async function plans(room: Room, first: number, count: number, told: (done: number) => void = () => undefined): Promise<string[]> {
    const wrong: string[] = [];
    let [next, done] = [first, 0];
    const one = async (): Promise<void> => {
        while (next < first + count) {
            const n = next++;
            const found = await planCase(room, n).catch(
                (error: unknown) => `plan ${n}: ${String(error)} ${String((error as Error).stack)}`,
            );
            if (found !== null) wrong.push(found);
            told(++done);
        }
    };
    await Promise.all(Array.from({ length: 8 }, one));
    return wrong;
}
