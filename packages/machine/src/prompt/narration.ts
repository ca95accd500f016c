/**
 * Whether a reply without a call only says what the model is going to do, and what the model is told then.
 *
 * Boundary: words in, a verdict out. It is a guess by the words of a few languages. A wrong yes costs one turn of the model, which may answer as
 * before; after a wrong no the reply counts as the answer, as it does without `nudges`.
 *
 * NAR1: what gives, asks or takes leave is an answer, and so is a long text, whatever words are in it.
 */

/** UTF-16 units; a longer text holds something. */
const MAX_LENGTH = 600;

/** What a sentence about the next step begins with. Each row is one language; verbs are stems, open at the end. */
const INTENTIONS: readonly RegExp[] = [
    /^(?:let me|let's|let us|i(?:'|’)ll|i will|i(?:'|’)m (?:now )?going to|i am (?:now )?going to|i(?:'|’)m about to) (?:(?:now|first|then|also|quickly|just|next|go ahead and|start by|begin by) )*(\p{L}+)/u,
    /^(?:now )?(?:click|navigat|open|search|check|read|scroll|typ|fetch|load|look|tak|fill|submit|visit|inspect)(?:\p{L})*ing\b/u,
    /^(?:ich (?:werde|klicke|öffne|navigiere|suche|lese|schaue|prüfe|rufe|gehe|scrolle|tippe|fülle|wähle|lade|sehe mir)|lass(?:en sie)? mich)(?:\s|$)/u,
    /^(?:je (?:vais|clique|cherche|ouvre|vérifie|consulte|navigue|lis)|laisse(?:z)?-moi)(?:\s|$)/u,
    /^(?:voy a|vamos a|déjame|permíteme|haré clic|abriré|buscaré)(?:\s|$)/u,
    /^(?:vado a|clicco|apro|cerco|fammi|lasciami|ora (?:apro|clicco|cerco|leggo))(?:\s|$)/u,
    /^(?:vou|deixe-me|deixa-me)(?:\s|$)/u,
];

/** Words before them that say nothing. */
const LEAD =
    /^(?:(?:ok(?:ay)?|sure|alright|right|great|first|now|next|then|so|zuerst|nun|jetzt|dann|als nächstes|gut|alles klar|d'accord|bien|maintenant|d'abord|ahora|primero|vale|ora|adesso|agora)[,.!:]?\s+)+/u;

/** After "I will" and "let me": what is no step. */
const NO_STEP: ReadonlySet<string> = new Set(
    "know be wait stand remember keep leave not never stop help assist explain summarize summarise say tell answer need gladly happily".split(
        " ",
    ),
);

/** Whether nothing but an intention is said: the last sentence is one, and it gives nothing. An empty reply says nothing either. */
export function isNarration(text: string): boolean {
    const said = text.trim();
    if (said === "") return true;
    if (said.length > MAX_LENGTH) return false;
    const sentences = said.split(/(?<=[.!?…])\s+|\n+/u).filter((one) => /\p{L}/u.test(one));
    const last = (sentences.at(-1) ?? "").toLowerCase().replace(/^[^\p{L}]+/u, "");
    // "I will summarize: the shop opens at nine" gives what it announces.
    if (/[?？]["”»)]*$/u.test(said) || /:\s+\S.{8,}$/u.test(last)) return false;
    const bare = last.replace(LEAD, "");
    return INTENTIONS.some((one) => {
        const found = one.exec(bare);
        return found !== null && !(found[1] !== undefined && NO_STEP.has(found[1]));
    });
}

/** What the model is told. */
export const NUDGE =
    "No tool was called, so nothing was done. If something is left to do, call the tool for it now instead of saying that you will. If nothing is left, or if you need something from the person, say that in plain words.";

/** What the ledger says of the reply. */
export const NARRATED = "the model said what it is going to do, and called no tool";
