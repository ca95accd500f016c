/**
 * The one way out of a machine: whatever leaves it passes the scrubber here, also a secret that the program put together from parts.
 *
 * Boundary: between a machine and what drives, replays or shows it. What comes in from outside is scrubbed where an effect is performed.
 *
 * K9: no event, effect, ruling or result that leaves holds a known secret. A saved state holds references in the places of secrets, and a machine
 *     that is loaded from it computes with the same values.
 * K10: paths, kinds, principals and sites are the program's own words; they are left as they are. A program whose text holds a secret is refused.
 */
import type { Json } from "@remit/language";
import type { Effect, MachineEvent, Ruling } from "@remit/machine";
import type { Advance, Steppable } from "../run/drive.ts";
import type { Scrubber } from "./scrub.ts";

/** The same machine, of which nothing leaves with a secret in it. */
export function leaving(machine: Steppable, secrets: Scrubber): Steppable {
    const { rule, began } = machine;
    const shown = (advance: Advance): Advance => ({
        ...advance,
        events: advance.events.map((event) => eventOut(event, secrets)),
        effects: advance.effects.map((effect) => effectOut(effect, secrets)),
        ...(advance.end === undefined ? {} : { end: cleaned(advance.end, secrets) }),
    });
    return {
        advance: (until) => shown(machine.advance(until)),
        resolve: (path, outcome) => machine.resolve(path, outcome),
        end: (failure) => shown(machine.end(failure)),
        ...(began === undefined ? {} : { began }),
        ...(rule === undefined ? {} : { rule: (path, use): Ruling => cleaned(rule(path, use), secrets) }),
        save: (spent) => {
            const { kind, json } = machine.save(spent);
            return { kind, json: secrets.conceal(json) };
        },
        get pending() {
            return machine.pending.map((effect) => effectOut(effect, secrets));
        },
        get steps() {
            return machine.steps;
        },
        get reach() {
            return machine.reach;
        },
    };
}

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

function cleaned<T>(value: T, { scrub }: Scrubber): T {
    return scrub(value as unknown as Json) as unknown as T;
}
