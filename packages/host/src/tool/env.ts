/**
 * `env://process`: one variable of the environment at a time.
 *
 * Boundary: names and values. A variable whose name or value looks like a secret is refused unless the configuration's `env.allow` names it: a
 * program that needs the secret itself for a request writes `{"$secret": "env:NAME"}` as a header value, and never sees it.
 */
import { toolOf } from "./args.ts";
import { looksSecret } from "../secret/names.ts";
import { type Open, ToolFail } from "./tool.ts";

const GET = {
    description: "Value of an environment variable, null where it is not set.",
    fields: { name: { type: "text", description: "name of the variable", needed: true } },
    readOnly: true,
} as const;

/** Node gives no bytes of the environment. */
const REPLACED = "the value holds U+FFFD, which stands for bytes that are not UTF-8 too";

export const openEnv: Open = (uri, _about, context) => {
    if (!/^env:\/\/process\/?$/.test(uri)) throw new ToolFail(`there is no ${uri}`, { hint: "there is env://process" });
    return toolOf({ get: GET }, (_, given) => {
        const { name } = given as { name: string };
        const value = Object.hasOwn(context.env, name) ? context.env[name] : undefined;
        if (looksSecret(name, value) && !context.config.plainEnv.has(name))
            throw new ToolFail(`${name} looks like a secret and is not given to programs`, {
                kind: "denied",
                hint: `as a header value write {"$secret": "env:${name}"}; if it is no secret, name it in env.allow of a trusted remit.json`,
            });
        return { ok: true, value: value ?? null, ...(value?.includes("\uFFFD") === true ? { note: REPLACED } : {}) };
    });
};
