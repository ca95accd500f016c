/**
 * A prompt of an editor as the task of a run.
 *
 * Boundary: content blocks to text and origins.
 *
 * ACQ1: what the person typed is `user`'s. A file or a link that the editor puts in is not: with one, the input is also `acp:CLIENT`'s.
 * ACQ2: every line of what the editor puts in stands behind a bar, so that no line of a file looks like the person's.
 */
import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import { plainLine } from "@remit/language";

/** Longest text of the person, and of all that is attached, characters. */
const MAX_TEXT = 100_000;
const MAX_ATTACHED = 1_000_000;

export interface Task {
    readonly text: string;
    readonly inputOrigins?: string[];
}

/** Throws `RequestError` for what the program cannot be given. */
export function taskOf(blocks: readonly ContentBlock[], client: string): Task {
    const typed: string[] = [];
    const attached: string[] = [];
    for (const block of blocks) {
        if (block.type === "text") typed.push(block.text);
        else if (block.type === "resource_link") attached.push(`Link: ${plainLine(block.name)}\n${barred(block.uri)}`);
        else if (block.type === "resource" && "text" in block.resource)
            attached.push(`File: ${plainLine(block.resource.uri)}\n${barred(block.resource.text)}`);
        else throw wrong(`a prompt of this agent is text; it takes no ${block.type === "resource" ? "binary file" : block.type}`);
    }
    const text = typed.join("");
    const more = attached.join("\n\n");
    if (text.length > MAX_TEXT) throw wrong(`the prompt has ${text.length} characters; at most ${MAX_TEXT} are taken`);
    if (more.length > MAX_ATTACHED) throw wrong(`what is attached has ${more.length} characters; at most ${MAX_ATTACHED} are taken`);
    if (text.trim() === "" && more === "") throw wrong("the prompt is empty");
    if (more === "") return { text };
    return { text: `${text}\n\n${more}`, inputOrigins: ["user", client] };
}

function barred(text: string): string {
    return text
        .split(/\r\n|[\n\r\u2028\u2029]/)
        .map((line) => `| ${line}`)
        .join("\n");
}

function wrong(message: string): RequestError {
    return new RequestError(-32602, message);
}
