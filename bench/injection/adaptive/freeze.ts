/**
 * Programs and policies, frozen by hash before goals are made: the hash is the seed of the goals' values, so a policy that changes meets other ones.
 *
 * Boundary: reads the worlds' programs and the words of the policies; counts what opens everything.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Program } from "../../../packages/language/src/index.ts";
import { rulesOf } from "../contenders.ts";
import type { Toolbox } from "../kit.ts";
import { clausesOf } from "../record.ts";
import type { AnyWorld } from "../worlds/all.ts";
import type { Policy } from "../policy.ts";

export interface Policies {
    readonly [name: string]: (world: string) => Policy | null;
}

export function hashOf(world: AnyWorld, policies: Policies): string {
    const folder = fileURLToPath(new URL(`../worlds/${world.name}/programs/`, import.meta.url));
    const hash = createHash("sha256");
    for (const name of readdirSync(folder).sort()) hash.update(`${name}\n${readFileSync(`${folder}/${name}`, "utf8")}\n`);
    for (const [name, policy] of Object.entries(policies)) hash.update(`${name}\n${JSON.stringify(policy(world.name))}\n`);
    return hash.digest("hex");
}

export interface Opened {
    /** Methods that do more than read, over all programs of the world as tasks use them. */
    writes: number;
    /** Of these, those whose choice is `any`, or that stand in a program that endorses. */
    any: number;
    endorsed: number;
}

export function openedIn(world: AnyWorld, policy: Policy | null): Opened {
    const opened: Opened = { writes: 0, any: 0, endorsed: 0 };
    for (const task of new Map(world.tasks.map((one) => [one.program, one])).values()) {
        const rules = rulesOf(world, task, policy);
        for (const [tool, methods] of Object.entries(world.tools(world.state(""), []) as Toolbox))
            for (const [method, { readOnly }] of Object.entries(methods)) {
                if (readOnly || !imports(rules, tool)) continue;
                opened.writes += 1;
                const open = clausesOf(rules, tool).some(
                    (one) => one.kind === "choice" && one.any === true && (one.method ?? method) === method,
                );
                if (open) opened.any += 1;
                if (JSON.stringify(rules).includes('"kind":"endorse"')) opened.endorsed += 1;
            }
    }
    return opened;
}

const imports = (rules: Program, tool: string): boolean => rules.files.some((file) => file.imports.some((one) => one.name === tool));
