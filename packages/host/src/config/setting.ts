/**
 * What a project's configuration and the caller say together: configuration, workspace, limits.
 *
 * Boundary: loads the configuration, once a program; what is in it is used elsewhere.
 */
import { dirname, resolve } from "node:path";
import type { Limits } from "@remit/machine";
import type { Config } from "./config.ts";
import { RemitError } from "../failure/error.ts";
import { fromThisProcess, type Surroundings } from "../process/here.ts";
import type { HostOptions, RunOptions } from "../run/setup.ts";

export interface Setting {
    /** Of the process, with the environment that the caller names. */
    readonly here: Surroundings;
    readonly config: Config;
    /** Absolute folder that tools may reach: what the caller names, what the configuration names, the current folder. */
    readonly workspace: string;
    /**
     * Absolute folder from which files in model URIs (`scripted:FILE`) are found: the current one where the caller or the environment names
     * the model, else the one that the program is in.
     */
    readonly modelFolder: string;
}

/** `from`: the program's file or folder. Throws `RemitError` with every problem of every configuration file. */
export async function settingOf(
    from: string | undefined,
    options: Pick<HostOptions, "workspace" | "env" | "trust" | "model" | "process" | "user"> & Pick<RunOptions, "asks">,
): Promise<Setting> {
    const [{ loadConfig }, { CONFIG_HINT, ConfigError }] = await Promise.all([import("./config.ts"), import("./check.ts")]);
    const here = surroundingsOf(options);
    const { cwd, env } = here;
    const named = options.workspace === undefined ? undefined : resolve(cwd, options.workspace);
    try {
        const config = loadConfig({
            folder: cwd,
            env,
            ...(named === undefined ? {} : { workspace: named }),
            ...(from === undefined ? {} : { from: resolve(cwd, from) }),
            ...(options.trust === undefined ? {} : { trust: options.trust }),
        });
        const outside = from === undefined || options.model !== undefined || (env.REMIT_MODEL ?? "") !== "";
        return {
            here,
            config,
            workspace: named ?? config.workspace ?? cwd,
            modelFolder: outside ? cwd : dirname(resolve(cwd, from)),
        };
    } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        throw new RemitError({ kind: "value", message: error.message, hint: CONFIG_HINT });
    }
}

/** What the caller names, else what the process was given. */
export function surroundingsOf({
    process,
    env,
    user,
    asks,
}: Pick<HostOptions, "process" | "env" | "user"> & Pick<RunOptions, "asks">): Surroundings {
    const here = process ?? fromThisProcess();
    return { cwd: here.cwd, env: env ?? here.env, user: user ?? asks?.owner ?? here.user };
}

/** The configuration's bounds, and the caller's where it says something. */
export function limitsOf(config: Config, limits: Limits | undefined): Limits {
    const bounds: Record<string, number> = {};
    for (const name of LIMITS) {
        const said = limits?.[name] ?? config.limits[name];
        if (said !== undefined) bounds[name] = said;
    }
    return bounds;
}
const LIMITS = [
    "steps",
    "depth",
    "tokens",
    "usd",
    "calls",
    "turns",
    "bytes",
    "memory",
    "time",
] as const satisfies readonly (keyof Limits)[];
