/**
 * What a server can say of what it serves: who may do what in its program, and which models can be used.
 *
 * Boundary: reads the program and the project's configuration; runs nothing.
 */
import { checkFile, configuredModels, createModels, loadConfig, parseModelUri, type Process } from "@remit/host";
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

/**
 * Whether a client may name this model: one that is listed as usable, or any of a provider whose key is set. A URI says more than which model: a file
 * that is read, or an address that a key of the server's is sent to.
 */
export function isListed({ models, chosen }: ModelsView, said: string): boolean {
    if (said === chosen.uri || said === "mock:") return true;
    const usable = new Set(models.filter(({ ok }) => ok).map(({ uri }) => uri));
    if (usable.has(said)) return true;
    const parsed = parseModelUri(said);
    return parsed.ok && parsed.uri.kind === "provider" && parsed.uri.baseURL === null && usable.has(`${parsed.uri.provider}://MODEL`);
}

/** What is configured and reachable, with the reason where it is not; `chosen`: what answers where no model is said. */
export async function modelsView(process: Process, folder: string, model: string | undefined): Promise<ModelsView> {
    const { env } = process;
    const made = createModels({ process, folder, ...(model === undefined ? {} : { model }) });
    try {
        const listed = [...configuredModels(loadConfig({ env, from: folder, folder }), env), ...(await made.list())];
        const models = [...new Map(listed.map((one) => [one.uri, one])).values()];
        const { uri, text } = await made.choose(null);
        return { models, chosen: { uri, text } };
    } finally {
        await made.close();
    }
}
