/**
 * Small parts that every view is made of.
 *
 * Boundary: from values to nodes. Everything that others wrote goes through `said` or `line`, and becomes a text node.
 *
 * CPT1: no text becomes markup, and none of its characters is obeyed or hidden: directions, controls and invisible ones are shown as their codes.
 */
import { plain, plainLine } from "@remit/language";
import { type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import type { ServerRefusal } from "./api.ts";

/** Lines kept. CPT1. */
export const said = (text: string): string => plain(text);
/** In one line. CPT1. */
export const line = (text: string): string => plainLine(text);

/** `length` characters, and how many more there are. */
export function short(text: string, length: number): string {
    return text.length <= length ? text : `${text.slice(0, length)}…`;
}

export function State({ state }: { readonly state: string }): ComponentChildren {
    return h("span", { class: `state ${state.replace(/[^a-z]/g, "")}` }, h("i", { "aria-hidden": "true" }), line(state));
}

/** Where something comes from; what is not the person's or the program's own word stands out. */
export function Origins({
    origins,
    none = "the program's own text",
}: {
    readonly origins: readonly string[];
    readonly none?: string;
}): ComponentChildren {
    if (origins.length === 0) return h("span", { class: "origins" }, h("span", { class: "origin own" }, none));
    return h(
        "span",
        { class: "origins" },
        origins.map((one) => h("span", { class: `origin ${isOwn(one) ? "own" : "other"}`, key: one }, shownOrigin(one))),
    );
}

/** `choice:X`: X decided that it is there; it is not made of X. */
function shownOrigin(label: string): string {
    return label.startsWith("choice:") ? `${line(label.slice("choice:".length))} decided` : line(label);
}

function isOwn(origin: string): boolean {
    return origin === "user" || origin === "program";
}

export function Place({ site }: { readonly site: { file: string; line: number; column: number } | null | undefined }): ComponentChildren {
    return site ? h("code", { class: "site" }, line(`${site.file}:${site.line}:${site.column}`)) : null;
}

export function Trouble({ refused }: { readonly refused: ServerRefusal | null }): ComponentChildren {
    if (refused === null) return null;
    const hint = refused.hint === undefined ? null : h("p", { class: "soft" }, said(refused.hint));
    return h("div", { class: "trouble", role: "alert" }, h("p", null, said(refused.message)), hint);
}

export function Empty({ children }: { readonly children: ComponentChildren }): ComponentChildren {
    return h("p", { class: "empty" }, children);
}

export function Loading(): ComponentChildren {
    return h("p", { class: "empty", role: "status" }, "Loading…");
}

/** Long text, folded until asked for. */
export function Long({ text, most = 1200 }: { readonly text: string; readonly most?: number }): ComponentChildren {
    const [open, set] = useState(false);
    const whole = open || text.length <= most;
    return h(
        "div",
        { class: "long" },
        h("pre", null, said(whole ? text : text.slice(0, most))),
        text.length <= most
            ? null
            : h(
                  "button",
                  { type: "button", class: "plain", onClick: () => set(!open), "aria-expanded": open },
                  open ? "Show less" : `Show ${count(text.length - most)} more characters`,
              ),
    );
}

export function count(n: number): string {
    return n.toLocaleString("en");
}

export function money(usd: number | undefined): string {
    if (usd === undefined) return "price unknown";
    return usd === 0 ? "$0" : usd < 0.01 ? `$${usd.toFixed(5)}` : `$${usd.toFixed(3)}`;
}

export function time(ms: number): string {
    if (ms < 1000) return `${Math.round(ms)} ms`;
    if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
    if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
    return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

/** A moment, short; whole on hover. */
export function When({ at }: { readonly at: string }): ComponentChildren {
    const date = new Date(at);
    const today = date.toDateString() === new Date().toDateString();
    const shown = Number.isNaN(date.getTime())
        ? line(at)
        : date.toLocaleString(
              [],
              today ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
          );
    return h("time", { dateTime: at, title: at }, shown);
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): ComponentChildren {
    return h("div", { class: "fact" }, h("dt", null, name), h("dd", null, children));
}

interface TableShown {
    /** For what reads the page out. */
    readonly name: string;
    /** Of the columns. */
    readonly head: readonly string[];
    /** The first column of numbers; all after it are some, too. */
    readonly numbersFrom?: number;
    /** Elements `tr`. */
    readonly rows: ComponentChildren;
    /** What stands below. */
    readonly children?: ComponentChildren;
}

export function Table({ name, head, numbersFrom = head.length, rows, children }: TableShown): ComponentChildren {
    const cells = head.map((text, i) => h("th", { key: text, scope: "col", class: i < numbersFrom ? "" : "number" }, line(text)));
    const table = h("table", null, h("thead", null, h("tr", null, cells)), h("tbody", null, rows));
    return h("div", { class: "wide", tabIndex: 0, role: "region", "aria-label": name }, table, children);
}

/** Told to what reads the page out, and to no eye. */
export function Told({ text }: { readonly text: string }): ComponentChildren {
    return h("div", { class: "away", role: "status", "aria-live": "polite" }, text);
}
