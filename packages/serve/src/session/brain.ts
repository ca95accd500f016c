/**
 * What a session does its turns with: a program, and what it is given.
 *
 * Boundary: shapes only; `../brain/program.ts` makes one.
 */
import type { HostTool, RemitProgram } from "@remit/host";
import type { ReachRule } from "@remit/language";

/** What a turn is bound by and acts as, beside the program. */
export interface Given {
    readonly reach: readonly ReachRule[];
    readonly as: string | undefined;
}

/** What a session does its turns with. */
export interface Brain {
    /** The program with these tools; `model`: in place of its own. */
    load(model: string | undefined, tools: { readonly [name: string]: () => HostTool }, given: Given): Promise<RemitProgram>;
    /** On whose behalf turns of a client make requests; undefined: no user's. What a user has delegated is sent for no other one. */
    identity(client: string): string | undefined;
    /** Where every session may reach. */
    readonly reach: readonly ReachRule[];
}
