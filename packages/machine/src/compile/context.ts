/**
 * What compiling one function needs, and what every part of the compiler asks of it.
 *
 * Boundary: names, places and the way to an expression's code. `closures.ts` makes a context and gives it that way: what compiles a part of an
 * expression (a call, a literal) goes through the context, never to the file that needs it.
 */
import type { At, ExprForm, Site } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import type { Code, Slots } from "./code.ts";
import type { Compiled, Meaning } from "./program.ts";
import type { Scope } from "./scope.ts";
import type { Places } from "./ways.ts";

/** Where a name has its meaning: in a file, and there in an agent or in none. */
export interface Where {
    readonly program: Compiled;
    readonly file: number;
    readonly agent: string | null;
}

export interface Context extends Where {
    readonly scope: Scope;
    /** The first hidden slot of strict code (`strict.ts`), 0 in other code. */
    readonly flow: number;
    /** Of strict code, where compiling stands in it. */
    readonly places: Places | null;
    /** Strict code in its loose form (`loose.ts`). */
    readonly loose: boolean;
    readonly code: (cx: Context, e: ExprForm) => Code;
}

export const expr = (cx: Context, e: ExprForm): Code => cx.code(cx, e);
export const siteOf = (cx: Where, at: At | undefined): Site | null => cx.program.site(cx.file, at);
export const lookUp = (cx: Where, name: string): Meaning | undefined => cx.program.lookup(cx.file, cx.agent, name);

/** The name stands for data, whose methods are those of data. */
export function isDataName(meaning: Meaning | undefined): boolean {
    return meaning?.kind === "file" || meaning?.kind === "block";
}

/** SCO1: the nearest visible slot of that name, or a new one in the present block. */
export function slotFor(cx: Context, name: string): number {
    return cx.scope.find(name) || cx.scope.define(name);
}

export function fails(message: string, at: Site | null): (f: Slots) => never {
    return () => {
        throw new Fail("value", message, { site: at });
    };
}
