/**
 * The files of the console, as a browser gets them.
 *
 * Boundary: a fixed set of files beside this package; nothing in an address names another one.
 *
 * CNS1: a page runs scripts of this server alone, is framed by none, and sends no address elsewhere.
 */
import { readFileSync } from "node:fs";
import type { Context } from "hono";

const POLICY =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES: { readonly [ending: string]: string } = {
    html: "text/html; charset=utf-8",
    js: "text/javascript; charset=utf-8",
    css: "text/css; charset=utf-8",
    svg: "image/svg+xml",
};

/** Address → file of the folder `console`. */
const FILES: { readonly [path: string]: string } = { "/": "index.html" };

export function consolePage(c: Context): Response {
    const name = Object.hasOwn(FILES, c.req.path) ? FILES[c.req.path] : undefined;
    if (name === undefined) return c.json({ error: { kind: "unknown", message: "there is nothing at this address" } }, 404);
    const text = readFileSync(new URL(`../../console/${name}`, import.meta.url), "utf8");
    return c.body(text, 200, {
        "content-type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "text/plain",
        "content-security-policy": POLICY,
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-cache",
    });
}
