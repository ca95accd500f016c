/**
 * The host of a program: models, tools, memory, people.
 *
 * Boundary: puts performers together. Each is loaded when the first effect of its kind comes, so that starting costs only what is used.
 */
import type { Json, Program } from "@remit/language";
import type { Effect, ToolRequest } from "@remit/machine";
import { basics } from "./basics.ts";
import { callFunctions } from "./functions.ts";
import { type Host, type Performer, hostOf } from "./host.ts";
import { people } from "./people.ts";
import type { Handlers, HostOptions } from "./setup.ts";

/** What several runs of one program share. */
export interface World {
    readonly host: Host;
    /** Takes every secret that was used out of what the world said. */
    scrub(json: Json): Json;
}

export interface WorldOf {
    readonly program: Program;
    /** Absolute folder of the program's tree, empty where there is none. */
    readonly root: string;
}

export function worldOf(about: WorldOf, options: HostOptions): World {
    const functions = options.tools ?? {};
    const tool: Performer = async (effect, io) => {
        const { tool: name } = effect.request as unknown as ToolRequest;
        const own = Object.hasOwn(functions, name) ? functions[name] : undefined;
        if (own !== undefined) return callFunctions(own, effect, io);
        return { ok: false, failure: { kind: "unreachable", message: `nothing here performs tool ${name}`, site: effect.site } };
    };
    return { host: hostOf({ ...basics, tool, ...options.performers }), scrub: (json) => json };
}

/** The host of one run: the shared world, and the people this run may ask. */
export function withPeople(host: Host, on: Handlers): Host {
    const asked = hostOf(people(on));
    return {
        ...host,
        perform: (effect: Effect, io) => (effect.kind === "ask" || effect.kind === "input" ? asked : host).perform(effect, io),
    };
}
