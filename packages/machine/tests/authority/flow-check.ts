/** A program of marked uses, told by the checker and run until nothing of it is refused any more. */
import { check, loadProgram, lower, type Project } from "@remit/language";
import type { Effect, Outcome } from "../../src/index.ts";
import { ANSWER } from "./flow-programs.ts";
import { once, said } from "./running.ts";

function answer(e: Effect): Outcome | undefined {
    const r = e.request as { op?: string; tool?: string; method?: string; memory?: string; model?: { name: string } };
    if (e.kind === "model") {
        const name = r.model?.name ?? "";
        return said({ text: "k", value: "k", calls: [], finish: "stop", model: name }, [`model:${name}`]);
    }
    if (e.kind === "recall") return said([ANSWER], [`memory:${r.memory}`]);
    if (e.kind === "tool" && r.op !== "describe") return said(ANSWER, [`tool:${r.tool}`]);
    return undefined;
}

/** Marks on the lines of which a flow is said to be refused, with what is said, and those that were sent when it ran. `project`: what its project says besides. `mayEnd`: a use without a mark may end the run. */
export function both(
    text: string,
    project: Project | null = null,
    mayEnd = false,
): { flagged: Map<string, string>; sent: Set<string>; lost: Set<string> } {
    const loaded = loadProgram("main.remit", { read: (file) => (file === "main.remit" ? text : null), resolve: (_from, uri) => uri });
    const { diagnostics } = check(loaded, { project });
    const flagged = new Map<string, string>();
    for (const one of diagnostics) {
        if (one.code !== "FLOW_REFUSED" && one.code !== "FLOW_MAY_BE_REFUSED") continue;
        // What is said of another tool on the line is not said of the one that is marked.
        if (/whoever reads (?!Mail|Post|Chat|Pick)/.test(one.message)) continue;
        const from = text.lastIndexOf("\n", one.range.start) + 1;
        const line = text.slice(from, text.indexOf("\n", from));
        flagged.set(/"(m[0-9]+)"/.exec(line)?.[1] ?? line, one.message);
    }
    const broken = loaded.diagnostics
        .concat([...loaded.files.values()].flatMap((f) => f.diagnostics))
        .filter((one) => one.severity === "error");
    if (broken.length > 0) throw new Error(`${broken.map((one) => `${one.code} ${one.message}`).join("\n")}\n${text}`);
    const sent = new Set<string>();
    const lost = new Set<string>();
    // A flow that is refused ends the run: the line is taken out, and the rest runs again.
    for (let now = text; ; ) {
        const form = lower(loadProgram("main.remit", { read: () => now, resolve: (_from, uri) => uri }));
        const ran = once(form, {
            answer,
            yes: "deny",
            options: { input: { t: "k", yes: true, no: false }, ...(project === null ? {} : { policy: project.policy }) },
        });
        for (const e of ran.effects) {
            const mark = e.kind === "tool" ? /"mark":"(m[0-9]+)"/.exec(JSON.stringify(e.request))?.[1] : undefined;
            if (mark !== undefined) sent.add(mark);
        }
        const { result } = ran;
        if (result.ok) return { flagged, sent, lost };
        const denied = ran.events.findLast((e) => e.kind === "policy.denied");
        const mark = /"mark":"(m[0-9]+)"/.exec(JSON.stringify(denied ?? null))?.[1];
        // Somebody else's call, or a question about one: what comes behind it is not seen.
        if (mayEnd && mark === undefined && ["violation.flow", "denied"].includes(result.failure.kind)) return { flagged, sent, lost };
        if (result.failure.kind !== "violation.flow" || mark === undefined)
            throw new Error(`${result.failure.kind}: ${result.failure.message} ${JSON.stringify(result.failure.site)}\n${text}`);
        lost.add(mark);
        now = now
            .split("\n")
            .map((line) => (line.includes(`"${mark}"`) ? "0" : line))
            .join("\n");
    }
}
