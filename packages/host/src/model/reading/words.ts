/**
 * What models write around and instead of an answer, as data: marks of drafts and final answers, tags, wrappers, refusals.
 *
 * Boundary: tables and the functions that look something up in them. They weigh candidates that are there anyway; no value is ever made from them.
 */

/** A sentence before a candidate that says no more than that here is the answer. */
const PLAIN_LEAD =
    /^\W*(?:(?:so|thus|therefore|hence|here(?:['’]s| is)|this is|the|my|as|is|json|valid|requested|correct|complete|full|better|filled in)\b[\s,]*){0,6}(?:answer|result|output|response|json)?(?: is)?\W*$/i;
/** A sentence that says the writer goes on working at the same answer. */
const REWORK =
    /\b(?:again|once more|check(?:ing|ed)?|recheck\w*|recount\w*|reconsider\w*|rethink\w*|redo\w*|revisit\w*|double[- ]check\w*|hmm|wait)\b/i;

/** Whether the words before a later candidate leave open that it is anything else than the next try at the same answer. */
export function goesOn(sentence: string): boolean {
    return PLAIN_LEAD.test(sentence) || (REWORK.test(sentence) && !sentence.trimEnd().endsWith(":"));
}

/** Before a candidate: it is the answer that counts. */
export const FINAL =
    /\b(?:final(?:ly)?|corrected|correction|revised|revision|updated|improved|fixed|on reflection|actually|instead|rewritten|definitive)\b/i;
/** Of these the ones that say that what stood before no longer counts. */
export const CORRECTION =
    /\b(?:corrected|correction|revised|revision|updated|improved|fixed|on reflection|actually|rewritten|on second thought|scratch that|let me (?:correct|fix|redo)|i (?:miscounted|misread))\b/i;
export const ANSWER = /\b(?:answer|result|output|response|json)\b\W*$/i;
/** It is not the answer that counts. */
export const DRAFT =
    /\b(?:drafts?|first (?:attempt|try|pass|version|thought|guess|idea)|initial(?:ly)?|attempt (?:1|one)|rough|tentative|sketch|wrong|incorrect|bad|not like|rather than|instead of|previous(?:ly)?|before|earlier|old|original(?:ly)?)\b/i;
/** It only shows what an answer looks like. */
export const EXAMPLE =
    /\be\.g\.|\b(?:for instance|examples?|format|schema|template|sample|placeholders?|hypothetical(?:ly)?|illustrat\w+)\b/i;
/** Words that make any of this doubtful. */
export const DOUBT =
    /\b(?:not|never|would|could|might|may|if|unless|unlike|suppose|imagine|comparison|compared?|contrast|versus|vs|opposite|someone|others?)\b|n['’]t\b/i;
/** The candidate stands beside another as an equal: which is meant cannot be told. */
export const ALTERNATIVE =
    /\b(?:alternatively|or else|another (?:option|possibility|answer|version)|option (?:\d|[a-c]|two|three)|either way)\b|^\s*or\b/i;
/** The sentence before it says that it is one of several, or the next of them. */
export const ONE_OF_SEVERAL =
    /^[^\p{L}\p{N}]*(?:and|also|additionally|plus|next|then|second(?:ly)?|third(?:ly)?|for|in|regarding)\b|\b(?:second|another|other|next)\b|\b(?:option|case|scenario|item|record|entry|part|file|question|person|candidate|variant|version|build|document|row|line)\s+(?:#?\d+|[a-z]\b|one|two|three)/iu;
/** A heading, a number, a bullet or a line in bold: what follows is one of several, where it is not called final. */
export const LISTED = /^\s*(?:#{1,6}\s|\d{1,3}[.)](?:\s|$)|[-*•]\s|\*\*[^*]+\*\*:?$)/;
/** Directly after a candidate: another one is as good. */
export const OR_ELSE = /^[\s/,;.()#-]*(?:or|alternatively)\b/i;
/** After a candidate: something else is called final. */
export const LATER_FINAL =
    /\b(?:final(?: answer)?|corrected|correction|revised|updated|fixed)\b[^.\n]{0,60}[:=]\s*(?:[>*~`"'«“\s\d|-]{0,12}(?:json)?\s*)[{[(<«“]/i;
/** After what is only a draft: anything that could be the answer. */
export const LATER_ANSWER = /[{[｛［]|\b(?:final(?:ly)?|answer|result|corrected|revised)\b/i;
/** After the last candidate: the answer is taken back. */
export const TAKEN_BACK =
    /(?:^|[.!?\n]\s*)(?:wait\b|no, wait|actually,|correction:|scratch that|on second thought|hmm,? (?:no|that)|that is wrong|that's wrong|(?:the above|that|this|it) (?:is|was|were) (?:only |just |merely |not )?(?:wrong|incorrect|a mistake|an? (?:example|draft|placeholder|sample|template)|(?:the|my) (?:final )?answer\b(?= yet|, )))/i;

/** Tags around what the model only thought, and around what it means as the answer. */
export const THINK_TAGS: ReadonlySet<string> = new Set([
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
]);
export const ANSWER_TAGS: ReadonlySet<string> = new Set([
    "answer",
    "final",
    "final_answer",
    "output",
    "result",
    "response",
    "json",
    "tool_call",
    "function_call",
]);

/** Languages of fences in which an answer stands; any other fence weighs less. */
export const DATA_FENCES: ReadonlySet<string> = new Set([
    "",
    "json",
    "json5",
    "jsonc",
    "javascript",
    "js",
    "text",
    "txt",
    "plaintext",
    "yaml",
    "yml",
    "output",
]);

/** Keys that wrap an answer and say nothing themselves. */
export const WRAPPERS: ReadonlySet<string> = new Set([
    "result",
    "results",
    "data",
    "output",
    "response",
    "answer",
    "json",
    "value",
    "object",
    "reply",
    "final",
    "final_answer",
    "finalanswer",
    "return",
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "properties",
    "items",
    "list",
    "content",
    "payload",
    "body",
    "record",
    "function",
    "tool_calls",
    "item",
]);
/** Keys that may stand beside the wrapped answer in the envelope of a tool call. */
export const ENVELOPE: ReadonlySet<string> = new Set([
    "name",
    "tool",
    "tool_name",
    "type",
    "id",
    "role",
    "recipient",
    "recipient_name",
    "index",
]);
/** Keys of an envelope that hold the answer, only where the others are all in `ENVELOPE`. */
export const ENVELOPE_HOLDS: ReadonlySet<string> = new Set([
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "function",
    "properties",
    "tool_input",
    "action_input",
]);

/** The beginning of a reply that declines. Only looked at where no answer was found. */
const REFUSAL = new RegExp(
    [
        "^(?:i(?:'|’)?m|i am) (?:very |really |so |deeply )?(?:sorry|afraid)\\b(?!.{0,60}\\bfor the (?:delay|confusion))",
        "^(?:sorry|apologies|unfortunately)\\b.{0,40}\\b(?:can(?:'|’|no)?t|cannot|unable|not able|won(?:'|’)t)\\b",
        "^(?:i|we) (?:can(?:'|’)?t|cannot|can not|won(?:'|’)t|will not|must decline|am unable to|am not able to|(?:'|’)m unable to|(?:'|’)m not able to|do not feel comfortable|don(?:'|’)t feel comfortable)\\b",
        "^i(?:'|’)m (?:unable|not able) to\\b",
        "^as an? (?:ai|artificial|language model)\\b",
        "^(?:this|that|your) request (?:violates|goes against|can(?:no|'|’)t)\\b",
    ].join("|"),
    "i",
);

export function refuses(text: string): boolean {
    return REFUSAL.test(text.slice(0, 300).trim());
}

/** Strings that stand where a value belongs in an example. */
const PLACEHOLDER =
    /^(?:\.\.\.|…|string|number|boolean|text|value|your [\w ]+|<[^<>\n]{1,60}>|\[[^[\]\n]{1,60}\]|\{\{?[^{}\n]{1,60}\}?\})$/i;

export function isPlaceholder(text: string): boolean {
    return text.length <= 64 && PLACEHOLDER.test(text);
}

/** Names that differ in case and separators alone are the same. */
export function plainName(name: string): string {
    return name
        .trim()
        .toLowerCase()
        .replace(/[\s_\-*`]+/g, "");
}
