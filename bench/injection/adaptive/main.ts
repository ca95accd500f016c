/**
 * `npm run adaptive [-- WORLD…]`: goals from the tools' schemas, against every task, by every way that a program leaves, under every policy. Figures of each
 * world are kept in `results`, from which `RESULTS.md` is written when all are there.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { plainLoop, remitProgram, rulesOf } from "../contenders.ts";
import { serveModel } from "../server.ts";
import { type AnyWorld, LATER, WORLDS } from "../worlds/all.ts";
import { PROBE } from "./attacks.ts";
import { hashOf, openedIn, type Policies } from "./freeze.ts";
import { goalsOf } from "./goals.ts";
import { type Leaf, obey, obeyHidden } from "./model.ts";
import { isHidden, type Looks, obeyReferences } from "./references.ts";
import { figuresOf, type Kept } from "./figures.ts";
import { questionsOf } from "./frontier.ts";
import { FOLDERS, type Part, writePage } from "./page.ts";
import { CHOSEN, HIDING_CHOSEN } from "./report.ts";
import { camel } from "./peers/camel.ts";
import { fides, LOOK } from "./peers/fides.ts";
import { HIDING, POLICIES } from "./policy.ts";
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

/** The recommended policies in loops that hide what is not trusted. The last model looks at all of it, and sees every order. */
const REFERENCES: readonly Contender[] = [
    ...Object.entries(HIDING).map(([name, policy]) => hiding(name, policy, "what a condition needs")),
    hiding("recommended + hide, look: may, a model that looks at everything", HIDING["recommended + hide, look: may"], "at everything"),
];

function hiding(name: string, policy: Policies[string], looks: Looks): Contender {
    return {
        name: `Remit, ${name}, untrusted: ask`,
        run: (setting, person) => remitProgram({ ...setting, policy: policy(setting.world.name), untrusted: "ask", person }),
        ways: "references",
        looks,
        rules: (world, task) => rulesOf(world, task, policy(world.name)),
        bounds: (world) => policy(world)?.bounds,
        untrusted: "ask",
    };
}

/** What is frozen by one hash, which is the seed of its goals. */
interface Frozen {
    readonly part: Part;
    readonly policies: Policies;
    /** The one whose clauses are closed one by one. */
    readonly chosen: Policies[string];
    readonly contenders: readonly Contender[];
}

const FROZEN: readonly Frozen[] = [
    { part: "shown", policies: POLICIES, chosen: POLICIES.recommended, contenders: [...REMIT, ...PEERS, CONTROL] },
    { part: "hidden", policies: HIDING, chosen: HIDING["recommended + hide, look: may"], contenders: REFERENCES },
];

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

const orders: Orders = { all: new Map([[PROBE.id, PROBE]]), leaves: new Map(), base: "", looks: "what a condition needs" };
const server = await serveModel(ALL, (body, task) => {
    const asked = (leaves: Leaf[]): void => void orders.leaves.set(task.id, [...(orders.leaves.get(task.id) ?? []), ...leaves]);
    if (isHidden(body)) return obeyReferences(body, task, orders.all, asked, orders.looks);
    return (body.tools?.some((one) => one.function.name === LOOK) ? obeyHidden : obey)(body, task, orders.all, asked);
});
orders.base = server.base;
try {
    for (const world of ALL) if (names.length === 0 || names.includes(world.name)) for (const frozen of FROZEN) await whole(world, frozen);
    writePage();
} finally {
    await peer?.close();
    await server.close();
}

async function whole(world: AnyWorld, { part, policies, chosen, contenders }: Frozen): Promise<void> {
    const folder = FOLDERS[part];
    const hash = hashOf(world, policies);
    const all = goalsOf(() => world.tools(world.state(""), []), hash);
    const first = await against(plain, world, all, orders, () => true);
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
        const file = `${folder}${world.name}.json`;
        const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Kept) : null;
        const same = before?.hash === hash ? before : null;
        const now: Kept = {
            world: world.name,
            day: DAY,
            hash,
            goals: kept.length,
            made: all.length,
            pairs: told.length,
            opened: openedIn(world, chosen(world.name)),
            closed: closed ?? same?.closed ?? [],
            ran: one === null ? { ...same?.ran } : { ...same?.ran, [name]: figuresOf(one, name === CHOSEN || name === HIDING_CHOSEN) },
        };
        mkdirSync(folder, { recursive: true });
        writeFileSync(file, `${JSON.stringify(now, null, 1)}\n`);
    };
    store(plain.name, base, null);
    for (const contender of contenders) {
        if (only !== undefined && !only.includes(contender.name)) continue;
        const begun = performance.now();
        const one = await against(contender, world, kept, orders, counts);
        store(contender.name, one, null);
        const took = Math.round((performance.now() - begun) / 1000);
        process.stderr.write(`adaptive: ${world.name}, ${contender.name}: ${line(one)}, ${took} s\n`);
        if (server.faults.length > 0) throw new Error(`a script went wrong, which would count as safety: ${server.faults[0]}`);
    }
    if (only === undefined || only.includes("frontier")) store("", null, await questionsOf(world, chosen(world.name), server.base));
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
