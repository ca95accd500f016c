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
    ...["sessions", "session", "turn", "asks", "live"],
    ...["runs", "run", "trace", "event", "prompts", "plan", "program"],
];

/** A library's name in an import → where a browser gets it, and from which file. */
const LIBRARIES: { readonly [name: string]: { readonly at: string; readonly file: () => URL } } = {
    preact: { at: "/console/preact.mjs", file: () => new URL(import.meta.resolve("preact")) },
    "preact/hooks": { at: "/console/hooks.mjs", file: () => new URL(import.meta.resolve("preact/hooks")) },
    // What the console takes of the language stands in one of its files.
    "@remit/language": { at: "/console/language.ts", file: () => beside(import.meta.resolve("@remit/language"), "text/plain") },
};

const own = (name: string) => () => new URL(`../../console/${name}`, import.meta.url);

/** Address → the file that answers it. */
const FILES: ReadonlyMap<string, () => URL> = new Map([
    ["/", own("index.html")],
    ...["style.css", "icon.svg", "theme.js", ...MODULES.map((name) => `${name}.ts`)].map(
        (name) => [`/console/${name}`, own(name)] as const,
    ),
    ...Object.values(LIBRARIES).map(({ at, file }) => [at, file] as const),
]);

const made = new Map<string, string>();

export function consolePage(c: Context): Response {
    const file = FILES.get(c.req.path);
    if (file === undefined) return c.json({ error: { kind: "unknown", message: "there is nothing at this address" } }, 404);
    const text = made.get(c.req.path) ?? textOf(file());
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

/** The file named beside the entry of a package, with the entry's ending: sources in a checkout, JavaScript as published. */
function beside(entry: string, name: string): URL {
    return new URL(`${name}.${entry.slice(entry.lastIndexOf(".") + 1)}`, entry);
}

function textOf(file: URL): string {
    const text = readFileSync(file, "utf8");
    if (/\.(?:html|css|svg)$/.test(file.pathname)) return text;
    return named(file.pathname.endsWith(".ts") ? withoutTypes(text) : text);
}

/** A browser knows no names of packages. */
function named(script: string): string {
    return script.replace(/\bfrom\s*(["'])([^"'.][^"']*)\1/g, (whole, _quote, name: string) => {
        const library = Object.hasOwn(LIBRARIES, name) ? LIBRARIES[name] : undefined;
        return library === undefined ? whole : `from "${library.at}"`;
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
