/**
 * What a function can reach: a model or an agent outside the program, which could use tokens and dollars; an import.
 *
 * Boundary: reads forms and the meaning of names. Each name that stands anywhere in a function counts, called or not, so that the answer can only be
 * too careful: what is called through a value was named somewhere.
 */
import { walk } from "@remit/language";
import { handoverOf } from "./handover.ts";
import type { Compiled, Fn, ImportEntry } from "./program.ts";

const KNOWN = new WeakMap<Fn, boolean>();

export function reachesModel(program: Compiled, start: Fn): boolean {
    let found = KNOWN.get(start);
    if (found === undefined) {
        found = look(program, start, true, () => false);
        KNOWN.set(start, found);
    }
    return found;
}

/** Whether a function can use one of these imports. What it hands over to may use any. */
export function reachesImport(program: Compiled, start: Fn, isIt: (one: ImportEntry) => boolean): boolean {
    return look(program, start, false, isIt);
}

/** `isAsking`: a turn of a model is what is looked for. */
function look(program: Compiled, start: Fn, isAsking: boolean, isIt: (one: ImportEntry) => boolean): boolean {
    const seen = new Set<Fn>([start]);
    // What is added while the set is read is read too.
    for (const fn of seen) {
        const found = walk(fn.form.body, (e) => {
            if (e.kind === "generate") return isAsking;
            if (e.kind === "call" && handoverOf(program, fn, () => false, e) !== null) return true;
            if (e.kind !== "name") return false;
            const meaning = program.lookup(fn.file, fn.agent, e.name);
            if (meaning?.kind === "func") seen.add(meaning.fn);
            if (meaning !== undefined && "import" in meaning && isIt(meaning.import)) return true;
            if (meaning?.kind !== "agent") return false;
            const { agent } = meaning;
            for (const one of agent.funcs.values()) seen.add(one);
            if (agent.main !== null) seen.add(agent.main);
            return agent.outside !== null;
        });
        if (found) return true;
    }
    return false;
}
