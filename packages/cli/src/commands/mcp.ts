/** `remit mcp`: a program's functions and agents as tools of a server, over standard input and output or HTTP. */
import { defined } from "@remit/language";
import { whole } from "../amounts.ts";
import { VERSION } from "../version.ts";
import { here, ledgerHere } from "../here.ts";
import { plainLine, say, UsageError } from "../io.ts";
import { hostOptions, limitsOf, origins, untrusted } from "../running.ts";
import { serving, whileServed } from "../serving.ts";

type Options = Record<string, unknown>;

export default async function mcp([program]: string[], options: Options): Promise<number> {
    const serve = await serving();
    const { process: on, model, ...load } = hostOptions(options);
    const { inputOrigin, clientApproves } = options;
    const http = httpOf(options);
    return whileServed(serve, on, async () => {
        const serves = await serve.serveMcp({
            ...defined({ program, model, process: on, http }),
            clientApproves: clientApproves === true,
            ...(inputOrigin === undefined ? {} : { inputOrigins: origins(inputOrigin as string[]) }),
            ledger: ledgerHere(options),
            load: { ...load, ...untrusted(options) },
            limits: limitsOf(options),
            version: VERSION,
            log: (message) => say(plainLine(message)),
        });
        if (serves.url !== undefined) say(`Serving at ${serves.url}; Ctrl-C stops it.`);
        return serves;
    });
}

function httpOf({ http, host, hostName, token: given }: Options) {
    if (http === undefined) {
        if (host !== undefined || hostName !== undefined || given !== undefined)
            throw new UsageError("--host, --host-name and --token are for --http", "remit mcp main.remit --http 4200");
        return undefined;
    }
    const port = whole(String(http), "--http");
    if (port > 65_535) throw new UsageError(`--http ${port}: there is no such port`, "0 to 65535; 0 is any that is free");
    const token = given ?? here().env["REMIT_TOKEN"];
    return {
        port,
        ...(host === undefined ? {} : { host: String(host) }),
        ...(hostName === undefined ? {} : { hostNames: hostName as string[] }),
        ...(token === undefined ? {} : { token: String(token) }),
    };
}
