/**
 * The models of a configuration as a host uses them: keys that are read at the moment of use, headers with what the environment says.
 *
 * Boundary: from configuration to values; nothing is sent here.
 */
import type { ListedModel } from "../model/default.ts";
import type { NamedModel } from "../model/models.ts";
import { resolveSecret } from "../secret/ref.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Config } from "./config.ts";
import { expand } from "./expand.ts";

/** By the name of the import they answer for. `secrets` is told of each secret before it is used. */
export function namedModels(
    config: Config,
    env: Readonly<Record<string, string | undefined>>,
    secrets: Pick<Scrubber, "add">,
): { readonly [name: string]: NamedModel } {
    const made: { [name: string]: NamedModel } = Object.create(null);
    for (const [name, { uri, baseUrl, key, headers, tools, file }] of Object.entries(config.models)) {
        const put = (text: string): string => {
            const { text: out, used } = expand(text, env);
            for (const one of used) secrets.add({ name: `env:${one}`, value: env[one] ?? "" });
            return out;
        };
        made[name] = {
            uri,
            ...(baseUrl === undefined ? {} : { baseUrl }),
            ...(tools === undefined ? {} : { tools }),
            ...(headers === undefined
                ? {}
                : { headers: Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, put(text)])) }),
            ...(key === undefined
                ? {}
                : {
                      account: `${file.path} ${key}`,
                      key: async () => {
                          const found = resolveSecret(key, { env, folder: file.folder });
                          if (!found.ok) throw new Error(`the key of models.${name} in ${file.name}: ${found.message}`);
                          secrets.add({ name: key, value: found.value });
                          return found.value;
                      },
                  }),
        };
    }
    return made;
}

/** Those that a project's configuration describes, by the name of the import they answer for; nothing is sent to find out. */
export function configuredModels(config: Config, env: Readonly<Record<string, string | undefined>>): ListedModel[] {
    return Object.entries(config.models).map(([name, { uri, baseUrl, key, file }]) => {
        const found = key === undefined ? null : resolveSecret(key, { env, folder: file.folder });
        const where = `${uri}${baseUrl === undefined ? "" : ` at ${baseUrl}`}, in ${file.name}`;
        return { uri: name, ok: found === null || found.ok, note: found === null || found.ok ? where : `${where}: ${found.message}` };
    });
}

/** All that a configuration says of models. */
export const modelsIn = (config: Config, ...about: [Readonly<Record<string, string | undefined>>, Pick<Scrubber, "add">]) => ({
    prices: config.prices,
    rates: config.rates,
    named: namedModels(config, ...about),
    notice: modelsWithheld(config),
});

/** What a person has to know where a file that is not trusted describes models or prices: without trust they count for nothing. */
function modelsWithheld({ withheld }: Pick<Config, "withheld">): string | null {
    const found = [...withheld].filter(([key]) => /^(?:model|price):/.test(key));
    const [first] = found;
    if (first === undefined) return null;
    const what = [...new Set(found.map(([key]) => (key.startsWith("model:") ? "models" : "prices")))].join(" and ");
    return `${first[1].name} is not trusted, so its ${what} do not count: ${TRUST}`;
}

/** What to do so that the prices of a file count that is not trusted; null where no such file gives any. */
export function pricesWithheld({ withheld }: Pick<Config, "withheld">): string | null {
    const file = [...withheld].find(([key]) => key.startsWith("price:"))?.[1];
    return file === undefined ? null : `${file.name} gives prices, but it is not trusted, so they do not count: ${TRUST}`;
}

const TRUST = "look at that file, then trust it with `remit trust`, or --trust for once";
