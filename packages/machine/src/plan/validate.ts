/**
 * Whether a plan can run where it is to run: every mistake of it, in the order of its nodes.
 *
 * Boundary: pure, over the document; a plan may come from elsewhere. Whether names mean something in a program is the checker's.
 *
 * PLV1: a plan that this finds nothing in has no node that waits for itself, and all its nodes are waited for or are results.
 */
import type { Site } from "@remit/language";
import { MAX_NODES, type Plan, PLAN_VERSION, type PlanNode } from "./plan.ts";

export type PlanErrorKind = "version" | "size" | "id" | "call" | "requires" | "self" | "cycle" | "orphan" | "join" | "result";

export interface PlanError {
    readonly kind: PlanErrorKind;
    readonly message: string;
    /** Absent for a mistake of the whole. */
    readonly node?: string;
    readonly site: Site | null;
}

/** `registered`: whether the target has a call of this name. */
export function validatePlan(plan: Plan, registered: (node: PlanNode) => boolean): PlanError[] {
    const whole = (kind: PlanErrorKind, message: string): PlanError => ({ kind, message, site: null });
    if (plan.version !== PLAN_VERSION)
        return [whole("version", `this is a plan of version ${plan.version}, and version ${PLAN_VERSION} is known`)];
    if (plan.nodes.length === 0) return [whole("size", "the plan has no node")];
    if (plan.nodes.length > MAX_NODES) return [whole("size", `the plan has ${plan.nodes.length} nodes, and ${MAX_NODES} are allowed`)];
    const errors: PlanError[] = [];
    const nodes = new Map<string, PlanNode>();
    for (const node of plan.nodes) {
        if (nodes.has(node.id)) errors.push(of(node, "id", `two nodes are called ${node.id}`));
        nodes.set(node.id, node);
    }
    for (const node of plan.nodes) {
        if (!registered(node)) errors.push(of(node, "call", `nothing here performs ${node.call}`));
        for (const id of new Set(node.requires))
            if (id === node.id) errors.push(of(node, "self", `${node.id} waits for itself`));
            else if (!nodes.has(id)) errors.push(of(node, "requires", `${node.id} waits for ${id}, which the plan does not have`));
        if (node.join === "none" && node.requires.length > 1)
            errors.push(of(node, "join", `${node.id} waits for ${node.requires.length} nodes and does not say how they are joined`));
    }
    for (const id of plan.results) if (!nodes.has(id)) errors.push(whole("result", `the plan gives ${id}, which it does not have`));
    if (plan.results.length === 0) errors.push(whole("result", "the plan gives nothing"));
    errors.push(...cycle(plan, nodes), ...orphans(plan));
    return errors;
}

function of(node: PlanNode, kind: PlanErrorKind, message: string): PlanError {
    return { kind, message, node: node.id, site: node.site };
}

/** Nodes are taken away once all they wait for are gone; what is left waits for itself, through others. */
function cycle(plan: Plan, nodes: ReadonlyMap<string, PlanNode>): PlanError[] {
    const missing = new Map<PlanNode, number>();
    const waiting = new Map<string, PlanNode[]>();
    for (const node of plan.nodes) {
        const others = [...new Set(node.requires)].filter((id) => id !== node.id && nodes.has(id));
        missing.set(node, others.length);
        for (const id of others) waiting.set(id, [...(waiting.get(id) ?? []), node]);
    }
    const ready = plan.nodes.filter((node) => missing.get(node) === 0);
    for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
        missing.delete(node);
        for (const next of waiting.get(node.id) ?? []) {
            const left = (missing.get(next) ?? 0) - 1;
            if (!missing.has(next)) continue;
            missing.set(next, left);
            if (left === 0) ready.push(next);
        }
    }
    const first = plan.nodes.find((node) => missing.has(node));
    if (first === undefined) return [];
    const ids = plan.nodes.filter((node) => missing.has(node)).map((node) => node.id);
    return [of(first, "cycle", `these wait for one another: ${ids.slice(0, 8).join(", ")}${ids.length > 8 ? " …" : ""}`)];
}

function orphans({ nodes, results }: Plan): PlanError[] {
    const wanted = new Set([...results, ...nodes.flatMap((node) => node.requires)]);
    return nodes.flatMap((node) =>
        wanted.has(node.id) ? [] : [of(node, "orphan", `nothing waits for ${node.id}, and the block does not give it`)],
    );
}
