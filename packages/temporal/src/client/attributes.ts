/** Which search attributes a server has. */
import type { KeptOptions } from "@remit/host";
import type { Client } from "@temporalio/client";
import type { Begun } from "../wire/begin.ts";
import { ATTRIBUTES } from "../wire/messages.ts";
import { isUnanswered } from "./workers.ts";

/** What people see of how a run was begun. */
export function shownOf(kept: Pick<KeptOptions, "entry" | "asks">): Pick<Begun, "entry" | "owner"> {
    return { entry: kept.entry?.func ?? kept.entry?.agent ?? "main", owner: kept.asks?.owner ?? "" };
}

/** Whether the server knows the search attributes; asked once. */
export function known({ connection, options: { namespace } }: Client): () => Promise<boolean> {
    let asked: Promise<boolean> | null = null;
    const ask = async (): Promise<boolean> => {
        const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
        return ATTRIBUTES.every((name) => customAttributes?.[name] !== undefined);
    };
    return () => {
        asked ??= ask().catch((error: unknown) => {
            asked = null;
            // Else each call after it would be tried as long.
            if (isUnanswered(error)) throw error;
            // A server that cannot say has none.
            return false;
        });
        return asked;
    };
}
