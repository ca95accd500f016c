/** Gemini's `generateContent` and `streamGenerateContent`, as gemini-cli speaks them. */
import { callsOf, isObject, nameOf, objects, type Said, textOf, USAGE, type Wire } from "./wire.ts";

function answer(said: Said, id: string, model: string): unknown {
    const parts = [
        ...(said.text === undefined ? [] : [{ text: said.text }]),
        ...callsOf(said).map(({ name, input }) => ({ functionCall: { name, args: input } })),
    ];
    const usageMetadata = {
        promptTokenCount: USAGE.input,
        candidatesTokenCount: USAGE.output,
        totalTokenCount: USAGE.input + USAGE.output,
    };
    const finishReason = "hang" in said ? undefined : "STOP";
    return {
        candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
        usageMetadata,
        modelVersion: model,
        responseId: id,
    };
}

export const gemini: Wire = {
    hear(path, body) {
        const at = /\/models\/([^/:]+):(stream)?[gG]enerateContent/.exec(path);
        if (at === null) return null;
        const contents = objects(body.contents);
        const parts = (one: unknown): ReturnType<typeof objects> => (isObject(one) ? objects(one.parts) : []);
        const isResult = (one: unknown): boolean => parts(one).some((part) => "functionResponse" in part);
        const last = contents.findLastIndex((one) => one.role === "user" && !isResult(one));
        return {
            wire: "gemini",
            model: at[1] ?? "",
            system: textOf(parts(body.systemInstruction)),
            user: textOf(parts(contents[last])),
            results: contents
                .slice(last + 1)
                .flatMap(parts)
                .filter((part) => "functionResponse" in part)
                .map((part) => JSON.stringify(part.functionResponse)),
            tools: objects(body.tools).flatMap((one) => objects(one.functionDeclarations).map((tool) => nameOf(tool.name))),
            stream: at[2] === "stream",
            body,
        };
    },
    events: (said, id, model) => [{ data: answer(said, id, model) }],
    whole: answer,
};
