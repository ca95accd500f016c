/** The script with which a page lends its functions; a page of another site loads it, and can use it where the server lists its origin. */
import { readFileSync } from "node:fs";
import type { Context } from "hono";
import { asset } from "../assets/files.ts";

export function lendScript(c: Context): Response {
    return c.body(readFileSync(asset("page/lend.js"), "utf8"), 200, {
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "no-cache",
        "cross-origin-resource-policy": "cross-origin",
    });
}
