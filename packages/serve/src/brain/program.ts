/**
 * The program that a server's turns run: one of the person's, or the one that comes with it.
 *
 * Boundary: loads; what a turn gives it is the session's.
 */
import { readFileSync } from "node:fs";
import { type HostToolSource, load, type LoadOptions, type LoadSource, type RemitProgram } from "@remit/host";
import { asset } from "../assets/files.ts";
import { conversation, person } from "../session/given.ts";
import type { Brain, Given } from "../session/brain.ts";

/** A person thinks between two turns: what a server of tools holds for a session (a page, a login) is still there, and a model stays loaded. */
export const IDLE_MS = 5 * 60_000;

/** Text of the program that comes with the server; people copy it. */
export function brainSource(): string {
    return readFileSync(asset("src/brain/brain.remit"), "utf8");
}

/** `file`: of the person's program; undefined: the one that comes with the server, under the configuration of the current folder. `identity`: of a client; `owner` is what the options say. */
export function brainOf(
    file: string | undefined,
    options: LoadOptions,
    identity: (client: string, owner: string | undefined) => string | undefined,
): Brain & { readonly first: () => Promise<RemitProgram> } {
    const source: LoadSource = file === undefined ? { source: brainSource(), file: "brain.remit" } : { path: file };
    const { reach: everywhere = [], as: owner, ...rest } = options;
    const once = (
        model: string | undefined,
        tools: { readonly [name: string]: HostToolSource },
        { reach, as }: Given,
    ): Promise<RemitProgram> =>
        load(source, {
            idle: IDLE_MS,
            ...rest,
            ...(model === undefined ? {} : { model }),
            ...(as === undefined ? {} : { as }),
            reach,
            tools: { ...options.tools, ...tools },
        });
    return {
        load: once,
        first: () => once(undefined, SESSION_TOOLS, { reach: everywhere, as: undefined }),
        reach: everywhere,
        identity: (client) => identity(client, owner),
    };
}

/** What a session gives to its program, where there is none: nothing is lent, nothing was said, no person answers. */
export const SESSION_TOOLS: { readonly [name: string]: HostToolSource } = {
    lent: () => ({}),
    conversation: conversation([]),
    person: person(async () => null),
};
