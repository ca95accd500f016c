/**
 * What a session gives to the program of its turns beside the tools that are lent: what was said before, and the person.
 *
 * Boundary: tools of the program; whom a question goes to is `people.ts`'s.
 */
import { type HostTool, type ToolCallContext, withOrigins } from "@remit/host";
import { isUnanswered, type Settled } from "./asks.ts";
import type { Turn } from "./state.ts";

export function conversation(turns: Iterable<Turn>): HostTool {
    return {
        history: {
            description: "What was said in this session so far, oldest first.",
            readOnly: true,
            call: () => history(turns),
        },
    };
}

/** What was submitted and what came of it have the origins that they had. */
function history(turns: Iterable<Turn>): unknown {
    const said: { role: string; text: string }[] = [];
    const parts: Record<string, readonly string[]> = {};
    for (const { status, text, input, inputOrigins = [], images = [], value, origins = [] } of turns) {
        if (status !== "done") continue;
        const came = images.length === 0 ? "" : `\n[it came with ${images.length === 1 ? "a picture" : `${images.length} pictures`}]`;
        if (inputOrigins.length > 0) parts[`/${said.length}`] = inputOrigins;
        said.push({ role: "person", text: (text ?? JSON.stringify(input)) + came });
        if (origins.length > 0) parts[`/${said.length}`] = origins;
        said.push({ role: "agent", text: typeof value === "string" ? value : JSON.stringify(value ?? null) });
    }
    return withOrigins(said, parts);
}

/** `ask`: null where it was stopped. `run`: that asks, or a part of it. */
export function person(ask: (question: string, signal: AbortSignal, run: string | undefined) => Promise<Settled | null>): HostTool {
    return {
        ask: {
            description: "Asks the person a question, and waits for the answer.",
            input: {
                type: "object",
                properties: { question: { type: "string" } },
                required: ["question"],
                additionalProperties: false,
            },
            readOnly: true,
            repeatable: true,
            call: (async ({ question }: { readonly question: string }, { signal, run }: ToolCallContext) => {
                const settled = await ask(question, signal, run);
                return settled === null || isUnanswered(settled) ? { answered: false } : { answered: true, answer: settled.answer };
            }) as never,
        },
    };
}
