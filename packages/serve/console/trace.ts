/**
 * The trace of a run: a tree of what happened, or the same beside its times, and the events behind the row that is chosen.
 *
 * Boundary: rows and events are the server's.
 *
 * CTR2: who closes the details of a row is at that row again, which has the focus: of a long trace the place is not lost.
 * CTR1: it is a tree to a keyboard and to what reads the page out: one row has the focus, arrows move and fold.
 */
import { type ComponentChildren, h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunView, TraceView } from "../src/wire/runs.ts";
import { at, ServerRefusal, request } from "./api.ts";
import { Event, type LedgerEvent } from "./event.ts";
import { Empty, line, Loading, time, Trouble } from "./parts.ts";
import { useData } from "./place.ts";

type Row = TraceView["rows"][number];

/** So many rows are drawn at once. */
const MOST = 1500;

interface Props {
    readonly run: RunView;
    readonly version: number;
    readonly timeline: boolean;
}

export function Trace({ run, version, timeline }: Props): ComponentChildren {
    const { data, refused } = useData<TraceView>(at("runs", run.id, "trace"), version);
    const [filter, setFilter] = useState("");
    const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
    const [chosen, setChosen] = useState<string | null>(null);
    const [most, setMost] = useState(MOST);
    /** CTR2. */
    const [left, setLeft] = useState<string | null>(null);
    const rows = data?.rows ?? [];
    const shown = useMemo(() => visible(rows, folded, filter), [data, folded, filter]);
    const row = chosen === null ? undefined : rows.find((one) => idOf(one) === chosen);
    const fold = (one: Row, close: boolean): void => {
        const next = new Set(folded);
        if (close) next.add(idOf(one));
        else next.delete(idOf(one));
        setFolded(next);
    };
    const choose = (id: string): void => {
        setChosen(id);
        setLeft(null);
    };
    const close = (): void => {
        setChosen(null);
        setLeft(chosen);
    };
    return h(
        "div",
        { class: "tracing" },
        h(
            "div",
            { class: "toolbar" },
            h("input", {
                type: "search",
                "aria-label": "Filter the trace",
                placeholder: "Filter",
                value: filter,
                onInput: (event: InputEvent) => setFilter((event.target as HTMLInputElement).value),
            }),
            h("span", { class: "soft" }, `${shown.length} of ${rows.length}`),
        ),
        h(Trouble, { refused }),
        data === null ? (refused === null ? h(Loading, null) : null) : null,
        h(
            "div",
            { class: `split ${row === undefined ? "" : "open"}` },
            shown.length === 0
                ? data === null
                    ? null
                    : h(Empty, null, "Nothing here.")
                : h(Tree, {
                      rows: shown.slice(0, most),
                      span: spanOf(rows),
                      timeline,
                      chosen,
                      left,
                      onChoose: choose,
                      onFold: fold,
                      folded,
                  }),
            row === undefined ? null : h(Detail, { key: idOf(row), run: run.id, row, version, onClose: close }),
        ),
        shown.length > most
            ? h("button", { type: "button", onClick: () => setMost(most + MOST) }, `Show ${Math.min(MOST, shown.length - most)} more rows`)
            : null,
    );
}

const idOf = ({ path, family, seqs }: Row): string => `${path} ${family} ${seqs[0] ?? ""}`;

/** Rows of what is unfolded; with a filter those that have it, and what they stand under. */
function visible(rows: readonly Row[], folded: ReadonlySet<string>, filter: string): (Row & { readonly under: boolean })[] {
    const wanted = filter.trim().toLowerCase();
    const under = rows.map((row, i) => (rows[i + 1]?.depth ?? 0) > row.depth);
    const keep = new Set<number>();
    const above: number[] = [];
    for (const [i, row] of rows.entries()) {
        above.length = row.depth;
        above[row.depth] = i;
        if (wanted === "" || `${row.what} ${row.came} ${row.family}`.toLowerCase().includes(wanted)) for (const one of above) keep.add(one);
    }
    const out: (Row & { readonly under: boolean })[] = [];
    let hidden = Number.POSITIVE_INFINITY;
    for (const [i, row] of rows.entries()) {
        if (row.depth > hidden) continue;
        hidden = folded.has(idOf(row)) && wanted === "" ? row.depth : Number.POSITIVE_INFINITY;
        if (keep.has(i)) out.push({ ...row, under: under[i] === true });
    }
    return out;
}

interface Span {
    readonly from: number;
    readonly ms: number;
}

function spanOf(rows: readonly Row[]): Span {
    const starts = rows.flatMap(({ from }) => (from === null ? [] : [from]));
    const ends = rows.flatMap(({ to, from }) => [to, from].filter((one) => one !== null));
    const from = starts.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
    const to = ends.reduce((most, one) => Math.max(most, one), from);
    return { from, ms: Math.max(to - from, 1) };
}

interface TreeProps {
    readonly rows: readonly (Row & { readonly under: boolean })[];
    readonly span: Span;
    readonly timeline: boolean;
    readonly chosen: string | null;
    /** Whose details were closed. */
    readonly left: string | null;
    readonly folded: ReadonlySet<string>;
    readonly onChoose: (id: string) => void;
    readonly onFold: (row: Row, close: boolean) => void;
}

function Tree({ rows, span, timeline, chosen, left, folded, onChoose, onFold }: TreeProps): ComponentChildren {
    const [at, setAt] = useState(0);
    const list = useRef<HTMLDivElement>(null);
    const focus = (to: number): void => {
        const next = Math.max(0, Math.min(rows.length - 1, to));
        setAt(next);
        (list.current?.children[next] as HTMLElement | undefined)?.focus();
    };
    useEffect(() => {
        // CTR2.
        const i = left === null ? -1 : rows.findIndex((row) => idOf(row) === left);
        if (i >= 0) focus(i);
    }, [left]);
    const key = (event: KeyboardEvent, i: number): void => {
        const row = rows[i];
        if (row === undefined) return;
        const isOpen = row.under && !folded.has(idOf(row));
        const moves: { readonly [key: string]: () => void } = {
            ArrowDown: () => focus(i + 1),
            ArrowUp: () => focus(i - 1),
            Home: () => focus(0),
            End: () => focus(rows.length - 1),
            ArrowRight: () => (isOpen ? focus(i + 1) : onFold(row, false)),
            ArrowLeft: () => (isOpen ? onFold(row, true) : focus(rows.findLastIndex((one, j) => j < i && one.depth < row.depth))),
            Enter: () => onChoose(idOf(row)),
            " ": () => onChoose(idOf(row)),
        };
        const move = moves[event.key];
        if (move === undefined) return;
        event.preventDefault();
        move();
    };
    return h(
        "div",
        { class: `tree ${timeline ? "timed" : ""}` },
        timeline ? h(Scale, { span }) : null,
        h(
            "div",
            { role: "tree", "aria-label": timeline ? "Timeline" : "Trace", ref: list },
            rows.map((row, i) => {
                const id = idOf(row);
                return h(
                    "div",
                    {
                        key: id,
                        role: "treeitem",
                        tabIndex: i === Math.min(at, rows.length - 1) ? 0 : -1,
                        class: `node ${row.bad ? "bad" : ""} f-${row.family.split(".")[0]}`,
                        "aria-level": row.depth + 1,
                        "aria-expanded": row.under ? !folded.has(id) : undefined,
                        "aria-selected": chosen === id,
                        style: { "--depth": String(Math.min(row.depth, 12)) },
                        onClick: () => {
                            setAt(i);
                            onChoose(id);
                        },
                        onFocus: () => setAt(i),
                        onKeyDown: (event: KeyboardEvent) => key(event, i),
                    },
                    h(
                        "span",
                        { class: "name" },
                        h(
                            "span",
                            {
                                class: "fold",
                                "aria-hidden": "true",
                                onClick: (event: MouseEvent) => {
                                    event.stopPropagation();
                                    if (row.under) onFold(row, !folded.has(id));
                                },
                            },
                            row.under ? (folded.has(id) ? "▸" : "▾") : "",
                        ),
                        h("span", { class: "dot", "aria-hidden": "true" }),
                        h("span", { class: "what" }, line(row.what)),
                        timeline || row.came === "" ? null : h("span", { class: "came" }, line(row.came)),
                    ),
                    timeline ? h(Bar, { row, span }) : h("span", { class: "aside soft" }, line(row.aside)),
                );
            }),
        ),
    );
}

function Scale({ span }: { readonly span: Span }): ComponentChildren {
    return h(
        "div",
        { class: "scale", "aria-hidden": "true" },
        h("span", null),
        h(
            "span",
            { class: "ticks" },
            [0, 0.25, 0.5, 0.75, 1].map((part) => h("span", { key: part, style: { left: `${part * 100}%` } }, time(span.ms * part))),
        ),
    );
}

function Bar({ row, span }: { readonly row: Row; readonly span: Span }): ComponentChildren {
    if (row.from === null) return h("span", { class: "track" });
    const left = ((row.from - span.from) / span.ms) * 100;
    const to = row.to ?? span.from + span.ms;
    const width = ((to - row.from) / span.ms) * 100;
    const isPoint = row.to !== null && row.to === row.from;
    return h(
        "span",
        { class: "track" },
        h("i", {
            class: `${isPoint ? "point" : ""} ${row.to === null ? "going" : ""}`,
            style: { left: `${Math.min(left, 99.5)}%`, width: isPoint ? undefined : `${Math.max(width, 0.4)}%` },
        }),
        h("span", { class: "ms", style: { left: `${Math.min(left + width, 100)}%` } }, isPoint ? "" : time(to - row.from)),
    );
}

function Detail({
    run,
    row,
    version,
    onClose,
}: {
    readonly run: string;
    readonly row: Row;
    readonly version: number;
    readonly onClose: () => void;
}): ComponentChildren {
    const [events, set] = useState<readonly LedgerEvent[] | null>(null);
    const [refused, setRefused] = useState<ServerRefusal | null>(null);
    const head = useRef<HTMLHeadingElement>(null);
    const seqs = row.seqs.join(" ");
    useEffect(() => {
        let left = false;
        Promise.all(row.seqs.map((seq) => request<LedgerEvent>("GET", at("runs", run, "events", String(seq)))))
            .then((all) => left || set(all))
            .catch((error: unknown) => {
                if (!(error instanceof ServerRefusal)) throw error;
                if (!left) setRefused(error);
            });
        return () => {
            left = true;
        };
    }, [run, seqs, version > 0 && row.to === null ? version : 0]);
    useEffect(() => {
        if (matchMedia("(max-width: 900px)").matches) head.current?.focus();
    }, []);
    return h(
        "section",
        { class: "detail card", "aria-label": "What happened there" },
        h(
            "header",
            null,
            h("h2", { ref: head, tabIndex: -1 }, line(row.what)),
            h("button", { type: "button", class: "plain", onClick: onClose, "aria-label": "Close" }, "✕"),
        ),
        row.came === "" ? null : h("p", { class: row.bad ? "bad" : "" }, line(row.came)),
        h("p", { class: "soft" }, h("code", null, line(row.path)), row.aside === "" ? "" : ` · ${line(row.aside)}`),
        h(Trouble, { refused }),
        events === null ? (refused === null ? h(Loading, null) : null) : events.map((event) => h(Event, { key: event.seq, run, event })),
    );
}
