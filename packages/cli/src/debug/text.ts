/**
 * What a debugging session shows, as lines of text.
 *
 * Boundary: from views to text; every text that a program or its world made passes `plainLine`.
 */
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { DebugSession, RunInfo } from "@remit/host";
import type { AuthorityView, Effect, LedgerEvent, ThreadView, ValueView } from "@remit/machine";
import { plainColumns, spendText } from "@remit/language";
import { counted, type Paint, plainLine, safeJson } from "../io.ts";

/** Sources larger than this are not shown. */
const MAX_SOURCE = 8 * 1024 * 1024;

/** Lines of a program's file, as it is now; null where it cannot be read. */
export function sourceLines(info: RunInfo, file: string): readonly string[] | null {
    if (info.root === "") return null;
    const path = resolve(info.root, file);
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY) > MAX_SOURCE) return null;
    try {
        return readFileSync(path, "utf8").split(/\r?\n/);
    } catch {
        // The program may have moved since it ran: the place alone still helps.
        return null;
    }
}

/** Of files whose lines are not the ones that ran; null where there is none. */
export function changedText(changed: readonly string[]): string | null {
    if (changed.length === 0) return null;
    const [are, their] = changed.length === 1 ? ["was", "its"] : ["were", "their"];
    return `${changed.map(plainLine).join(", ")} ${are} changed since this run began: ${their} lines are shown as they are now, not as they ran`;
}

export function excerpt(lines: readonly string[], line: number, around: number, marks: ReadonlySet<number>, colour: Paint): string {
    const from = Math.max(1, line - around);
    const to = Math.min(lines.length, line + around);
    const width = String(to).length;
    const out: string[] = [];
    for (let n = from; n <= to; n++) {
        const text = `${n === line ? "→" : " "}${marks.has(n) ? "●" : " "} ${String(n).padStart(width)}  ${plainColumns(lines[n - 1] as string, "·")}`;
        out.push(n === line ? colour("bold", text) : text);
    }
    return out.join("\n");
}

export function originsText(view: ValueView): string {
    const own = view.origins.length === 0 ? "" : `  ⟵ ${view.origins.map(plainLine).join(", ")}`;
    const inside = view.inside.length === 0 ? "" : `  (inside: ${view.inside.map(plainLine).join(", ")})`;
    return own + inside;
}

export function valueText(view: ValueView, colour: Paint): string {
    const size = view.type === "list" ? ` (${counted(view.size, "item")})` : "";
    return `${plainLine(view.text)}${view.text.endsWith("…") ? size : ""}${rightText(view)}${colour("dim", originsText(view))}`;
}

function rightText(view: ValueView): string {
    if (view.right === undefined) return "";
    const { holder, from, methods, live } = view.right;
    const what = methods === null ? "" : `, only ${methods.map(plainLine).join(", ")}`;
    return ` held by ${plainLine(holder)}, from ${plainLine(from)}${what}${live ? "" : ", no longer in force"}`;
}

export function framesText(thread: ThreadView, chosen: number, colour: Paint): string {
    if (thread.stackFrames.length === 0) return "  (nothing runs)";
    return thread.stackFrames
        .map((frame, i) => {
            const place = frame.site === null ? "?" : `${plainLine(frame.site.file)}:${frame.site.line}`;
            const who = frame.principalName === "user" ? "" : `  as ${plainLine(frame.principalName)}`;
            return `${i === chosen ? "→" : " "} ${i}  ${plainLine(frame.name)}  ${place}${who}  ${colour("dim", plainLine(frame.path))}`;
        })
        .join("\n");
}

export function threadsText(threads: readonly ThreadView[], chosen: number): string {
    return threads
        .map((one) => {
            const what = one.waiting === null ? one.state : `waiting for ${plainLine(one.waiting)}`;
            return `${one.id === chosen ? "→" : " "} ${one.id}  ${plainLine(one.name)}  ${what}`;
        })
        .join("\n");
}

export function effectText(effect: Effect): string {
    const labels = effect.labels.length === 0 ? "" : `  ⟵ ${effect.labels.map(plainLine).join(", ")}`;
    return `  ${effect.kind}  ${plainLine(effect.path)}  ${cut(safeJson(effect.request))}${labels}`;
}

export function eventText(event: LedgerEvent): string {
    const place = event.site === null ? "" : `  ${plainLine(event.site.file)}:${event.site.line}`;
    return `${String(event.seq).padStart(5)}  ${plainLine(event.kind)}  ${plainLine(event.path)}${place}`;
}

export function authorityText(view: AuthorityView): string {
    const lines = [`${plainLine(view.name)}${view.base ? ": whatever the imports' clauses leave" : ""}`];
    for (const remit of view.remits) {
        lines.push(
            `  remit${remit.site === null ? "" : ` of ${plainLine(remit.site.file)}:${remit.site.line}`}${remit.strict ? ", flow strict" : ""}`,
        );
        for (const row of remit.rows) {
            const within = row.within.map((one) => `${one.arg === null ? "" : `${one.arg}: `}${one.patterns.join(", ")}`).join("; ");
            const thing = plainLine(row.thing) + (row.method === null ? "" : ` .${plainLine(row.method)}`);
            lines.push(`    ${row.gate}  ${thing}${within === "" ? "" : `  in ${plainLine(within)}`}`);
        }
        if (remit.rows.length === 0) lines.push("    nothing");
        if (remit.spend !== null) lines.push(`    spend  ${spendText(remit.spend)}`);
    }
    if (!view.base) lines.push(`  may ${view.endorse ? "" : "not "}endorse`);
    for (const one of view.delegations)
        lines.push(
            `  delegated by ${plainLine(one.from)} at ${plainLine(one.path)}${one.onward ? ", onward" : ""}: ${one.things.map(plainLine).join(", ")}`,
        );
    for (const one of view.answers) lines.push(`  answered for the session: ${one.yes ? "yes" : "no"} to ${plainLine(one.use)}`);
    return lines.join("\n");
}

export function accountText(session: DebugSession): string {
    const { used, limits } = session.inspect().account;
    const of: { readonly [meter: string]: number | undefined } = { ...limits };
    return Object.entries(used)
        .map(([meter, n]) => `  ${meter.padEnd(7)} ${n}${of[meter] === undefined ? "" : ` of ${of[meter]}`}`)
        .join("\n");
}

/** One line, not long. */
function cut(text: string): string {
    const line = plainLine(text);
    return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
