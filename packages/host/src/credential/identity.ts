/**
 * Identities: on whose behalf a stage acts, and what cannot begin without one.
 *
 * Boundary: looks at forms and texts; asks no source.
 *
 * IDN1: a credential that a user delegates (`oauth`) belongs to a user. Where neither the stage nor the run names one, nothing of the run begins.
 */
import { type Program, siteAt, stagesOf } from "@remit/language";
import { RemitError } from "../failure/error.ts";

/** `user:alice`, `alice`, `team:a.b+c@example.com`. */
const IDENTITY = /^(?:[a-z][a-z0-9-]*:)?[A-Za-z0-9][A-Za-z0-9._@+-]*$/;
const MAX_IDENTITY = 200;

export function isIdentity(text: string): boolean {
    return text.length <= MAX_IDENTITY && IDENTITY.test(text);
}

/** IDN1, and identities that are none. Throws `RemitError` at the first such stage. `as`: of the run. */
export function checkIdentities({ files }: Program, as: string | undefined): void {
    if (as !== undefined && !isIdentity(as)) throw wrong(as, null);
    for (const { file, blocks = [] } of files)
        for (const stage of blocks.flatMap(({ body }) => stagesOf(body))) {
            const { credential, as: own } = stage.with ?? {};
            const site = siteAt(file, stage.at);
            if (own !== undefined && !isIdentity(own)) throw wrong(own, site);
            if (credential?.source !== "oauth" || own !== undefined || as !== undefined) continue;
            throw new RemitError({
                kind: "denied",
                message: `oauth(${JSON.stringify(credential.arg)}) is a credential that a user delegates, and nothing says which user`,
                site,
                hint: 'say it with --as user:NAME or REMIT_AS, or write as: "user:NAME" beside the credential',
            });
        }
}

function wrong(text: string, site: ReturnType<typeof siteAt>): RemitError {
    const hint = "write a name such as user:alice: letters, digits and . _ @ + -";
    return new RemitError({ kind: "value", message: `${JSON.stringify(text)} is no identity`, site, hint });
}
