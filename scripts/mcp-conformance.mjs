#!/usr/bin/env node
// `npm run mcp-conformance [server|client|lent]`: `remit mcp` and programs that import MCP servers before the protocol's own conformance suite, for the
// revisions 2025-11-25 and 2026-07-28; `remit mcp` also before the inspector, over standard input and output; a session of `remit serve` with the
// tools of two of the protocol's own servers (`lent`). A scenario may fail only where it needs
// what a program does not give: those are listed here, with why, and one of them that passes is told too.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conformance, servers } from "./lib/conformance.mjs";
import * as setup from "./lib/setup.mjs";

const PROGRAM = join(setup.root, "packages", "serve", "tests", "conformance", "main.remit");
const CLIENT = join(setup.root, "packages", "serve", "tests", "conformance", "client.mjs");
const REMIT = join(setup.root, "packages", "cli", "bin", "remit.mjs");

/** Why → the scenarios that need it. */
const NOT_GIVEN = {
    "a program has no prompts, resources and completions: its functions and agents are tools": [
        ...["completion-complete", "resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read"],
        ...["resources-subscribe", "resources-unsubscribe", "prompts-list", "prompts-get-simple", "prompts-get-with-args"],
        ...["prompts-get-embedded-resource", "prompts-get-with-image", "input-required-result-non-tool-request", "caching"],
    ],
    "the schema of a tool is made from contracts, which have no conditions, no anchors and no headers of HTTP": [
        ...["json-schema-2020-12", "http-custom-header-server-validation"],
    ],
    "a program asks a person for one decision or one text, by names that are the server's: no form of several fields, no key of its own": [
        ...["elicitation-sep1034-defaults", "elicitation-sep1330-enums", "input-required-result-basic-elicitation"],
    ],
    "a program imports its own models and folders: it uses neither the client's model nor the client's folders": [
        ...["tools-call-sampling", "input-required-result-basic-sampling", "input-required-result-basic-list-roots"],
        ...["input-required-result-multiple-input-requests", "input-required-result-capability-check", "server-stateless"],
    ],
    "a program that fails is the result of its tool, not an error of the protocol": ["tasks-lifecycle"],
    "no tool needs tasks: a client without them waits for the result": ["tasks-required-task-error"],
    "a call is a task before it asks, so that what it asks outlives the request": ["tasks-mrtr-composition"],
};

/** The same of a program that imports a server. */
const NOT_TAKEN = {
    "a user delegates a token; a program has no identity of its own at an authorization server": [
        ...["auth/client-credentials-jwt", "auth/client-credentials-basic", "auth/enterprise-managed-authorization", "auth/wif-jwt-bearer"],
    ],
    "tokens are sent as bearer tokens": ["auth/dpop", "auth/dpop-nonce"],
};

function freePort() {
    return new Promise((resolve) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

/** For one scenario of a client, milliseconds. On a busy machine the processes of one take ten times as long as on a quiet one. */
const CLIENT_MS = 300_000;

/** `SCENARIO: passed, failed` of the suite's summary. */
function summary(text) {
    const rows = text.slice(text.indexOf("=== SUMMARY")).matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gmu);
    return new Map([...rows].map(([, name, passed, failed]) => [name, { passed: Number(passed), failed: Number(failed) }]));
}

const node = await setup.node();
await setup.packages(node);
const bin = join(await conformance(node), "node_modules", ".bin");
const room = mkdtempSync(join(tmpdir(), "remit-conformance-"));
const env = { ...setup.environment(node), HOME: room };
const REVISIONS = ["2025-11-25", "2026-07-28"];
const [part = "all"] = process.argv.slice(2);
if (!["all", "server", "client", "lent"].includes(part)) throw new Error(`it takes server, client or lent, not ${part}`);
const reasons = (of) => new Map(Object.entries(of).flatMap(([why, names]) => names.map((name) => [name, why])));
let bad = 0;
const tell = (isGood, text) => {
    if (!isGood) bad++;
    process.stdout.write(`${isGood ? "ok     " : "FAILED "} ${text}\n`);
};

/** Tells of each scenario that came out otherwise than the list of reasons says. */
function judge(what, rows, excused, last) {
    let passed = 0;
    for (const [name, { passed: good, failed }] of rows) {
        const why = excused.get(name);
        if (failed === 0) passed++;
        if (failed === 0 && why !== undefined && good > 0) tell(false, `${what} ${name} passes, and is listed as one that cannot`);
        if (failed > 0 && why === undefined) tell(false, `${what} ${name}: ${failed} of ${good + failed} checks`);
    }
    tell(true, `${what}: ${passed} of ${rows.size} scenarios pass; ${last}`);
}

async function ofServer() {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/mcp`;
    const server = spawn(
        node,
        [REMIT, "mcp", PROGRAM, "--trust", "--client-approves", "--http", String(port), "--ledger", join(room, "ledger.db")],
        {
            env,
            stdio: ["ignore", "ignore", "pipe"],
        },
    );
    try {
        await new Promise((resolve, reject) => {
            server.stderr.on("data", (said) => String(said).includes("Serving at") && resolve());
            server.once("exit", (code) => reject(new Error(`remit mcp ended with ${code}`)));
        });
        for (const revision of REVISIONS) {
            const run = spawnSync(join(bin, "conformance"), ["server", "--url", url, "--requirements", revision], {
                env,
                encoding: "utf8",
                cwd: room,
            });
            const rows = summary(run.stdout);
            if (rows.size === 0) throw new Error(`the suite said nothing:\n${run.stdout}\n${run.stderr}`);
            judge(`server ${revision}`, rows, reasons(NOT_GIVEN), "the others need what a program does not give");
        }
    } finally {
        server.kill("SIGTERM");
    }
    for (const [what, args, wanted] of [
        ["the inspector lists the tools", ["--method", "tools/list"], '"test_simple_text"'],
        ["the inspector calls one", ["--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=2", "--tool-arg", "b=3"], "5"],
        [
            "the inspector passes a truth, a list and an object",
            [
                ...["--method", "tools/call", "--tool-name", "pass_on", "--tool-arg", "flag=true"],
                ...["--tool-arg", 'items=["x"]', "--tool-arg", 'about={"name":"Ann"}'],
            ],
            '"structuredContent":{"flag":true,"items":["x"],"about":{"name":"Ann"}}',
        ],
        ["the inspector is told that there are no resources", ["--method", "resources/list"], '"resources":[]'],
        ["the inspector is told that there are no prompts", ["--method", "prompts/list"], '"prompts":[]'],
    ]) {
        const run = spawnSync(
            join(bin, "mcp-inspector"),
            [
                "--cli",
                "--connect-timeout",
                "60000",
                node,
                REMIT,
                "mcp",
                PROGRAM,
                "--trust",
                "--client-approves",
                "--ledger",
                join(room, "stdio.db"),
                ...args,
            ],
            {
                env,
                encoding: "utf8",
                cwd: room,
            },
        );
        tell(
            run.status === 0 && run.stdout.replaceAll(/\s/gu, "").includes(wanted),
            `${what}${run.status === 0 ? "" : `: ${run.stderr.slice(-500)}`}`,
        );
    }
}

/** One scenario at a time: the suite would begin them all at once, and each is a server and two processes of Remit. */
function ofClient() {
    const suite = (...args) => spawnSync(join(bin, "conformance"), args, { env, encoding: "utf8", cwd: room });
    const all = [...suite("list", "--client").stdout.matchAll(/^ +- (\S+) \[(.*)\]$/gmu)];
    for (const revision of REVISIONS) {
        const rows = new Map();
        for (const [, name, revisions] of all) {
            // An extension belongs to the newest revision; the suite runs it only where that is asked for.
            const isExtension = revisions === "extension" && !name.startsWith("sep-2640");
            if (!revisions.split(",").includes(revision) && !(isExtension && revision === REVISIONS.at(-1))) continue;
            const command = `${JSON.stringify(node)} ${JSON.stringify(CLIENT)}`;
            const about = ["--scenario", name, "--spec-version", revision, ...(isExtension ? ["--force"] : [])];
            const run = suite("client", "--command", command, "--timeout", String(CLIENT_MS), ...about);
            const said = run.stdout + run.stderr;
            const [, good, failed, warned] = /^Passed: (\d+)\/\d+, (\d+) failed, (\d+) warnings$/mu.exec(said) ?? [];
            if (good === undefined) throw new Error(`the suite said nothing of ${name}:\n${said}`);
            // It waits for the client all the same, so that every check may pass, and fails the scenario.
            if (said.includes("CLIENT TIMED OUT")) {
                tell(false, `client ${revision} ${name} took longer than ${CLIENT_MS / 1000} s`);
                continue;
            }
            // What the protocol says that a client SHOULD do is a warning there, and no pass here.
            const bad = Number(failed) + Number(warned);
            rows.set(name, { passed: Number(good), failed: run.status === 0 ? bad : Math.max(1, bad) });
        }
        judge(`client ${revision}`, rows, reasons(NOT_TAKEN), "the others need what a program does not do");
    }
}

/** One turn of a session with both: what reads is done, what writes is asked about, and no path leads out of the folder that is lent. */
async function ofLent() {
    const script = join(setup.root, "packages", "serve", "tests", "conformance", "servers.mjs");
    const run = spawnSync(node, [script, await servers(node)], { env, encoding: "utf8", cwd: room });
    const wanted = {
        status: "done",
        value: {
            ...{ sum: "The sum of 2 and 3 is 5.", list: "[FILE] note.txt", note: "Echo: hello" },
            ...{ image: "image", link: "resource_link", resource: "demo://resource/dynamic/blob/1", structured: "Cloudy", long: true },
            // The person says no to it.
            ...{ form: '\nRaw result: {\n  "action": "decline"\n}', task: true, outside: "tool" },
        },
        asked: ["May user call Files.write_file?", "The tool server 'everything' asks: Please provide inputs for the following fields:"],
    };
    const isGood = run.stdout.trim() === JSON.stringify(wanted);
    tell(
        isGood,
        `server-everything and server-filesystem lend their tools to a session${isGood ? "" : `: ${run.stdout}${run.stderr.slice(-500)}`}`,
    );
}

try {
    if (part === "all" || part === "server") await ofServer();
    if (part === "all" || part === "client") ofClient();
    if (part === "all" || part === "lent") await ofLent();
} catch (error) {
    tell(false, error instanceof Error ? error.message : String(error));
} finally {
    rmSync(room, { recursive: true, force: true });
}
process.exitCode = bad === 0 ? 0 : 1;
