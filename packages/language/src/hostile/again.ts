/**
 * What tells two calls of one method apart: the arguments that are the same in each, and calls that a run may make again.
 *
 * Boundary: forms of arguments and places of calls in, texts out; what follows for the table is `table.ts`'s.
 *
 * HAG1: data that chooses between two calls picks, of each argument that may differ between them, which value is sent. Arguments with the same text have the
 *     same value in every call; what has none may have another one each time.
 */
import type { ExprForm } from "../form/form.ts";
import type { Calling, Given } from "./calls.ts";
import { ANY, type Known, varOf } from "./known.ts";
import type { Func } from "./scope.ts";
import type { Place } from "./walk.ts";

/** Whether a run may come to a place more than once. */
export function isAgain(known: Known, { func, again }: Pick<Place, "func" | "again">): boolean {
    return again || known.set("again").has(func.id);
}

/** A function is called. `by`: the call; null: as often as its caller likes. */
export function calledBy(known: Known, place: Place, func: Func, by: object | null): void {
    if (by !== null) known.addTo(`calls ${func.id}`, [known.idOf(by)]);
    if (by === null || func === place.func || isAgain(known, place) || known.set(`calls ${func.id}`).size > 1)
        known.addTo("again", [func.id]);
}

/** A list or object is changed under some name. */
export function changed(known: Known, { func }: Place, root: string | null, made: Iterable<string>): void {
    known.addTo("changed", made);
    if (root !== null) known.addTo("changed", [varOf(func, root)]);
}

/** Texts of the arguments of a call, by name or place. */
export function textsOf(w: Calling, place: Place, given: readonly Given[]): ReadonlyMap<string, string> {
    const [first] = given;
    const out = new Map<string, string>();
    const put = (name: string, form: ExprForm): void => {
        const text = textOf(w, place, form);
        if (text !== null) out.set(name, text);
    };
    if (given.length === 1 && first?.name === undefined && first?.form.kind === "object") {
        const { entries } = first.form;
        if (entries.every(({ kind }) => kind === "entry")) for (const one of entries) if (one.kind === "entry") put(one.key, one.value);
    } else for (const [i, { name, form }] of given.entries()) put(name ?? String(i + 1), form);
    return out;
}

function textOf(w: Calling, place: Place, form: ExprForm): string | null {
    if (form.kind === "literal") return JSON.stringify(form.value);
    const path = pathOf(form);
    const root = path === null ? null : rootOf(form);
    const { func } = place;
    if (root === null || !func.fixed.has(root) || w.known.set("again").has(func.id)) return null;
    const all = w.known.set("changed");
    const inside = [varOf(func, root), ...w.known.madeIn(w.known.val(varOf(func, root)))];
    return inside.some((one) => all.has(one)) ? null : `${func.id} ${path}`;
}

/** A name, or fields of one. */
function pathOf(form: ExprForm): string | null {
    if (form.kind === "name") return form.name;
    const object = form.kind === "member" ? pathOf(form.object) : null;
    return object === null || form.kind !== "member" ? null : `${object}.${form.name}`;
}

/** The variable that a path of members and indexes begins with. */
export function rootOf(e: ExprForm): string | null {
    if (e.kind === "member" || e.kind === "index") return rootOf(e.object);
    return e.kind === "name" ? e.name : null;
}

interface Told {
    readonly given: ReadonlyMap<string, string | null>;
    readonly again: boolean;
}

/** Arguments that may differ between the calls of a method that data chooses. */
export function differing(calls: readonly Told[]): readonly string[] {
    const isMany = calls.length > 1;
    const names = new Set(calls.flatMap(({ given }) => [...given.keys()]));
    return [...names].filter((name) => {
        const texts = calls.map(({ given }) => (given.has(name) ? given.get(name) : given.has(ANY) ? null : undefined));
        if (new Set(texts).size > 1) return true;
        return texts[0] === null && (isMany || calls.some(({ again }) => again));
    });
}
