/**
 * ATIF: a trajectory as text for people.
 *
 * Boundary: pure text. Every line is plain: control characters of data never reach it.
 */
import { isObject, type Json } from "@remit/language";
import { shortened } from "../../value/text.ts";
import { plainText } from "../read.ts";
import type { Paint } from "../trace.ts";
import { type Content, type Metrics, type Step, TOTALS, type Trajectory } from "./types.ts";

export interface AtifTextOptions {
    /** Texts, arguments and results uncut. */
    readonly full?: boolean;
    readonly paint?: Paint;
}

const WIDTH = 100;

export function atifText(of: Trajectory, options: AtifTextOptions = {}): string {
    const w: Writer = { full: options.full === true, paint: options.paint ?? ((_, text) => text), out: [] };
    whole(of, "", w);
    return w.out.join("\n");
}

interface Writer {
    readonly full: boolean;
    readonly paint: Paint;
    readonly out: string[];
}

function whole(of: Trajectory, indent: string, w: Writer): void {
    const { agent } = of;
    const id = of.trajectory_id ?? of.session_id;
    const head = [`${agent.name} ${agent.version}`, agent.model_name, id, of.schema_version].filter((one) => one !== undefined);
    w.out.push(`${indent}${w.paint("bold", plainText(head.join(" · ")))}`);
    if (of.notes !== undefined) text("notes", of.notes, `${indent}  `, w);
    for (const one of of.steps) step(one, `${indent}  `, w);
    for (const name of ["stop_reason", "termination_reason", "termination_message"]) {
        const said = of.extra?.[name];
        if (typeof said === "string") text(name.replace("_", " "), said, `${indent}  `, w);
    }
    const totals = of.final_metrics;
    if (totals !== undefined) {
        const used = metrics(Object.fromEntries(TOTALS.map(([total, one]) => [one, totals[total]])));
        if (used !== "") w.out.push(`${indent}  ${w.paint("dim", `in all: ${used}`)}`);
    }
    if (of.continued_trajectory_ref !== undefined) text("continued in", of.continued_trajectory_ref, `${indent}  `, w);
    for (const child of of.subagent_trajectories ?? []) whole(child, `${indent}  `, w);
}

function step(of: Step, indent: string, w: Writer): void {
    const aside = [
        of.timestamp,
        of.model_name,
        of.is_copied_context === true ? "copied" : undefined,
        of.metrics === undefined ? undefined : metrics(of.metrics),
    ].filter((one) => one !== undefined && one !== "");
    const note = aside.length === 0 ? "" : ` ${w.paint("dim", plainText(`(${aside.join(", ")})`))}`;
    w.out.push(`${indent}${of.step_id} ${w.paint("cyan", of.source)}${note}`);
    const inner = `${indent}  `;
    if (of.reasoning_content !== undefined) text("thinks", of.reasoning_content, inner, w);
    const management = of.extra?.context_management;
    if (isObject(management) && typeof management.type === "string") text("context", management.type, inner, w);
    const message = contentText(of.message);
    if (message !== "") text(null, message, inner, w);
    const results = of.observation?.results ?? [];
    for (const call of of.tool_calls ?? []) {
        text("→", `${call.function_name}(${argumentsText(call.arguments)})`, inner, w);
        for (const one of results) if (one.source_call_id === call.tool_call_id) result(one, inner, w);
    }
    for (const one of results) if (one.source_call_id === undefined) result(one, inner, w);
}

function result(of: NonNullable<Step["observation"]>["results"][number], indent: string, w: Writer): void {
    const failed = of.extra?.is_error === true;
    const refs = (of.subagent_trajectory_ref ?? []).map((ref) => `[${ref.trajectory_id ?? ref.trajectory_path ?? ""}]`);
    const said = [contentText(of.content ?? ""), ...refs].filter((one) => one !== "").join(" ");
    text(failed ? "← failed:" : "←", said, indent, w, failed);
}

function argumentsText(given: { readonly [key: string]: Json }): string {
    return Object.entries(given)
        .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
        .join(", ");
}

function contentText(given: Content): string {
    if (typeof given === "string") return given;
    return given.map((part) => (part.type === "text" ? (part.text ?? "") : `[${part.type} ${part.source?.path ?? ""}]`)).join("\n");
}

function text(name: string | null, given: string, indent: string, w: Writer, bad = false): void {
    const lines = given.split("\n").map(plainText);
    const head = name === null ? "" : `${bad ? w.paint("red", name) : w.paint("dim", name)} `;
    if (!w.full) {
        w.out.push(`${indent}${head}${shortened(lines.join(" ").trim(), WIDTH)}`);
        return;
    }
    w.out.push(`${indent}${head}${lines[0]}`);
    for (const line of lines.slice(1)) w.out.push(`${indent}  ${line}`);
}

function metrics(of: Metrics): string {
    return [
        of.prompt_tokens === undefined ? "" : `${of.prompt_tokens} tokens in`,
        of.cached_tokens === undefined ? "" : `${of.cached_tokens} cached`,
        of.completion_tokens === undefined ? "" : `${of.completion_tokens} out`,
        of.cost_usd === undefined ? "" : `$${of.cost_usd.toFixed(4)}`,
    ]
        .filter((one) => one !== "")
        .join(", ");
}
