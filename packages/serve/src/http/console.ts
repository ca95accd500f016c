/**
 * The files of the console, as a browser gets them: modules as they are written, without their types.
 *
 * Boundary: a fixed set of files beside this package and of its libraries; nothing in an address names another one.
 *
 * CNS1: a page runs scripts of this server alone, is framed by none, and sends no address elsewhere.
 */
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { Context } from "hono";
import { asset, library, LIBRARY_NAMES } from "../assets/files.ts";

const POLICY =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const SCRIPT = "text/javascript; charset=utf-8";
const TYPES: { readonly [ending: string]: string } = {
    html: "text/html; charset=utf-8",
    css: "text/css; charset=utf-8",
    svg: "image/svg+xml",
    js: SCRIPT,
    mjs: SCRIPT,
    ts: SCRIPT,
};

const MODULES = [
    ...["main", "api", "place", "parts", "value", "keys"],
    ...["sessions", "session", "turn", "words", "markdown", "asks", "choices", "live"],
    ...["runs", "run", "trace", "event", "prompts", "plan", "program"],
];

/** Address → the file that answers it. */
const FILES: ReadonlyMap<string, URL> = new Map([
    ["/", asset("console/index.html")],
    ...["style.css", "icon.svg", "theme.js", ...MODULES.map((name) => `${name}.ts`)].map(
        (name) => [`/console/${name}`, asset(`console/${name}`)] as const,
    ),
    // Where `../src/wire/refusal.ts` leads from there.
    ["/src/wire/refusal.ts", asset("src/wire/refusal.ts")],
    ...LIBRARY_NAMES.flatMap((name) => {
        const found = library(name);
        return found === null ? [] : [[`/${found.copy}`, found.file] as const];
    }),
]);

const made = new Map<string, string>();

export function consolePage(c: Context): Response {
    const file = FILES.get(c.req.path);
    if (file === undefined) return c.json({ error: { kind: "unknown", message: "there is nothing at this address" } }, 404);
    const text = made.get(c.req.path) ?? textOf(file);
    made.set(c.req.path, text);
    const ending = c.req.path === "/" ? "html" : c.req.path.slice(c.req.path.lastIndexOf(".") + 1);
    return c.body(text, 200, {
        "content-type": TYPES[ending] ?? "text/plain",
        "content-security-policy": POLICY,
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-cache",
    });
}

function textOf(file: URL): string {
    const text = readFileSync(file, "utf8");
    if (/\.(?:html|css|svg)$/.test(file.pathname)) return text;
    return named(file.pathname.endsWith(".ts") ? withoutTypes(text) : text);
}

/** A browser knows no names of packages. */
function named(script: string): string {
    return script.replace(/\bfrom\s*(["'])([^"'.][^"']*)\1/g, (whole, _quote, name: string) => {
        const found = library(name);
        return found === null ? whole : `from "/${found.copy}"`;
    });
}

/** Node says once on standard error that this is new; there stands what the server says, and nothing else. */
function withoutTypes(text: string): string {
    const { emitWarning } = process;
    process.emitWarning = () => undefined;
    try {
        return stripTypeScriptTypes(text);
    } finally {
        process.emitWarning = emitWarning;
    }
}
