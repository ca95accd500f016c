/**
 * Where an installed package is and which file of it an import means. Nothing is ever installed.
 *
 * Boundary: folders and `package.json`; loads no code. Resolution as in Node's documentation of packages (`exports`, conditions `node`,
 * `import`, `module-sync`, `default`), because Node itself resolves only from the file that asks.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileProblem, ToolFail } from "./tool.ts";

export interface Package {
    readonly folder: string;
    readonly version: string;
    readonly manifest: { readonly [key: string]: unknown };
}

const CONDITIONS = new Set(["node", "import", "module-sync", "default"]);

/** `npm:@scope/name/sub` → name and subpath. */
export function packageName(spec: string): { readonly name: string; readonly sub: string } | null {
    const found = /^((?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:\/(.+))?$/i.exec(spec);
    if (found === null || (found[2] ?? "").split("/").some((part) => part === ".." || part === "." || part === "")) {
        return found !== null && found[2] === undefined ? { name: found[1] as string, sub: "" } : null;
    }
    return { name: found[1] as string, sub: found[2] ?? "" };
}

/** The package as `folder` and those above it have it in `node_modules`. */
export function findPackage(name: string, folder: string): Package {
    for (let at = folder; ; at = dirname(at)) {
        const place = join(at, "node_modules", name);
        if (statSync(join(place, "package.json"), { throwIfNoEntry: false }) !== undefined) {
            const real = realpathSync(place);
            const manifest = manifestOf(join(real, "package.json"), name);
            return { folder: real, manifest, version: typeof manifest.version === "string" ? manifest.version : "0.0.0" };
        }
        if (at === dirname(at)) break;
    }
    throw new ToolFail(`the package ${name} is not installed`, { kind: "unreachable", hint: `npm install ${name}` });
}

function manifestOf(path: string, name: string): { readonly [key: string]: unknown } {
    try {
        return JSON.parse(readFileSync(path, "utf8")) as { readonly [key: string]: unknown };
    } catch (error) {
        if (!(error instanceof SyntaxError) && fileProblem(error) === null) throw error;
        throw new ToolFail(`the package.json of ${name} cannot be read`);
    }
}

/** Absolute path of the file that the package, or a subpath of it, means. */
export function packageFile(found: Package, name: string, sub: string): string {
    const { manifest, folder } = found;
    const missing = new ToolFail(
        sub === "" ? `the package ${name} has nothing to import` : `the package ${name} has no '${sub}' to import`,
    );
    let target: string | null;
    if (manifest.exports !== undefined && manifest.exports !== null) target = exported(manifest.exports, sub === "" ? "." : `./${sub}`);
    else if (sub !== "") target = sub;
    else target = typeof manifest.main === "string" && manifest.main !== "" ? manifest.main : "index.js";
    if (target === null) throw missing;
    const candidates = manifest.exports === undefined ? [target, `${target}.js`, `${target}.json`, `${target}/index.js`] : [target];
    for (const candidate of candidates) {
        const path = join(folder, candidate);
        if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
        const real = realpathSync(path);
        const from = relative(folder, real);
        if (from === ".." || from.startsWith(`..${sep}`)) break;
        return real;
    }
    throw missing;
}

function exported(exports: unknown, key: string): string | null {
    if (typeof exports === "string" || Array.isArray(exports)) return key === "." ? targetOf(exports, "") : null;
    if (exports === null || typeof exports !== "object") return null;
    const map = exports as { readonly [key: string]: unknown };
    const keys = Object.keys(map);
    if (!keys.some((one) => one.startsWith("."))) return key === "." ? targetOf(map, "") : null;
    if (Object.hasOwn(map, key) && !key.includes("*")) return targetOf(map[key], "");
    let best: { pattern: string; rest: string } | null = null;
    for (const pattern of keys) {
        const star = pattern.indexOf("*");
        if (star < 0) continue;
        const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)];
        if (!key.startsWith(head) || !key.endsWith(tail) || key.length <= head.length + tail.length) continue;
        if (best === null || head.length > best.pattern.indexOf("*"))
            best = { pattern, rest: key.slice(head.length, key.length - tail.length) };
    }
    return best === null ? null : targetOf(map[best.pattern], best.rest);
}

function targetOf(target: unknown, rest: string): string | null {
    if (typeof target === "string") return target.startsWith("./") ? target.replaceAll("*", rest) : null;
    if (target === null || typeof target !== "object") return null;
    if (Array.isArray(target)) {
        for (const one of target) {
            const found = targetOf(one, rest);
            if (found !== null) return found;
        }
        return null;
    }
    for (const [condition, inner] of Object.entries(target)) {
        if (!CONDITIONS.has(condition)) continue;
        const found = targetOf(inner, rest);
        if (found !== null) return found;
    }
    return null;
}

/** Is a version in a range of the allow list: `*`, `1.2.3`, `^1.2`, `~1.2.3`, `>=1`? A pre-release is only in its own exact version and above. */
export function inRange(version: string, range: string): boolean {
    if (range === "*") return true;
    const mark = /^(\^|~|>=)?/.exec(range)?.[0] ?? "";
    const [want, have] = [numbers(range.slice(mark.length)), numbers(version)];
    if (want === null || have === null) return false;
    const order = compare(have, want);
    if (mark === "")
        return want.given === 3 ? order === 0 : have.parts.slice(0, want.given).every((part, index) => part === want.parts[index]);
    if (order < 0) return false;
    if (mark === ">=") return true;
    if (have.pre !== "" && !(want.pre !== "" && have.parts.every((part, index) => part === want.parts[index]))) return false;
    // `^` keeps the first part that is not zero, `~` the first two.
    const first = want.parts.slice(0, want.given).findIndex((part) => part !== 0);
    const keep = mark === "~" ? Math.min(2, want.given) : first < 0 ? want.given : first + 1;
    return have.parts.slice(0, keep).every((part, index) => part === want.parts[index]);
}

interface Version {
    readonly parts: readonly number[];
    /** How many parts were written. */
    readonly given: number;
    readonly pre: string;
}

function numbers(text: string): Version | null {
    const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/.exec(text);
    if (found === null) return null;
    const given = [found[1], found[2], found[3]].filter((part) => part !== undefined);
    return { parts: [0, 1, 2].map((index) => Number(given[index] ?? 0)), given: given.length, pre: found[4] ?? "" };
}

function compare(a: Version, b: Version): number {
    for (let index = 0; index < 3; index++) {
        const difference = (a.parts[index] as number) - (b.parts[index] as number);
        if (difference !== 0) return difference;
    }
    if (a.pre === b.pre) return 0;
    if (a.pre === "" || b.pre === "") return a.pre === "" ? 1 : -1;
    const [left, right] = [a.pre.split("."), b.pre.split(".")];
    for (let index = 0; index < Math.max(left.length, right.length); index++) {
        const [x, y] = [left[index], right[index]];
        if (x === y) continue;
        if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
        const [nx, ny] = [/^\d+$/.test(x), /^\d+$/.test(y)];
        if (nx && ny) return Number(x) - Number(y);
        if (nx !== ny) return nx ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return 0;
}
