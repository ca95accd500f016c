/**
 * Projection **cost**: tokens and money of a run, by model and by place.
 *
 * Boundary: reads `generate.attempt` events, which carry the usage of each provider turn, failed ones included, and the `budget` event of a turn
 * whose outcome used up a bound.
 *
 * COS1: a sum is of what was reported; `usd` is absent where no turn of the row has a known price, and `unpriced` counts those without one.
 * COS2: a turn that used up its bound is paid for, although no `generate` has its reply. Where the run goes on with a higher bound, that reply is told
 *     again, and its `generate.attempt` comes later at the same path: both are one turn.
 */
import type { LedgerEvent } from "./events.ts";
import { field, type JsonObject, numberIn, objectIn, textIn } from "./read.ts";

export interface Spent {
    /** Provider turns. */
    readonly turns: number;
    /** Tokens; `cached` is a part of `input`, `reasoning` of `output`. */
    readonly input: number;
    readonly cached: number;
    readonly output: number;
    readonly reasoning: number;
    readonly usd?: number;
    readonly unpriced: number;
}

export interface CostRow extends Spent {
    /** Name and URI of the model import. */
    readonly model: string;
    /** What answered, where that is another. */
    readonly answered?: string;
    /** `Agent.func[n]`. */
    readonly where: string;
}

export interface Cost {
    readonly rows: readonly CostRow[];
    readonly models: readonly (Spent & Pick<CostRow, "model" | "answered">)[];
    readonly agents: readonly (Spent & { readonly agent: string })[];
    readonly total: Spent;
}

const COUNTED = ["turns", "input", "cached", "output", "reasoning", "unpriced"] as const;
const NOTHING: Spent = { turns: 0, input: 0, cached: 0, output: 0, reasoning: 0, unpriced: 0 };

export function costOf(events: Iterable<LedgerEvent>): Cost {
    const rows = new Map<string, CostRow>();
    const models = new Map<string, Spent & Pick<CostRow, "model" | "answered">>();
    const agents = new Map<string, Spent & { agent: string }>();
    let total = NOTHING;
    const overdrawn = new Set<string>();
    for (const event of events) {
        const told = turnIn(event);
        if (told === null) continue;
        if (event.kind === "budget") overdrawn.add(event.path);
        else if (overdrawn.delete(event.path)) continue;
        const asked = objectIn(told.model);
        const uri = textIn(asked.uri) ?? "?";
        const by = textIn(told.answered_by) ?? uri;
        const answered = by === uri ? {} : { answered: by };
        const model = `${textIn(asked.name) ?? "?"} (${uri})`;
        const label = textIn(told.label);
        const where = label ?? event.path;
        const agent = textIn(told.agent) ?? label?.split(".")[0] ?? "?";
        const spent = spentBy(objectIn(told.usage));
        add(rows, `${model} ${by} ${where}`, { model, ...answered, where }, spent);
        add(models, `${model} ${by}`, { model, ...answered }, spent);
        add(agents, agent, { agent }, spent);
        total = plus(total, spent);
    }
    return { rows: [...rows.values()], models: [...models.values()], agents: [...agents.values()], total };
}

/** The turn that an event tells of. */
function turnIn(event: LedgerEvent): JsonObject | null {
    if (event.kind === "generate.attempt") return objectIn(event.data);
    const turn = event.kind === "budget" ? field(event, "turn") : undefined;
    return turn === undefined ? null : objectIn(turn);
}

function spentBy(usage: JsonObject): Spent {
    const usd = numberIn(usage.usd);
    return {
        turns: 1,
        input: numberIn(usage.input) ?? 0,
        cached: numberIn(usage.cached) ?? 0,
        output: numberIn(usage.output) ?? 0,
        reasoning: numberIn(usage.reasoning) ?? 0,
        ...(usd === undefined ? {} : { usd }),
        unpriced: usd === undefined ? 1 : 0,
    };
}

function add<K extends object>(into: Map<string, Spent & K>, key: string, named: K, spent: Spent): void {
    into.set(key, { ...named, ...plus(into.get(key) ?? NOTHING, spent) });
}

function plus(a: Spent, b: Spent): Spent {
    const usd = a.usd === undefined && b.usd === undefined ? undefined : (a.usd ?? 0) + (b.usd ?? 0);
    const sums = Object.fromEntries(COUNTED.map((key) => [key, a[key] + b[key]])) as unknown as Spent;
    return usd === undefined ? sums : { ...sums, usd };
}
