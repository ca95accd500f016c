/**
 * The table of `remit check --authority --assume-hostile`, held against what an attacker reached: all that is not the owner's own word is taken for hostile, and
 * what was reached and is not listed is a hole in the table.
 *
 * Boundary: from a program and a difference to what the table lacks.
 */
import { type HostileTable, hostileUses, type Program } from "../../../packages/language/src/index.ts";
import { clausesOf } from "../record.ts";
import type { AnyWorld } from "../worlds/all.ts";
import { differing } from "./judge.ts";
import type { Difference, Write } from "./recorder.ts";

export function tableFor(world: AnyWorld, rules: Program, untrusted: "ask" | "never" | null): HostileTable {
    const box = world.tools(world.state(""), []);
    const tools = [...new Set(rules.files.flatMap((file) => file.imports.filter(({ what }) => what === "tool").map(({ name }) => name)))];
    const hostile = tools.filter((tool) => !clausesOf(rules, tool).some(({ kind }) => kind === "trusted"));
    return hostileUses(rules, hostile, {
        policy: untrusted === null ? {} : { untrusted: { gate: untrusted } },
        descriptions: () => "caller",
        reads: (tool, _uri, method) => box[tool]?.[method]?.readOnly,
    });
}

/** What the table lists of uses that do more than read: `Bank.transfer amount`, `Bank.transfer called`. */
export function listedIn({ uses }: HostileTable): Set<string> {
    const more = uses.filter(({ does }) => does !== "reads");
    return new Set(
        more.flatMap(({ tool, method, choice, args }) => [
            ...args.map(({ name }) => `${tool}.${method} ${name}`),
            ...(choice === null ? [] : [`${tool}.${method} called`]),
        ]),
    );
}

/** Uses, or arguments of them, that the table does not list. */
export function unlisted({ uses }: HostileTable, { happened, reordered }: Difference, clean: readonly Write[]): string[] {
    const of = ({ tool }: Write) =>
        uses.filter((use) => `${use.tool}.${use.method}` === tool || (use.method === "*" && tool.startsWith(`${use.tool}.`)));
    const chosen = (write: Write): string[] =>
        of(write).some(({ choice, by }) => choice !== null || by !== "program") ? [] : [`${write.tool} called`];
    const found = happened.flatMap(({ write, instead }) =>
        instead === null
            ? chosen(write)
            : differing(write, instead)
                  .filter((arg) => !of(write).some(({ args }) => args.some(({ name }) => name === arg || name === "*")))
                  .map((arg) => `${write.tool} ${arg}`),
    );
    return reordered && clean.every((write) => chosen(write).length > 0) ? [...found, "another order"] : found;
}
