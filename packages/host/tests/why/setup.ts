/** Programs of one statement a line, run in a real ledger with scripted models, and the chains behind their values. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, Site } from "@remit/language";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import type { RunResult } from "../../src/run/handle.ts";
import type { HostTool } from "../../src/tool/functions.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import { whyOf } from "../../src/run/why.ts";

const HEAD = `import tool Page from "host:page"
import tool Other from "host:other"
import tool Book from "host:book" { trusted }
import tool Send from "host:send" { CLAUSES }
import memory Notes from "file://notes.jsonl"
import llm Model from "scripted:replies.json"
import file Data from "data.json"
main agent A {
model Model
role "a tester"
description "tests"
main func(input) {
`;
/** The line of the file before the first of the body. */
const BEFORE = HEAD.split("\n").length - 1;

const record = { a: { b: "deep" }, list: ["x", "y", "z"], n: 3, text: "from the page", json: '{"k": ["v"]}', flag: true, to: "evil@x.y" };
const tool = (value: Json) => ({ get: { readOnly: true, input: { type: "object" } as Json, call: () => value } });

export interface Flow {
    /** Statements of `main func(input)`, one a line; `---` ends it, and other declarations follow. */
    readonly body: string;
    /** Replies of the model, in order. */
    readonly replies?: readonly Json[];
    /** `arg to: trusted` where nothing else is said. */
    readonly clauses?: string;
    readonly options?: LoadOptions;
}

export interface World {
    readonly folder: string;
    readonly store: LedgerStore;
    readonly sent: Json[];
    close(): void;
}

export function world(): World {
    const folder = mkdtempSync(join(tmpdir(), "remit-why-"));
    const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
    return {
        folder,
        store,
        sent: [],
        close: async () => {
            await store.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

export function sourceOf(flow: Flow): string {
    const [main, more = ""] = flow.body.split(/^---$/m) as [string, string?];
    const head = HEAD.replace("{ CLAUSES }", flow.clauses === "" ? "" : `{ ${flow.clauses ?? "arg to: trusted"} }`);
    // What follows keeps counting: the line of `---` closes the agent.
    return more === "" ? `${head}${main}\n} }\n` : `${head}${main.replace(/\n$/, "")}\n} }${more}`;
}

/** What programs reach. */
export function toolsOf(at: World): { readonly [name: string]: HostTool } {
    return {
        Page: tool(record),
        Other: tool({ v: "from the other" }),
        Book: tool({ to: "friend@x.y", v: "from the book" }),
        Slow: {
            wait: {
                input: { type: "object" },
                // Waits until it is told to stop.
                call: (_args: Json, { signal }: { readonly signal: AbortSignal }) =>
                    new Promise<Json>((_done, fail) =>
                        signal.addEventListener("abort", () => fail(signal.reason as Error), { once: true }),
                    ),
            },
        },
        Send: {
            go: {
                input: { type: "object", properties: { to: {}, body: {}, other: {} } },
                call: (args: Json) => {
                    at.sent.push(args);
                    return { ok: true };
                },
            },
        },
    };
}

export async function ran(at: World, flow: Flow, text = sourceOf(flow)): Promise<RunResult> {
    writeFileSync(join(at.folder, "replies.json"), JSON.stringify(flow.replies ?? []));
    writeFileSync(join(at.folder, "data.json"), JSON.stringify({ name: "from a file", list: [1, 2] }));
    writeFileSync(join(at.folder, "main.remit"), text);
    const program = await load<Json, Json>(join(at.folder, "main.remit"), {
        root: at.folder,
        workspace: at.folder,
        cache: false,
        ledger: at.store,
        trust: true,
        tools: toolsOf(at),
        ...flow.options,
    });
    try {
        return await program.run({ q: "asked", to: "owner@x.y" }).result;
    } finally {
        await program.close();
    }
}

/** Steps as `LINE WHAT`, lines counted in the body, with the file where it is another; what was only passed on has no WHAT. */
export async function chainOf(at: World, id: string, where: string): Promise<string[]> {
    return (await whyOf(at.store, id, where)).chain.map((step) => {
        const line = step.site === null ? "-" : step.site.file.endsWith("main.remit") ? step.site.line - BEFORE : placeOf(step.site);
        return step.what === "value" ? `${line}` : `${line} ${step.what}`;
    });
}

const placeOf = ({ file, line }: Site): string => `${file}:${line}`;
