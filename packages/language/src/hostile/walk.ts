/**
 * The code of a function, walked with hostile data in it: what its values may hold, what decides over each place.
 *
 * Boundary: statements and expressions; calls are `calls.ts`'s. Every way is taken: what is found holds whichever way a run goes.
 *
 * HW1: what decides over a place (`local`) are the conditions and lists of loops around it, the ways out before it, and in a `try` all that may
 *     have failed before. What decides over the call of the function is kept apart (`entryOf`).
 * HW3: a way out stands before what follows in the text, and in a loop that it leads out of, or on in, before all of its next pass. What follows a way
 *     out that is always taken is never reached.
 * HW2: a variable holds all that it is given anywhere in the function, whatever the order.
 */
import { siteAt, type ExprForm, type StmtForm } from "../form/form.ts";
import type { Site } from "../text/source.ts";
import { changed, rootOf } from "./again.ts";
import { callOf, type Calling } from "./calls.ts";
import { generated } from "./prompts.ts";
import {
    capVal,
    dataVal,
    deciding,
    type Facts,
    factOf,
    factsOf,
    join,
    joinOf,
    knownAs,
    NO_FACTS,
    PLAIN,
    union,
    type Val,
} from "./facts.ts";
import { ANY, type Known, varOf } from "./known.ts";
import type { Rules } from "./rules.ts";
import type { Func, Scope } from "./scope.ts";
import type { Seeds } from "./seeds.ts";
import type { Uses } from "./uses.ts";

/** Where something stands. */
export interface Place {
    readonly func: Func;
    /** What decides over it within the function. */
    readonly local: Facts;
    /** What a model asked here would be shown. */
    readonly prompt: Val;
    /** Where what is returned here is kept: of the function, or of the iteration of a `parallel for`. */
    readonly returns: string;
    /** Ways out that lead past it: of loops around it, and of what returns. */
    readonly outs: readonly string[];
    /** What is caught around it. */
    readonly tries: readonly string[];
    /** In a loop, or what is called for each item of a list. */
    readonly again: boolean;
}

export class Walk implements Calling {
    readonly scope: Scope;
    readonly known: Known;
    readonly seeds: Seeds;
    readonly rules: Rules;
    readonly uses: Uses;
    /** By the way that it leads past: what decides over the ways out that stand before where this round is (HW3). */
    private readonly passed = new Map<string, Facts>();

    constructor({ scope, known, seeds, rules, uses }: Pick<Calling, "scope" | "known" | "seeds" | "rules" | "uses">) {
        this.scope = scope;
        this.known = known;
        this.seeds = seeds;
        this.rules = rules;
        this.uses = uses;
    }

    /** One round over a function. */
    func(func: Func): void {
        const { known } = this;
        const place = placeIn(func, this.config(func));
        this.passed.clear();
        known.add(place.returns, this.picked(place, this.block(place, func.form.body)));
    }

    /** What an agent's own lines put before a model. */
    private config(func: Func): Val {
        let prompt = PLAIN;
        const place = placeIn(func);
        for (const line of func.agent?.config ?? []) prompt = join(prompt, this.prompted(place, line));
        return prompt;
    }

    /** What a statement puts before a model. */
    private prompted(place: Place, statement: StmtForm): Val {
        switch (statement.kind) {
            case "config":
                return statement.key === "model" ? PLAIN : this.shown(this.expr(place, statement.value));
            case "use":
                return this.shown(this.expr(place, statement.value));
            case "use.one":
                return joinOf(statement.candidates.map(({ value }) => (value === undefined ? PLAIN : this.shown(this.expr(place, value)))));
            default:
                return PLAIN;
        }
    }

    /** As data alone. */
    shown(v: Val): Val {
        const { data, picks } = this.known.deep(v);
        return dataVal(data, picks);
    }

    /** Who decided over the call of a function. */
    entryOf(func: Func): Facts {
        return this.known.facts(`entry ${func.id}`);
    }

    decidedBy(place: Place): Facts {
        return union(this.entryOf(place.func), place.local);
    }

    block(place: Place, statements: readonly StmtForm[]): Val {
        const { known } = this;
        let { local, prompt } = place;
        let value = PLAIN;
        for (const statement of statements) {
            for (const [i, out] of place.outs.entries()) local = union(local, i === 0 ? this.passedBy(out) : known.facts(out));
            for (const one of place.tries) local = union(local, known.facts(one));
            const here = { ...place, local, prompt };
            value =
                "body" in statement || statement.kind === "if"
                    ? this.statement(here, statement)
                    : this.inOrder(here, (at) => this.statement(at, statement));
            prompt = join(prompt, this.prompted(here, statement));
            if (leaves(statement)) break;
        }
        return value;
    }

    private passedBy(out: string): Facts {
        return this.passed.get(out) ?? NO_FACTS;
    }

    /** HW3. A way out of the loops from `outs[from]` on, or of all. */
    private leave({ outs, local }: Place, from: number): void {
        const [first] = outs as [string];
        if (from === 0) this.passed.set(first, union(this.passedBy(first), local));
        for (const out of outs.slice(Math.max(1, from))) this.known.addFacts(out, local);
    }

    private statement(place: Place, s: StmtForm): Val {
        switch (s.kind) {
            case "expr":
                return this.expr(place, s.value);
            case "assign":
                return this.assign(place, s);
            case "return":
                this.known.add(place.returns, this.picked(place, this.expr(place, s.value)));
                this.leave(place, 0);
                return PLAIN;
            case "break":
            case "continue":
                this.leave(place, place.outs.length - 1);
                return PLAIN;
            case "raise":
                this.touch(place, union(place.local, this.known.deepFacts(this.expr(place, s.value))));
                return PLAIN;
            case "if":
            case "try":
                return this.parted(place, s);
            case "repeat":
                return this.loop(place, s, NO_FACTS, null);
            case "loop":
                return this.loop(place, s, NO_FACTS, s.until);
            case "for":
                return this.each(place, s);
            case "delegate":
            case "spend":
                return this.block(place, s.body);
            default:
                return PLAIN;
        }
    }

    /** With what decided over it; in strict code the machine labels that as data. */
    private picked({ func, local }: Place, v: Val): Val {
        if (local.size === 0) return v;
        return join(v, func.strict ? dataVal(local) : dataVal(NO_FACTS, local));
    }

    private assign(place: Place, { target, op, value }: StmtForm & { kind: "assign" }): Val {
        const { known } = this;
        let given = this.expr(place, value);
        if (op !== "=") given = join(given, this.expr(place, target));
        if (target.kind === "name") {
            known.add(varOf(place.func, target.name), this.picked(place, given));
            return PLAIN;
        }
        if (target.kind !== "member" && target.kind !== "index") return PLAIN;
        const index = target.kind === "index" ? this.expr(place, target.index) : PLAIN;
        this.written(place, target.object, fieldOf(target), join(given, this.shown(index)));
        return PLAIN;
    }

    /** A change of a list or object. `field` null: it cannot be told which. */
    written(place: Place, object: ExprForm, field: string | null, value: Val): void {
        const { known } = this;
        const to = this.expr(place, object);
        const { func, local } = place;
        const own = `#${func.id}`;
        const root = rootOf(object);
        changed(known, place, root, to.made);
        const isPlain = root !== null && func.fixed.has(root);
        for (const id of to.made) {
            // The machine shows a choice in what a name of the place holds, also where it is not made. What another name leads to shows it only where the
            // change was made, and what came from outside was chosen by the caller.
            const seen = isPlain || func.strict ? local : knownAs(local, [], ALIAS);
            const outer = known.set(`of ${id}`).has(own) ? NO_FACTS : knownAs(this.entryOf(func), [], ALIAS);
            const picks = union(seen, outer);
            const by = func.strict ? dataVal(picks) : dataVal(NO_FACTS, picks);
            known.put(id, field ?? ANY, join(value, by));
            known.shape(id, by);
        }
        if (to.made.size === 0 && object.kind === "name" && func.locals.has(object.name))
            known.add(varOf(func, object.name), this.picked(place, this.shown(value)));
    }

    /** Where ways part: what decides over each of them. */
    private parted(place: Place, s: (StmtForm | ExprForm) & { kind: "if" | "if.expr" | "try" | "try.expr" }): Val {
        const { known } = this;
        if (s.kind === "try" || s.kind === "try.expr") {
            const key = `try ${known.idOf(s)}`;
            const body = this.block({ ...place, tries: [...place.tries, key] }, s.body);
            const failed = deciding(known.facts(key), this.site(place, s));
            const local = union(place.local, failed);
            if (s.name !== undefined) known.add(varOf(place.func, s.name), dataVal(failed));
            const handler = this.block({ ...place, local }, s.handler);
            return this.picked({ ...place, local: failed }, join(body, handler));
        }
        let { local } = place;
        let value = PLAIN;
        let all = NO_FACTS;
        for (const { test, body } of s.branches) {
            const by = deciding(this.known.deepFacts(this.expr({ ...place, local }, test)), this.site(place, test));
            local = union(local, by);
            all = union(all, by);
            value = join(value, this.block({ ...place, local }, body));
        }
        if (s.otherwise !== undefined) value = join(value, this.block({ ...place, local }, s.otherwise));
        return this.picked({ ...place, local: all }, value);
    }

    private loop(place: Place, s: StmtForm & { readonly body: readonly StmtForm[] }, by: Facts, until: ExprForm | null): Val {
        const { known } = this;
        const out = `out ${known.idOf(s)}`;
        const inside = { ...place, local: union(place.local, by), outs: [...place.outs, out], again: true };
        this.block(inside, s.body);
        if (until !== null) {
            const behind = { ...inside, local: union(inside.local, known.facts(out)) };
            known.addFacts(out, deciding(known.deepFacts(this.expr(behind, until)), this.site(place, until)));
        }
        return PLAIN;
    }

    private each(place: Place, s: StmtForm & { kind: "for" }): Val {
        return this.loop(place, s, this.items(place, s), null);
    }

    /** The variable of a loop gets the items; how many there are decides over the passes. */
    private items(place: Place, { list, item }: { readonly list: ExprForm; readonly item: string }): Facts {
        const v = this.expr(place, list);
        this.known.add(varOf(place.func, item), this.picked(place, this.known.read(v, null)));
        return deciding(this.known.shapeOf(v), this.site(place, list));
    }

    /** Something here depends on these facts, and may fail by them. */
    touch(place: Place, facts: Facts): void {
        if (facts.size === 0) return;
        for (const one of place.tries) this.known.addFacts(one, facts);
        this.known.addFacts(`touched ${place.func.id}`, facts);
    }

    // ---- expressions -------------------------------------------------------------------------------------------------

    expr(place: Place, e: ExprForm): Val {
        const value = this.inOrder(place, (here) => this.value(here, e));
        this.touch(place, factsOf(value));
        return value;
    }

    /** With a way out inside, what is made behind it: all of it, as it is not known what comes first. */
    private inOrder(place: Place, walk: (place: Place) => Val): Val {
        const [out] = place.outs as [string];
        const before = this.passedBy(out);
        const value = walk(place);
        const after = this.passedBy(out);
        return before === after ? value : join(value, walk({ ...place, local: union(place.local, after) }));
    }

    private value(place: Place, e: ExprForm): Val {
        const { known } = this;
        switch (e.kind) {
            case "literal":
                return PLAIN;
            case "name":
                return this.named(place, e.name);
            case "list":
            case "object":
                return this.container(place, e);
            case "member":
                return known.read(this.expr(place, e.object), e.name);
            case "index": {
                const object = this.expr(place, e.object);
                return join(known.read(object, fieldOf(e)), this.shown(this.expr(place, e.index)));
            }
            case "call":
                return callOf(this, place, e);
            case "unary":
                return this.shown(this.expr(place, e.value));
            case "binary":
                return this.binary(place, e);
            case "lambda":
                return this.expr(place, e.body);
            case "if.expr":
            case "try.expr":
                return this.parted(place, e);
            case "generate":
                return generated(this, place, e);
            case "parallel": {
                const local = union(place.local, this.items(place, e));
                const made = this.made(place, e);
                const returns = `returned ${known.idOf(e)}`;
                const inside = { ...place, local, returns, outs: [`out ${known.idOf(e)}`], again: true };
                for (const id of made.made) known.put(id, ANY, join(this.block(inside, e.body), known.val(returns)));
                return this.picked({ ...place, local }, made);
            }
            case "narrow":
                return this.expr(place, e.object);
            case "endorse":
                return this.endorsed(place, e);
        }
    }

    private named({ func }: Place, name: string): Val {
        const { known, scope, seeds } = this;
        const own = func.locals.has(name) ? known.val(varOf(func, name)) : PLAIN;
        const meaning = scope.lookup(func.file, func.agent?.name ?? null, name);
        if (meaning === null) return own;
        if (meaning.kind === "cap") return join(own, capVal(meaning.cap.id));
        if (meaning.kind === "block") return join(own, known.val(`block ${meaning.name}`));
        const from = seeds.ofFile(name, meaning.name);
        return join(own, from === null ? known.opaque(`file ${meaning.name}`) : join(known.opaque(`file ${meaning.name}`), dataVal(from)));
    }

    /** A list or object that this place makes. */
    made({ func }: Place, node: object): Val {
        const id = `made ${this.known.idOf(node)}`;
        this.known.addTo(`of ${id}`, [`#${func.id}`]);
        return { ...PLAIN, made: new Set([id]) };
    }

    private container(place: Place, e: ExprForm & { kind: "list" | "object" }): Val {
        const { known } = this;
        const made = this.made(place, e);
        const [id] = [...made.made] as [string];
        let value = made;
        for (const item of e.kind === "list" ? e.items : e.entries) {
            if (item.kind === "spread") {
                const from = this.expr(place, item.value);
                for (const inside of from.made) for (const [field, one] of known.fieldsOf(inside)) known.put(id, field, one);
                known.shape(id, dataVal(NO_FACTS, known.shapeOf(from)));
                value = join(value, dataVal(from.data, from.picks));
            } else if (item.kind === "entry") known.put(id, item.key, this.expr(place, item.value));
            else known.put(id, ANY, this.expr(place, item));
        }
        return value;
    }

    private binary(place: Place, e: ExprForm & { kind: "binary" }): Val {
        const left = this.expr(place, e.left);
        if (e.op !== "and" && e.op !== "or" && e.op !== "??") return join(this.shown(left), this.shown(this.expr(place, e.right)));
        const local = deciding(this.known.deepFacts(left), this.site(place, e.left));
        const right = this.expr({ ...place, local: union(place.local, local) }, e.right);
        return this.picked({ ...place, local }, join(left, right));
    }

    /** The machine takes it for trusted from here on; the data is what it was. */
    private endorsed(place: Place, e: ExprForm & { kind: "endorse" }): Val {
        const v = this.expr(place, e.value);
        this.expr(place, e.because);
        if (e.readers !== undefined) return v;
        const at = this.site(place, e);
        const all = (facts: Facts): Facts =>
            [...facts.values()].reduce<Facts>(
                (out, fact) => union(out, factOf({ ...fact, must: ["endorsed:"], endorsed: at === null ? [] : [at] })),
                NO_FACTS,
            );
        const { data, picks } = this.known.deep(v);
        const inside = dataVal(all(data), all(picks));
        return inside === PLAIN ? v : join(this.known.opaque(`endorsed ${this.known.idOf(e)}`), inside);
    }

    site({ func }: Place, { at }: { readonly at?: readonly [number, number, number, number] }): Site | null {
        return siteAt(this.scope.program.files[func.file]?.file ?? "", at);
    }
}

/** Whether what follows in the same block is never reached (HW3). */
function leaves(s: StmtForm): boolean {
    switch (s.kind) {
        case "return":
        case "break":
        case "continue":
        case "raise":
            return true;
        case "if":
            return s.otherwise !== undefined && [...s.branches.map(({ body }) => body), s.otherwise].every((body) => body.some(leaves));
        default:
            return false;
    }
}

/** Where a function begins. */
export function placeIn(func: Func, prompt = PLAIN): Place {
    return { func, local: NO_FACTS, prompt, returns: `result ${func.id}`, outs: [`out ${func.id}`], tries: [], again: false };
}

/** How a choice goes that labels show only where it was made. */
const ALIAS = "a list or object under another name";

/** The field that a member or an index names; null where it is computed. */
function fieldOf(e: ExprForm & { kind: "member" | "index" }): string | null {
    if (e.kind === "member") return e.name;
    return e.index.kind === "literal" && typeof e.index.value === "string" ? e.index.value : null;
}
