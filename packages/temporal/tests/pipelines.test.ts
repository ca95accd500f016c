/**
 * The programs of `pipelines/`, in this process and on Temporal: the same value or failure, and the same canonical ledger; and from this process, with
 * every block a workflow of its own.
 *
 * What a program is given and gives stands in its first comments: `input`, `replies` (of a scripted model), `answers` (of a person, by question), and
 * `gives` (JSON) or `fails` (kind, a space, a part of the message).
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type DevServer, type TemporalBlocks, temporalBlocks } from "../src/index.ts";
import { asHere, canonicalOf } from "./canonical.ts";
import { devServer, type Room, roomAt } from "./room.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "pipelines");

let server: DevServer;
let room: Room;
let parts: TemporalBlocks;
/** Workspace of the program that runs, what a person answers there, and how often `flaky` was called. */
let at = "";
let answers: { readonly [question: string]: string } = {};
let calls = 0;

const on: Handlers = { ask: (request) => answers[(request as AskRequest).question] ?? null };
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
    server = await devServer();
    room = await roomAt(server);
    await room.worker({ host: { tools, on } });
    parts = temporalBlocks({ connect: { address: server.address }, queue: room.queue });
});
afterAll(async () => {
    await parts[Symbol.asyncDispose]();
    await room[Symbol.asyncDispose]();
    await server.stop();
});
beforeEach(() => {
    at = mkdtempSync(join(tmpdir(), "remit-pipelines-"));
});
afterEach(() => rmSync(at, { recursive: true, force: true }));

interface Written {
    readonly source: string;
    readonly input: Json;
    readonly gives?: Json;
    readonly fails?: string;
}

function written(file: string): Written {
    const source = readFileSync(join(folder, file), "utf8");
    const said = (name: string): string | undefined => new RegExp(`^// ${name}: (.*)$`, "m").exec(source)?.[1];
    const json = (name: string, otherwise: Json): Json => JSON.parse(said(name) ?? JSON.stringify(otherwise)) as Json;
    answers = json("answers", {}) as typeof answers;
    writeFileSync(join(at, "replies.json"), JSON.stringify(json("replies", [])));
    const [gives, fails] = [said("gives"), said("fails")];
    return {
        source,
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
        for (const name of readdirSync(at)) if (name !== "replies.json") rmSync(join(at, name), { recursive: true });
        mkdirSync(join(at, "workspace"));
        writeFileSync(join(at, "main.remit"), source);
        return { path: join(at, "main.remit") };
    };
    const options = (ledger?: LedgerStore): LoadOptions => ({
        ...{ root: at, workspace: join(at, "workspace"), tools, cache: false, on, process: room.on },
        ...(ledger === undefined ? {} : { ledger }),
    });

    const memory = memoryStore();
    const program = await load<Json, Json>(
        fresh(one.source.replaceAll(/\btemporal(?=(?:\s|\/\*.*?\*\/)+(?:static|dynamic)\b)/g, "memory")),
        options(memory),
    );
    const { run, ...here } = await program.run(one.input).result;
    await program.close();
    const ended: End = here.status === "done" ? { value: here.value as Json } : { failure: here.failure as Failure };
    expected(ended, one);

    const world = await openWorld(fresh(one.source), options());
    const there = await submitted(world, one.input);
    expected(there.end, one);
    if ("failure" in there.end && "failure" in ended) expect(placed(there.end.failure)).toEqual(placed(ended.failure));
    expect(await room.store.verify(there.run)).toMatchObject({ ok: true, anchored: "yes" });
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
