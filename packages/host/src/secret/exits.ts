/**
 * The one way out of a machine: whatever leaves it passes the scrubber here, also a secret that the program put together from parts.
 *
 * Boundary: between a machine and what drives, replays or shows it. What comes in from outside is scrubbed where an effect is performed.
 *
 * EI9: no event, effect, ruling or result that leaves holds a known secret. A saved state holds references in the places of secrets, and a machine
 *     that is loaded from it computes with the same values.
 * EI10: paths, kinds, principals and sites are the program's own words; they are left as they are. A program whose text holds a secret is refused.
 */
import type { Json } from "@remit/language";
import type { Advance, Batch, Conducted, Effect, MachineEvent, Remedies } from "@remit/machine";
import type { Scrubber } from "./scrub.ts";

/** The same machine, of which nothing leaves with a secret in it. */
export function leaving(machine: Conducted, secrets: Scrubber): Conducted {
    return {
        advance: (until) => {
            const { events, effects, result, ...rest }: Advance = machine.advance(until);
            return {
                ...rest,
                events: events.map((event) => eventOut(event, secrets)),
                effects: effects.map((effect) => effectOut(effect, secrets)),
                ...(result === undefined ? {} : { result: cleaned(result, secrets) }),
            };
        },
        resolve: (path, outcome) => machine.resolve(path, outcome),
        exceed: (kind, message, hint) => machine.exceed(kind, message, hint),
        began: (path) => machine.began?.(path),
        rule: (path, use, read) => cleaned(machine.rule(path, use, read), secrets),
        save: (wanted) => {
            const saved = machine.save(wanted);
            return "image" in saved ? { image: secrets.conceal(saved.image) } : { delta: secrets.conceal(saved.delta) };
        },
        goOn: (how, by) => machine.goOn?.(how, by),
        get canGoOn() {
            return machine.canGoOn === true;
        },
        get remedies() {
            const { answer, ...rest } = machine.remedies ?? NO_REMEDIES;
            return { ...rest, answer: answer.map((effect) => effectOut(effect, secrets)) };
        },
        get raised() {
            return machine.raised ?? {};
        },
        get pending() {
            return machine.pending.map((effect) => effectOut(effect, secrets));
        },
        get usage() {
            return machine.usage;
        },
        get reach() {
            return machine.reach;
        },
        set passed(passed: NonNullable<Conducted["passed"]>) {
            machine.passed = passed;
        },
        get conduct() {
            return machine.conduct ?? null;
        },
    };
}

const NO_REMEDIES: Remedies = { raise: [], retry: false, answer: [] };

/** An effect as a performer gets it. */
export function effectOut(effect: Effect, { scrub }: Pick<Scrubber, "scrub">): Effect {
    const request = scrub(effect.request);
    const labels = scrub(effect.labels as unknown as Json) as unknown as Effect["labels"];
    return request === effect.request && labels === effect.labels ? effect : { ...effect, request, labels };
}

function eventOut(event: MachineEvent, { scrub }: Scrubber): MachineEvent {
    const data = scrub(event.data);
    const labels = scrub(event.labels as unknown as Json) as unknown as MachineEvent["labels"];
    return data === event.data && labels === event.labels ? event : { ...event, data, labels };
}

/** A batch of a machine of which nothing leaves with a secret: what followed from the world is left, and the rest passed the scrubber here before. */
export function worldOut(batch: Batch, secrets: Scrubber): Batch {
    const { events } = batch;
    const isOfWorld = ({ data }: MachineEvent): boolean => (data as { readonly host?: Json } | null)?.host === true;
    if (events?.some(isOfWorld) !== true) return batch;
    return { ...batch, events: events.map((event) => (isOfWorld(event) ? { ...event, data: secrets.scrub(event.data) } : event)) };
}

/** A batch of a conductor that knows no secrets: what passed no scrubber where the machine runs passes one here. */
export function batchOut(batch: Batch, secrets: Scrubber): Batch {
    const { outcomes, events, state, end } = batch;
    return {
        ...batch,
        ...(outcomes === undefined ? {} : { outcomes: cleaned(outcomes, secrets) }),
        ...(events === undefined ? {} : { events: events.map((event) => eventOut(event, secrets)) }),
        ...(state === undefined ? {} : { state: { ...state, json: secrets.conceal(state.json) } }),
        ...(end === undefined ? {} : { end: cleaned(end, secrets) }),
    };
}

function cleaned<T>(value: T, { scrub }: Scrubber): T {
    return scrub(value as unknown as Json) as unknown as T;
}
