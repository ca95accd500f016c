/**
 * What a model is shown, what it answers with, and the tools that it may call meanwhile.
 *
 * Boundary: one `generate`.
 *
 * HP1: a model that was shown hostile data chooses each of its calls, and every argument of them, by it.
 * HP2: what a tool says of itself is shown whatever is hidden, and carries the tool's origin unless the code that brings the tool, or the lock, says it.
 */
import { LOOK } from "../authority/thing.ts";
import type { ExprForm } from "../form/form.ts";
import { type Calling, storeOf, toolUse } from "./calls.ts";
import { dataVal, deciding, type Facts, factsOf, join, knownAs, NO_FACTS, shapesOf, through, union, type Val } from "./facts.ts";
import { ANY } from "./known.ts";
import type { Cap } from "./scope.ts";
import type { Place } from "./walk.ts";

export function generated(w: Calling, place: Place, e: ExprForm & { kind: "generate" }): Val {
    const { known } = w;
    const loop: Loop = { id: known.idOf(e), hides: e.hide !== undefined, model: modelOf(w, place, e) };
    known.add(`loop ${loop.id}`, join(place.prompt, w.shown(w.expr(place, e.input))));
    const tools = (e.tools ?? []).flatMap((tool) => offered(w, place, tool));
    for (const { cap, method } of tools) {
        known.add(`loop ${loop.id}`, dataVal(w.seeds.ofDescription(cap.thing, cap.file)));
        const back = knownAs(known.facts(storeOf(cap.thing)), [`tool:${cap.thing.name}`]);
        result(w, place, loop, union(back, w.seeds.ofUse(cap.thing, method)));
    }
    const shown = known.val(`loop ${loop.id}`);
    const hidden = known.facts(`hidden ${loop.id}`);
    const certain = certainOf(w, place, e.tools ?? []);
    const told = union(loop.model === null ? shown.data : through(shown.data, `model:${loop.model.thing.name}`), hidden);
    const words = certain.reduce(through, told);
    const by = { ...place, local: union(place.local, deciding(factsOf(shown), w.site(place, e))) };
    for (const { cap, method } of tools) {
        const args = new Map([[ANY, dataVal(words, shown.picks)]]);
        const back = toolUse(w, by, { cap, method, args, by: "model", named: false, hides: loop.hides, certain, node: e });
        result(w, place, loop, back.data);
        known.add(`loop ${loop.id}`, dataVal(NO_FACTS, back.picks));
    }
    // HP2. The answer carries these origins, whatever the model chose it by.
    const answer = certain.length === 0 ? dataVal(words, shown.picks) : dataVal(union(words, certain.reduce(through, shown.picks)));
    return join(known.opaque(`result ${loop.id}`), answer);
}

/** A `generate` with tools. */
interface Loop {
    readonly id: string;
    readonly hides: boolean;
    readonly model: (Cap & { readonly kind: "thing" }) | null;
}

/** What comes back to the model: as it is, or as a reference to it. */
function result(w: Calling, place: Place, { id, hides, model }: Loop, facts: Facts): void {
    const { known, rules } = w;
    const hidden = hides ? new Map([...facts].filter(([, fact]) => rules.hides(fact))) : NO_FACTS;
    known.addFacts(`hidden ${id}`, hidden);
    const isOpen =
        model === null || [...known.set(`runs ${place.func.id}`)].some((one) => "bounds" in rules.gate(one, model.thing, LOOK, "model"));
    const seen = hides && !isOpen ? new Map([...facts].filter(([key]) => !hidden.has(key))) : facts;
    known.add(`loop ${id}`, dataVal(seen, shapesOf(hidden)));
}

interface Offered {
    readonly cap: Cap & { readonly kind: "thing" };
    /** Null: all that it has. */
    readonly method: string | null;
}

function offered(w: Calling, place: Place, tool: ExprForm): Offered[] {
    const [object, method] = tool.kind === "member" ? [tool.object, tool.name] : [tool, null];
    const v = w.expr(place, object);
    const caps = [...w.known.deepCaps(v)].map((id) => w.scope.cap(id));
    return caps.flatMap((cap) => (cap.kind === "thing" && cap.thing.what === "tool" ? [{ cap, method }] : []));
}

/** HP2. Origins that each prompt of a loop carries: of tools that are offered by their names, and say themselves what they are. */
function certainOf(w: Calling, { func }: Place, tools: readonly ExprForm[]): string[] {
    const said = tools.flatMap((tool): string[] => {
        const object = tool.kind === "member" ? tool.object : tool;
        if (object.kind !== "name" || func.locals.has(object.name)) return [];
        const meaning = w.scope.lookup(func.file, func.agent?.name ?? null, object.name);
        if (meaning?.kind !== "cap" || meaning.cap.kind !== "thing" || meaning.cap.thing.what !== "tool") return [];
        const { thing, file } = meaning.cap;
        return w.seeds.saysItself(thing, file) ? [`tool:${thing.name}`] : [];
    });
    return [...new Set(said)];
}

/** The model that is asked, where its name is written. */
function modelOf(w: Calling, { func }: Place, e: ExprForm & { kind: "generate" }): Loop["model"] {
    const lines = [...func.form.body, ...(func.agent?.config ?? [])];
    const named =
        e.model !== undefined ? [e.model] : lines.flatMap((line) => (line.kind === "config" && line.key === "model" ? [line.value] : []));
    const [one] = named;
    if (named.length !== 1 || one?.kind !== "name") return null;
    const meaning = w.scope.lookup(func.file, func.agent?.name ?? null, one.name);
    return meaning?.kind === "cap" && meaning.cap.kind === "thing" && meaning.cap.thing.what === "llm" ? meaning.cap : null;
}
