/**
 * Compilation as phases over values, each of which a caller can put something around: read, check, lower, plan, validate.
 *
 * Boundary: the phases of the language and the machine in order. `load` does the same without wrappers, and keeps what it made in a cache.
 *
 * PHS1: what comes out is a value: it can be run many times, and shown before it is.
 */
import type { CheckedProgram, LoadedProgram } from "@remit/language";
import { compileProgram, type Plan, plansOf, validatePlan } from "@remit/machine";
import { settingOf } from "../config/setting.ts";
import { RemitError } from "../failure/error.ts";
import { sha256 } from "../ledger/blob.ts";
import type { LoadOptions } from "../run/setup.ts";
import type { VerbRegistry } from "../verb/registry.ts";
import { chain, type Wrap } from "../wrap/wrap.ts";
import { around, type Loaded, loadedOf, loadProgram, type LoadProgramOptions, type LoadSource, openedAt } from "./load.ts";

export interface CompileOptions
    extends Pick<LoadOptions, "registry" | "wrap" | "root" | "grants" | "folders" | "process" | "env" | "user" | "trust" | "workspace"> {
    readonly signal?: AbortSignal;
}

/** A checked program and the plans of its blocks. */
export interface CompiledProgram extends Loaded {
    /** Of its blocks, in the order of the source. */
    readonly plans: readonly Plan[];
    /** Verbs that it was compiled with, where they are not Remit's own alone. */
    readonly registry: VerbRegistry | undefined;
}

/** What `compile` gives, not a source. */
export function isCompiled(source: string | LoadSource | CompiledProgram): source is CompiledProgram {
    return typeof source === "object" && "plans" in source;
}

/** A path ends like one, and no program does. */
export function sourceOf(source: string | LoadSource): LoadSource {
    if (typeof source !== "string") return source;
    return /\.(?:remit|as|json)$/.test(source) ? { path: source } : { source };
}

/**
 * Compiles a program: its text, the path of its file (which ends with `.remit`, `.as` or `.json`), or its form. Throws `LoadError` with every error of
 * all files, `RemitError` where it cannot be read or a plan cannot run.
 */
export async function compile(source: string | LoadSource, options: CompileOptions = {}): Promise<CompiledProgram> {
    const from = sourceOf(source);
    const { here, config } = await settingOf("path" in from ? from.path : options.root, options);
    const how: LoadProgramOptions = { ...options, here, config };
    const { registry } = options;
    const phase = phases(options, "path" in from ? from.path : "source" in from ? (from.file ?? "<memory>") : "<form>");
    const loaded =
        "form" in from || ("path" in from && from.path.endsWith(".json"))
            ? await phase("read", async () => loadProgram(from, how))
            : await compiled(from, how, phase);
    const { hash } = loaded;
    const plans = await phase("plan", async () => plansOf(compileProgram(loaded.program), hash), hash);
    return { ...loaded, plans: await phase("validate", async () => valid(plans), hash), registry };
}

type Phase = <T>(name: string, work: () => Promise<T>, key?: string) => Promise<T>;

/** Only what is read can be another thing the second time. */
function phases({ wrap = [], signal = new AbortController().signal }: CompileOptions, file: string): Phase {
    const around: Wrap = chain(...wrap);
    return (name, work, key) => {
        const about = { what: "phase", name, node: null, path: file, repeatable: key !== undefined, key: () => key ?? "" } as const;
        return around(async () => work(), about)(signal);
    };
}

async function compiled(from: Exclude<LoadSource, { readonly form: unknown }>, how: LoadProgramOptions, phase: Phase): Promise<Loaded> {
    const { checkedTree, lowered, readProgram } = await import("./compile.ts");
    const opened = openedAt(from, how);
    const { tree, main } = opened;
    const read = await phase("read", async () => readProgram(tree, main, around(how)));
    const key = keyOf(read, how);
    const checked: CheckedProgram = await phase("check", async () => checkedTree(read), key);
    const made = await phase("lower", async () => lowered(checked, main.secrets), key);
    return loadedOf(made, opened, how);
}

/** Texts and names of all files, and the verbs. */
function keyOf({ files, verbs }: LoadedProgram, { registry }: LoadProgramOptions): string {
    const texts = [...files].map(([name, { source }]) => [name, source.text]);
    return sha256(JSON.stringify([texts, registry === undefined || verbs === undefined ? null : [...verbs]]));
}

function valid(plans: readonly Plan[]): readonly Plan[] {
    const errors = plans.flatMap((plan) => validatePlan(plan, () => true));
    const [first] = errors;
    if (first === undefined) return plans;
    const more = errors.length === 1 ? "" : ` (and ${errors.length - 1} more)`;
    throw new RemitError({ kind: "value", message: `${first.message}${more}`, site: first.site });
}
