/** `remit serve`: a server, until Ctrl-C. */
import { atLeastOne, milliseconds, portOf, whole } from "../amounts.ts";
import { ledgerHere } from "../here.ts";
import { EXIT, paint, plainLine, safeJson, say, sayJson, UsageError } from "../io.ts";
import { hostOptions, untrusted } from "../running.ts";
import { notBegun, serving } from "../serving.ts";
import type { Level, LIMITS, Server as Serving, ServeLimits } from "@remit/serve";
import { untilStopped } from "../stopped.ts";
import { carriersThere } from "../temporal.ts";

type Options = Record<string, unknown>;

export default async function served([program]: string[], options: Options): Promise<number> {
    const serve = await serving();
    const { process: on, model, ...load } = hostOptions(options);
    const json = options["json"] === true;
    const colour = paint(process.stderr);
    const logLevel = levelOf(serve.LEVELS, options["logLevel"], json ? "info" : "warn");
    const tell = (level: Level, message: string, about: { readonly [name: string]: string | number }): void => {
        if (json) {
            sayJson({ time: new Date().toISOString(), level, message, ...about });
            return;
        }
        const fields = Object.entries(about).map(([name, value]) => ` ${name}=${value}`);
        say(
            `${level === "error" || level === "warn" ? `${colour(level === "error" ? "red" : "yellow", level)}: ` : ""}${plainLine(message + fields.join(""))}`,
        );
    };
    const stopped = untilStopped();
    const carriers = await carriersThere(options, { process: on, trust: load.trust === true });
    const host = options["host"] === undefined ? {} : { host: String(options["host"]) };
    let server: Serving;
    try {
        server = await serve.Server.start({
            ...(program === undefined ? {} : { program }),
            ...(model === undefined ? {} : { model }),
            ...host,
            findable: true,
            ...(options["port"] === undefined ? {} : { port: portOf(String(options["port"])) }),
            origins: list(options["origin"]).map((one) => originOf(one, "--origin")),
            ...(options["reach"] === undefined
                ? {}
                : { reach: list(options["reach"]).map((one) => new URL(originOf(one, "--reach")).origin) }),
            hostNames: list(options["hostName"]),
            secure: options["secure"] === true,
            bounds: limitsOf(serve.LIMITS, list(options["limit"])),
            ledger: ledgerHere(options),
            process: on,
            load: { ...load, ...untrusted(options) },
            ...(carriers === undefined ? {} : { carriers }),
            log: tell,
            logLevel,
        });
    } catch (error) {
        throw notBegun(serve, error);
    }
    if (json)
        say(
            safeJson({ time: new Date().toISOString(), level: "info", message: "ready", url: server.url, login: await server.loginCode() }),
        );
    else {
        say(`Serving at ${colour("bold", server.url)}; Ctrl-C stops it, and what runs goes on when it is started again.`);
        say(`The console:  ${colour("cyan", `${server.url}/#code=${await server.loginCode()}`)}  (the link opens it once)`);
        say(`A task:       remit drive "…"     A client: remit clients pair`);
        if (host.host !== undefined && !LOOPBACK.has(host.host))
            say(colour("yellow", `It listens on ${host.host} without TLS: put a proxy with TLS before it.`));
    }
    await stopped;
    if (!json) say("Stopping.");
    await server.stop();
    await on?.close();
    return EXIT.ok;
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1"]);

function list(said: unknown): string[] {
    return (Array.isArray(said) ? said : said === undefined ? [] : [said])
        .flatMap((one) => String(one).split(","))
        .map((one) => one.trim())
        .filter((one) => one !== "");
}

function limitsOf(known: typeof LIMITS, said: readonly string[]): Partial<ServeLimits> {
    return Object.fromEntries(
        said.map((one) => {
            const [name = "", value = ""] = one.split("=", 2);
            if (!Object.hasOwn(known, name))
                throw new UsageError(
                    `--limit ${one}: there is no limit '${name}'`,
                    `NAME=VALUE; the limits are ${Object.keys(known).join(", ")}`,
                );
            const { unit } = known[name as keyof ServeLimits];
            const amount = unit === "ms" ? milliseconds(value, `--limit ${name}`) : whole(value, `--limit ${name}`);
            // What Node's timers hold.
            if (amount > 2 ** 31 - 1)
                throw new UsageError(`--limit ${one}: that is more than can be counted`, "24 days, or two thousand million");
            return [name, atLeastOne(amount, `--limit ${name}`)];
        }),
    );
}

function levelOf(known: readonly Level[], said: unknown, usual: Level): Level {
    if (said === undefined) return usual;
    const found = known.find((one) => one === said);
    if (found === undefined) throw new UsageError(`--log-level ${String(said)}: there is no such level`, known.join(", "));
    return found;
}

function originOf(said: string, option: string): string {
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/i.test(said))
        throw new UsageError(
            `${option} '${said}' is no origin`,
            "a scheme and a host, and the port where there is one, such as https://shop.example",
        );
    return said;
}
