/**
 * Riffs: RAS programs by name.
 *
 * Boundary: finds and lists; starts nothing.
 *
 * RI1: looked for in `.agents/riffs` and `.agents/skills` of the project, then of the user's home: folders with a `SKILL.md` whose metadata say
 *     `riff: "true"`, and in `riffs` also programs that lie there by themselves. The first of a name counts; the others are told.
 *     A program of the project counts only where it is trusted as it is now (`config/trust.ts`); one that is not is named, and nothing else.
 * RI2: the script of a skill is a file of that skill: a path that leads out of its folder is no script.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { stateOf, type TrustState } from "../config/trust.ts";
import { readJson } from "../input/json.ts";
import { type Environment, homeOf } from "../ledger/place.ts";
import { byUnits, isInside } from "../skill/files.ts";
import { problemText, readSkill } from "../skill/skill.ts";
import { skillTrust } from "../skill/trust.ts";
import { ToolFail } from "../tool/tool.ts";
import { RAS_FILE, type RasLanguage, rasSource } from "./source.ts";

export interface Riff {
    readonly name: string;
    readonly description: string;
    readonly language: RasLanguage;
    /** Absolute path of the program. */
    readonly path: string;
    /** What it takes, as the skill says it; null where nothing is said. */
    readonly parameters: Json;
    readonly scope: "project" | "user" | "named";
    /** Of a project's: whether the user trusts it as it is now. Null for one that needs no trust. */
    readonly trust: TrustState | null;
}

export interface Riffs {
    /** By name. */
    readonly riffs: readonly Riff[];
    /** Those of the project that the user does not trust as they are now, by name. They are not run. */
    readonly withheld: readonly Riff[];
    readonly warnings: readonly { readonly place: string; readonly message: string }[];
}

/** Where a skill does not name its script. */
const SCRIPTS = ["scripts/ras.py", "scripts/ras.ts", "scripts/ras.sh"];
/** Entries of a folder that are looked at. */
const MAX_ENTRIES = 500;

/** `named`: files that the caller registered for this run; they come first. `always`: the person trusts what is found for this time. */
export function findRiffs(project: string, env: Environment, named: readonly string[] = [], always = env.REMIT_TRUST === "1"): Riffs {
    const known = new Map<string, Riff>();
    const withheld: Riff[] = [];
    const warnings: { place: string; message: string }[] = [];
    const add = (riff: Riff): void => {
        if (!always && riff.trust !== null && riff.trust.state !== "trusted") {
            withheld.push(riff);
            return;
        }
        const first = known.get(riff.name);
        if (first === undefined) known.set(riff.name, riff);
        else if (first.path !== riff.path)
            warnings.push({ place: riff.path, message: `'${riff.name}' is already the name of ${first.path}, which counts` });
    };
    for (const file of named) add(loose(file, "named", env));
    const home = homeOf(env);
    for (const [base, scope] of [
        [project, "project"],
        [home, "user"],
    ] as const)
        for (const kind of ["riffs", "skills"]) {
            const folder = join(base, ".agents", kind);
            if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) continue;
            for (const name of readdirSync(folder).sort(byUnits).slice(0, MAX_ENTRIES)) {
                const path = join(folder, name);
                try {
                    if (existsSync(join(path, "SKILL.md"))) {
                        const riff = ofSkill(path, scope, env);
                        if (riff !== null) add(riff);
                    } else if (kind === "riffs" && RAS_FILE.test(name)) add(loose(path, scope, env));
                } catch (error) {
                    if (!(error instanceof ToolFail)) throw error;
                    warnings.push({ place: path, message: error.message });
                }
            }
        }
    const sorted = (riffs: Iterable<Riff>): Riff[] => [...riffs].sort((a, b) => byUnits(a.name, b.name));
    return { riffs: sorted(known.values()), withheld: sorted(withheld), warnings };
}

/** What is told of a name that is withheld; null where no Riff of that name is. */
export function withheldOf(name: Json | undefined, { withheld }: Riffs): { readonly message: string; readonly hint: string } | null {
    const riff = withheld.find((one) => one.name === name);
    if (riff === undefined) return null;
    const why = riff.trust?.state === "changed" ? "has changed since it was trusted" : "came with the project and is not trusted";
    return { message: `the Riff '${riff.name}' ${why}`, hint: `read ${riff.path}, then: remit trust` };
}

function loose(file: string, scope: Riff["scope"], env: Environment): Riff {
    const { path, name, language } = rasSource(file);
    const trust = scope === "project" ? stateOf(path, readFileSync(path), env) : null;
    return { name, description: "", language, path, parameters: null, scope, trust };
}

/** Null for a skill that is no Riff. Throws `ToolFail`. */
function ofSkill(folder: string, scope: Riff["scope"], env: Environment): Riff | null {
    const { skill, problems } = readSkill(folder);
    if (skill === null) throw new ToolFail(problems.map(problemText).join("; "));
    if (skill.metadata.riff !== "true" || skill.folder === null) return null;
    const wanted = skill.metadata.script ?? SCRIPTS.find((one) => existsSync(join(folder, one)));
    if (wanted === undefined) throw new ToolFail(`has no script: metadata.script, or one of ${SCRIPTS.join(", ")}`);
    const path = join(skill.folder, wanted);
    if (!existsSync(path) || !isInside(realpathSync(path), skill.folder))
        throw new ToolFail(`metadata.script: there is no ${wanted} in its folder`);
    const said = skill.metadata.parameters;
    const read = said === undefined ? null : readJson(said);
    if (read?.ok === false) throw new ToolFail(`metadata.parameters ${read.message}`);
    const source = rasSource(path);
    return {
        name: skill.name,
        description: skill.description,
        language: source.language,
        path: source.path,
        parameters: read?.value ?? null,
        scope,
        trust: scope === "project" ? skillTrust(skill, env) : null,
    };
}
