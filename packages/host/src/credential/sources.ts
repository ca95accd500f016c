/**
 * The sources that are built in and keep nothing: the environment, files, commands.
 *
 * Boundary: from a name to a value, for one origin. Values that a user delegated are in `stored.ts`.
 *
 * CSO1: where an entry of a trusted configuration names a source, its credential goes to the origins of the entry and nowhere else.
 * CSO2: without an entry it goes where a key goes without being asked about (`free`), or, where the person trusts the project for this time, to what the
 *      program's own text names. A program that was found somewhere gets no secret out.
 * CSO4: requests that want the value of one command at the same time wait for one run of it, and use what it printed for `KEEP_MS`, unless a server
 *     refused that.
 * CSO3: a command runs only where a trusted configuration names it, or where the person trusts the project for this time.
 */
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { type Environment, homeOf } from "../ledger/place.ts";
import type { Children } from "../process/child.ts";
import { resolveSecret } from "../secret/ref.ts";
import { type Printed, printed } from "./exec.ts";
import { CredentialError, type CredentialSource, type CredentialSources, type CredentialWanted } from "./source.ts";

export interface SourceSetup {
    readonly config: Config;
    readonly env: Environment;
    readonly children: Children;
    /** Absolute folder of the program's tree, else the workspace: where relative paths of the program begin. */
    readonly folder: string;
}

export function builtInSources(setup: SourceSetup): CredentialSources {
    const { env, children, folder } = setup;
    const commands = remembered((line) => printed(line, { env, children, folder }));
    return {
        env: bounded("env", setup, ({ arg }) => {
            const found = resolveSecret(`env:${arg}`, { env });
            if (found.ok) return { kind: "given", value: found.value };
            return { kind: "missing", message: found.message, hint: `set ${arg} in the environment`, atStart: true };
        }),
        file: bounded("file", setup, ({ arg }) => {
            const path = arg.startsWith("~/") ? join(homeOf(env), arg.slice(2)) : arg;
            const found = resolveSecret(`file:${path}`, { env, folder });
            if (found.ok) return { kind: "given", value: found.value };
            if (found.missing !== true)
                throw new CredentialError("denied", found.message, "a secret file is yours alone, and holds one secret");
            return { kind: "missing", message: found.message, hint: `write the secret to ${arg}, and chmod 600 it` };
        }),
        exec: bounded("exec", setup, async ({ arg, signal, refused }) => {
            const found = await unlessAborted(commands(arg, refused), signal);
            if (found.ok) return { kind: "given", value: found.value };
            return {
                kind: "missing",
                message: found.message,
                hint: "run it by hand to see why, for example where it wants you to sign in",
            };
        }),
    };
}

/** How long what a command printed is used, milliseconds: a fan-out does not ask a password manager hundreds of times. */
const KEEP_MS = 60_000;

/** CSO4. What gave nothing is asked again. */
function remembered(run: (line: string) => Promise<Printed>): (line: string, refused: string | undefined) => Promise<Printed> {
    const known = new Map<string, { readonly printed: Promise<Printed>; readonly until: number }>();
    return async (line, refused) => {
        const kept = known.get(line);
        if (kept !== undefined && kept.until > performance.now()) {
            const found = await kept.printed;
            if (found.ok && found.value !== refused) return found;
        }
        const newer = known.get(line);
        // Another request that was refused, too, may have asked meanwhile.
        if (newer !== undefined && newer !== kept) return newer.printed;
        const made = { printed: run(line), until: performance.now() + KEEP_MS };
        known.set(line, made);
        made.printed.catch(() => known.delete(line));
        return made.printed;
    };
}

/** The command goes on for the others that wait for it, within its bound. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((done, fail) => {
        const stop = (): void => fail(signal.reason);
        if (signal.aborted) return stop();
        signal.addEventListener("abort", stop, { once: true });
        work.then(done, fail).finally(() => signal.removeEventListener("abort", stop));
    });
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
