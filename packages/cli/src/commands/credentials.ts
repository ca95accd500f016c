/**
 * `remit login`, `logout` and `credentials`: what users delegate, and what is kept for them.
 *
 * CRC1: no value is ever written to a stream: neither a token, nor a code of a login, nor a secret that was read.
 */
import {
    type Config,
    isAddress,
    isIdentity,
    type ListedToken,
    loadConfig,
    loginElsewhere,
    loginHere,
    namedSecret,
    OAuthError,
    openTokens,
    PROVIDERS,
    providerOf,
    resolveSecret,
    resourceAt,
    resourceOf,
    resourceProvider,
    revoked,
    serverOf,
    type Token,
} from "@remit/host";
import type { Json } from "@remit/language";
import { here } from "../here.ts";
import { EXIT, paint, plainLine, print, printJson, say, table, UsageError } from "../io.ts";
import { prompted } from "../prompts.ts";
import { decoded } from "../text.ts";

type Options = Record<string, unknown>;

/** Longest secret that can be added, characters. */
const MAX_SECRET = 64 * 1024;

function identityOf(options: Options): string | null {
    const said = options["as"] === undefined ? here().env["REMIT_AS"]?.trim() : String(options["as"]);
    if (said === undefined || said === "") return null;
    if (isIdentity(said)) return said;
    throw new UsageError(`${plainLine(said)} is no identity`, "write a name such as user:alice: letters, digits and . _ @ + -");
}

function identity(options: Options): string {
    const said = identityOf(options);
    if (said === null) throw new UsageError("say whose token it is", "--as user:NAME, or REMIT_AS");
    return said;
}

function configHere(options: Options): Config {
    const { env, cwd } = here();
    return loadConfig({ env, from: cwd, folder: cwd, ...(options["trust"] === true ? { trust: true } : {}) });
}

/** Aborted at Ctrl-C or SIGTERM, as long as it lasts. */
function untilStopped(): { readonly signal: AbortSignal; end(): void } {
    const stop = new AbortController();
    const stopped = (): void => stop.abort();
    process.once("SIGINT", stopped).once("SIGTERM", stopped);
    return { signal: stop.signal, end: () => void process.off("SIGINT", stopped).off("SIGTERM", stopped) };
}

export async function login(args: string[], options: Options): Promise<number> {
    const called = args[0] as string;
    const isServer = isAddress(called);
    const name = isServer ? resourceAt(called).href : called;
    const as = isServer ? (identityOf(options) ?? "") : identity(options);
    if (options["device"] === true && options["browser"] === true) throw new UsageError("--device and --browser are two ways; use one");
    const { env } = here();
    const { signal, end } = untilStopped();
    try {
        const provider = isServer ? await resourceProvider(name, signal) : providerOf(name, configHere(options));
        const client = options["clientId"] === undefined ? undefined : String(options["clientId"]);
        const secret = options["clientSecret"] === undefined ? undefined : clientSecret(String(options["clientSecret"]), client);
        const server = await serverOf(provider, { env, signal, client, secret });
        const tokens = await openTokens(env);
        const place = { provider: name, as };
        const elsewhere = options["device"] === true || (options["browser"] !== true && provider.flow === "device");
        const said = options["scope"] as string[] | undefined;
        // A server that wants one scope more means those of before to go on.
        const before = isServer && said !== undefined ? ((await tokens.get(place))?.scopes ?? []) : [];
        const scopes = said === undefined ? undefined : [...new Set([...before, ...said])];
        const token = await (elsewhere ? loginElsewhere : loginHere)(server, { scopes, signal, tell });
        await tokens.put(place, token);
        if (options["json"] === true) printJson(shown({ provider: name, as, updated: new Date().toISOString(), token }), true);
        else
            say(
                `${paint(process.stderr)("green", "logged in")}: ${plainLine(name)} for ${as === "" ? "everyone" : as}; its token goes to ${(token.origins ?? []).join(", ")}`,
            );
        return EXIT.ok;
    } catch (error) {
        if (!(error instanceof OAuthError) || !signal.aborted) throw error;
        say("Nothing was kept.");
        return EXIT.cancelled;
    } finally {
        end();
    }
}

function clientSecret(reference: string, client: string | undefined): string {
    if (client === undefined) throw new UsageError("--client-secret: say the client, too", "--client-id ID");
    const { env, cwd } = here();
    const found = /^(?:env|file):./.test(reference) ? resolveSecret(reference, { env, folder: cwd }) : null;
    if (found?.ok === true) return found.value;
    throw new UsageError(`--client-secret: ${found?.message ?? "it is a reference, not the secret itself"}`, "env:NAME or file:PATH");
}

function tell(where: string, code: string | null): void {
    say(code === null ? "Open this address in a browser of this machine:" : "Open this address on any device:");
    say(`  ${plainLine(where)}`);
    if (code !== null) say(`and type the code ${plainLine(code)}`);
    say("Ctrl-C ends the login.");
}

export async function logout(args: string[], options: Options): Promise<number> {
    const name = args[0] as string;
    if (isAddress(name)) return taken(resourceAt(name).href, identityOf(options) ?? "", options);
    return taken(name, identity(options), options);
}

export async function credentials(args: string[], options: Options): Promise<number> {
    const [verb, name] = args;
    const needed = (): string => {
        if (name === undefined) throw new UsageError(`remit credentials ${verb} takes a name`, `remit credentials ${verb} NAME`);
        return name;
    };
    switch (verb) {
        case "list":
            return list(options);
        case "add":
            return added(needed(), options);
        case "remove":
            return removed(needed(), options);
        case "rotate":
            say(`${await (await openTokens(here().env)).rotate()} sealed anew`);
            return EXIT.ok;
        default:
            throw new UsageError(`remit credentials takes list, add, remove or rotate, not '${plainLine(verb ?? "")}'`);
    }
}

async function list(options: Options): Promise<number> {
    const as = identityOf(options);
    const all = (await (await openTokens(here().env)).list()).filter((one) => as === null || one.as === as);
    if (options["json"] === true) {
        printJson(all.map(shown), true);
        return EXIT.ok;
    }
    if (all.length === 0) say("Nothing is kept. remit login PROVIDER --as user:NAME gets a token.");
    else
        print(
            table(
                all.map((one) => {
                    const { kind, name, as: whose, state, origins } = shown(one);
                    return [kind, name, whose, state, origins.join(" ")].map((cell) => plainLine(cell));
                }),
                ["KIND", "NAME", "WHOSE", "STATE", "GOES TO"],
            ),
        );
    return EXIT.ok;
}

interface Shown {
    readonly [key: string]: Json;
    readonly kind: string;
    readonly name: string;
    readonly as: string;
    readonly state: string;
    readonly origins: string[];
}

/** CRC1. */
function shown({ provider, as, updated, token }: ListedToken): Shown {
    const isSecret = provider.startsWith(namedSecret(""));
    return {
        kind: isSecret ? "secret" : "oauth",
        name: isSecret ? provider.slice(namedSecret("").length) : provider,
        as: as === "" ? "everyone" : as,
        state: stateOf(token),
        origins: [...(token?.origins ?? [])],
        scopes: [...(token?.scopes ?? [])],
        updated,
    };
}

function stateOf(token: Token | null): string {
    if (token === null) return "does not open";
    const { expires, refresh } = token;
    if (refresh !== undefined) return "renews itself";
    if (expires === undefined) return "does not end";
    return expires <= Date.now() ? "has ended" : `until ${new Date(expires).toISOString().slice(0, 16).replace("T", " ")}`;
}

async function added(name: string, options: Options): Promise<number> {
    const origins = ((options["origin"] as string[] | undefined) ?? []).map((text) => {
        const url = URL.canParse(text) ? new URL(text) : null;
        if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
            throw new UsageError(`--origin: ${plainLine(text)} is no origin`, "for example https://api.example.com");
        return url.origin;
    });
    if (origins.length === 0) throw new UsageError("say where the secret may be sent", "--origin https://api.example.com");
    const value = await secretGiven();
    if (value === null) return EXIT.cancelled;
    if (value === "" || value.length > MAX_SECRET) throw new UsageError("a secret has at least one character, and no more than 65536");
    const as = identityOf(options) ?? "";
    await (await openTokens(here().env)).put({ provider: namedSecret(name), as }, { access: value, origins });
    say(`kept: ${plainLine(name)}${as === "" ? "" : ` for ${as}`}; it goes to ${origins.join(", ")}`);
    return EXIT.ok;
}

/** Typed unseen on a terminal, else standard input without the line break at its end; null: the person stopped. */
async function secretGiven(): Promise<string | null> {
    if (process.stdin.isTTY !== true)
        return decoded(await new Response(process.stdin as never).arrayBuffer(), "standard input").replace(/\r?\n$/, "");
    return prompted<string>(({ password }, around) => password({ message: "The secret", ...around }));
}

/** A secret by its name, or a token by that of its provider. */
async function removed(name: string, options: Options): Promise<number> {
    const as = identityOf(options);
    const store = await openTokens(here().env);
    const place = { provider: namedSecret(name), as: as ?? "" };
    const isSecret = (await store.list()).some((one) => one.provider === place.provider && one.as === place.as);
    if (!isSecret && isAddress(name)) return taken(resourceAt(name).href, as ?? "", options);
    if (!isSecret) return taken(name, as ?? identity(options), options);
    await store.remove(place);
    say(`removed: ${plainLine(name)}`);
    return EXIT.ok;
}

async function taken(name: string, as: string, options: Options): Promise<number> {
    const { env } = here();
    const token = await (await openTokens(env)).remove({ provider: name, as });
    if (token === null) {
        const known = PROVIDERS.includes(name) ? "" : "; remit credentials list shows what is kept";
        throw new UsageError(`nothing is kept for ${plainLine(name)} of ${as === "" ? "everyone" : as}${known}`);
    }
    const { signal, end } = untilStopped();
    const green = paint(process.stderr)("green", "removed");
    try {
        const provider = (isAddress(name) ? resourceOf(name, token) : null) ?? providerOf(name, configHere(options));
        if (await revoked(provider, token, { env, signal })) say(`${green}: ${name} of ${as}, and taken back at the provider`);
        else say(`${green}: ${name} of ${as}; take it back at ${provider.revokeAt ?? "the provider"}, which has no endpoint for that`);
    } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        say(`${green}: ${name} of ${as}; it could not be taken back at the provider: ${plainLine(error.message)}`);
    } finally {
        end();
    }
    return EXIT.ok;
}
