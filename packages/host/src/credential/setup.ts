/**
 * The credentials of one program's stages in this process.
 *
 * Boundary: puts sources together; those of the caller come before the built-in ones.
 */
import { createCredentials, type Credentials } from "./credentials.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { CredentialSources } from "./source.ts";
import { storedSources } from "./stored.ts";
import { builtInSources, type SourceSetup } from "./sources.ts";

export interface CredentialsFor extends Omit<SourceSetup, "folder"> {
    /** Absolute folder of the program's tree; empty where there is none. */
    readonly root: string;
    readonly workspace: string;
    /** Sources of the caller's own, by the names that programs write. */
    readonly more: CredentialSources;
    readonly secrets: Pick<Scrubber, "add">;
}

export function credentialsFor({ more, secrets, root, workspace, ...setup }: CredentialsFor): Credentials {
    const folder = root === "" ? workspace : root;
    return createCredentials({ sources: { ...builtInSources({ ...setup, folder }), ...storedSources(setup), ...more }, secrets });
}
