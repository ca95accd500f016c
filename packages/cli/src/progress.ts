/**
 * What a run is doing, on standard error: on a terminal one line that is redrawn (what is running, tokens, time), below the picture of the plan where
 * one runs and there is room for it; else one line for each thing that began and ended, as events come. Of a loop over many items it is how many are
 * done and failed: about ten lines of a log, and each reason for a failure once.
 *
 * Boundary: reads ledger events, knows no machine.
 */
import { isObject, type Json, shownUse } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { type Batch, batches, type Batches } from "./batch.ts";
import { count, duration, paint, plainLine } from "./io.ts";
import { type Look, picture } from "./picture.ts";
import { screen } from "./screen.ts";

export interface Progress {
    event(event: LedgerEvent): void;
    /** What a run that goes on has done before: its loops over many items are counted on from there. Absent: it need not be read. */
    before?(events: AsyncIterable<LedgerEvent>): Promise<void>;
    /** A piece of a reply as it streams. */
    part(path: string, part: Json): void;
    /** Removes the line, before something else is written or a question is asked. */
    pause(): void;
    end(): void;
}

export const silent: Progress = { event: () => undefined, part: () => undefined, pause: () => undefined, end: () => undefined };

type Data = { [key: string]: Json };
const fields = (value: Json | undefined): Data => (isObject(value ?? null) ? (value as Data) : {});
const data = (event: LedgerEvent): Data => fields(event.data);
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Kinds that begin something worth showing, and the words for it. */
const BEGINS: Partial<Record<LedgerEvent["kind"], (d: Data, event: LedgerEvent) => string>> = {
    "generate.started": (d, event) => `generate ${text(d["label"]) || event.path.split("/").at(-1)}`,
    // what an agent does with its own hands stands in its request
    "tool.started": (d) => {
        const { tool, method } = isObject(d["request"]) ? d["request"] : d;
        return shownUse(`${text(tool)}.${text(method)}`);
    },
    "memory.started": (d) => `${text(d["memory"])}.${text(d["operation"])}`,
    "agent.started": (d) => `agent ${text(d["agent"])}`,
    "parallel.started": (d) => `parallel for ${text(d["item"])}`,
    "plan.node.started": (d) => text(d["id"]),
    "input.requested": (d) => `waits for ${text(d["name"] ?? d["path"])}`,
    // what an agent wants to do with its own hands is asked in its request
    "ask.requested": (d) => {
        const { tool, method } = fields(d["request"]);
        // a call that had begun when the run was interrupted
        if (d["effect"] === "tool") return `What became of ${shownUse(`${text(tool)}.${text(method)}`)}?`;
        return text(d["question"]) || text(fields(d["request"])["question"]) || "a question";
    },
};

/** Decisions that let a call not pass. */
const NO = /^(?:deny|abort)/;

const ENDS: Partial<Record<LedgerEvent["kind"], true>> = {
    "generate.ended": true,
    "tool.ended": true,
    "memory.ended": true,
    "agent.ended": true,
    "parallel.ended": true,
    "plan.node.ended": true,
    "input.given": true,
    "ask.decided": true,
    "ask.withdrawn": true,
};

interface Running {
    readonly name: string;
    readonly since: number;
    /** Other things run inside it. */
    readonly outer: boolean;
}

const OUTER: ReadonlySet<string> = new Set(["agent.started", "parallel.started", "plan.node.started"]);

function tokens(event: LedgerEvent): number {
    const usage = data(event)["usage"];
    if (usage === null || typeof usage !== "object" || Array.isArray(usage)) return 0;
    const sum = (key: string): number => (typeof usage?.[key] === "number" ? (usage[key] as number) : 0);
    return sum("input") + sum("output");
}

export function progress(stream: NodeJS.WriteStream): Progress {
    return stream.isTTY === true && process.env["TERM"] !== "dumb" ? redrawn(stream) : lines(stream);
}

/** Lines of a log for a loop over many items, its first and last aside; reasons for failures that are named in it. */
const LINES = 9;
const REASONS = 3;

/** `whole(2000)`: 2,000. */
const whole = (n: number): string => n.toLocaleString("en-US");

/** What a loop over many items has come to. */
function batchText({ item, total, done, failed, tokens, refused }: Batch, pauses: number): string {
    const parts = [
        `${whole(done)} of ${whole(total)} done`,
        ...(failed === 0 ? [] : [`${whole(failed)} failed`]),
        ...(refused === 0 ? [] : [`${whole(refused)} ${refused === 1 ? "reply" : "replies"} refused`]),
        ...(pauses === 0 ? [] : [`${whole(pauses)} ${pauses === 1 ? "pause" : "pauses"} for the provider`]),
        ...(tokens === 0 ? [] : [`${count(tokens)} tokens`]),
    ];
    return `parallel for ${plainLine(item)}: ${parts.join(", ")}`;
}

/** What a model's provider has to be waited for, where a part is that. */
function pauseOf(part: Json): { readonly text: string; readonly ms: number } | null {
    if (part === null || typeof part !== "object" || Array.isArray(part) || part["type"] !== "pause") return null;
    return { text: plainLine(text(part["text"])).slice(0, 200), ms: Number(part["ms"]) || 0 };
}

/** Loops that a run which goes on is in. */
async function entered(many: Batches, events: AsyncIterable<LedgerEvent>): Promise<void> {
    for await (const event of events) if (event.kind !== "run.ended") many.event(event);
    many.again(Date.now());
}

/** How what has ended is called. */
function endedAs(event: LedgerEvent): string {
    const { ok, decision, state, failure, result } = data(event);
    const { kind } = fields(failure);
    if ((typeof decision === "string" && NO.test(decision)) || kind === "denied") return "refused";
    if (state === "cancelled" || kind === "cancelled") return "cancelled";
    // A result of an `mcp:` tool tells of the tool's own error.
    if (ok === false || state === "failed" || fields(result)["isError"] === true) return "failed";
    return event.kind === "ask.decided" ? "answered" : "done";
}

function lines(stream: NodeJS.WriteStream): Progress {
    const open = new Map<string, Running>();
    const many = batches();
    /** Lines that each loop has, reasons that were named, and pauses since it began. */
    const told = new Map<string, { shown: number; reasons: number; pauses: number }>();
    let paused = "";
    const tell = (batch: Batch, event: LedgerEvent): void => {
        const known = told.get(batch.path) as { shown: number; reasons: number; pauses: number };
        const reasons = [...batch.reasons.values()];
        for (; known.reasons < Math.min(reasons.length, REASONS); known.reasons++) {
            const { message, index, name } = reasons[known.reasons] as (typeof reasons)[number];
            stream.write(`  item ${index}${name === "" ? "" : ` (${name})`} failed: ${message.slice(0, 200)}\n`);
        }
        const due = Math.floor((batch.done * (LINES + 1)) / batch.total);
        if (due <= known.shown || batch.done >= batch.total) return;
        known.shown = due;
        stream.write(`${batchText(batch, known.pauses)} (${duration(Date.parse(event.time) - batch.since)})\n`);
    };
    return {
        ...silent,
        async before(events) {
            await entered(many, events);
            for (const batch of many.open) {
                told.set(batch.path, { shown: Math.floor((batch.done * (LINES + 1)) / batch.total), reasons: 0, pauses: 0 });
                stream.write(`parallel for ${plainLine(batch.item)} goes on: ${whole(batch.done)} of ${whole(batch.total)} were done\n`);
            }
        },
        part(_path, part) {
            const said = noticeOf(part);
            if (said !== null) stream.write(`note: ${said}\n`);
            const pause = pauseOf(part);
            if (pause === null) return;
            for (const one of told.values()) one.pauses++;
            // the same again is counted
            if (pause.text !== paused) stream.write(`note: ${pause.text}: waiting ${duration(pause.ms)}\n`);
            paused = pause.text;
        },
        event(event) {
            const of = many.event(event);
            if (of.in !== null) {
                tell(of.in, event);
                return;
            }
            if (of.began !== undefined) {
                const { item, total, atOnce, path } = of.began;
                told.set(path, { shown: 0, reasons: 0, pauses: 0 });
                stream.write(`parallel for ${plainLine(item)}: ${whole(total)} items, ${atOnce} at once\n`);
                return;
            }
            if (of.ended !== undefined) {
                tell(of.ended, event);
                const state = of.ended.failed === 0 && of.ended.done === of.ended.total ? "done" : "ended";
                const { pauses } = told.get(of.ended.path) as { pauses: number };
                stream.write(`${state}: ${batchText(of.ended, pauses)} (${duration(Date.parse(event.time) - of.ended.since)})\n`);
                return;
            }
            const name = BEGINS[event.kind]?.(data(event), event);
            if (name !== undefined) open.set(event.path, { name, since: Date.parse(event.time), outer: OUTER.has(event.kind) });
            if (event.kind === "generate.attempt") {
                // a turn without a reply ends its `generate`, whose failure is told where it ends the run
                const { error, reply } = data(event);
                const failed = reply === null ? "" : text(error);
                if (failed) stream.write(`  attempt refused: ${plainLine(failed).slice(0, 200)}\n`);
            }
            if (!ENDS[event.kind]) return;
            const begun = open.get(event.path);
            open.delete(event.path);
            if (begun === undefined) return;
            const used = tokens(event);
            stream.write(
                `${endedAs(event)}: ${plainLine(begun.name)} (${duration(Date.parse(event.time) - begun.since)}${used ? `, ${count(used)} tokens` : ""})\n`,
            );
        },
    };
}

/** What a performer has to say to the watcher, where a part is that. */
function noticeOf(part: Json): string | null {
    if (part === null || typeof part !== "object" || Array.isArray(part) || part["type"] !== "notice") return null;
    return plainLine(text(part["text"])).slice(0, 500);
}

/** What runs now, the same things counted: what others do inside an agent or a loop says more than the agent or the loop. */
function running(open: Iterable<Running>): string {
    const all = [...open];
    const inner = all.filter((one) => !one.outer);
    const names = new Map<string, number>();
    for (const one of inner.length > 0 ? inner : all) names.set(plainLine(one.name), (names.get(plainLine(one.name)) ?? 0) + 1);
    return [...names].map(([name, times]) => (times === 1 ? name : `${name} ×${times}`)).join(", ");
}

function cut(text: string, width: number): string {
    return text.length <= width ? text : width < 2 ? "" : `${text.slice(0, width - 1)}…`;
}

/** How long the rest takes, if it goes on like this. */
function leftOf({ done, total, since }: Batch): string {
    return done < 20
        ? ""
        : `, about ${duration(Math.ceil((((Date.now() - since) / done) * (total - done)) / 1000) * 1000).replace(".0", "")} left`;
}

interface Shown {
    readonly begun: number;
    readonly finished: number;
    readonly used: number;
    readonly batch: Batch | undefined;
    readonly open: ReadonlyMap<string, Running>;
}

/** What the line says: how far the run is, or the loop over many items in it, and what runs now. */
function totalsOf({ begun, finished, used, batch, open }: Shown): { readonly totals: string; readonly now: string } {
    const time = duration(Date.now() - begun);
    if (batch === undefined) {
        const totals = [time, `${finished} done`, ...(used ? [`${count(used)} tokens`] : [])].join(" · ");
        return { totals, now: running(open.values()) || "computing" };
    }
    return { totals: `${time}${leftOf(batch)} · ${batchText(batch, 0)}`, now: batch.running().join(", ") || "computing" };
}

/** A picture of a plan is not drawn on fewer columns. */
const MIN_COLUMNS = 40;

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

function redrawn(stream: NodeJS.WriteStream): Progress {
    const colour = paint(stream);
    const open = new Map<string, Running>();
    const begun = Date.now();
    const area = screen(stream);
    const plans = picture();
    const many = batches();
    let pause: { readonly text: string; readonly until: number } | null = null;
    let frame = 0;
    let used = 0;
    let finished = 0;
    let paused = false;
    let tail = "";

    const look = (): Look => ({ columns: stream.columns || 80, now: Date.now(), spinner: FRAMES[frame] ?? "", paint: colour });
    const fits = (lines: readonly string[]): boolean => (stream.columns || 80) >= MIN_COLUMNS && lines.length + 1 < (stream.rows || 24);
    /** The last picture of a plan that has ended stays. */
    const keep = (all = false): void => {
        const lines = plans.taken(look(), all);
        if (fits(lines)) area.keep(lines);
    };
    const draw = (): void => {
        if (paused) return;
        frame = (frame + 1) % FRAMES.length;
        keep();
        const lines = plans.lines(look());
        const above = fits(lines) ? lines : [];
        const { totals, now } = totalsOf({ begun, finished, used, batch: many.open[0], open });
        const waits = pause !== null && pause.until > Date.now() ? `, ${pause.text}: waiting ${duration(pause.until - Date.now())}` : "";
        // what stands first is always seen: a line longer than the terminal is cut
        const room = (stream.columns || 80) - 3;
        const head = cut(totals, room);
        const names = cut(`${waits} · ${now}`, room - head.length);
        const rest = cut(tail && `  ${tail}`, room - head.length - names.length);
        area.draw([...above, `${colour("cyan", FRAMES[frame] ?? "")} ${colour("dim", head)}${names}${colour("dim", rest)}`]);
    };
    const timer = setInterval(draw, 120);
    timer.unref();
    return {
        before: (events) => entered(many, events),
        event(event) {
            plans.event(event);
            const { ended } = many.event(event);
            if (ended !== undefined) area.keep([`${batchText(ended, 0)} (${duration(Date.parse(event.time) - ended.since)})`]);
            const name = BEGINS[event.kind]?.(data(event), event);
            if (name !== undefined) open.set(event.path, { name, since: Date.now(), outer: OUTER.has(event.kind) });
            if (event.kind === "ask.decided" || event.kind === "input.given") paused = false;
            if (ENDS[event.kind]) {
                if (open.delete(event.path)) finished++;
                if (event.kind === "generate.ended") tail = "";
            }
            if (event.kind === "generate.attempt") used += tokens(event);
        },
        part(_path, part) {
            const said = noticeOf(part);
            if (said !== null) {
                area.clear();
                stream.write(`${colour("yellow", "note:")} ${said}\n`);
                return;
            }
            const waited = pauseOf(part);
            if (waited !== null) pause = { text: waited.text, until: Date.now() + waited.ms };
            if (part === null || typeof part !== "object" || Array.isArray(part)) return;
            // What was shown before another try began is taken back.
            if (part["type"] === "restart") tail = "";
            if (typeof part["delta"] === "string") tail = plainLine(tail + part["delta"]).slice(-60);
        },
        pause() {
            paused = true;
            area.clear();
        },
        end() {
            clearInterval(timer);
            area.clear();
            keep(true);
        },
    };
}
