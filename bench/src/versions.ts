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
    "durable-peers": ["peers/@restatedev/restate-server", "peers/@restatedev/restate-sdk", "peers/@dbos-inc/dbos-sdk"],
    "temporal-agents": ["peers/@temporalio/ai-sdk", "peers/@temporalio/worker", "peers/@mastra/core", "peers/ai"],
    replies: ["@boundaryml/baml", "jsonrepair", "zod"],
};

export function versions(section: string): string[] {
    return (PACKAGES[section] ?? []).map((path) => {
        const [, folder = "", name = path] = /^(peers\/)?(.*)$/.exec(path) ?? [];
        const file = fileURLToPath(new URL(`../${folder}node_modules/${name}/package.json`, import.meta.url));
        return `${name} ${(JSON.parse(readFileSync(file, "utf8")) as { version: string }).version}`;
    });
}
