/**
 * The machine of a run, from what the ledger keeps of it.
 *
 * Boundary: from a caller's words and stored options to the machine's; no policy.
 */
import { BLOCKS, type Program, shownName } from "@remit/language";
import { type Conducted, Machine, type StartOptions, type VariantSite, compileProgram, variantSites } from "@remit/machine";
import type { KeptRun } from "../ledger/store.ts";
import { leaving } from "../secret/exits.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { RemitError } from "../failure/error.ts";
import { given } from "../input/given.ts";
import { type Entry, type KeptOptions, PART_KNOWS } from "./options.ts";

/** Which function a run begins with. Throws `RemitError` where there is none of that name. */
export function entryOf(program: Program, entry: Entry | undefined): StartOptions["entry"] {
    if (entry === undefined || (entry.agent === undefined && entry.func === undefined)) {
        const hasBlocks = program.entry?.func === BLOCKS;
        const start = entry?.main === true && hasBlocks ? program.main : program.entry;
        if (start === undefined) throw wrong("this file has no main agent and no main func", "name a function to run with --function");
        return start;
    }
    const main = program.files.length - 1;
    const form = program.files[main];
    const funcs = form?.funcs ?? [];
    const agents = form?.agents ?? [];
    if (entry.agent === undefined) {
        const asked = entry.func as string;
        const func = named(funcs, asked);
        if (func !== undefined) return { file: main, func: func.name };
        // A function of the main agent is meant where the file itself has none of that name.
        const first = agents.find((agent) => agent.name === program.entry?.agent);
        const inner = first === undefined ? undefined : named(first.funcs, asked);
        if (first !== undefined && inner !== undefined) return { file: main, agent: first.name, func: inner.name };
        const dot = asked.indexOf(".");
        if (dot > 0) return entryOf(program, { agent: asked.slice(0, dot), func: asked.slice(dot + 1) });
        throw wrong(`there is no function '${asked}' in ${form?.file}`, namesHint([...funcs, ...(first?.funcs ?? [])]));
    }
    const own = named(agents, entry.agent);
    // One that the file imports stands in another one.
    const linked = form?.imports.find((one) => one.what === "agent" && one.name === entry.agent && one.from !== undefined)?.from;
    const file = own === undefined && linked !== undefined ? linked : main;
    const agent = own ?? (linked === undefined ? undefined : named(program.files[linked]?.agents ?? [], entry.agent));
    if (agent === undefined) {
        const imported = (form?.imports ?? []).filter((one) => one.what === "agent" && one.from !== undefined);
        throw wrong(`there is no agent '${entry.agent}' in ${form?.file}`, namesHint([...agents, ...imported]));
    }
    const func = entry.func === undefined ? agent.funcs.find((one) => one.main === true) : named(agent.funcs, entry.func);
    if (func === undefined)
        throw wrong(
            entry.func === undefined
                ? `agent ${shownName(agent.name)} has no main func`
                : `agent ${shownName(agent.name)} has no function '${entry.func}'`,
            namesHint(agent.funcs),
        );
    return { file, agent: agent.name, func: func.name };
}

/** By its name, or as it is shown where it has none of its own (`main`). */
function named<T extends { readonly name: string }>(all: readonly T[], name: string): T | undefined {
    return all.find((one) => one.name === name) ?? all.find((one) => shownName(one.name) === name);
}

/** What the caller asked for is not in the program. */
function wrong(message: string, hint: string): RemitError {
    return new RemitError({ kind: "value", message, hint });
}
function namesHint(all: readonly { readonly name: string }[]): string {
    return all.length === 0 ? "it declares none" : `it declares ${all.map((one) => shownName(one.name)).join(", ")}`;
}

type Variants = { readonly [site: string]: string };

/** By the names of places as the program has them. Throws where a candidate is chosen at a place, or of a name, that the program does not have. */
function variantsOf(program: Program, variants: Variants): Variants {
    const chosen = Object.entries(variants);
    // Most runs choose nothing, and the program is not searched for them.
    if (chosen.length === 0) return variants;
    const sites = variantSites(program);
    const all = [...sites.keys()];
    return Object.fromEntries(
        chosen.map(([said, name]) => {
            // An older name begins where the tree does, or the workspace.
            const older = ({ inTree }: VariantSite): boolean =>
                inTree === said || inTree.endsWith(`/${said}`) || said.endsWith(`/${inTree}`);
            const found = sites.has(said) ? [said] : all.filter((one) => older(sites.get(one) as VariantSite));
            const [site] = found;
            if (site === undefined || found.length > 1)
                throw wrong(
                    found.length > 1 ? `several places are meant by ${said}` : `there is no use one of at ${said}`,
                    all.length === 0 ? "the program has no use one of" : `it has ${(found.length > 1 ? found : all).join(", ")}`,
                );
            const { candidates } = sites.get(site) as VariantSite;
            if (!candidates.includes(name))
                throw wrong(`use one of at ${site} has no candidate '${name}'`, `it has ${candidates.join(", ")}`);
            return [site, name];
        }),
    );
}

export function startOptions(run: string, program: Program, hash: string, kept: KeptOptions, slice: number): StartOptions {
    return {
        run,
        programHash: hash,
        entry: kept.part?.entry ?? entryOf(program, kept.entry),
        input: kept.input,
        imports: kept.imports,
        limits: kept.limits,
        slice,
        ...(kept.inputOrigins === undefined ? {} : { inputLabels: kept.inputOrigins }),
        ...(kept.part === undefined ? {} : given(kept.part, ["path", "bindings", ...PART_KNOWS])),
        ...given(kept, ["skills", "prices", "unpriced", "concurrency", "policy", "interactive", "backend"]),
        ...(kept.variants === undefined ? {} : { variants: variantsOf(program, kept.variants) }),
    };
}

/** What a run in the ledger was begun with. */
export function startOptionsOf({ info, options, program }: KeptRun, slice = SLICE): StartOptions {
    return startOptions(info.id, program, info.program, options as unknown as KeptOptions, slice);
}

/** Steps between two looks at the outside: less than 10 ms of computing. */
export const SLICE = 200_000;

/** The machine of a run in the ledger, at its start. */
export function machineOf(run: KeptRun, secrets: Scrubber): Conducted {
    return leaving(Machine.start(compileProgram(run.program), startOptionsOf(run, SLICE)), secrets);
}
