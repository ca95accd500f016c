/**
 * What models write around and instead of an answer, as data: marks of drafts and final answers, tags, wrappers, refusals.
 *
 * Boundary: tables and the functions that look something up in them. They weigh candidates that are there anyway; no value is ever made from them.
 */

/** Before a candidate: it is the answer that counts, or it is not. The stronger one wins where both occur. */
export const FINAL =
    /\b(?:final(?:ly)?|corrected|correction|revised|revision|updated|improved|fixed|on reflection|actually|instead|rewritten|definitive)\b/i;
export const ANSWER = /\b(?:answer|result|output|response|json)\b\W*$/i;
export const DRAFT =
    /\b(?:draft|first (?:attempt|try|pass|version|thought|guess|idea)|initial(?:ly)?|attempt (?:1|one)|rough|tentative|sketch|e\.g\.|for example|for instance|an? example|example|format|schema|template|sample|wrong|incorrect|bad|not like|rather than|previous(?:ly)?|before)\b/i;
/** The candidate stands beside another as an equal: nobody can say which is meant. */
export const ALTERNATIVE =
    /\b(?:alternatively|or else|another (?:option|possibility|answer|version)|option (?:\d|[a-c]|two|three)|either way)\b|^\s*or\b/i;
/** Directly after a candidate: another one is as good. */
export const OR_ELSE = /^[\s/,;.()#-]*(?:or|alternatively)\b/i;
/** After the last candidate: the answer is taken back. */
export const TAKEN_BACK =
    /(?:^|[.!?\n]\s*)(?:wait\b|no, wait|actually,|correction:|scratch that|on second thought|hmm,? (?:no|that)|that is wrong|that's wrong)/i;

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
