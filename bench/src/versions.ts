/**
 * Which packages a section compares with, in the versions that are installed.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PACKAGES: { readonly [section: string]: readonly string[] } = {
    parse: ["acorn"],
    machine: ["quickjs-emscripten", "jsonata"],
    yield: ["quickjs-emscripten", "isolated-vm", "@ai-sdk/code-mode"],
    steps: ["effect", "xstate", "@mastra/core", "ai", "@langchain/langgraph", "@langchain/core"],
    nodes: ["@mastra/core", "@langchain/langgraph", "@langchain/core"],
    temporal: ["@temporalio/worker"],
    replies: ["@boundaryml/baml", "jsonrepair", "zod"],
};

export function versions(section: string): string[] {
    return (PACKAGES[section] ?? []).map((name) => {
        const file = fileURLToPath(new URL(`../node_modules/${name}/package.json`, import.meta.url));
        return `${name} ${(JSON.parse(readFileSync(file, "utf8")) as { version: string }).version}`;
    });
}
