/**
 * `import tool Look from "inspect:"`: what a run may ask about itself.
 *
 * Boundary: the machine answers, no host is asked; gate, budgets, events and origins are those of any tool. Values are shown as a debugger
 * sees them (`look.ts`), authority as `inspect.ts` does.
 *
 * IP1: nothing here changes what the run does but for the call itself: no value, label set in use, delegation or account.
 * IP2: an answer follows from where the run stands, and holds at most `MAX_ANSWER` bytes; it says `more: true` where something was left out.
 * IP3: an answer carries `tool:NAME` and the origins of everything that it shows. What it shows is data, whatever its author.
 */
import { isObject, type Json, shownName } from "@remit/language";
import type { Outcome, ToolDescription, ToolRequest } from "../effect/effect.ts";
import { Labelled, List, type Value } from "../value/value.ts";
import type { Fiber, Frame } from "../state/fiber.ts";
import { authorityAt } from "./inspect.ts";
import { begun, type Clean, type Looker, partOf, partsOf, type ValueView, viewOf } from "./look.ts";
import type { Machine } from "./machine.ts";
import { show } from "../state/show.ts";

/** Bytes of one answer, as UTF-16 text. */
export const MAX_ANSWER = 65_536;
/** Values and frames that one answer tells of. */
const MAX_ENTRIES = 200;
/** Values that one search looks at. */
const MAX_SEARCHED = 5_000;
/** Bytes of a value that are walked for its origins. */
const MAX_ORIGINS = 65_536;

const NOTHING = { type: "object", properties: {}, additionalProperties: false } as const;
const field = (name: string, type: string, required: boolean) =>
    ({
        type: "object",
        properties: { [name]: { type } },
        ...(required ? { required: [name] } : {}),
        additionalProperties: false,
    }) as const;

export const INSPECTOR: ToolDescription = {
    methods: [
        { name: "stack", description: "The calls that run, innermost first, with an index for each.", input: NOTHING, readOnly: true },
        {
            name: "frame",
            description: "One call with its variables. 0 is the one that asks.",
            input: field("index", "integer", false),
            readOnly: true,
        },
        {
            name: "owner",
            description: "Who holds the value at a path (INDEX/NAME/KEY/…), and with which right where it is a capability.",
            input: field("path", "string", true),
            readOnly: true,
        },
        { name: "origins", description: "Where the value at a path comes from.", input: field("path", "string", true), readOnly: true },
        { name: "capabilities", description: "What the caller may use, and what is delegated to it.", input: NOTHING, readOnly: true },
        {
            name: "find",
            description: "Variables and their parts that hold a text, or carry an origin.",
            input: { type: "object", properties: { text: { type: "string" }, origin: { type: "string" } }, additionalProperties: false },
            readOnly: true,
        },
    ],
};

export function isInspector(uri: string): boolean {
    return /^inspect:/i.test(uri);
}

/** The outcome of a call or description. */
export function inspectorAnswers(m: Machine, fiber: Fiber, request: Json): Outcome {
    const r = request as unknown as ToolRequest;
    const own = `tool:${r.tool}`;
    if (r.op === "describe") return { ok: true, value: INSPECTOR as unknown as Json, origins: [] };
    const inspector = new Inspector(m, fiber);
    const value = inspector.answer(r.method ?? "", argumentOf(r));
    if (value === null)
        return { ok: false, failure: { kind: "tool", message: `Tool ${r.tool}.${r.method ?? ""} (inspect:) failed: ${inspector.wrong}` } };
    const shown = JSON.stringify(value).length > MAX_ANSWER ? { more: true, cut: "the answer is too large" } : value;
    m.give(2 * JSON.stringify(shown).length);
    return { ok: true, value: shown, origins: [...new Set([own, ...inspector.origins])].sort() };
}

/** What the tool would answer to the thread `thread` where it stands; nothing is counted, so that looking changes nothing. */
export function inspected(
    m: Machine,
    thread: number,
    method: string,
    arg: { readonly [key: string]: Json },
    clean?: Clean,
): { readonly ok: true; readonly value: Json; readonly origins: readonly string[] } | { readonly ok: false; readonly message: string } {
    const inspector = new Inspector(m, m.fibers.get(thread) ?? m.root, false, clean);
    const value = inspector.answer(method, arg);
    if (value === null) return { ok: false, message: inspector.wrong };
    const shown = JSON.stringify(value).length > MAX_ANSWER ? { more: true, cut: "the answer is too large" } : value;
    return { ok: true, value: shown, origins: [...inspector.origins].sort() };
}

function argumentOf(r: ToolRequest): { readonly [key: string]: Json } {
    const arg = r.args?.[0];
    return isObject(arg) ? arg : {};
}

interface Numbered {
    readonly index: number;
    readonly fiber: Fiber;
    readonly frame: Frame;
    /** 0 is the innermost of its fiber. */
    readonly depth: number;
}

class Inspector {
    private readonly m: Machine;
    private readonly at: Looker;
    private readonly fiber: Fiber;
    /** Whether what it takes counts against the run. */
    private readonly counts: boolean;
    private labels = 0;
    private size = 0;
    wrong = "";

    constructor(m: Machine, fiber: Fiber, counts = true, clean?: Clean) {
        this.m = m;
        this.counts = counts;
        this.at = { labels: m.run.labels, alive: m.standing.alive, ...(clean === undefined ? {} : { clean }) };
        this.fiber = fiber;
    }

    get origins(): readonly string[] {
        return this.m.run.labels.origins(this.labels);
    }

    /** Null: `wrong` says why there is none. */
    answer(method: string, arg: { readonly [key: string]: Json }): Json | null {
        switch (method) {
            case "stack":
                return this.stack();
            case "frame":
                return this.frame(arg.index ?? 0);
            case "owner":
            case "origins":
                return this.place(method, arg.path ?? null);
            case "capabilities":
                return this.capabilities();
            case "find":
                return this.find(arg.text ?? null, arg.origin ?? null);
            default:
                return this.refuse(`it has no method '${method}'; it has ${INSPECTOR.methods.map((one) => one.name).join(", ")}`);
        }
    }

    private counted<T extends Json>(entry: T): T {
        this.size += JSON.stringify(entry).length + 100;
        return entry;
    }

    /** Room is left for one entry more. */
    private get isFull(): boolean {
        return this.size > MAX_ANSWER / 2;
    }

    private refuse(why: string): null {
        this.wrong = why;
        return null;
    }

    /** The frames of the thread that asks, of those it was forked from, then of all others. */
    private *frames(): Generator<Numbered> {
        const seen = new Set<Fiber>();
        let index = 0;
        const chain: Fiber[] = [];
        for (let f: Fiber | null = this.fiber; f !== null; f = f.parent) chain.push(f);
        for (const fiber of [...chain, ...[...this.m.fibers.values()].sort((a, b) => a.id - b.id)]) {
            if (seen.has(fiber)) continue;
            seen.add(fiber);
            for (let i = fiber.frames.length - 1; i >= 0; i--)
                yield { index: index++, fiber, frame: fiber.frames[i] as Frame, depth: fiber.frames.length - 1 - i };
        }
    }

    private stack(): Json {
        const frames: Json[] = [];
        for (const one of this.frames()) {
            if (frames.length >= MAX_ENTRIES || this.isFull) return { frames, more: true };
            frames.push(this.counted(this.head(one)));
        }
        return { frames, more: false };
    }

    private head({ index, fiber, frame }: Numbered): { [key: string]: Json } {
        const site = frame.form.code[frame.pc]?.site ?? null;
        // In strict code, where it stands tells what it depends on.
        this.labels = this.m.run.labels.union(this.labels, frame.placeLabel);
        return {
            index,
            thread: fiber.id,
            name: frame.fn.agent === null ? frame.fn.name : `${shownName(frame.fn.agent)}.${frame.fn.name}`,
            path: frame.path,
            principal: this.m.authority.nameOf(frame.principal),
            site: site === null ? null : { file: site.file, line: site.line, column: site.column },
        };
    }

    private numbered(index: Json): Numbered | null {
        for (const one of this.frames()) if (one.index === index) return one;
        return this.refuse(`there is no frame ${JSON.stringify(index)}`);
    }

    private frame(index: Json): Json | null {
        const one = this.numbered(index);
        if (one === null) return null;
        const variables: Json[] = [];
        let more = false;
        for (const { name, value } of variablesOf(one.frame)) {
            if (variables.length >= MAX_ENTRIES || this.isFull) {
                more = true;
                break;
            }
            variables.push({ ...this.shown(viewOf(this.at, name, value), value), at: `${one.index}/${escaped(name)}` });
        }
        return { ...this.head(one), variables, more };
    }

    /** A view as JSON; from here on the answer carries its origins. */
    private shown(view: ValueView, value: Value, label = 0): { [key: string]: Json } {
        const { labels } = this.m.run;
        this.labels = labels.union(this.labels, labels.union(label, show(value, labels, MAX_ORIGINS).labels));
        const { name, type, text, size, origins, inside } = view;
        return this.counted({ name, type, text, size, origins: [...origins], inside: [...inside] });
    }

    private place(method: "owner" | "origins", path: Json): Json | null {
        if (typeof path !== "string") return this.refuse("it needs a path: INDEX/NAME, as `frame` gives it under `at`");
        const [first = "", name = "", ...keys] = path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
        const one = /^[0-9]{1,6}$/.test(first) ? this.numbered(Number(first)) : this.refuse(`there is no frame ${JSON.stringify(first)}`);
        if (one === null) return null;
        const start = variablesOf(one.frame).find((v) => v.name === name);
        let value: Value | undefined = start?.value;
        let label = 0;
        for (const key of keys) {
            if (value === undefined) break;
            const isItem = (value instanceof Labelled ? value.v : value) instanceof List && /^[0-9]{1,9}$/.test(key);
            const part = partOf(this.at, value, isItem ? Number(key) : key, label);
            value = part?.value;
            label = part?.label ?? 0;
        }
        if (value === undefined) return this.refuse(`there is nothing at ${path}`);
        const view = viewOf(this.at, keys.at(-1) ?? name, value, label);
        const shown = this.shown(view, value, label);
        const principal = this.m.authority.nameOf(one.frame.principal);
        if (method === "origins") return { at: path, origins: shown.origins as Json, inside: shown.inside as Json };
        const right = view.right;
        return {
            at: path,
            principal,
            kind: view.kind ?? null,
            right:
                right === undefined
                    ? null
                    : {
                          holder: this.m.authority.nameOf(right.holder),
                          from: this.m.authority.nameOf(right.from),
                          methods: right.methods === null ? null : [...right.methods],
                          live: right.live,
                      },
        };
    }

    private capabilities(): Json | null {
        const view = authorityAt(this.m, this.fiber.id, 0);
        if (view === null) return this.refuse("nothing runs");
        const { principal, name, base, endorse } = view;
        const names = [...(this.m.compiled.files[this.fiber.top.fn.file]?.imports.values() ?? [])]
            .filter((entry) => entry.value !== null)
            .map((entry) => ({ name: entry.form.name, kind: entry.form.what, uri: entry.form.uri }));
        return { principal, name, base, endorse, imports: names, remits: view.remits, delegations: view.delegations } as unknown as Json;
    }

    private find(text: Json, origin: Json): Json | null {
        if ((text !== null && typeof text !== "string") || (origin !== null && typeof origin !== "string"))
            return this.refuse("text and origin are strings");
        if (text === null && origin === null) return this.refuse("it needs a text or an origin");
        const found: Json[] = [];
        let looked = 0;
        const rest: { readonly at: string; readonly name: string; readonly value: Value; readonly label: number; readonly deep: number }[] =
            [];
        for (const { index, frame } of this.frames())
            for (const { name, value } of variablesOf(frame)) {
                if (rest.length >= MAX_SEARCHED) break;
                rest.push({ at: `${index}/${escaped(name)}`, name, value, label: 0, deep: 0 });
            }
        for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
            if (++looked > MAX_SEARCHED || found.length >= MAX_ENTRIES || this.isFull) {
                rest.length = 0;
                if (this.counts) this.m.run.work(4 * looked);
                return { found, more: true };
            }
            const { at, name, value, label, deep } = next;
            const raw = value instanceof Labelled ? value.v : value;
            const view = viewOf(this.at, name, value, label);
            const hasText = text === null || (typeof raw === "string" && begun(this.at, raw, MAX_ANSWER).text.includes(text));
            // Whether something is there is told too, so what was looked at counts, found or not.
            if (text !== null && typeof raw === "string") this.labels = this.m.run.labels.union(this.labels, labelOf(this.m, value, label));
            if (hasText && (origin === null || view.origins.includes(origin))) found.push({ at, ...this.shown(view, value, label) });
            if (deep >= 16) continue;
            for (const part of partsOf(this.at, value, label, 0, 100)) {
                const key = raw instanceof List ? Number(part.name.slice(1, -1)) : part.name;
                const inner = partOf(this.at, value, key, label);
                if (inner !== undefined && rest.length < MAX_SEARCHED)
                    rest.push({
                        at: `${at}/${escaped(String(key))}`,
                        name: part.name,
                        value: inner.value,
                        label: inner.label,
                        deep: deep + 1,
                    });
            }
        }
        if (this.counts) this.m.run.work(4 * looked);
        return { found, more: false };
    }
}

function labelOf(m: Machine, value: Value, inherited: number): number {
    return value instanceof Labelled ? m.run.labels.union(inherited, value.l) : inherited;
}

function escaped(name: string): string {
    return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The variables that a frame's code can name where it stands; the nearest of a name. */
function variablesOf(frame: Frame): { readonly name: string; readonly value: Value }[] {
    const found = new Map<string, Value>();
    for (const n of frame.form.names)
        if (n.from <= frame.pc && frame.pc < n.to) found.set(n.name, (frame.locals[n.slot] as Value | undefined) ?? null);
    return [...found].map(([name, value]) => ({ name, value }));
}
