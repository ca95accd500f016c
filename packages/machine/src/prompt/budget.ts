/**
 * Fitting the context items of one prompt into their own budgets and into the prompt's (`context max`).
 *
 * Boundary: works on rendered bodies. Counting tokens is an effect, so fitting is a small state of its own: `startFit`, then `continueFit`
 * with each count's answer until `stage` is `done`. At most three counts.
 *
 * BD1: an item's own budget is applied first, then the total.
 * BD2: the total counts the whole context layer as shown: headings, sources, fences and texts.
 * BD3: what gives way is the item with the lowest priority, among equals the last one. An item is cut as far as it has to be; where nothing
 *     of it would be left it leaves the prompt, and the next one gives way. An item without a declared priority has 0.
 * BD5: an item of which its own budget leaves nothing leaves the prompt with its label (D15). An empty text within its budget stays.
 * BD4: pictures and files are not cut: one that is larger than its own budget leaves the prompt, and under a total each leaves in its turn. They
 *     count by the estimate of `fileSize`.
 */
import type { BudgetForm, Json, Site } from "@remit/language";
import type { CountReply, ModelCount } from "../effect/effect.ts";
import { type Clip, type ClipStrategy, clipChars, clipTokens, countItems } from "./clip.ts";
import { type FilePart, fileSize } from "./image.ts";
import { contextOpening, contextSize, itemText, itemTexts, type ShownItem } from "./layers.ts";
import { type Body, sizeOf, textOf } from "./render.ts";

/** One item on its way into a prompt, as plain JSON. */
export interface FitItem {
    readonly index: number;
    readonly heading: string;
    readonly source: string;
    readonly label: string | null;
    readonly priority: number;
    readonly budget?: BudgetForm;
    readonly body: Body;
    readonly file?: FilePart;
    readonly clipped: boolean;
    /** In tokens where the item's own budget is, else in UTF-16 units. */
    readonly original_size: number;
    readonly clipped_size: number;
    readonly strategy: ClipStrategy;
    /** What the total budget did to it, in the unit of the total budget. */
    readonly cut?: { readonly unit: "chars" | "tokens"; readonly to: number };
    /** False where a budget left no room, and for an empty variant. */
    readonly shown: boolean;
    readonly variant?: Json;
    /** Where the `use` stands. */
    readonly site?: Site;
}

export interface Fit {
    readonly stage: "own" | "total" | "last" | "done";
    readonly items: readonly FitItem[];
    readonly total?: BudgetForm;
    /** In stage `last`: the item to be cut and the tokens it may have. */
    readonly last?: { readonly at: number; readonly room: number };
}

export type CountList = ModelCount["items"];
type Answers = CountReply["items"];

export function shownItems(items: readonly FitItem[]): ShownItem[] {
    return items.filter((item) => item.shown).map(shownItem);
}

function shownItem(item: FitItem): ShownItem {
    return { heading: item.heading, source: item.source, text: textOf(item.body), ...(item.file === undefined ? {} : { file: item.file }) };
}

export function startFit(items: readonly FitItem[], total: BudgetForm | undefined): Fit {
    const cut = items.map((item) => {
        if (
            item.file !== undefined &&
            item.shown &&
            item.budget !== undefined &&
            fileSize(item.file, item.budget.unit) > item.budget.amount
        )
            return gone(item, item.budget.unit);
        return item.budget?.unit === "chars" && clippable(item)
            ? applied(item, clipChars(item.body, item.budget.amount, item.budget.keep))
            : item;
    });
    const fit: Fit = { stage: "own", items: cut, ...(total === undefined ? {} : { total }) };
    return cut.some(ownTokens) ? fit : ownDone(fit);
}

/** What has to be counted before the fit can go on; null where it is done. */
export function countsOf(fit: Fit): CountList | null {
    switch (fit.stage) {
        case "own":
            return fit.items.flatMap((item) => (ownTokens(item) ? countItems(item.body, item.budget.amount, item.budget.keep) : []));
        case "total": {
            const shown = shownItems(fit.items);
            const blocks = itemTexts(shown).flatMap((text, at) => [
                `\n\n${text}`,
                `\n\n${itemText({ ...(shown[at] as ShownItem), text: "" })}`,
            ]);
            return [contextOpening(), ...blocks].map(whole);
        }
        case "last": {
            const { at, room } = fit.last as { at: number; room: number };
            const item = fit.items[at] as FitItem;
            return countItems(item.body, room, item.budget?.keep);
        }
        case "done":
            return null;
    }
}

export function continueFit(fit: Fit, answers: Answers): Fit {
    if (fit.stage === "own") {
        let next = 0;
        const items = fit.items.map((item) => {
            if (!ownTokens(item)) return item;
            const asked = countItems(item.body, item.budget.amount, item.budget.keep).length;
            const clip = clipTokens(item.body, item.budget.amount, answers.slice(next, next + asked), item.budget.keep);
            next += asked;
            return applied(item, clip);
        });
        return ownDone({ ...fit, items });
    }
    if (fit.stage === "total") return cutTokens(fit, answers);
    if (fit.stage === "last") {
        const { at, room } = fit.last as { at: number; room: number };
        const item = fit.items[at] as FitItem;
        const clip = clipTokens(item.body, room, answers, item.budget?.keep);
        // Alone it takes fewer tokens than inside its heading: then it fits.
        if (clip.strategy === "whole") return done(fit, fit.items);
        return done(fit, fit.items.with(at, clip.strategy === "dropped" ? gone(item, "tokens") : cutTo(item, clip, "tokens")));
    }
    return fit;
}

// ---- own budgets -------------------------------------------------------------------------------------------------------

function clippable(item: FitItem): boolean {
    return item.shown && item.file === undefined;
}

function ownTokens(item: FitItem): item is FitItem & { readonly budget: BudgetForm } {
    return item.budget?.unit === "tokens" && clippable(item);
}

function applied(item: FitItem, clip: Clip): FitItem {
    const { body, clipped, original_size, clipped_size, strategy } = clip;
    // BD5.
    const shown = item.shown && strategy !== "dropped";
    return { ...item, body, clipped, original_size, clipped_size, strategy, shown };
}

function ownDone(fit: Fit): Fit {
    if (fit.total === undefined) return done(fit, fit.items);
    return fit.total.unit === "chars" ? done(fit, cutChars(fit.items, Math.floor(fit.total.amount))) : { ...fit, stage: "total" };
}

function done(fit: Fit, items: readonly FitItem[]): Fit {
    return { stage: "done", items, ...(fit.total === undefined ? {} : { total: fit.total }) };
}

// ---- the total ---------------------------------------------------------------------------------------------------------

/** Indices of the shown items in the order in which they give way. */
function giveWay(items: readonly FitItem[]): number[] {
    const order = items.map((_, at) => at).filter((at) => items[at]?.shown);
    return order.sort((a, b) => (items[a] as FitItem).priority - (items[b] as FitItem).priority || b - a);
}

function cutChars(given: readonly FitItem[], max: number): readonly FitItem[] {
    let items = given;
    for (const at of giveWay(items)) {
        const size = contextSize(shownItems(items));
        if (size <= max) break;
        const item = items[at] as FitItem;
        const room = sizeOf(item.body) - (size - max);
        const clip = item.file === undefined && room > 0 ? clipChars(item.body, room, item.budget?.keep) : null;
        const cut = clip === null || clip.strategy === "dropped" ? null : items.with(at, cutTo(item, clip, "chars"));
        // A cut text may need a longer fence than the whole one had; then the item goes.
        items = cut !== null && contextSize(shownItems(cut)) <= max ? cut : items.with(at, gone(item, "chars"));
    }
    return items;
}

function cutTokens(fit: Fit, answers: Answers): Fit {
    const max = Math.floor((fit.total as BudgetForm).amount);
    const tokens = (at: number): number => answers[at]?.total ?? 0;
    const shown = fit.items.map((_, at) => at).filter((at) => fit.items[at]?.shown);
    const blockOf = (nth: number): number => {
        const file = fit.items[shown[nth] as number]?.file;
        return tokens(1 + 2 * nth) + (file === undefined ? 0 : fileSize(file, "tokens"));
    };
    let sum = tokens(0) + shown.reduce((total, _, nth) => total + blockOf(nth), 0);
    let items = fit.items;
    for (const at of giveWay(items)) {
        if (sum <= max) break;
        const nth = shown.indexOf(at);
        const [blockTokens, frameTokens] = [blockOf(nth), tokens(2 + 2 * nth)];
        const room = max - (sum - blockTokens) - frameTokens;
        if ((items[at] as FitItem).file === undefined && room > 0) return { ...fit, stage: "last", items, last: { at, room } };
        items = items.with(at, gone(items[at] as FitItem, "tokens"));
        sum -= blockTokens;
        if (items.every((item) => !item.shown)) sum = 0;
    }
    return done(fit, items);
}

const whole = (text: string): CountList[number] => ({ pieces: [text], whole: true, max: 0, keep: "start" });

function cutTo(item: FitItem, clip: Clip, unit: "chars" | "tokens"): FitItem {
    const same = unit === (item.budget?.unit ?? "chars");
    return {
        ...item,
        body: clip.body,
        clipped: true,
        clipped_size: same ? clip.clipped_size : sizeOf(clip.body),
        strategy: clip.strategy,
        cut: { unit, to: clip.clipped_size },
    };
}

function gone(item: FitItem, unit: "chars" | "tokens"): FitItem {
    return { ...item, shown: false, clipped: true, clipped_size: 0, strategy: "dropped", cut: { unit, to: 0 } };
}
