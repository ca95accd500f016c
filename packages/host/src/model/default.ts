/**
 * Which model answers.
 *
 * The order: `--model`; `REMIT_MODEL`; the program's own import, where it can be reached; an Ollama on its port; the local model; the last resort
 * that `REMIT_FALLBACK` names (a scripted model, say). Where there is none of these a turn fails: nothing is made up in a model's name. An import of `scripted:`, `recorded:`, `mock:` or `local:` does not fall back: where it cannot be used, it fails.
 *
 * Boundary: chooses and says so in plain words; what is reachable is found out in `reach.ts`.
 *
 * DF1: whenever another model answers than the program imports, `describe` says which, why, and the one line that changes it.
 */
import { parseModelUri } from "./uri.ts";
import { KEYS, ollamaBase, ollamaModels, type ReachSetup, reach } from "./reach.ts";

export interface Chosen {
    /** Empty where no model can be used. */
    readonly uri: string;
    /** Why this one: plain words for people. */
    readonly why: string;
    /** The import it stands in for, where it is another. */
    readonly instead: string | null;
    /** It answers because the import cannot be used, and was named by neither the program nor the user. */
    readonly standsIn?: boolean;
}

export interface ChoiceSetup extends ReachSetup {
    /** `--model`. */
    readonly model: string | undefined;
    /** URI of the last resort, where the user named one. */
    readonly fallback: string | undefined;
}

/** The model for an import. `imported` null: the program imports none. */
export async function chooseModel(imported: string | null, setup: ChoiceSetup): Promise<Chosen> {
    const instead = (uri: string): string | null => (imported === null || imported === uri ? null : imported);
    if (setup.model !== undefined) return { uri: setup.model, why: "--model names it", instead: instead(setup.model) };
    const variable = setup.env.REMIT_MODEL?.trim();
    if (variable !== undefined && variable !== "") return { uri: variable, why: "REMIT_MODEL names it", instead: instead(variable) };
    let missing = "";
    if (imported !== null) {
        const parsed = parseModelUri(imported);
        // A URI that cannot be read is an error of the program, which the turn will say.
        if (!parsed.ok || parsed.uri.kind !== "provider") return { uri: imported, why: "the program imports it", instead: null };
        const reached = await reach(parsed.uri, setup);
        if (reached.ok) return { uri: imported, why: "the program imports it", instead: null };
        missing = `${imported} cannot be used: ${reached.reason}; `;
    }
    const standsIn = imported !== null;
    const because = missing === "" ? "" : ` (${missing.slice(0, -2)})`;
    const ollama = await ollamaModels(ollamaBase(setup.env), setup);
    const first = setup.env.OLLAMA_MODEL?.trim() || ollama?.[0];
    if (ollama !== null && first !== undefined)
        return { uri: `ollama://${first}`, why: `an Ollama answers on its port${because}`, instead: imported, standsIn };
    const local = await reach({ kind: "local", uri: "local:", path: "" }, setup);
    if (local.ok) return { uri: "local:", why: `it is the model built in${because}`, instead: imported, standsIn };
    const none = `${missing}no Ollama has a model here; the local model cannot be used: ${local.reason}`;
    return setup.fallback === undefined
        ? { uri: "", why: none, instead: imported }
        : { uri: setup.fallback, why: `it is the last resort (${none})`, instead: imported, standsIn };
}

/** What a URI is, for people. */
export function describeUri(uri: string): string {
    const parsed = parseModelUri(uri);
    if (!parsed.ok) return uri;
    switch (parsed.uri.kind) {
        case "mock":
            return "the mock model (zero values, no model at all)";
        case "scripted":
            return `a scripted model (fixed replies from ${parsed.uri.path}, no model at all)`;
        case "recorded":
            return `a recording (${parsed.uri.path}, no model at all)`;
        case "local":
            return parsed.uri.path === ""
                ? "SmolLM2-135M-Instruct, a small model in this process"
                : `${parsed.uri.path}, a model in this process`;
        default:
            return uri;
    }
}

/** Which model answered, why, and what puts a better one in its place. */
export function describeModel(chosen: Chosen): string {
    const choice =
        "with one line: export REMIT_MODEL=anthropic://claude-sonnet-4-5 (with ANTHROPIC_API_KEY; openai://, google:// and ollama:// work alike), or --model URI.";
    const better = `Put a better one in its place ${choice}`;
    if (chosen.uri === "")
        return `No model can be used: ${chosen.why}. \`remit models pull local\` brings a small one that needs no account. Choose another ${choice}`;
    const [model, where] = [describeUri(chosen.uri), `in place of ${chosen.instead}`];
    const line = chosen.standsIn === true ? `Answers ${where}: ${model}: ${chosen.why}.` : `Answered by ${model}: ${chosen.why}.`;
    return chosen.instead === null && !["local:", "mock:", "scripted:"].some((own) => chosen.uri.startsWith(own))
        ? line
        : `${line} ${better}`;
}

export interface ListedModel {
    readonly uri: string;
    readonly ok: boolean;
    /** What it is, or why it cannot be used and what to do. */
    readonly note: string;
}

/** What is configured and reachable, with the reason where it is not; `uris` are those the program imports. */
export async function listModels(uris: readonly string[], setup: ChoiceSetup): Promise<ListedModel[]> {
    const named = [setup.model, setup.env.REMIT_MODEL?.trim(), ...uris].filter((uri): uri is string => uri !== undefined && uri !== "");
    const listed: ListedModel[] = [];
    for (const uri of new Set(named)) {
        const parsed = parseModelUri(uri);
        const reached = parsed.ok ? await reach(parsed.uri, setup) : { ok: false as const, reason: parsed.message };
        listed.push({ uri, ok: reached.ok, note: reached.ok ? reached.note : reached.reason });
    }
    for (const provider of ["openai", "anthropic", "google"] as const) {
        const key = KEYS[provider].key as string;
        const ok = (setup.env[key] ?? "") !== "";
        listed.push({ uri: `${provider}://MODEL`, ok, note: ok ? `${key} is set` : `${key} is not set` });
    }
    const base = ollamaBase(setup.env);
    const models = await ollamaModels(base, setup);
    if (models === null) listed.push({ uri: "ollama://MODEL", ok: false, note: `no Ollama answers at ${new URL(base).host}` });
    else for (const model of models) listed.push({ uri: `ollama://${model}`, ok: true, note: `Ollama at ${new URL(base).host}` });
    const local = await reach({ kind: "local", uri: "local:", path: "" }, setup);
    listed.push({ uri: "local:", ok: local.ok, note: local.ok ? local.note : local.reason });
    return listed;
}
