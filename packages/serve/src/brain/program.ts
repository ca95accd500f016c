/**
 * The program that a server's turns run: one of the person's, or the one that comes with it.
 *
 * Boundary: loads; what a turn gives it is the session's.
 */
import { readFileSync } from "node:fs";
import { type HostToolSource, load, type LoadOptions, type LoadSource, type RemitProgram } from "@remit/host";
import type { ReachRule } from "@remit/language";
import { asset } from "../assets/files.ts";
import { conversation, person } from "../session/given.ts";
import type { Brain } from "../session/session.ts";

/** Text of the program that comes with the server; people copy it. */
export function brainSource(): string {
    return readFileSync(asset("src/brain/brain.remit"), "utf8");
}

/** `file`: of the person's program; undefined: the one that comes with the server, under the configuration of the current folder. */
export function brainOf(file: string | undefined, options: LoadOptions): Brain & { readonly first: () => Promise<RemitProgram> } {
    const source: LoadSource = file === undefined ? { source: brainSource(), file: "brain.remit" } : { path: file };
    const { reach: everywhere = [] } = options;
    const once = (
        model: string | undefined,
        tools: { readonly [name: string]: HostToolSource },
        reach: readonly ReachRule[],
    ): Promise<RemitProgram> =>
        load(source, { ...options, ...(model === undefined ? {} : { model }), reach, tools: { ...options.tools, ...tools } });
    return { load: once, first: () => once(undefined, SESSION_TOOLS, everywhere), reach: everywhere };
}

/** What a session gives to its program, where there is none: nothing is lent, nothing was said, nobody answers. */
export const SESSION_TOOLS: { readonly [name: string]: HostToolSource } = {
    lent: () => ({}),
    conversation: conversation([]),
    person: person(async () => null),
};
