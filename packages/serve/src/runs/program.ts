/**
 * What a server can say of what it serves: who may do what in its program, and which models can be used.
 *
 * Boundary: reads the program and the project's configuration; runs nothing.
 */
import { checkFile, configuredModels, createModels, knownSecrets, loadConfig, namedModels, type Process } from "@remit/host";
import { AUTHORITY_HEAD, authorityCells, authorityOf, type Program } from "@remit/language";
import type { ModelsView, ProgramView } from "../wire/runs.ts";

export interface Served {
    /** Path of the program; undefined: the one that comes with the server. */
    readonly program: string | undefined;
    readonly form: Program;
    readonly hash: string;
    readonly file: string;
    readonly process: Process;
}

/** The table that `remit check --authority` prints, in cells. */
export async function programView({ program, form, hash, file, process }: Served): Promise<ProgramView> {
    const { env, cwd } = process;
    const policy =
        program === undefined
            ? loadConfig({ env, from: cwd, folder: cwd }).policy
            : (await checkFile(program, { process })).project?.policy;
    return { file, hash, head: [...AUTHORITY_HEAD], rows: authorityCells(authorityOf(form, policy ?? {})) };
}

/** What is configured and reachable, with the reason where it is not; `chosen`: what answers where no model is said. `imported`: by the program. */
export async function modelsView(
    process: Process,
    folder: string,
    {
        model,
        imported = [],
        trust,
    }: { readonly model?: string | undefined; readonly imported?: readonly string[]; readonly trust?: boolean | undefined },
): Promise<ModelsView> {
    const { env } = process;
    const config = loadConfig({ env, from: folder, folder, ...(trust === undefined ? {} : { trust }) });
    const secrets = knownSecrets(env, config);
    const named = namedModels(config, env, secrets);
    const made = createModels({ process, folder, secrets, named, ...(model === undefined ? {} : { model }) });
    try {
        const listed = [...configuredModels(config, env), ...(await made.list(imported))];
        const models = [...new Map(listed.map((one) => [one.uri, one])).values()];
        const { uri, text } = await made.choose(null);
        return { models, chosen: { uri, text } };
    } finally {
        await made.close();
    }
}
