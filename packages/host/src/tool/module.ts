/**
 * `node:MODULE`, `npm:PACKAGE[/sub]` and the program's own `./tools.ts`: functions of modules as methods.
 *
 * Boundary: what the allow list of a trusted configuration names, and nothing else (default: deny). Such code runs in this process with all its
 * rights; that is why the list needs trust.
 *
 * MU1: own members only, of the module and, where it lacks the name, of its default export. Names of the prototype chain are refused.
 * MU2: arguments are JSON, in their order; a promise is waited for; the result is JSON or a failure that says where it is not (`plain.ts`).
 */
import { isBuiltin } from "node:module";
import { realpathSync, statSync } from "node:fs";
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Json, Signature } from "@remit/language";
import { unknownMethod } from "./args.ts";
import type { Config, ConfigFile } from "../config/config.ts";
import { describedBy, type HostMethod, methodOf, ownCopy, resultOf, type ToolCallContext } from "./functions.ts";
import { heldArguments, heldResult, shownInput } from "./held.ts";
import { findPackage, inRange, packageFile, packageName } from "./packages.ts";
import { plainJson } from "./plain.ts";
import { isStandard } from "./standard.ts";
import { type MethodInfo, type Open, Sourced, type ToolContext, ToolFail, type ToolHandle } from "./tool.ts";
import { typesOf } from "./types.ts";

const PROTOTYPE_NAMES = new Set([
    "__proto__",
    "constructor",
    "prototype",
    "hasOwnProperty",
    "toString",
    "valueOf",
    "__defineGetter__",
    "__defineSetter__",
]);
const MODULE_ENDINGS = new Set([".ts", ".mts", ".js", ".mjs", ".cjs", ".cts"]);

/** A URI that names a file of the program: `./tools.ts`, `../lib/tools.mjs`. */
export function isLocalModule(uri: string): boolean {
    return /^(\.{1,2}\/|file:\/\/\/)/.test(uri) && MODULE_ENDINGS.has(extname(uri));
}

/** `effectful: false`: the configuration says that its functions change nothing. */
export type Allowed =
    | { readonly ok: true; readonly effectful?: boolean }
    | { readonly ok: false; readonly message: string; readonly hint: string };

/** May this module be imported as a tool? Asks the allow list only; whether it is installed shows when it is used. */
export function allowModule(uri: string, file: string, about: { readonly config: Config; readonly root: string }): Allowed {
    const { config, root } = about;
    if (uri.startsWith("node:")) {
        const name = uri.slice(5);
        if (config.node.has(name))
            return isBuiltin(`node:${name}`) ? { ok: true } : no(`Node has no module '${name}'`, "see the list in Node's documentation");
        return refused(config.withheld.get(`node:${name}`), uri, `add "${name}" to allow.node`);
    }
    if (uri.startsWith("npm:")) {
        const spec = packageName(uri.slice(4));
        if (spec === null) return no(`'${uri}' names no package`, "write npm:PACKAGE or npm:PACKAGE/SUBPATH");
        const allowed = Object.hasOwn(config.npm, spec.name) ? config.npm[spec.name] : undefined;
        if (allowed === undefined)
            return refused(config.withheld.get(`npm:${spec.name}`), uri, `add "${spec.name}": { "version": "^…" } to allow.npm`);
        if (spec.sub !== "" && allowed.exports?.includes(spec.sub) !== true)
            return no(`${uri} is not allowed`, `add "${spec.sub}" to allow.npm.${spec.name}.exports in ${allowed.file.name}`);
        return allowed.effectful === undefined ? { ok: true } : { ok: true, effectful: allowed.effectful };
    }
    const path = localPath(uri, file, root);
    if (config.local.has(path) || config.local.has(realOr(path))) return { ok: true };
    return refused(config.withheld.get(`local:${path}`), uri, `add "${relative(root, path).split(sep).join("/")}" to allow.local`);
}

function refused(withheld: ConfigFile | undefined, uri: string, how: string): Allowed {
    return withheld === undefined
        ? no(`${uri} is not in the allow list`, `${how} in remit.json`)
        : no(
              `${uri} is allowed by ${withheld.name}, which is not trusted`,
              "look at that file, then trust it: `remit trust`, or --trust for once",
          );
}
function no(message: string, hint: string): Allowed {
    return { ok: false, message, hint };
}

export const openModule: Open = async (uri, about, context) => {
    const allowed = allowModule(uri, about.file, context);
    if (!allowed.ok) throw new ToolFail(allowed.message, { kind: "denied", hint: allowed.hint });
    const found = locate(uri, about.file, context);
    let module: object;
    try {
        module = (await import(/* @vite-ignore */ found.url)) as object;
    } catch (error) {
        throw new ToolFail(`${uri} cannot be loaded: ${Error.isError(error) ? error.message : String(error)}`, { kind: "unreachable" });
    }
    const typed = found.path === undefined ? null : typesOf(found.path, context.env);
    const signatures = typed !== null && "members" in typed ? typed.members.signatures : [];
    return moduleTool(about.name, module, { readOnly: found.readOnly, signatures });
};

function locate(
    uri: string,
    file: string,
    context: ToolContext,
): { readonly url: string; readonly readOnly: boolean; readonly path?: string } {
    if (uri.startsWith("node:")) return { url: uri, readOnly: false };
    if (!uri.startsWith("npm:")) {
        const path = localPath(uri, file, context.root);
        if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
            throw new ToolFail(`there is no file ${uri}`, { kind: "unreachable" });
        return { url: pathToFileURL(realpathSync(path)).href, readOnly: false, path };
    }
    const { name, sub } = packageName(uri.slice(4)) as { name: string; sub: string };
    const allowed = context.config.npm[name] as NonNullable<Config["npm"][string]>;
    const found = findPackage(name, allowed.file.folder);
    if (!inRange(found.version, allowed.version ?? "*"))
        throw new ToolFail(`${name} ${found.version} is installed, ${allowed.file.name} allows ${allowed.version}`, {
            kind: "denied",
            hint: "install that version, or change allow.npm",
        });
    return { url: pathToFileURL(packageFile(found, name, sub)).href, readOnly: allowed.effectful === false };
}

/** Absolute: of a module of the program. */
export function localPath(uri: string, file: string, root: string): string {
    if (uri.startsWith("file://")) return fileURLToPath(uri);
    return isAbsolute(uri) ? uri : resolve(join(root, dirname(file)), uri);
}
function realOr(path: string): string {
    return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
}

/** `readOnly`: the configuration says that its functions change nothing. `signatures`: what their types say, as far as it is known. */
export function moduleTool(
    name: string,
    module: object,
    { readOnly, signatures = [] }: { readonly readOnly: boolean; readonly signatures?: readonly Signature[] },
): ToolHandle {
    const fallback: unknown = Object.hasOwn(module, "default") ? (module as { default: unknown }).default : undefined;
    const holders = [module, fallback].filter(
        (one): one is object => (typeof one === "object" && one !== null) || typeof one === "function",
    );
    const member = (method: string): { readonly holder: object; readonly value: unknown } | null => {
        if (PROTOTYPE_NAMES.has(method)) return null;
        const holder = holders.find((one) => Object.hasOwn(one, method));
        return holder === undefined ? null : { holder, value: (holder as { [key: string]: unknown })[method] };
    };
    const names = [...new Set(holders.flatMap((holder) => Object.keys(holder)))].filter(
        (one) => one !== "default" && methodOf(member(one)?.value) !== null,
    );
    const signed = new Map(signatures.map((one) => [one.name, one]));
    const methods = (): MethodInfo[] =>
        names.map((one) => {
            const own = methodOf(member(one)?.value) as HostMethod;
            const said = describedBy(one, own, readOnly);
            const signature = signed.get(one);
            if (signature === undefined) return said;
            const { description = signature.description } = said;
            const input = own.input === undefined ? shownInput(signature) : null;
            return { ...said, ...(description === undefined ? {} : { description }), ...(input === null ? {} : { input }) };
        });
    return {
        methods,
        call: async (method, args, io): Promise<Json | Sourced> => {
            const found = member(method);
            if (found === null) throw unknownMethod(name, method, names.slice(0, 50));
            if (args === undefined) return plainJson(found.value, `${name}.${method}`);
            const own = methodOf(found.value);
            if (own === null) throw new ToolFail(`'${method}' is not a function`, { hint: `read it without calling: ${name}.${method}` });
            const call = own.call as unknown as (...all: unknown[]) => unknown;
            // A method that says something of itself is called as the functions of a calling program are.
            const saysMore = call !== found.value;
            const about: ToolCallContext = { signal: io.signal, run: io.run, emit: io.emit };
            const on = saysMore ? found.value : found.holder === module ? undefined : found.holder;
            const shown = `${name}.${method}`;
            const signature = signed.get(method);
            // A schema beside the function says more than its types do.
            const copies = args.map(ownCopy);
            const given = signature === undefined || isStandard(own.input) ? copies : heldArguments(signature, copies, shown);
            const gave = await resultOf(own, shown, (all) => call.apply(on, [...all, ...(saysMore ? [about] : [])]), given);
            if (signature === undefined || own.output !== undefined) return gave;
            return gave instanceof Sourced
                ? new Sourced(heldResult(signature, gave.json, shown), gave.parts)
                : heldResult(signature, gave, shown);
        },
    };
}
