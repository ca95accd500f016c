/**
 * What a write would change in a file, for the person who is asked about it.
 *
 * Boundary: from a question to the same question with `changes` in its detail. What the answer is bound to stays the question as the machine asked it.
 */
import { isObject, type Json } from "@remit/language";
import { askedMethod, type AskRequest, diffLines } from "@remit/machine";
import { textBefore } from "../agent/edits.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { rootOf } from "../tool/root.ts";

/** More is no help to a reader; UTF-16 units. */
const MAX_UNITS = 64 * 1024;

/** `workspace`: absolute folder of `file://workspace`. `secrets`: the question goes into the ledger, and to the person who answers it. */
export function withChanges(request: AskRequest, workspace: string, secrets: Pick<Scrubber, "text">): AskRequest {
    const { detail } = request;
    const method = askedMethod(detail);
    if (method?.method !== "write" || !isObject(detail) || !Array.isArray(detail["args"])) return request;
    const [args = null] = detail["args"] as Json[];
    const root = rootOf(method.uri, workspace);
    if (!isObject(args) || root === null) return request;
    const { path, content } = args;
    if (typeof path !== "string" || typeof content !== "string") return request;
    const before = textBefore(root.real, path);
    if (typeof before !== "string" || before === content) return request;
    // Of whole texts: a secret of several lines is none in a list of changes.
    const lines = diffLines(secrets.text(before), secrets.text(content)).map(({ mark, text }) => `${mark} ${text}`.trimEnd());
    const text = lines.join("\n");
    return text.length > MAX_UNITS ? request : { ...request, detail: { ...detail, changes: { content: text } } };
}
