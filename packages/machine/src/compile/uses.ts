/**
 * Declarations of context: what an agent's configuration gives to its functions, and `use` lines made ready to be evaluated.
 *
 * Boundary: forms to `AgentContext` and `UseSpec`. Which of them a `generate` sees is decided where it stands (`frames.ts`).
 */

import { type BudgetForm, printFormExpr, type UseForm, type UseOneForm } from "@remit/language";
import { contextOf } from "./closures.ts";
import { type Context, expr, siteOf } from "./context.ts";
import type { AgentContext, UseSpec } from "./instructions.ts";
import type { Compiled } from "./program.ts";
import { Scope } from "./scope.ts";
import { importName, variantSite } from "./variants.ts";

const NO_CONTEXT: AgentContext = { model: null, role: null, description: null, max: null, uses: [] };

export function agentContext(program: Compiled, file: number, agent: string | null): AgentContext {
    return program.context(file, agent, () => {
        const form = agent === null ? undefined : program.program.files[file]?.agents.find((a) => a.name === agent);
        let context = NO_CONTEXT;
        const cx = contextOf({ program, file, agent }, new Scope(), null);
        const labels = new Map<string, number>();
        for (const c of form?.config ?? []) {
            if (c.kind === "config") context = { ...context, [c.key]: expr(cx, c.value) };
            else if (c.kind === "context") context = { ...context, max: c.max };
            else context = { ...context, uses: [...context.uses, useSpec(cx, agent, null, c, labels)] };
        }
        return context;
    });
}

/** The `use` lines of an agent, for the events of a call into it. */
export function agentUses(program: Compiled, file: number, agent: string): readonly UseSpec[] {
    return agentContext(program, file, agent).uses;
}

export function useSpec(
    cx: Context,
    agent: string | null,
    func: string | null,
    s: UseForm | UseOneForm,
    labels: Map<string, number>,
): UseSpec {
    const budget = (b: BudgetForm | undefined): BudgetForm | null => b ?? null;
    if (s.kind === "use") {
        return {
            source: printFormExpr(s.value),
            label: s.label ?? null,
            code: expr(cx, s.value),
            budget: budget(s.max),
            priority: s.priority ?? null,
            image: s.image === true,
            site: siteOf(cx, s.at),
            oneOf: null,
        };
    }
    const nth = (labels.get(s.label) ?? 0) + 1;
    labels.set(s.label, nth);
    return {
        source: "",
        label: s.label,
        code: null,
        budget: null,
        priority: s.priority ?? null,
        image: false,
        site: siteOf(cx, s.at),
        oneOf: {
            siteId: variantSite(importName(cx.program.program, cx.file), agent, func, s.label, nth),
            candidates: s.candidates.map((c) => ({
                name: c.name,
                source: c.value === undefined ? "" : printFormExpr(c.value),
                code: c.value === undefined ? null : expr(cx, c.value),
                budget: budget(c.max),
                selected: c.selected === true,
            })),
        },
    };
}
