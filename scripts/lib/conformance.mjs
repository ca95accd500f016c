// What judges the faces to the Model Context Protocol: the protocol's own conformance suite, its inspector and two of its servers, pinned, in folders of
// the cache.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installInto } from "./agents.mjs";
import { cacheFolder } from "./setup.mjs";

// The newest that is marked as latest knows nothing of the revision 2026-07-28.
const SUITE = "0.2.0-alpha.12";
const INSPECTOR = "2.12.0";
const SERVERS = "2026.8.31";
const PROGRAM = [".bin", "conformance"];

/** The folder in whose `node_modules` they are, installed where they are missing. */
export async function conformance(binary) {
    const target = join(cacheFolder(), "mcp-conformance", `${SUITE}-${INSPECTOR}`);
    if (!existsSync(join(target, "node_modules", ...PROGRAM))) {
        process.stderr.write(`set-up: installing the MCP conformance suite ${SUITE} and the inspector ${INSPECTOR} …\n`);
        const packages = [`@modelcontextprotocol/conformance@${SUITE}`, `@modelcontextprotocol/inspector@${INSPECTOR}`];
        await installInto(binary, target, packages, PROGRAM, `the MCP conformance suite ${SUITE}`);
    }
    return target;
}

/** The folder in whose `node_modules` the two servers are, installed where they are missing. */
export async function servers(binary) {
    const target = join(cacheFolder(), "mcp-servers", SERVERS);
    const program = [".bin", "mcp-server-filesystem"];
    if (!existsSync(join(target, "node_modules", ...program))) {
        process.stderr.write(`set-up: installing the MCP servers everything and filesystem ${SERVERS} …\n`);
        const packages = ["everything", "filesystem"].map((name) => `@modelcontextprotocol/server-${name}@${SERVERS}`);
        await installInto(binary, target, packages, program, `the MCP servers ${SERVERS}`);
    }
    return target;
}
