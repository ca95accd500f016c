/**
 * Code whose ways part, for strict code: which slots it may write, which lists and objects it may change, and which ways leave it.
 *
 * Boundary: forms of one function while it is compiled. What happens with labels when it runs is in `strict.ts`.
 */

import { type StmtForm, isBlock, type FormNode, type FormPart, walk } from "@remit/language";
import { type Changes, changesIn, NO_CHANGES } from "./changes.ts";
import type { Context } from "./context.ts";

/** Code whose ways meet again behind it. */
export interface Ways {
    /** Slots that it may write, of those that are visible around it. */
    readonly assigned: readonly number[];
    /** A way leads out: of a loop around, or of the function. */
    readonly leaves: boolean;
    readonly returns: boolean;
    readonly mayFail: boolean;
}

/** Variables and file imports through which something may be changed. */
interface Roots {
    readonly slots: readonly number[];
    readonly imports: readonly number[];
}

/** What is raised with `pc` (CL5): always, if this function catches failures here, and if a caller catches them. */
export interface Along {
    readonly always: Roots;
    readonly caught: Roots;
    readonly outside: Roots;
}

const NO_ROOTS: Roots = { slots: [], imports: [] };
export const NOTHING_ALONG: Along = { always: NO_ROOTS, caught: NO_ROOTS, outside: NO_ROOTS };

/** Where compiling stands in a strict function: how far `pc` reaches that is raised there. */
export class Places {
    /** The function's body, the innermost loop and the outermost `try` around. */
    readonly body: readonly StmtForm[];
    loop: readonly StmtForm[] | null = null;
    tried: readonly StmtForm[] | null = null;
    /** Of the nearest code around whose ways part. */
    along: Along = NOTHING_ALONG;
    /** Inside an expression whose ways part: what it gives does not carry all that `pc` has there. */
    inner = false;
    private readonly known = new Map<FormPart, { changes: Changes; version: number; roots: Roots }>();

    constructor(body: readonly StmtForm[]) {
        this.body = body;
    }

    /** Of one of the three, looked up where compiling stands. */
    roots(cx: Context, part: readonly StmtForm[] | null): Roots {
        if (part === null) return NO_ROOTS;
        const { version } = cx.scope;
        let known = this.known.get(part);
        if (known === undefined) known = { changes: changesIn(cx, [part]), version: -1, roots: NO_ROOTS };
        if (known.version !== version) known = { changes: known.changes, version, roots: rootsOf(cx, known.changes) };
        this.known.set(part, known);
        return known.roots;
    }

    changesNothing(cx: Context): boolean {
        this.roots(cx, this.body);
        return this.known.get(this.body)?.changes === NO_CHANGES;
    }
}

export function rootsOf(cx: Context, changes: Changes): Roots {
    if (changes === NO_CHANGES) return NO_ROOTS;
    const slots = new Set<number>();
    const imports = new Set(changes.imports);
    for (const name of changes.names) {
        const slot = cx.scope.find(name);
        if (slot !== 0) slots.add(slot);
        else {
            const meaning = cx.program.lookup(cx.file, cx.agent, name);
            if (meaning?.kind === "file" || meaning?.kind === "block") imports.add(meaning.number);
        }
    }
    return { slots: [...slots], imports: [...imports] };
}

function both(a: Roots, b: Roots): Roots {
    if (b === NO_ROOTS || a === b) return a;
    return { slots: [...new Set([...a.slots, ...b.slots])], imports: [...new Set([...a.imports, ...b.imports])] };
}

/** Where ways part: what they may change, and where they meet only later (W4), what stands until then. */
export function alongOf(cx: Context, parts: readonly FormPart[], ways: Ways): Along {
    const { places } = cx;
    if (places === null || places.changesNothing(cx)) return NOTHING_ALONG;
    let always = rootsOf(cx, changesIn(cx, parts));
    if (ways.leaves) always = both(always, places.roots(cx, ways.returns ? places.body : (places.loop ?? places.body)));
    if (!ways.mayFail) return { always, caught: always, outside: always };
    const { caught, outside } = failing(cx);
    return { always, caught: both(always, caught), outside: both(always, outside) };
}

/** Where what was read decides whether a failure is caught. */
export function failing(cx: Context): Along {
    const { places } = cx;
    if (places === null || places.changesNothing(cx)) return NOTHING_ALONG;
    const outside = places.roots(cx, places.body);
    const caught = places.tried === null ? outside : places.roots(cx, places.tried);
    return { always: NO_ROOTS, caught, outside };
}

/** Compiles code whose ways part. `loop`: its statements are one's. */
export function parted<T>(
    cx: Context,
    parts: readonly FormPart[],
    ways: Ways,
    compile: () => T,
    loop: readonly StmtForm[] | null = null,
): T {
    const { places } = cx;
    if (places === null) return compile();
    const { along, loop: outer } = places;
    places.along = alongOf(cx, parts, ways);
    if (loop !== null) places.loop = loop;
    const made = compile();
    places.along = along;
    places.loop = outer;
    return made;
}

/** Compiles the body of a `try`. */
export function tried<T>(cx: Context, whole: readonly StmtForm[], compile: () => T): T {
    const { places } = cx;
    if (places === null || places.tried !== null) return compile();
    places.tried = whole;
    const made = compile();
    places.tried = null;
    return made;
}

export function waysOf(cx: Context, parts: readonly FormPart[], more: readonly number[] = []): Ways {
    const assigned = new Set<number>();
    let leaves = false;
    let returns = false;
    let mayFail = false;
    let loops = 0;
    const look = (body: readonly StmtForm[]): void => {
        for (const s of body) {
            if (s.kind === "return") returns = true;
            if (s.kind === "return" || ((s.kind === "break" || s.kind === "continue") && loops === 0)) leaves = true;
            if (s.kind === "raise" || s.kind === "spend") mayFail = true;
            const isLoop = s.kind === "for" || s.kind === "loop" || s.kind === "repeat";
            if (isLoop) loops++;
            if (s.kind === "if") {
                for (const b of s.branches) look(b.body);
                if (s.otherwise !== undefined) look(s.otherwise);
            } else if (s.kind === "try") {
                look(s.body);
                look(s.handler);
            } else if ("body" in s) look(s.body);
            if (isLoop) loops--;
        }
    };
    for (const part of parts) {
        if (part !== undefined && isBlock(part)) look(part);
        walk(part, (e) => {
            if (isFallible(e)) mayFail = true;
            const slot = e.kind === "assign" && e.target.kind === "name" ? cx.scope.find(e.target.name) : 0;
            if (slot !== 0) assigned.add(slot);
            if (e.kind === "if.expr") {
                for (const b of e.branches) look(b.body);
                if (e.otherwise !== undefined) look(e.otherwise);
            } else if (e.kind === "try.expr") {
                look(e.body);
                look(e.handler);
            }
        });
    }
    return { assigned: [...assigned, ...more], leaves, returns, mayFail };
}

function isFallible(e: FormNode): boolean {
    switch (e.kind) {
        case "assign":
            return e.target.kind !== "name";
        case "raise":
        case "for":
        case "delegate":
        case "spend":
        case "define":
        case "member":
        case "index":
        case "call":
        case "generate":
        case "parallel":
        case "endorse":
        case "narrow":
        case "spread":
            return true;
        case "unary":
            return e.op !== "not";
        case "binary":
            return e.op !== "and" && e.op !== "or" && e.op !== "??";
        default:
            return false;
    }
}
