/**
 * The programs of `pipelines/`, in this process and on Temporal: the same value or failure, and the same canonical ledger; and from this process, with
 * every block a workflow of its own.
 *
 * What a program is given and gives stands in its first comments: `input`, `files` (of the workspace), `replies` (of a scripted model), `answers` (of a
 * person, by question), and `gives` (JSON) or `fails` (kind, a space, a part of the message). `{{web}}` is the origin of a web server, `{{team}}` a queue
 * of a team's own worker, `mcp://desk` an MCP server.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
    type Handlers,
    type HostTool,
    type LedgerStore,
    load,
    type LoadOptions,
    memoryStore,
    openWorld,
    type ProgramWorld,
    RemitError,
} from "@remit/host";
import type { Json } from "@remit/language";
import type { AskRequest, Failure } from "@remit/machine";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type DevServer, type TemporalBlocks, temporalBlocks } from "../src/index.ts";
import { asHere, canonicalOf } from "./canonical.ts";
import { type Room, roomAt, sharedServer } from "./room.ts";
import * as activities from "./team/activities.ts";

const WORKFLOWS = fileURLToPath(new URL("./team/workflows.ts", import.meta.url));
const DESK = fileURLToPath(new URL("./process/desk.mjs", import.meta.url));
const BILLING = { methods: { refund: { activity: "refundOrder" }, greet: { workflow: "greeted" } } };
const folder = join(dirname(fileURLToPath(import.meta.url)), "pipelines");

let server: DevServer;
let room: Room;
let parts: TemporalBlocks;
/** Says with which authorization it was asked. */
let web: Server;
/** Activities and workflows that are not Remit's, on a queue of their own. */
let endTeam: () => Promise<void>;
/** Workspace of the program that runs, what a person answers there, and how often `flaky` was called. */
let at = "";
let answers: { readonly [question: string]: string } = {};
let calls = 0;

/** Of no answer; where a person is waited for, none comes before the question is over. */
const NEVER = "never";
const said = ({ question }: AskRequest): string | null => answers[question] ?? null;
const on: Handlers = { ask: (request) => (said(request as AskRequest) === NEVER ? null : said(request as AskRequest)) };
const here: Handlers = {
    ask: (request, { signal }) => {
        const answer = said(request as AskRequest);
        if (answer !== NEVER) return answer;
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));
    },
};
const Work: HostTool = {
    tag: { readOnly: true, call: ({ text, tag }: { readonly text: string; readonly tag: string }) => text + tag },
    shout: {
        call: (text: string) => {
            if (text.startsWith("no")) throw new Error(text);
            return `${text}!`;
        },
    },
    slow: { call: (value: Json) => new Promise((resolve) => setTimeout(() => resolve(value), 30)) },
    forever: {
        readOnly: true,
        call: (_: Json, { signal }: { readonly signal: AbortSignal }) =>
            new Promise((resolve) => signal.addEventListener("abort", () => resolve(null))),
    },
    flaky: {
        call: (text: string) => {
            if (++calls % 3 !== 0) throw new Error("not yet");
            return `${text} ${calls}`;
        },
    },
    big: { readOnly: true, call: (size: number) => "xyz".repeat(size / 3) },
};
const tools = { Work };

beforeAll(async () => {
    server = await sharedServer();
    web = createServer(({ url, headers }, response) => {
        if (url === "/closed") response.statusCode = 403;
        response.end(`${headers.authorization} ${url}`);
    });
    await once(web.listen(0, "127.0.0.1"), "listening");
    room = await roomAt(server, { env: { SHOP_KEY: "s3cret-of-the-shop-17" } });
    await room.worker({ host: { tools, on, trust: true } });
    parts = temporalBlocks({ connect: { address: server.address }, queue: room.queue });
    const connection = await NativeConnection.connect({ address: server.address });
    const worker = await Worker.create({ connection, taskQueue: `${room.queue}-team`, activities, workflowsPath: WORKFLOWS });
    const ran = worker.run();
    endTeam = async () => {
        worker.shutdown();
        await ran;
        await connection.close();
    };
});
afterAll(async () => {
    web.close();
    await endTeam();
    await parts[Symbol.asyncDispose]();
    await room[Symbol.asyncDispose]();
});
beforeEach(() => {
    at = mkdtempSync(join(tmpdir(), "remit-pipelines-"));
});
afterEach(() => rmSync(at, { recursive: true, force: true }));

interface Written {
    readonly source: string;
    readonly files: { readonly [path: string]: string };
    readonly input: Json;
    readonly gives?: Json;
    readonly fails?: string;
}

function written(file: string): Written {
    const { port } = web.address() as AddressInfo;
    const places = { team: `${room.queue}-team`, web: `http://127.0.0.1:${port}` };
    const source = Object.entries(places).reduce(
        (text, [name, place]) => text.replaceAll(`{{${name}}}`, place),
        readFileSync(join(folder, file), "utf8"),
    );
    const comment = (name: string): string | undefined => new RegExp(`^// ${name}: (.*)$`, "m").exec(source)?.[1];
    const json = (name: string, otherwise: Json): Json => JSON.parse(comment(name) ?? JSON.stringify(otherwise)) as Json;
    answers = json("answers", {}) as typeof answers;
    writeFileSync(join(at, "replies.json"), JSON.stringify(json("replies", [])));
    writeFileSync(join(at, "remit.json"), JSON.stringify({ mcpServers: { desk: { command: process.execPath, args: [DESK] } } }));
    writeFileSync(join(at, "billing.json"), JSON.stringify(BILLING));
    const [gives, fails] = [comment("gives"), comment("fails")];
    return {
        source,
        files: json("files", {}) as Written["files"],
        input: json("input", null),
        ...(gives === undefined ? {} : { gives: JSON.parse(gives) as Json }),
        ...(fails === undefined ? {} : { fails }),
    };
}

type End = { readonly value: Json } | { readonly failure: Failure };

function expected(end: End, { gives, fails }: Written): void {
    if (fails === undefined) expect(end).toEqual({ value: gives });
    else {
        const [kind = ""] = fails.split(" ", 1);
        expect(end).toMatchObject({ failure: { kind, message: expect.stringContaining(fails.slice(kind.length + 1)) } });
    }
}

const files = readdirSync(folder).filter((name) => name.endsWith(".remit"));

test.each(files)("%s", async (file) => {
    const one = written(file);
    const fresh = (source: string): { readonly path: string } => {
        calls = 0;
        for (const name of readdirSync(at)) if (!name.endsWith(".json")) rmSync(join(at, name), { recursive: true });
        mkdirSync(join(at, "workspace"));
        for (const [path, text] of Object.entries(one.files)) {
            mkdirSync(dirname(join(at, "workspace", path)), { recursive: true });
            writeFileSync(join(at, "workspace", path), text);
        }
        writeFileSync(join(at, "main.remit"), source);
        return { path: join(at, "main.remit") };
    };
    const options = (ledger?: LedgerStore): LoadOptions => ({
        ...{
            root: at,
            workspace: join(at, "workspace"),
            tools,
            cache: false,
            on: here,
            process: room.on,
            trust: true,
            queues: parts.queues,
        },
        ...(ledger === undefined ? {} : { ledger }),
    });

    const memory = memoryStore();
    const program = await load<Json, Json>(
        fresh(one.source.replaceAll(/\btemporal(?=(?:\s|\/\*.*?\*\/)+(?:static|dynamic)\b)/g, "memory")),
        options(memory),
    );
    const { run, ...first } = await program.run(one.input).result;
    await program.close();
    const ended: End = first.status === "done" ? { value: first.value as Json } : { failure: first.failure as Failure };
    expected(ended, one);

    const world = await openWorld(fresh(one.source), options());
    const there = await submitted(world, one.input);
    expected(there.end, one);
    if ("failure" in there.end && "failure" in ended) expect(placed(there.end.failure)).toEqual(placed(ended.failure));
    expect(await room.store.verify(there.run)).toMatchObject({ ok: true, anchored: "yes" });
    // A block of the other backend is a run of its own, with a ledger of its own.
    if (!/\bmemory (static|dynamic)/.test(one.source))
        expect(asHere(await canonicalOf(room.store, there.run))).toEqual(asHere(await canonicalOf(memory, run)));

    const around = await load<Json, Json>(fresh(one.source), { ...options(room.store), blocks: parts.blocks });
    const { status, value, failure } = await around.run(one.input).result;
    await around.close();
    expected(status === "done" ? { value: value as Json } : { failure: failure as Failure }, one);
});

async function submitted(world: ProgramWorld, input: Json): Promise<{ readonly run: string; readonly end: End }> {
    const run = await room.client.submit(world, world.kept(input));
    try {
        return { run, end: { value: await room.client.result(run) } };
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        return { run, end: { failure: error.failure as Failure } };
    } finally {
        await world.close();
    }
}

/** Without columns, which the longer word moves. */
function placed(failure: Failure): unknown {
    return JSON.parse(JSON.stringify(failure), (key, value: unknown) => (key === "column" || key === "endColumn" ? undefined : value));
}
