/**
 * What an import leads to: its scheme, the argument that names a resource of it, and when two imports lead to one thing.
 *
 * Boundary: what the text of a URI tells. Links, redirects and names that a configuration gives are known to the host that opens it.
 *
 * TH5: a URI that is spelled differently and is opened as the same thing is the same thing: the case of schemes and hosts, ports that go
 *     without saying, `.` and `..`, slashes at the end, `file:src` and `file://workspace/src`, a percent code of a plain character. So is what
 *     reaches the same: an `https:` tool asks any URL of its origin, so that its path tells nothing.
 */

/** Lower case, without the colon; empty where there is none. A single letter is a drive, not a scheme. */
export function schemeOf(uri: string): string {
    let end = 0;
    while (uri.charCodeAt(end) >= 0x61 && uri.charCodeAt(end) <= 0x7a) end++;
    // As nearly all are written; asked for at every effect.
    if (end > 1 && uri.charCodeAt(end) === 0x3a) return uri.slice(0, end);
    return /^\s*([a-z][a-z0-9+.-]+):/i.exec(uri)?.[1]?.toLowerCase() ?? "";
}

/** How what names a resource is compared. */
export type Resource = "path" | "url" | "word" | "command";

const RESOURCES: ReadonlyMap<string, { readonly kind: Resource; readonly field: string }> = new Map([
    ["file", { kind: "path", field: "path" }],
    ["sh", { kind: "path", field: "path" }],
    ["http", { kind: "url", field: "url" }],
    ["https", { kind: "url", field: "url" }],
    ["webfetch", { kind: "url", field: "url" }],
    ["shell", { kind: "command", field: "command" }],
    ["env", { kind: "word", field: "name" }],
]);

const USUAL = [...RESOURCES].map(([scheme, resource]) => ({ prefix: `${scheme}:`, resource }));

/** What the argument called "the resource" of a tool is. */
export function resourceOf(uri: string): { readonly kind: Resource; readonly field: string } | null {
    // As nearly all are written; asked for several times at every decision.
    for (const { prefix, resource } of USUAL) if (uri.startsWith(prefix)) return resource;
    return RESOURCES.get(schemeOf(uri)) ?? null;
}

/** Whether a bound is on what a tool's resource is, by its name or by none: it is compared as that, and not as a word. */
export function isOnResource(
    { arg, numbers }: { readonly arg?: string | null | undefined; readonly numbers?: boolean | undefined },
    named: ReturnType<typeof resourceOf>,
): boolean {
    return arg == null || (numbers !== true && arg === named?.field);
}

/** Verbs of http are the same in either case, also written with signs that are another letter in the other: they are sent in capitals. */
export function methodName(uri: string, method: string): string {
    const first = uri.charCodeAt(0);
    // As nearly all are written, all but `h`; asked for at every decision.
    if (first >= 0x61 && first <= 0x7a && first !== 0x68) return method;
    return /^\s*https?:/i.test(uri) ? method.toUpperCase().toLowerCase() : method;
}

/** The use of a model that shows it what `hide` keeps from it (LANGUAGE 4). */
export const LOOK = "look";

/** A line that gives a model, to be asked, says nothing of whether it may look: only one that names `look` does. `key`: of the thing (`keyOf`). */
export function speaksOfLook(key: string, used: string | null, line: { readonly method: string | null }): boolean {
    return used !== LOOK || line.method !== null || !key.startsWith("llm:");
}

/** What a thing is and where it leads: `tool:mcp://mail`. `file`: the one that names it, for places relative to it. */
export function keyOf(what: string, uri: string, file: string): string {
    return `${what}:${canonical(what, uri, file)}`;
}

/** An agent or a function of the program: `agent:fix.remit#Fixer`. */
export function declaredKey(what: "agent" | "func", file: string, name: string): string {
    return `${what}:${file}#${name}`;
}

/** Schemes whose `//` may be left out, and is here. */
const BARE: ReadonlySet<string> = new Set(["host", "inspect", "shell", "webfetch", "skills", "local", "mock", "scripted", "recorded"]);
/** Schemes whose `//` may be left out, and stands here. */
const SLASHED: ReadonlySet<string> = new Set(["mcp", "sh", "env"]);

function canonical(what: string, written: string, file: string): string {
    const uri = written.trim();
    const scheme = schemeOf(uri);
    const rest = uri.slice(scheme === "" ? 0 : scheme.length + 1);
    if (scheme === "") return rest.startsWith("/") ? `/${shortest(rest)}` : `./${rooted(file, rest)}`;
    if (scheme === "http" || scheme === "https") return webOf(scheme, rest, what);
    // Whatever describes it, it reaches the same workers.
    if (scheme === "temporal") return `${scheme}://${splitAt(rest.replace(/^\/\//, ""), "/")[0]}`;
    if (what === "memory" && (scheme === "file" || scheme === "sqlite")) {
        const [path = "", name = ""] = splitAt(rest.replace(/^\/\//, ""), "#");
        const place = path.startsWith("/") ? `/${shortest(path)}` : rooted(file, path);
        const space = scheme === "sqlite" && name !== "" && plainCodes(name) !== "memory" ? `#${plainCodes(name)}` : "";
        return `${scheme}://${place}${space}`;
    }
    if (scheme === "file") {
        const below =
            /^\/\/workspace(?:\/(.*))?$/s.exec(rest)?.[1] ?? (/^(?:\/\/workspace)?$/.test(rest) ? "" : /^(?!\/)(.+)$/s.exec(rest)?.[1]);
        if (below === undefined) return `file:${rest.startsWith("///") ? `///${shortest(rest)}` : rest}`;
        if (what !== "tool") return `./${rooted(file, below)}`;
        const path = shortest(below);
        return path === "" ? "file://workspace" : `file://workspace/${path}`;
    }
    const bare = rest.replace(/^\/\//, "").replace(/\/+$/, "");
    if (BARE.has(scheme)) return `${scheme}:${bare}`;
    if (SLASHED.has(scheme)) return `${scheme}://${bare}`;
    return `${scheme}:${rest.replace(/([^/])\/+$/, "$1")}`;
}

const OWN_PORT: { readonly [scheme: string]: string } = { http: "80", https: "443" };

/**
 * As the URL standard reads it: without what it drops, with what it takes for the same (WHATWG URL, RFC 3986 section 6.2.2). Of a tool the
 * origin alone: by whatever path it is imported, it reaches the whole of it.
 */
function webOf(scheme: string, rest: string, what: string): string {
    const [place = "", model = ""] = splitAt(rest.replace(/[\t\n\r]/g, ""), "#");
    const [before = ""] = splitAt(place.replace(/\\/g, "/").replace(/^\/*/, ""), "?");
    const [authority = "", path = ""] = splitAt(before, "/");
    const [, host = "", port = ""] = /^(.*?)(?::([0-9]*))?$/s.exec(authority) ?? [];
    const name = plainCodes(host)
        .normalize("NFKC")
        .replace(/[。．｡]/g, ".")
        .toLowerCase()
        .replace(/\.+$/, "");
    const shown = port === "" || Number(port) === Number(OWN_PORT[scheme]) ? "" : `:${Number(port)}`;
    if (what === "tool") return `${scheme}://${name}${shown}`;
    return `${scheme}://${name}${shown}/${shortest(plainCodes(path))}${what === "llm" && model !== "" ? `#${model}` : ""}`;
}

function splitAt(text: string, mark: string): [string, string?] {
    const at = text.indexOf(mark);
    return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** One spelling for what percent codes spell twice (RFC 3986 section 6.2.2). */
export function plainCodes(text: string): string {
    return text.replace(/%[0-9a-f]{2}/gi, (code) => {
        const c = String.fromCharCode(Number.parseInt(code.slice(1), 16));
        return /[A-Za-z0-9._~-]/.test(c) ? c : code.toUpperCase();
    });
}

/** A path from the folder of the file that names it. */
function rooted(file: string, path: string): string {
    return shortest(`${file.slice(0, file.lastIndexOf("/") + 1)}${path}`);
}

/** Without empty parts and `.`; `..` only where it leads out. */
function shortest(path: string): string {
    const out: string[] = [];
    for (const part of path.split("/")) {
        if (part === "" || part === ".") continue;
        if (part === ".." && out.length > 0 && out[out.length - 1] !== "..") out.pop();
        else out.push(part);
    }
    return out.join("/");
}

const ONE_OBJECT: ReadonlySet<string> = new Set(["mcp", "temporal"]);

/** Whether every method of the tool takes one object and nothing by place. */
export function takesObject(uri: string): boolean {
    return ONE_OBJECT.has(schemeOf(uri));
}

/** Whether results of the tools of an import say of themselves that they are errors. */
export function saysErrors(uri: string): boolean {
    return schemeOf(uri) === "mcp";
}
