/**
 * What a project says of authority besides its programs: for the checker, the table of authority and the machine.
 *
 * Boundary: shapes, and which imports are meant. That a project only takes away is the machine's (A2).
 */
import type { ClauseForm, RemitForm } from "../form/form.ts";
import type { Site, Source } from "../text/source.ts";
import { keyOf } from "./thing.ts";

/** What becomes of untrusted values in calls that do more than read, where no clause of the program speaks of the argument. */
export interface Untrusted {
    readonly gate: "ask" | "never";
    readonly site?: Site;
}

/** A clause or remit of a project's file, and where it stands there. */
export type ProjectClause = ClauseForm & { readonly site?: Site };
export type ProjectRemit = RemitForm & { readonly site?: Site };

/** Origins that uses may lead to. */
export interface ReachRule {
    /** `https://shop.example`, `http://127.0.0.1:8080`. */
    readonly origins: readonly string[];
    /** URIs of imports that it binds besides those of HTTP, by the addresses in their arguments. */
    readonly tools: readonly string[];
    /** Who said so, in words. */
    readonly by: string;
    readonly site?: Site;
}

/** It can tighten, never loosen. */
export interface ProjectPolicy {
    /** Where uses may lead: all of these have to allow it. */
    readonly reach?: readonly ReachRule[];
    /** Clauses by URI of the import, or by its name in the program. */
    readonly clauses?: { readonly [place: string]: readonly ProjectClause[] };
    /** Remits that bind agents besides their own, by name. */
    readonly remits?: { readonly [agent: string]: ProjectRemit | readonly ProjectRemit[] };
    /** Control flow carries labels everywhere. */
    readonly strict?: boolean;
    /** The policy for what no clause speaks of. */
    readonly untrusted?: Untrusted;
    /** The input of a run is unlabelled where its caller does not say its origin. */
    readonly input?: "unlabelled";
}

/** A policy with the texts of the files that it stands in, by name. */
export interface Project {
    readonly policy: ProjectPolicy;
    readonly sources: ReadonlyMap<string, Source>;
}

/** What a project says of a thing, under its URI or under the name of one of its imports. */
export function addedTo(
    policy: ProjectPolicy,
    key: string,
    imports: readonly { readonly name: string; readonly what: string; readonly uri: string }[],
): readonly ProjectClause[] {
    return Object.entries(policy.clauses ?? {}).flatMap(([place, clauses]) =>
        imports.some(({ name, what, uri }) => name === place || keyOf(what, place, "") === (what === "agent" ? keyOf(what, uri, "") : key))
            ? clauses
            : [],
    );
}

/** What a project says of agents of a name. */
export function remitsOfProject(policy: ProjectPolicy, agent: string): readonly ProjectRemit[] {
    const { remits } = policy;
    return remits === undefined || !Object.hasOwn(remits, agent) ? [] : [remits[agent] as ProjectRemit | readonly ProjectRemit[]].flat();
}
