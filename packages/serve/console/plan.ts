/**
 * The blocks of a run as pictures that fill in: stages from left to right, branches below one another, each with its state.
 *
 * Boundary: drawn as nested rows and columns of the page, so that it can be read, searched and zoomed like text.
 */
import { type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import type { NodeView, PlanView, RunView } from "../src/wire/runs.ts";
import { at } from "./api.ts";
import { Empty, line, Loading, Place, short, State, time, Trouble } from "./parts.ts";
import { useData } from "./place.ts";
import { Value } from "./value.ts";

type Row = PlanView["tree"];
type Node = Extract<Row[number], { readonly node: unknown }>["node"];

const MARKS: { readonly [state: string]: string } = {
    waits: "·",
    running: "◌",
    done: "✓",
    failed: "✗",
    skipped: "–",
    cancelled: "○",
    stopped: "○",
};

export function Plans({ run, version }: { readonly run: RunView; readonly version: number }): ComponentChildren {
    const { data, refused } = useData<readonly PlanView[]>(at("runs", run.id, "plan"), version);
    if (data === null) return h("div", null, h(Trouble, { refused }), refused === null ? h(Loading, null) : null);
    if (data.length === 0) return h(Empty, null, "This run has no block. A block is written ", h("code", null, "memory static ( … )"), ".");
    return h(
        "div",
        null,
        data.map((one) => h(Picture, { key: one.path, one })),
    );
}

function Picture({ one }: { readonly one: PlanView }): ComponentChildren {
    const [chosen, set] = useState<Node | null>(null);
    const all = Object.values(one.nodes);
    const over = all.filter(({ state }) => state !== "running").length;
    return h(
        "section",
        { class: "planpart", "aria-label": line(one.title) },
        h(
            "h2",
            null,
            line(one.title),
            " ",
            h(State, { state: one.state }),
            h("span", { class: "soft" }, ` ${over} of ${sizeOf(one.tree)} nodes`),
        ),
        h(
            "div",
            { class: "wide picture", tabIndex: 0, role: "region", "aria-label": `Plan of ${line(one.title)}` },
            h(Stages, { row: one.tree, one, chosen, onChoose: set }),
        ),
        chosen === null ? null : h(About, { node: chosen, known: one.nodes[chosen.id], onClose: () => set(null) }),
    );
}

function sizeOf(row: Row): number {
    return row.reduce((sum, item) => sum + ("node" in item ? 1 : item.branches.reduce((all, branch) => all + sizeOf(branch), 0)), 0);
}

interface StagesProps {
    readonly row: Row;
    readonly one: PlanView;
    readonly chosen: Node | null;
    readonly onChoose: (node: Node) => void;
}

function Stages({ row, one, chosen, onChoose }: StagesProps): ComponentChildren {
    return h(
        "div",
        { class: "stages" },
        row.map((item, i) => [
            i === 0 ? null : h("span", { class: "flows", key: `f${i}`, "aria-hidden": "true" }),
            "node" in item
                ? h(Box, {
                      key: item.node.id,
                      node: item.node,
                      known: one.nodes[item.node.id],
                      gives: one.results.includes(item.node.id),
                      isChosen: chosen?.id === item.node.id,
                      onChoose,
                  })
                : h(
                      "div",
                      { class: "fan", key: `b${i}` },
                      item.branches.map((branch, j) =>
                          h("div", { class: "branch", key: j }, h(Stages, { row: branch, one, chosen, onChoose })),
                      ),
                  ),
        ]),
    );
}

interface BoxProps {
    readonly node: Node;
    readonly known: NodeView | undefined;
    readonly gives: boolean;
    readonly isChosen: boolean;
    readonly onChoose: (node: Node) => void;
}

function Box({ node, known, gives, isChosen, onChoose }: BoxProps): ComponentChildren {
    const state = known?.state ?? "waits";
    const args = node.args.map(({ name, value }) => `${name === undefined ? "" : `${name}: `}${argText(value)}`).join(", ");
    return h(
        "button",
        {
            type: "button",
            class: `box s-${state.replace(/[^a-z]/g, "")} ${node.gate === true ? "gate" : ""} ${gives ? "gives" : ""} ${node.plan === undefined ? "" : "block"}`,
            "aria-pressed": isChosen,
            onClick: () => onChoose(node),
        },
        h(
            "span",
            { class: "boxhead" },
            h("span", { class: "mark", "aria-hidden": "true" }, MARKS[state] ?? "·"),
            h("strong", null, line(node.id)),
            h("span", { class: "away" }, ` ${state}`),
        ),
        args === "" ? null : h("span", { class: "soft" }, short(line(args), 38)),
        h("span", { class: "soft small" }, known?.ms === undefined ? state : time(known.ms)),
    );
}

function argText(value: unknown): string {
    const ref = value !== null && typeof value === "object" && "ref" in value ? (value as { readonly ref: unknown }).ref : undefined;
    return typeof ref === "string" ? ref : JSON.stringify(value);
}

function About({
    node,
    known,
    onClose,
}: {
    readonly node: Node;
    readonly known: NodeView | undefined;
    readonly onClose: () => void;
}): ComponentChildren {
    const waits = [...new Set(node.requires)];
    return h(
        "div",
        { class: "card" },
        h(
            "header",
            null,
            h("h3", null, line(node.id)),
            h("button", { type: "button", class: "plain", "aria-label": "Close", onClick: onClose }, "✕"),
        ),
        h(
            "p",
            null,
            h(State, { state: known?.state ?? "waits" }),
            " ",
            h(Place, { site: node.site }),
            waits.length === 0 ? "" : h("span", { class: "soft" }, ` waits for ${waits.map(line).join(", ")}`),
        ),
        known?.error === undefined ? null : h("p", { class: "bad" }, line(known.error)),
        known?.value === undefined ? null : h(Value, { value: known.value }),
        node.args.length === 0 ? null : h("div", null, h("h4", null, "arguments"), h(Value, { value: node.args })),
    );
}
