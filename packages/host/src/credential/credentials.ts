/**
 * The credential of an effect: from what its stage names to the header that is sent.
 *
 * Boundary: asks sources, tells the scrubber, tries once more after a 401. What is sent, and what an answer is, its caller says.
 *
 * CRD2: a value is known as a secret before its caller has it.
 * CRD3: a server that does not accept a credential is asked once more where the source gives another one; after that it is an error.
 * CRD4: the identity is the stage's where it names one, else the run's; there may be none.
 */
import type { Effect } from "@remit/machine";
import { MIN_SECRET } from "../secret/forms.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { CredentialError, type CredentialSources, type CredentialWanted, type Destination } from "./source.ts";

/** An effect has the identity of its stage, else of its run. Where a stage names no credential, its caller may. */
export interface Sender {
    readonly effect?: Pick<Effect, "as"> & { readonly credential?: { readonly source: string; readonly arg: string } };
    readonly signal: AbortSignal;
}

export interface Given {
    /** `env:KEY`, with the identity where there is one: for people, never the value. */
    readonly name: string;
    readonly value: string;
}

export interface Credentials {
    /** Null where the stage names none, or one for other origins. Throws `CredentialError`. */
    of(sender: Sender, to: Destination, refused?: string): Promise<Given | null>;
    /**
     * Sends with the credential (CRD3). `unauthorized`: the answer says that the credential was not accepted. Throws `CredentialError`, and what
     * `send` throws.
     */
    send<T>(sender: Sender, to: Destination, how: Sending<T>): Promise<T>;
}

export interface Sending<T> {
    /** Tried first, in place of what the source gives now. */
    readonly first?: Given;
    send(given: Given | null): Promise<T>;
    unauthorized(answer: T): boolean;
}

export interface CredentialsSetup {
    readonly sources: CredentialSources;
    /** Told of each value before it is used. */
    readonly secrets: Pick<Scrubber, "add">;
}

export function createCredentials({ sources, secrets }: CredentialsSetup): Credentials {
    const of: Credentials["of"] = async ({ effect, signal }, to, refused) => {
        const { credential } = effect ?? {};
        if (credential === undefined) return null;
        const { source, arg } = credential;
        const as = effect?.as ?? null;
        const ask = Object.hasOwn(sources, source) ? sources[source] : undefined;
        const name = nameOf(source, arg, as);
        // No stage names it: where no logins are kept there is none.
        if (ask === undefined && source === "login") return null;
        if (ask === undefined)
            throw new CredentialError(
                "denied",
                `nothing here gives the credential ${name}`,
                `sources are ${Object.keys(sources).join(", ")}`,
            );
        const wanted: CredentialWanted = { arg, as, to, signal, ...(refused === undefined ? {} : { refused }) };
        const answer = await ask(wanted);
        if (answer.kind === "elsewhere") return null;
        if (answer.kind === "missing")
            throw new CredentialError("missing", `the credential ${name} is missing: ${answer.message}`, answer.hint, answer.atStart);
        const given: Given = { name, value: answer.value };
        const known = as === null || !IDENTIFIED.has(source) ? `${source}:${arg}` : `${source}:${arg} ${as}`;
        // Of what is too short to be told from other text, the whole header is.
        secrets.add({ name: known, value: given.value.length < MIN_SECRET ? authorizationOf(given) : given.value });
        return given;
    };
    return {
        of,
        send: async (sender, to, { first, send, unauthorized }) => {
            const given = first ?? (await of(sender, to));
            const answer = await send(given);
            if (given === null || !unauthorized(answer)) return answer;
            const other = await of(sender, to, given.value);
            const again = other === null || other.value === given.value ? null : await send(other);
            if (again !== null && !unauthorized(again)) return again;
            throw new CredentialError("refused", `${to.origin} does not accept the credential ${given.name} (HTTP 401)`, renewHint(sender));
        },
    };
}

function nameOf(source: string, arg: string, as: string | null): string {
    const name = `${source}(${JSON.stringify(arg)})`;
    return as === null || !IDENTIFIED.has(source) ? name : `${name} of ${as}`;
}

/** Sources that depend on whose credential it is. */
const IDENTIFIED: ReadonlySet<string> = new Set(["oauth", "secret", "login"]);

function renewHint({ effect }: Sender): string {
    const { source, arg } = effect?.credential ?? {};
    const as = effect?.as;
    if (source !== "oauth") return "look at its value, and at what it is allowed to do";
    return `remit login ${arg}${as === undefined ? "" : ` --as ${as}`} gets a new one; then remit resume RUN --retry`;
}

const SCHEMES = /^(?:apikey|basic|bearer|dpop|token) \S/i;

/** As the value of `Authorization`: a value that says its scheme is sent as it is. */
export function authorizationOf({ value }: Given): string {
    return SCHEMES.test(value) ? value : `Bearer ${value}`;
}
