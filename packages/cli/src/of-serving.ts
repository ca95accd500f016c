/** The commands of the server and of those who use it: names, options, examples. */
import type { Command } from "commander";
import type { Add } from "./adding.ts";
import { decisionKey, limits, server } from "./bounds.ts";

/** `ledger` puts the option of that name on a command. */
export function ofServing(add: Add, ledger: (command: Command) => Command): void {
    decisionKey(
        server(
            ledger(
                add(
                    "serve [program]",
                    "Serve sessions over HTTP: turns of a program, tools that clients lend, approvals",
                    () => import("./commands/serve.ts"),
                ),
            ).option("--on <backend>", "memory or temporal: turns are runs of this process, or on a Temporal server; default: memory"),
        ),
        "with --on temporal: decisions are signed with it, so that another command can answer, too; made where it is not there; default: a new one",
    )
        .option("-m, --model <uri>", "model for every `import llm` (REMIT_MODEL)")
        .option("-w, --workspace <dir>", "folder the tools may reach; default: the current folder")
        .option("--host <address>", "address to listen on; default: 127.0.0.1")
        .option("--port <n>", "port to listen on; default: the first free one from 41730 to 41739, else any")
        .option("--origin <origin...>", "origin of pages that may use the server, such as https://shop.example")
        .option("--limit <name=value...>", "a bound of the server, such as sessions=50 or ask=10min; docs/serve-running.md lists them")
        .option("--as <identity>", "user on whose behalf turns of the owner are, such as user:alice (REMIT_AS)")
        .option("--reach <origin...>", "origin that tools of its sessions may reach; default: all")
        .option("--host-name <name...>", "further name that the server is reached by, behind a proxy")
        .option("--secure", "people reach it over TLS: it sends cookies over nothing else")
        .option(
            "--untrusted <ask|never>",
            "gate for untrusted data in calls that do more than read, if no clause of the program is about it",
        )
        .option("--trust", "let this project's configuration start commands and load modules")
        .option("--log-level <level>", "what it writes: error, warn, info or debug; default: warn, with --json info")
        .option("--json", "what it says as JSON, one object a line");
    ledger(
        add(
            "open [run]",
            "Show a run of the ledger, or all of them, in the console, without a server of its own",
            () => import("./commands/open.ts"),
        ),
    )
        .option("--port <n>", "port to listen on; default: a free one")
        .option("--no-browser", "print the link, and open no browser");
    const reaching = (command: Command): Command =>
        command
            .option("--url <url>", "the server; default: the newest of this user on this machine")
            .option("--token <token>", "credential for it (REMIT_TOKEN)")
            .option("--json", "as JSON, one object a line");
    reaching(
        add("drive [words...]", "Give a server a task, watch it work, and answer its questions here", () => import("./commands/drive.ts")),
    )
        .option("-s, --session <id>", "the session: an id, the beginning of one, or new; default: the newest that is open, else a new one")
        .option("-m, --model <name>", "model for this turn: one that the server lists, by its name or URI, or a beginning that fits one")
        .option("--models", "list the models of the server, and do nothing else")
        .option("--image <file>", "a picture that goes with the task; up to four", (file: string, before: string[] = []) => [
            ...before,
            file,
        ])
        .option("--auto-approve", "answer every question about a call with yes, whichever call the model wants")
        .option("-q, --quiet", "only the answer");
    reaching(
        add(
            "clients [action] [client]",
            "Clients of a server: list, pair (gives a code), revoke CLIENT",
            () => import("./commands/clients.ts"),
        ),
    )
        .option("--scopes <scopes>", "with pair: what the client may do; default: observe,submit,lend,approve")
        .option("--as <identity>", "with pair: on whose behalf its turns are, such as user:bob; default: no user's");
    faces(add, ledger);
}

/** A program for clients that speak a protocol of their own. */
function faces(add: Add, ledger: (command: Command) => Command): void {
    const placed = (command: Command): Command =>
        limits(ledger(command))
            .option("-m, --model <uri>", "model for every `import llm` (REMIT_MODEL)")
            .option("--trust", "let this project's configuration start commands and load modules");
    placed(
        add(
            "acp [program]",
            "Make a program an agent for editors that speak the Agent Client Protocol, over standard input and output",
            () => import("./commands/acp.ts"),
        ),
    ).option("-w, --workspace <dir>", "folder the tools may reach; default: the folder that the editor opens a session in");
    placed(
        add(
            "mcp [program]",
            "Make a program's functions and agents tools of an MCP server, over standard input and output or HTTP",
            () => import("./commands/mcp.ts"),
        ),
    )
        .option("-w, --workspace <dir>", "folder the tools may reach; default: the current folder")
        .option("--input-origin <origin...>", "the origin of a call's arguments, such as user; default: mcp:CLIENT")
        .option("--client-approves", "let a client's word count that its person allowed a call; default: such a call is refused")
        .option("--http <port>", "over HTTP on this port of 127.0.0.1, at /mcp; 0 is any that is free")
        .option("--host <address>", "address to listen on; another one than loopback needs a token")
        .option("--host-name <name...>", "further name that the server is reached by, behind a proxy")
        .option("--token <token>", "what every request over HTTP has to bring (REMIT_TOKEN)");
}

export const SERVING_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
    serve: [
        "remit serve --model mock:",
        "remit serve brain.remit --port 4100 --origin https://shop.example",
        "remit serve --on temporal --address 127.0.0.1:7233",
    ],
    open: ["remit open last", "remit open 4f2a --no-browser"],
    drive: ['remit drive "book the cheapest slot"', 'remit drive --session new "what is on this page?" > answer.txt'],
    acp: ["remit acp main.remit", "remit acp --model openai://gpt-5-mini --max-cost 0.50"],
    mcp: ["remit mcp main.remit", "remit mcp main.remit --http 4200"],
    clients: ["remit clients pair", "remit clients list", "remit clients revoke panel-3f9c01"],
};
