/**
 * `webfetch:`: reading from the web, whatever the origin.
 *
 * Boundary: GET requests, each kept to the origin it names (`http.ts`, P1 to P4). Which URLs may be read is the remit's
 * (`in "https://example.com/**"`). An origin is no private address, unless the configuration allows it, or the program's author wrote it: a URL that
 * is a literal of the program, as that of an import is.
 */
import { defined, type Json } from "@remit/language";
import type { ToolRequest } from "@remit/machine";
import { toolOf } from "./args.ts";
import { requestsTo } from "./http.ts";
import { type Open, ToolFail, type ToolHandle } from "./tool.ts";

const CALL = {
    description: "Reads a URL: its status and its text.",
    fields: {
        url: { type: "text", description: "an absolute URL, http or https", needed: true },
        headers: { type: "object", description: "names and values" },
        timeout: { type: "number", description: "milliseconds", default: 10_000 },
    },
    readOnly: false,
    repeatable: true,
} as const;

export const openWebfetch: Open = (_uri, _about, context) => {
    const origins = new Map<string, ToolHandle>();
    return {
        ...toolOf({ call: CALL }, async (_, given, io) => {
            const url = URL.canParse(given.url as string) ? new URL(given.url as string) : null;
            if (url === null || !/^https?:$/.test(url.protocol)) throw new ToolFail(`'${String(given.url)}' is no URL of the web`);
            const isAuthors = (io.effect.request as unknown as ToolRequest).chosenBy === "program" && io.effect.labels.length === 0;
            const key = `${isAuthors ? "literal" : "data"} ${url.origin}`;
            const handle = origins.get(key) ?? requestsTo(url.origin, context, isAuthors);
            origins.set(key, handle);
            const request = defined(given) as { [name: string]: Json };
            return handle.call("get", [request], io);
        }),
        close: async () => {
            const all = [...origins.values()];
            origins.clear();
            await Promise.all(all.map((one) => one.close?.()));
        },
    };
};
