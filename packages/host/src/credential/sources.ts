/**
 * The sources that are built in and keep nothing: the environment, files, commands.
 *
 * Boundary: from a name to a value, for one origin. Values that a user delegated are in `stored.ts`.
 *
 * CSO1: where an entry of a trusted configuration names a source, its credential goes to the origins of the entry and nowhere else.
 * CSO2: without an entry it goes where a key goes without being asked about (`free`), or, where the person trusts the project for this time, to what the
 *      program's own text names. A program that was found somewhere gets no secret out.
 * CSO3: a command runs only where a trusted configuration names it, or where the person trusts the project for this time.
 */
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { type Environment, homeOf } from "../ledger/place.ts";
import { resolveSecret } from "../secret/ref.ts";
import { printed } from "./exec.ts";
import { CredentialError, type CredentialSource, type CredentialSources, type CredentialWanted } from "./source.ts";

export interface SourceSetup {
    readonly config: Config;
    readonly env: Environment;
    /** Absolute folder of the program's tree, else the workspace: where relative paths of the program begin. */
    readonly folder: string;
}

export function builtInSources(setup: SourceSetup): CredentialSources {
    const { env, folder } = setup;
    return {
        env: bounded("env", setup, ({ arg }) => {
            const found = resolveSecret(`env:${arg}`, { env });
            if (found.ok) return { kind: "given", value: found.value };
            return { kind: "missing", message: found.message, hint: `set ${arg} in the environment` };
        }),
        file: bounded("file", setup, ({ arg }) => {
            const path = arg.startsWith("~/") ? join(homeOf(env), arg.slice(2)) : arg;
            const found = resolveSecret(`file:${path}`, { env, folder });
            if (found.ok) return { kind: "given", value: found.value };
            if (found.missing !== true)
                throw new CredentialError("denied", found.message, "a secret file is yours alone, and holds one secret");
            return { kind: "missing", message: found.message, hint: `write the secret to ${arg}, and chmod 600 it` };
        }),
        exec: bounded("exec", setup, async ({ arg, signal }) => {
            const found = await printed(arg, { env, folder, signal });
            if (found.ok) return { kind: "given", value: found.value };
            return {
                kind: "missing",
                message: found.message,
                hint: "run it by hand to see why, for example where it wants you to sign in",
            };
        }),
    };
}

function bounded(source: string, { config }: SourceSetup, read: CredentialSource): CredentialSource {
    return (wanted) => {
        const reference = `${source}:${wanted.arg}`;
        const entry = Object.hasOwn(config.secrets, reference) ? config.secrets[reference] : undefined;
        if (entry !== undefined) return entry.origins.includes(wanted.to.origin) ? read(wanted) : { kind: "elsewhere" };
        if (!mayGo(source, config, wanted)) throw denied(reference, config, wanted);
        return read(wanted);
    };
}

/** CSO2, CSO3. */
function mayGo(source: string, { always }: Config, { to }: CredentialWanted): boolean {
    const isTrusted = always === true;
    return source === "exec" ? isTrusted && (to.free || to.named) : to.free || (isTrusted && to.named);
}

function denied(reference: string, { withheld }: Config, { to }: CredentialWanted): CredentialError {
    const file = withheld.get(`secret:${reference}`);
    const what = `the credential ${reference} may not be sent to ${to.origin}`;
    if (file !== undefined)
        return new CredentialError(
            "denied",
            `${what}: ${file.name}, which speaks of it, is not trusted`,
            "look at that file, then trust it with `remit trust`, or --trust for once",
        );
    return new CredentialError("denied", what, `in a trusted remit.json write "secrets": {"${reference}": ["${to.origin}"]}`);
}
