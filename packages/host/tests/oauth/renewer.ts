/** Wants a good token in place of one that was refused: FOLDER REFUSED. Sends it to its parent. */
import { loadConfig } from "../../src/config/config.ts";
import { providerOf } from "../../src/oauth/providers.ts";
import { goodToken } from "../../src/oauth/renew.ts";
import { openTokens } from "../../src/token/store.ts";

const [from = "", refused = ""] = process.argv.slice(2);
const { env } = process;
const provider = providerOf("acme", loadConfig({ from, env, trust: true }));
const { signal } = new AbortController();
const place = { provider: "acme", as: "user:alice" };
const token = await goodToken({ provider, place, store: await openTokens(env), env, signal, refused });
process.send?.(token?.access ?? "none", () => process.disconnect());
