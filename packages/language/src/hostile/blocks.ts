/**
 * Blocks: what flows from stage to stage.
 *
 * Boundary: the flow forms of a file; a stage is a call like any other (`calls.ts`).
 *
 * HB1: what flows into a stage may become any of its parameters that no name gives.
 * HB2: a stage with `retries` or `on_error: "none"` catches its own failure. So the data that may make it fail decides what the stage gives, and whether
 *     the calls in it happen.
 * HB3: facts of a stage are kept under its own node. A copy of the node would be a new stage in each round, and the rounds would never end.
 */
import type { FlowForm, StageArgForm, StageForm } from "../form/form.ts";
import { type Calling, handedOver, toolUse, userCall } from "./calls.ts";
import { dataVal, deciding, join, joinOf, NO_FACTS, PLAIN, union, type Val, capVal } from "./facts.ts";
import { ANY } from "./known.ts";
import { isOutsideAgent, type Cap, type Func } from "./scope.ts";
import type { Place } from "./walk.ts";

/** What a stage gives, and where what follows it stands. */
interface Flowed {
    readonly value: Val;
    readonly place: Place;
}

export function flowed(w: Calling, place: Place, form: FlowForm, incoming: Val): Flowed {
    switch (form.kind) {
        case "pipe": {
            let at: Flowed = { value: incoming, place };
            for (const stage of form.stages) at = flowed(w, at.place, stage, at.value);
            return at;
        }
        case "fan": {
            const id = `made ${w.known.idOf(form)}`;
            for (const branch of form.branches) {
                const one = flowed(w, place, branch, incoming);
                // Whether a branch goes on to its end shows in the list.
                w.known.put(id, ANY, join(one.value, dataVal(new Map(), one.place.local)));
            }
            return { value: { ...PLAIN, made: new Set([id]) }, place };
        }
        case "block": {
            const body = flowed(w, place, form.body, incoming);
            // Whether its branch went on to its end shows in what it gives.
            const value = join(body.value, dataVal(NO_FACTS, body.place.local));
            if (form.name !== undefined) w.known.add(`block ${place.func.file} ${form.name}`, value);
            return { value, place };
        }
        case "stage":
            return stage(w, place, form, incoming);
    }
}

/** HB2. */
function stage(w: Calling, place: Place, form: StageForm, incoming: Val): Flowed {
    const { retries = 0, on_error } = form.with ?? {};
    if (retries === 0 && on_error !== "none") return tried(w, place, form, incoming);
    const key = `try ${w.known.idOf(form)}`;
    const failed = deciding(w.known.facts(key), w.site(place, form));
    const local = union(place.local, failed);
    const inside = { ...place, local, tries: [...place.tries, key], again: place.again || retries > 0 };
    const { value, place: behind } = tried(w, inside, form, incoming);
    w.touch(inside, w.known.deepFacts(join(value, incoming)));
    return { value: join(value, dataVal(NO_FACTS, failed)), place: { ...place, local: behind.local } };
}

function tried(w: Calling, place: Place, form: StageForm, incoming: Val): Flowed {
    const { func } = place;
    const meaning = w.scope.lookup(func.file, null, form.call);
    if (meaning?.kind === "cap") return { value: called(w, place, { cap: meaning.cap, form, args: form.args, incoming }), place };
    if (meaning !== null) return { value: incoming, place };
    const verb = w.scope.verb(form.call);
    const value =
        verb === undefined ? native(w, place, form, incoming) : functionStage(w, place, verb, { args: form.args, incoming, by: form });
    if (form.call !== "when") return { value: join(value, w.shown(dataVal(incoming.data, incoming.picks))), place };
    const by = deciding(w.known.deepFacts(join(value, incoming)), w.site(place, form));
    return { value: incoming, place: { ...place, local: union(place.local, by) } };
}

interface Stage {
    readonly cap: Cap;
    /** HB3. */
    readonly form: StageForm;
    readonly args: readonly StageArgForm[];
    readonly incoming: Val;
}

function called(w: Calling, place: Place, { cap, form, args: given, incoming }: Stage): Val {
    if (cap.kind === "func") return functionStage(w, place, cap.func, { args: given, incoming, by: form });
    const { thing } = cap;
    const flows = join(incoming, w.known.read(incoming, null));
    const args = new Map<string, Val>();
    for (const { name, value } of given) args.set(name ?? ANY, argOf(w, place, value));
    args.set(ANY, join(args.get(ANY) ?? PLAIN, flows));
    if (thing.what === "tool")
        return toolUse(w, place, { cap, method: form.method ?? null, args, by: "program", named: false, node: form });
    if (thing.what !== "agent") return flows;
    if (isOutsideAgent(thing)) return handedOver(w, place, { cap, method: "send", args, by: "program", named: false, node: form });
    const own = w.scope.agentOf(thing);
    const main = own === null ? undefined : w.scope.mainOf(own.file, own.form);
    return main === undefined ? flows : functionStage(w, place, main, { args: given, incoming, by: form });
}

function functionStage(
    w: Calling,
    place: Place,
    func: Func,
    { args, incoming, by }: { readonly args: readonly StageArgForm[]; readonly incoming: Val; readonly by: object },
): Val {
    const flows = join(incoming, w.known.read(incoming, null));
    const loose = joinOf([flows, ...args.filter(({ name }) => name === undefined).map(({ value }) => argOf(w, place, value))]);
    const given = func.form.params.map(({ name }) => {
        const named = args.find((one) => one.name === name);
        return { name, value: named === undefined ? loose : argOf(w, place, named.value) };
    });
    return userCall(w, place, func, { given, isOwn: false, by });
}

/** Verbs that the machine has: `map` calls what it names with each item; the others pass on what came in. */
function native(w: Calling, place: Place, form: StageForm, incoming: Val): Val {
    const items = join(incoming, w.known.read(incoming, null));
    const caps = form.args.flatMap(({ value }) => [...argOf(w, place, value).caps]);
    const names = form.args.flatMap(({ value }) =>
        value.kind === "ref" ? [value.name] : value.kind === "refs" ? value.items.map(({ name }) => name) : [],
    );
    const verbs = names.flatMap((name) => (w.scope.lookup(place.func.file, null, name) === null ? (w.scope.verb(name) ?? []) : []));
    // How many there are decides over the calls.
    const many = deciding(w.known.shapeOf(incoming), w.site(place, form));
    const each = { ...place, local: union(place.local, many), again: true };
    return joinOf([
        items,
        ...caps.map((id) => called(w, each, { cap: w.scope.cap(id), form, args: [], incoming: items })),
        ...verbs.map((verb) => functionStage(w, each, verb, { args: [], incoming: items, by: form })),
    ]);
}

function argOf(w: Calling, { func }: Place, value: StageArgForm["value"]): Val {
    if (value.kind === "literal") return PLAIN;
    const items = value.kind === "ref" ? [value] : value.items;
    return joinOf(
        items.map(({ name }) => {
            const meaning = w.scope.lookup(func.file, null, name);
            if (meaning === null) return PLAIN;
            return meaning.kind === "cap" ? capVal(meaning.cap.id) : w.known.val(`${meaning.kind} ${meaning.name}`);
        }),
    );
}
