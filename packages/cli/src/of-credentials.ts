/** The commands about credentials: names, options, examples. */
import type { Command } from "commander";
import type { Add, Work } from "./adding.ts";

type Commands = typeof import("./commands/credentials.ts");

const load = (name: keyof Commands) => async (): Promise<{ default: Work }> => ({
    default: (await import("./commands/credentials.ts"))[name],
});

export function ofCredentials(add: Add): void {
    const whose = (command: Command): Command => command.option("--as <identity>", "whose, such as user:alice (REMIT_AS)");
    const trusting = (command: Command): Command => command.option("--trust", "let this project's configuration describe providers");
    trusting(
        whose(
            add(
                "login <provider>",
                "Let a user delegate a token: github, google, slack, okta, one of the configuration, or the URL of an MCP server",
                load("login"),
            ),
        ),
    )
        .option("--device", "show a code to type on another device, in place of a browser here")
        .option("--browser", "use a browser of this machine, where the provider's own way is another device")
        .option("--scope <scope...>", "what the token may do, in the provider's words; default: what the configuration says")
        .option("--client-id <id>", "the client that you registered at the provider")
        .option("--client-secret <reference>", "its secret, where it has one: env:NAME or file:PATH")
        .option("--json", "what was kept as JSON on one line, never the token");
    trusting(whose(add("logout <provider>", "Take a user's token back at its provider, and forget it", load("logout"))));
    trusting(
        whose(
            add(
                "credentials <verb> [name]",
                "list, add NAME, remove NAME, rotate: what is kept for users; values are never shown",
                load("credentials"),
            ),
        ),
    )
        .option("--origin <origin...>", "with add: where the secret may be sent, such as https://api.example.com")
        .option("--json", "with list: as JSON");
}

export const CREDENTIAL_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
    login: [
        "remit login github --as user:alice --client-id Iv1.0123456789abcdef",
        "remit login https://mcp.example.com/mcp",
        "remit login google --as user:alice --scope https://www.googleapis.com/auth/gmail.readonly",
    ],
    logout: ["remit logout github --as user:alice"],
    credentials: [
        "remit credentials list",
        "remit credentials add crm --origin https://crm.example.com < crm-key.txt",
        "remit credentials remove github --as user:alice",
    ],
};
