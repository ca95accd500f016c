/**
 * Plans as one picture: SVG that any browser and any page of documentation shows, in light and dark.
 *
 * Boundary: from plans to a text. Where a node stands is `layout.ts`.
 *
 * SVG1: nothing of a program becomes markup: every text of it is escaped, and the picture holds no script, no link and no style but its own.
 */
import widthOf from "fast-string-width";
import type { Plan, PlanNode } from "@remit/machine";
import { plainLine } from "../io.ts";
import { type Box, layoutOf, type Size } from "./layout.ts";
import { argsOf, clipped, optionsOf, placeOf, titleOf } from "../plan-labels.ts";

/** Of the monospaced letters, and of what stands around them. Pixels. */
const COLUMN = 7.3;
const LINE = 17;
const PAD = 12;
const MARGIN = 20;
const HEAD = 30;
const GAPS = { across: 44, down: 18 };
/** Columns of a line in a node. */
const MOST = 38;

const STYLE = [
    "svg{--paper:#ffffff;--node:#f6f8fa;--ink:#1f2328;--soft:#59636e;--line:#8c959f;--gate:#9a6700;--block:#0969da}",
    "@media(prefers-color-scheme:dark){svg{--paper:#0d1117;--node:#161b22;--ink:#e6edf3;--soft:#9198a1;--line:#656c76;--gate:#d29922;--block:#4493f8}}",
    "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink)}",
    ".paper{fill:var(--paper)}.head{font-weight:700;font-size:13px}.id{font-weight:700}.soft{fill:var(--soft)}",
    ".node{fill:var(--node);stroke:var(--line)}.gate{stroke:var(--gate);stroke-dasharray:5 3}.block{stroke:var(--block);stroke-width:2}",
    ".gives{stroke-width:2.5}.edge{fill:none;stroke:var(--line);stroke-width:1.5}.tip{fill:var(--line)}",
].join("");

interface Drawn {
    readonly width: number;
    readonly height: number;
    readonly body: string;
}

export function svgOf(plans: readonly Plan[]): string {
    const parts: string[] = [];
    let width = 0;
    let y = MARGIN;
    for (const { title, plan } of plans.flatMap((one) => withNested(one, titleOf(one)))) {
        const drawn = blockOf(plan, title);
        parts.push(`<g transform="translate(${MARGIN} ${px(y)})">${drawn.body}</g>`);
        width = Math.max(width, drawn.width);
        y += drawn.height + MARGIN;
    }
    const size = [px(width + 2 * MARGIN), px(y)] as const;
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" viewBox="0 0 ${size[0]} ${size[1]}" role="img">`,
        `<title>${escaped(plans.map(titleOf).join("; "))}</title>`,
        `<style>${STYLE}</style>`,
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
        `<rect class="paper" width="${size[0]}" height="${size[1]}"/>`,
        ...parts,
        "</svg>",
    ].join("\n");
}

/** A plan, and behind it those of its nested blocks. */
function withNested(plan: Plan, title: string): { readonly plan: Plan; readonly title: string }[] {
    const nested = plan.nodes.flatMap((node) =>
        node.plan === undefined ? [] : withNested(node.plan, `${plainLine(node.id)}: ${titleOf(node.plan)}`),
    );
    return [{ plan, title }, ...nested];
}

function blockOf(plan: Plan, title: string): Drawn {
    const { boxes, size } = layoutOf(plan.nodes, sizeOf, GAPS);
    const gives = new Set(plan.results);
    const edges = plan.nodes.flatMap((node) => [...new Set(node.requires)].flatMap((id) => edgeOf(boxes.get(id), boxes.get(node.id))));
    const nodes = plan.nodes.map((node) => nodeOf(node, boxes.get(node.id) as Box, gives.has(node.id)));
    const head = `<text class="head" x="0" y="14">${escaped(title)}</text>`;
    return {
        width: Math.max(size.width, widthOf(title) * (COLUMN + 0.6)),
        height: size.height + HEAD,
        body: `${head}<g transform="translate(0 ${HEAD})">\n${[...edges, ...nodes].join("\n")}\n</g>`,
    };
}

function sizeOf(node: PlanNode): Size {
    const lines = linesOf(node);
    return { width: Math.max(...lines.map((line) => widthOf(line))) * COLUMN + 2 * PAD, height: lines.length * LINE + PAD };
}

/** Its id, its arguments where it has some, and its place. */
function linesOf(node: PlanNode): string[] {
    return [plainLine(node.id), argsOf(node), placeOf(node)].filter((line) => line !== "").map((line) => clipped(line, MOST));
}

/** `gives`: the block gives its value. */
function nodeOf(node: PlanNode, { x, y, width, height }: Box, gives: boolean): string {
    const kinds = [
        "node",
        ...(node.gate === true ? ["gate"] : []),
        ...(node.plan === undefined ? [] : ["block"]),
        ...(gives ? ["gives"] : []),
    ];
    const whole = [plainLine(node.id), argsOf(node), optionsOf(node), placeOf(node)].filter((one) => one !== "").join("\n");
    const lines = linesOf(node);
    const texts = lines.map((line, i) => {
        const kind = i === 0 ? "id" : i === lines.length - 1 && placeOf(node) !== "" ? "soft" : "";
        return `<text${kind === "" ? "" : ` class="${kind}"`} x="${PAD}" y="${px(PAD / 2 + LINE * (i + 1) - 4.5)}">${escaped(line)}</text>`;
    });
    return [
        `<g transform="translate(${px(x)} ${px(y)})"><title>${escaped(whole)}</title>`,
        `<rect class="${kinds.join(" ")}" width="${px(width)}" height="${px(height)}" rx="6"/>`,
        ...texts,
        "</g>",
    ].join("");
}

/** A line that leaves and arrives level, and bends in the gap before the node that it leads to (PLY1). */
function edgeOf(from: Box | undefined, to: Box | undefined): string[] {
    if (from === undefined || to === undefined) return [];
    const [x, y] = [px(from.x + from.width), px(from.y + from.height / 2)];
    const [right, down] = [px(to.x), px(to.y + to.height / 2)];
    const [bend, middle] = [px(to.x - GAPS.across), px(to.x - GAPS.across / 2)];
    const level = bend > x ? `H${bend}` : "";
    return [`<path class="edge" d="M${x} ${y}${level}C${middle} ${y} ${middle} ${down} ${right} ${down}" marker-end="url(#tip)"/>`];
}

function px(length: number): number {
    return Math.round(length * 10) / 10;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
    return text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);
}
