/**
 * Runs whose workers and servers are killed at random moments, and what must hold of them all the same.
 *
 * KLM1: every run ends with its value; what writes happened once, however often it was killed; what reads happened again only where the ledger says so;
 *     the chain verifies.
 */
import { isDeepStrictEqual } from "node:util";
import { setTimeout as after } from "node:timers/promises";
import { openWorld } from "@remit/host";
import type { Json } from "@remit/language";
import type { Question } from "../../src/index.ts";
import { callsIn } from "../process/calls.ts";
import { type Child, startChild } from "../process/child.ts";
import { devServer, type Room, roomAt } from "../room.ts";
import { join } from "node:path";

/** What a program does: `w` writes and `r` reads, each of a name of its own. */
interface Shape {
    readonly source: (id: string) => string;
    /** Names that are written and read, in any order. */
    readonly writes: (id: string) => readonly string[];
    readonly reads: (id: string) => readonly string[];
    readonly value: (id: string) => Json;
}

const HEAD = `import tool Log from "host:log"
func w(name, total) { (total ?? 0) + Log.write(name) }
func r(name, total) { (total ?? 0) + Log.read(name) }
func sum(list) { list.sum() }
`;
const names = (id: string, count: number, kind: string): string[] => Array.from({ length: count }, (_, i) => `${id}${kind}${i}`);
const total = (of: readonly string[]): number => of.join("").length;
const quoted = (list: readonly string[]): string => JSON.stringify(list);

const SHAPES: readonly Shape[] = [
    {
        source: (id) =>
            `temporal static ( ${names(id, 8, "w")
                .map((one) => `w "${one}"`)
                .join(" >=> ")} )`,
        writes: (id) => names(id, 8, "w"),
        reads: () => [],
        value: (id) => total(names(id, 8, "w")),
    },
    {
        source: (id) =>
            `temporal static ( ( ${[...names(id, 4, "w").map((one) => `w "${one}"`), ...names(id, 4, "r").map((one) => `r "${one}"`)].join(" <*> ")} ) >=> sum )`,
        writes: (id) => names(id, 4, "w"),
        reads: (id) => names(id, 4, "r"),
        value: (id) => total([...names(id, 4, "w"), ...names(id, 4, "r")]),
    },
    {
        source: (id) => `agent Clerk {
    main func(list) { n = 0
        for name in list max 20 { n += both(name) }
        n }
    func both(name) { Log.write(name + "w") + Log.read(name + "r") }
}
temporal dynamic ( echo ${quoted(names(id, 5, "n"))} >=> Clerk >=> temporal static ( w "${id}last" ) )`,
        writes: (id) => [...names(id, 5, "n").map((one) => `${one}w`), `${id}last`],
        reads: (id) => names(id, 5, "n").map((one) => `${one}r`),
        value: (id) => total([...names(id, 5, "n").flatMap((one) => [`${one}w`, `${one}r`]), `${id}last`]),
    },
    {
        source: (id) => `func researcher(question, round) { Log.read(question + round) }
func critic(answer, round) { { approved: round == 2 } }
func parts(question) { ${quoted(names(id, 3, "p"))} }
func good(found) { found.success_count }
temporal static ( supervisor(question: "Q", researcher: researcher, critic: critic, planner: parts) >=> good ) as found
func last() { found }
temporal static ( last >=> w "${id}last" )`,
        writes: (id) => [`${id}last`],
        reads: (id) => names(id, 3, "p").flatMap((one) => [`${one}1`, `${one}2`]),
        value: (id) => [3, 3 + total([`${id}last`])],
    },
];

export interface Killed {
    readonly runs: number;
    readonly workers: number;
    readonly servers: number;
    /** Effects of which a person had to say what became of them. */
    readonly asked: number;
    readonly wrong: readonly string[];
}

const PAUSE_MS = 80;
/** A kill comes at the latest so long after the runs were submitted. */
const LATEST_MS = 1_200;
const SETTINGS = { heartbeat: 1_500 };
const START = { start: { workflowTaskTimeout: "2s" } } as const;

/** A number from 0 to 1 that follows from `n` and `salt` alone. */
function drawn(n: number, salt: number): number {
    let x = Math.imul(n * 2_654_435_761 + salt * 40_503 + 1, 0x9e37_79b1) >>> 0;
    x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b) >>> 0;
    x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35) >>> 0;
    return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

/** One kill after the other, each while two new runs go on: of a worker, of the server, of both in turn. */
export async function kills(
    first: number,
    count: number,
    told: (done: number, wrong: readonly string[]) => void = () => undefined,
): Promise<Killed> {
    await using outer = await devServer();
    await using keeps = await roomAt(outer);
    const file = join(keeps.folder, "temporal.db");
    let server = await devServer({ file });
    const port = Number(server.address.split(":")[1]);
    const sums = { runs: 0, workers: 0, servers: 0, asked: 0 };
    const wrong: string[] = [];
    try {
        await using room = await roomAt(server, { settings: SETTINGS });
        let worker = await startChild(room, server, { pause: PAUSE_MS });
        try {
            for (let n = first; n < first + count; n++) {
                const runs = await Promise.all([0, 1].map((i) => begun(room, n, i)));
                await after(drawn(n, 0) * LATEST_MS);
                const killsWorker = n % 3 !== 1;
                const killsServer = n % 3 !== 0;
                if (killsWorker) worker.process.kill("SIGKILL");
                if (killsServer) {
                    await server.stop("SIGKILL");
                    server = await devServer({ file, port });
                }
                if (killsWorker) {
                    await worker.over;
                    worker = await startChild(room, server, { pause: PAUSE_MS });
                }
                sums.workers += killsWorker ? 1 : 0;
                sums.servers += killsServer ? 1 : 0;
                for (const one of runs) {
                    const { asked, problems } = await checked(room, one);
                    sums.runs++;
                    sums.asked += asked;
                    wrong.push(...problems.map((problem) => `kill ${n}, ${one.id} (shape ${SHAPES.indexOf(one.shape)}): ${problem}`));
                }
                told(n - first + 1, wrong);
            }
        } finally {
            await ended(worker);
        }
    } finally {
        await server.stop();
    }
    return { ...sums, wrong };
}

async function ended(worker: Child): Promise<void> {
    await worker[Symbol.asyncDispose]();
}

interface Begun {
    readonly run: string;
    readonly id: string;
    readonly shape: Shape;
}

async function begun(room: Room, n: number, i: number): Promise<Begun> {
    const shape = SHAPES[Math.floor(drawn(n, i + 1) * SHAPES.length)] as Shape;
    const id = `k${n}x${i}`;
    const world = await openWorld({ source: HEAD + shape.source(id) }, { cache: false, process: room.on });
    try {
        return { run: await room.client.submit(world, world.kept(null), START), id, shape };
    } finally {
        await world.close();
    }
}

async function checked(room: Room, { run, id, shape }: Begun): Promise<{ readonly asked: number; readonly problems: string[] }> {
    const problems: string[] = [];
    const end = room.client.result(run).then(
        (value) => ({ value }),
        (error: unknown) => ({ error: String(error) }),
    );
    const answered = new Set<string>();
    let over: Awaited<typeof end> | null = null;
    while (over === null) {
        over = await Promise.race([end, after(100, null)]);
        if (over === null) for (const question of await open(room, run)) await answer(room, run, question, answered);
    }
    if (!isDeepStrictEqual(over, { value: shape.value(id) })) problems.push(`it gives ${JSON.stringify(over)}`);
    const made = new Map<string, number>();
    for (const { name } of callsIn(room.folder)) made.set(name, (made.get(name) ?? 0) + 1);
    for (const name of shape.writes(id)) if (made.get(name) !== 1) problems.push(`${name} was written ${made.get(name) ?? 0} times`);
    const events = await Array.fromAsync(room.store.events(run));
    const again = events.filter(({ data }) => (data as { readonly again?: Json } | null)?.again === true).length;
    const more = shape.reads(id).map((name) => (made.get(name) ?? 0) - 1);
    if (more.some((one) => one < 0)) problems.push("something was not read");
    if (more.reduce((a, b) => a + b, 0) > again) problems.push(`${more.join(" ")} more reads, of which the ledger tells ${again}`);
    const verified = await room.store.verify(run);
    if (!verified.ok || verified.anchored !== "yes" || verified.bound !== "yes")
        problems.push(`it does not verify: ${JSON.stringify(verified)}`);
    return { asked: answered.size, problems };
}

/** Questions of a run; none where it cannot be looked at now. */
async function open(room: Room, run: string): Promise<readonly Question[]> {
    try {
        return (await room.client.status(run)).questions;
    } catch {
        // Nobody may be there to answer yet; the caller looks again.
        return [];
    }
}

/** A person looks whether the call happened. */
async function answer(room: Room, run: string, { id, request, owner }: Question, answered: Set<string>): Promise<void> {
    const { args } = (request as unknown as { readonly request: { readonly args: readonly string[] } }).request;
    const [name = ""] = args;
    const happened = callsIn(room.folder).some((one) => one.name === name);
    answered.add(id);
    await room.client.answer(run, {
        question: id,
        by: owner,
        said: happened ? { answer: "done", value: name.length } : { answer: "again" },
    });
}
