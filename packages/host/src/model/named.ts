/**
 * Which model a client means by what it says: one of those that are listed, or none.
 *
 * Boundary: words and a list in, a model or a refusal out; nothing is sent and nothing is chosen in place of what was said.
 *
 * NMD1: it fails closed. What is not listed, is not ready, or could mean several is refused with the list; an address that a client made up is not listed.
 */
import type { ListedModel } from "./default.ts";
import { parseModelUri } from "./uri.ts";

export type Meant = { readonly ok: true; readonly model: string } | { readonly ok: false; readonly message: string; readonly hint: string };

/** The part of a listed URI that stands for any model of a provider. */
const ANY = "MODEL";

export function modelMeant(said: string, listed: readonly ListedModel[]): Meant {
    const word = said;
    const exact = listed.filter(({ uri }) => uri === word);
    const found = exact.length > 0 ? exact : ofProvider(word, listed);
    const [first] = found;
    if (first !== undefined)
        return found.some(({ ok }) => ok)
            ? { ok: true, model: word }
            : refused(`the model '${shown(word)}' cannot be used: ${first.note}`, listed);
    if (word.includes(":") && parseModelUri(word).ok)
        return refused(`the model '${shown(word)}' is not one of those that can be named here`, listed);
    const low = word.toLowerCase();
    const named = listed.filter(({ uri, ok }) => ok && !uri.endsWith(`://${ANY}`) && low !== "");
    for (const fits of [(name: string) => name === low, (name: string) => name.startsWith(low)]) {
        const meant = [...new Set(named.filter(({ uri }) => namesOf(uri).some((name) => fits(name.toLowerCase()))).map(({ uri }) => uri))];
        if (meant.length === 1) return { ok: true, model: meant[0] as string };
        if (meant.length > 1) return refused(`'${shown(word)}' could be ${meant.map(shown).join(" or ")}`, listed);
    }
    return refused(`there is no model '${shown(word)}'`, listed);
}

/** A model at a provider's own address, where the provider can be used. */
function ofProvider(word: string, listed: readonly ListedModel[]): ListedModel[] {
    const parsed = parseModelUri(word);
    if (!parsed.ok || parsed.uri.kind !== "provider" || parsed.uri.baseURL !== null) return [];
    const { provider } = parsed.uri;
    return listed.filter(({ uri }) => uri === `${provider}://${ANY}`);
}

/** What a listed model may be called: as it is listed, and by the name of the model alone. */
function namesOf(uri: string): string[] {
    const parsed = uri.includes(":") ? parseModelUri(uri) : null;
    return parsed?.ok === true && parsed.uri.kind === "provider" ? [uri, parsed.uri.model] : [uri];
}

function refused(message: string, listed: readonly ListedModel[]): Meant {
    const ready = listed.filter(({ ok }) => ok).map(({ uri }) => uri);
    return { ok: false, message, hint: ready.length === 0 ? "no model is ready: remit models says why" : `there are: ${ready.join(", ")}` };
}

function shown(text: string): string {
    return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
