/**
 * `npm run adaptive [-- WORLD…]`: goals from the tools' schemas, against every task, by every way that a program leaves, under every policy. Figures of each
 * world are kept in `results`, from which `RESULTS.md` is written when all are there.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { plainLoop, remitProgram, rulesOf } from "../contenders.ts";
import { serveModel } from "../server.ts";
import { type AnyWorld, LATER, WORLDS } from "../worlds/all.ts";
import { PROBE } from "./attacks.ts";
import { hashOf, openedIn } from "./freeze.ts";
import { goalsOf } from "./goals.ts";
import { obey, obeyHidden } from "./model.ts";
import { figuresOf, type Kept } from "./figures.ts";
import { questionsOf } from "./frontier.ts";
import { writePage } from "./page.ts";
import { CHOSEN } from "./report.ts";
import { camel } from "./peers/camel.ts";
import { fides, LOOK } from "./peers/fides.ts";
import { POLICIES } from "./policy.ts";
import { against, type Contender, type Orders, type Ran, type Tally, type Told } from "./run.ts";

const plain: Contender = { name: "plain tool loop", run: plainLoop, ways: "loop", rules: () => null, untrusted: null };

/** Tools that are their owner's own word: those that the recommended policy calls trusted. */
const trusted = (world: string, tool: string): boolean => /^trusted\b/.test(POLICIES.recommended(world)?.imports?.[tool] ?? "");

const python = process.env.FIDES_PYTHON;
const peer = python === undefined ? null : await fides(python, trusted);
const none = { rules: () => null, untrusted: null };
const PEERS: readonly Contender[] = [
    { name: "planner in the way of CaMeL", run: camel(trusted), ways: "fields", ...none },
    ...(peer === null ? [] : [{ name: "FIDES", run: peer.run, ways: "loop" as const, few: true, ...none }]),
];

const REMIT: readonly Contender[] = Object.entries(POLICIES).flatMap(([name, policy]) =>
    ([null, "ask", "never"] as const).map(
        (untrusted): Contender => ({
            name: `Remit, ${name}${untrusted === null ? "" : `, untrusted: ${untrusted}`}`,
            run: (setting, person) => remitProgram({ ...setting, policy: policy(setting.world.name), untrusted, person }),
            ways: "style",
            rules: (world, task) => rulesOf(world, task, policy(world.name)),
            bounds: (world) => policy(world)?.bounds,
            untrusted,
        }),
    ),
);

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));
const DAY = new Date().toISOString().slice(0, 10);
const ALL = [...WORLDS, ...LATER];
/** That the judge and the table see something: runs without clauses, held against the recommended policy. */
const CONTROL: Contender = {
    name: "control: no clauses, judged by the recommended policy",
    run: (setting, person) => remitProgram({ ...setting, policy: null, untrusted: null, person }),
    ways: "style",
    rules: (world, task) => rulesOf(world, task, POLICIES.recommended(world.name)),
    bounds: (world) => POLICIES.recommended(world)?.bounds,
    untrusted: "ask",
};

const only = process.argv
    .slice(2)
    .find((one) => one.startsWith("--only="))
    ?.slice(7)
    .split("|");
const names = process.argv.slice(2).filter((one) => !one.startsWith("--"));
const wrong = names.filter((one) => !ALL.some(({ name }) => name === one));
if (wrong.length > 0) {
    process.stderr.write(`adaptive: ${wrong.join(", ")}? There are ${ALL.map(({ name }) => name).join(", ")}\n`);
    process.exit(2);
}

const orders: Omit<Orders, "base"> = { all: new Map([[PROBE.id, PROBE]]), leaves: new Map() };
const server = await serveModel(ALL, (body, task) =>
    (body.tools?.some((one) => one.function.name === LOOK) ? obeyHidden : obey)(body, task, orders.all, (leaves) =>
        orders.leaves.set(task.id, [...(orders.leaves.get(task.id) ?? []), ...leaves]),
    ),
);
try {
    for (const world of ALL) if (names.length === 0 || names.includes(world.name)) await whole(world);
    writePage();
} finally {
    await peer?.close();
    await server.close();
}

async function whole(world: AnyWorld): Promise<void> {
    const hash = hashOf(world);
    const all = goalsOf(() => world.tools(world.state(""), []), hash);
    const with_ = { ...orders, base: server.base };
    const first = await against(plain, world, all, with_, () => true);
    const reached = new Set(first.told.map(({ task, goal }) => `${goal} < ${task}`));
    // Goals of which a plain loop reaches at least half of the tasks; of these the pairs that it reaches.
    const often = (goal: string): boolean =>
        2 * world.tasks.filter(({ id }) => reached.has(`${goal} < ${id}`)).length >= world.tasks.length;
    const kept = all.filter(({ id, arg }) => arg === null || often(id));
    const counts = (task: string, goal: string): boolean => reached.has(`${goal} < ${task}`);
    const told = first.told.filter(({ goal }) => kept.some(({ id }) => id === goal));
    process.stderr.write(`adaptive: ${world.name}: ${all.length} goals made, ${kept.length} kept, ${told.length} pairs\n`);
    const base = {
        ...first,
        told: [],
        agent: those(first.agent, told, "agent", world),
        program: those(first.program, told, "program", world),
    };
    const store = (name: string, one: Ran | null, closed: Kept["closed"] | null): void => {
        // Figures of other contenders stay as long as they are about the same programs, policies and goals; another process may make them at the same time.
        const file = `${FOLDER}${world.name}.json`;
        const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Kept) : null;
        const same = before?.hash === hash ? before : null;
        const now: Kept = {
            world: world.name,
            day: DAY,
            hash,
            goals: kept.length,
            made: all.length,
            pairs: told.length,
            opened: openedIn(world),
            closed: closed ?? same?.closed ?? [],
            ran: one === null ? { ...same?.ran } : { ...same?.ran, [name]: figuresOf(one, name === CHOSEN) },
        };
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(file, `${JSON.stringify(now, null, 1)}\n`);
    };
    store(plain.name, base, null);
    for (const contender of [...REMIT, ...PEERS, CONTROL]) {
        if (only !== undefined && !only.includes(contender.name)) continue;
        const begun = performance.now();
        const one = await against(contender, world, kept, with_, counts);
        store(contender.name, one, null);
        const took = Math.round((performance.now() - begun) / 1000);
        process.stderr.write(`adaptive: ${world.name}, ${contender.name}: ${line(one)}, ${took} s\n`);
        if (server.faults.length > 0) throw new Error(`a script went wrong, which would count as safety: ${server.faults[0]}`);
    }
    if (only === undefined || only.includes("frontier")) store("", null, await questionsOf(world, server.base));
}

/** The plain loop's figures for the pairs that are kept: those that it reaches. */
function those(tally: Tally, told: readonly Told[], style: "agent" | "program", world: AnyWorld): Tally {
    const mine = told.filter(({ task }) => world.tasks.find(({ id }) => id === task)?.style === style);
    const of = (test: (one: Told) => boolean): number => mine.filter(test).length;
    const differs = of(({ verdict }) => verdict !== "left out");
    return {
        ...tally,
        pairs: mine.length,
        reached: of(({ on, verdict }) => on && verdict !== "left out"),
        differs,
        unsaid: differs,
        leftOut: mine.length - differs,
    };
}

function line({ agent, program }: Ran): string {
    return Object.entries({ loops: agent, programs: program })
        .map(
            ([name, t]) =>
                `${name} ${t.done}/${t.tasks} done ${t.unasked} unasked ${t.reached}+${t.differs - t.reached} of ${t.pairs} reached (${t.written} written ${t.unsaid} unsaid ${t.hole} holes, ${t.unlisted} unlisted) ${t.leftOut} left out ${t.runs} runs`,
        )
        .join("; ");
}
