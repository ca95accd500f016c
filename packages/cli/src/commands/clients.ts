/** `remit clients`: who may use a server. */
import { SCOPES } from "@remit/serve/client";
import { EXIT, plainLine, printJson, print, say, UsageError } from "../io.ts";
import { serverHere } from "../serving.ts";

interface Client {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly string[];
    readonly created: string;
    readonly revoked?: string;
}

const ACTIONS = ["list", "pair", "revoke"];

export default async function clients([action = "list", id]: string[], options: Record<string, unknown>): Promise<number> {
    if (!ACTIONS.includes(action)) throw new UsageError(`remit clients takes ${ACTIONS.join(", ")}, not '${action}'`);
    const server = await serverHere(options);
    const json = options["json"] === true;
    if (action === "pair") {
        const scopes = options["scopes"] === undefined ? null : scopesOf(String(options["scopes"]));
        const body = {
            ...(scopes === null ? {} : { scopes }),
            ...(options["as"] === undefined ? {} : { as: String(options["as"]) }),
        };
        const { code } = await server.request<{ code: string }>("POST", "/v1/pairings", body);
        if (json) printJson({ code }, true);
        else {
            print(code);
            say(`The client gives this code to ${server.url} within ten minutes, once.`);
            if (scopes !== null && !scopes.includes("observe"))
                say("note: without the scope 'observe' it hears no call of a tool that it lends, and no question");
        }
        return EXIT.ok;
    }
    if (action === "revoke") {
        if (id === undefined) throw new UsageError("remit clients revoke needs a client", "remit clients list shows them");
        const ack = await server.request<{ status: string; reason?: string }>("DELETE", `/v1/clients/${encodeURIComponent(id)}`);
        if (ack.status === "accepted") return EXIT.ok;
        say(`not revoked: ${plainLine(ack.reason ?? ack.status)}`);
        return EXIT.failed;
    }
    const { clients: all } = await server.request<{ clients: readonly Client[] }>("GET", "/v1/clients");
    if (json) printJson(all as never, true);
    else if (all.length === 0) say("No client was paired yet: remit clients pair gives a code.");
    else
        for (const one of all)
            print(
                `${one.id}  ${plainLine(one.name)}  ${one.scopes.join(",")}  ${one.revoked === undefined ? one.created : `revoked ${one.revoked}`}`,
            );
    return EXIT.ok;
}

/** Throws `UsageError`. */
function scopesOf(said: string): string[] {
    const scopes = said.trim().split(/[\s,]+/);
    const wrong = scopes.find((one) => !SCOPES.some((scope) => scope === one));
    if (wrong !== undefined)
        throw new UsageError(
            `--scopes: there is no scope '${plainLine(wrong)}'`,
            `known are ${SCOPES.join(", ")}, with commas or blanks between them`,
        );
    return scopes;
}
