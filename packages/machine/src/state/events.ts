/**
 * Events of calls, loops and declarations.
 *
 * ET1: `data` follows AgentScript's trace where that has the field.
 */
import { type BudgetForm, type Json, type SpendForm, shownName } from "@remit/language";
import type { Instruction, NextDetail, UseSpec } from "../compile/instructions.ts";
import { agentUses } from "../compile/uses.ts";
import type { AgentEntry, Fn } from "../compile/program.ts";
import { Fail } from "../effect/failure.ts";
import { List, type Value } from "../value/value.ts";
import { rawOf } from "../value/operators.ts";
import type { Used } from "./accounts.ts";
import { type Fiber, type Frame, pathOf, siteAt } from "./fiber.ts";
import type { Ops } from "./ops.ts";
import { show } from "./show.ts";

/** A call of an agent by the present instruction of a frame begins. */
export function agentStarted(
    m: Ops,
    caller: Frame,
    { fn, agent, path }: { readonly fn: Fn; readonly agent: AgentEntry; readonly path: string },
    args: readonly Value[],
): void {
    const { json, labels } = shownArgs(m, args);
    m.emit("agent.started", path, caller.parent, siteAt(caller), labels, { agent: shownName(agent.name), function: fn.name, args: json });
    for (const use of agentUses(m.compiled, fn.file, agent.name)) useEvent(m, path, path, use);
}

/** `spent`: what its own account may and did use. */
export function agentEnded(
    m: Ops,
    fiber: Fiber,
    frame: Frame,
    end: Value | Fail,
    spent: { readonly limits: SpendForm; readonly used: Readonly<Used> } | null,
): void {
    const agent = frame.agent as AgentEntry;
    const caller = fiber.frames[fiber.frames.indexOf(frame) - 1];
    const base = {
        agent: shownName(agent.name),
        function: frame.fn.name,
        ...(spent === null ? {} : { spent: { limits: { ...spent.limits }, used: { ...spent.used } } }),
    };
    const parent = caller?.parent ?? null;
    const site = caller?.form.code[caller.pc]?.site ?? null;
    if (end instanceof Fail) {
        m.emit("agent.ended", frame.path, parent, site, m.run.labels.origins(end.labels), {
            ...base,
            ok: false,
            kind: end.kind,
            error: end.message,
        });
        return;
    }
    const shown = show(end, m.run.labels);
    m.give(shown.size);
    m.emit("agent.ended", frame.path, parent, site, m.run.labels.origins(shown.labels), { ...base, ok: true, result: shown.json });
}

/** `cut`: not all of them is shown. */
export function shownArgs(m: Ops, args: readonly Value[]): { json: Json[]; labels: readonly string[]; cut: boolean } {
    let labels = 0;
    let cut = false;
    const json = args.map((arg) => {
        const shown = show(arg, m.run.labels);
        labels = m.run.labels.union(labels, shown.labels);
        m.run.give(shown.size);
        cut ||= shown.cut;
        return shown.json;
    });
    return { json, labels: m.run.labels.origins(labels), cut };
}

/** One event for each pass of a `for` whose body can reach an effect. */
export function forEvent(m: Ops, frame: Frame, I: Instruction, d: NextDetail): void {
    const shown = show(frame.locals[d.item] as Value, m.run.labels);
    m.run.give(shown.size);
    const list = rawOf(frame.locals[d.list] as Value);
    const total = list instanceof List ? list.items.length : 0;
    m.emit("for", pathOf(frame, d.path), frame.parent, I.site, m.run.labels.origins(shown.labels), {
        item: d.name,
        index: frame.locals[d.index] as number,
        value: shown.json,
        max_items: d.max,
        total_items: total,
        truncated: total > d.max,
    });
}

export function budgetData(budget: BudgetForm | null): Json {
    return budget === null ? null : { amount: budget.amount, unit: budget.unit, text: budget.text, keep: budget.keep ?? "start" };
}

export function useEvent(m: Ops, parent: string | null, path: string, use: UseSpec): void {
    const picked = pick(m, use);
    const variant: Json = picked.variant === null ? null : { ...picked.variant, available: [...picked.variant.available] };
    m.emit("use", path, parent, use.site, [], {
        source: picked.source === "" ? null : picked.source,
        label: use.label,
        budget: budgetData(picked.budget),
        ...(variant === null ? {} : { variant }),
    });
}

export interface Picked {
    readonly source: string;
    readonly budget: BudgetForm | null;
    readonly code: UseSpec["code"];
    readonly variant: {
        readonly site_id: string;
        readonly picked: string;
        readonly available: readonly string[];
        readonly reason: "trial" | "selected" | "first";
        readonly empty: boolean;
    } | null;
}

/** What a `use` puts into the prompt: of several candidates the one that the run's options name, else the selected, else the first. */
export function pick(m: Ops, use: UseSpec): Picked {
    if (use.oneOf === null) return { source: use.source, budget: use.budget, code: use.code, variant: null };
    const { siteId, candidates } = use.oneOf;
    const hints = m.options.variants;
    const hint = hints !== undefined && Object.hasOwn(hints, siteId) ? hints[siteId] : undefined;
    const selected = candidates.find((c) => c.selected);
    const chosen = hint === undefined ? (selected ?? candidates[0]) : candidates.find((c) => c.name === hint);
    if (chosen === undefined)
        throw new Fail(
            "value",
            hint === undefined ? `use one of at ${siteId} has no candidates` : `use one of at ${siteId} has no candidate '${hint}'`,
            {
                site: use.site,
                hint: `it has ${candidates.map((c) => c.name).join(", ")}`,
            },
        );
    return {
        source: chosen.source,
        budget: chosen.budget,
        code: chosen.code,
        variant: {
            site_id: siteId,
            picked: chosen.name,
            available: candidates.map((c) => c.name),
            reason: hint !== undefined ? "trial" : selected !== undefined ? "selected" : "first",
            empty: chosen.code === null,
        },
    };
}
