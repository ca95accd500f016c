/**
 * What a model said, as nodes: Markdown's own marks become elements, everything else text.
 *
 * Boundary: from text to nodes, by `markdown.ts`. Nothing is loaded and nothing leads anywhere: a link is its text with its address beside it.
 *
 * WRD1: the elements are those of this file alone, none has an attribute from the text; HTML in an answer is text (CPT1).
 * WRD2: of text that grows only the last pieces are made anew; text that stays is read once, however often the page around it is drawn.
 */
import { type ComponentChildren, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Mark, marksOf, type Piece, piecesOf, type Side } from "./markdown.ts";
import { said } from "./parts.ts";

/** What is longer is shown as it was written, characters. */
const MOST = 100_000;

/** `isGoing`: more of it comes. */
export function Words({ text, isGoing = false }: { readonly text: string; readonly isGoing?: boolean }): ComponentChildren {
    const [isRaw, setRaw] = useState(false);
    const { shown, pieces, isPlain } = useMemo(() => read(text, isGoing), [text, isGoing]);
    const caret = isGoing ? h("span", { class: "caret", "aria-hidden": "true" }) : null;
    if (shown.length > MOST) return h("div", { class: "words raw", dir: "auto" }, shown, caret);
    const toggle = isPlain || isGoing ? null : h(Written, { isRaw, setRaw });
    if (isRaw) return h("div", { class: "words raw", dir: "auto" }, shown, toggle);
    return h(
        "div",
        { class: "words" },
        pieces.map((one, i) => h(Block, { key: i, ...one })),
        caret,
        toggle,
    );
}

/** `isPlain`: Markdown changes nothing of it; of text that goes on, it is not asked. */
function read(
    text: string,
    isGoing: boolean,
): { readonly shown: string; readonly pieces: ReturnType<typeof piecesOf>; readonly isPlain: boolean } {
    const shown = said(text);
    const pieces = shown.length > MOST ? [] : piecesOf(shown);
    const isPlain = !isGoing && pieces.every(({ raw, piece }) => piece.kind === "paragraph" && isText(marksOf(raw), raw));
    return { shown, pieces, isPlain };
}

function isText(marks: readonly Mark[], raw: string): boolean {
    return marks.length === 1 && marks[0] === raw;
}

interface WrittenProps {
    readonly isRaw: boolean;
    readonly setRaw: (isRaw: boolean) => void;
}

function Written({ isRaw, setRaw }: WrittenProps): ComponentChildren {
    return h("button", { type: "button", class: "plain small", "aria-pressed": isRaw, onClick: () => setRaw(!isRaw) }, "As written");
}

/** WRD2. */
function Block({ raw, piece }: ReturnType<typeof piecesOf>[number]): ComponentChildren {
    return useMemo(() => block(piece, 0), [raw, piece.kind]);
}

function blocks(text: string, depth: number): ComponentChildren {
    return piecesOf(text, depth).map(({ piece }) => block(piece, depth));
}

function block(piece: Piece, depth: number): ComponentChildren {
    switch (piece.kind) {
        case "paragraph":
            return h("p", { dir: "auto" }, inline(piece.text));
        case "heading":
            // The page has headings of its own above it.
            return h(`h${Math.min(6, piece.level + 2)}`, { dir: "auto" }, inline(piece.text));
        case "code":
            return h("pre", { tabIndex: 0 }, h("code", null, piece.text));
        case "quote":
            return h("blockquote", { dir: "auto" }, blocks(piece.text, depth + 1));
        case "list": {
            const items = piece.items.map(({ text, isDone }) =>
                h("li", isDone === null ? null : { class: "task" }, isDone === null ? null : h(Box, { isDone }), item(text, depth + 1)),
            );
            return piece.start === null ? h("ul", { dir: "auto" }, items) : h("ol", { start: piece.start, dir: "auto" }, items);
        }
        case "table":
            return h(
                "div",
                { class: "wide", tabIndex: 0, role: "region", "aria-label": "Table" },
                h(
                    "table",
                    null,
                    h("thead", null, h("tr", null, cells("th", piece.head, piece.sides))),
                    h(
                        "tbody",
                        null,
                        piece.rows.map((row) => h("tr", null, cells("td", row, piece.sides))),
                    ),
                ),
            );
        case "rule":
            return h("hr", null);
    }
}

/** It is told, and not for the person to change. */
function Box({ isDone }: { readonly isDone: boolean }): ComponentChildren {
    return h("input", { type: "checkbox", checked: isDone, disabled: true, "aria-label": isDone ? "done" : "to do" });
}

/** An item that is one paragraph needs none around it. */
function item(text: string, depth: number): ComponentChildren {
    const pieces = piecesOf(text, depth);
    return pieces.map(({ piece }, i) => (i === 0 && piece.kind === "paragraph" ? inline(piece.text) : block(piece, depth)));
}

function cells(element: "th" | "td", texts: readonly string[], sides: readonly Side[]): ComponentChildren {
    return texts.map((text, i) => {
        const side = sides[i] ?? null;
        return h(
            element,
            { ...(element === "th" ? { scope: "col" } : {}), ...(side === null ? {} : { class: `to-${side}` }) },
            inline(text),
        );
    });
}

function inline(text: string): ComponentChildren {
    return marksOf(text).map(mark);
}

function mark(one: Mark): ComponentChildren {
    if (typeof one === "string") return one;
    if (one.kind === "code") return h("code", null, one.text);
    if (one.kind === "link")
        return one.text === one.address ? one.text : [one.text, " ", h("span", { class: "address" }, `(${one.address})`)];
    return h(one.kind, null, one.marks.map(mark));
}
