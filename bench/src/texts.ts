/**
 * What large texts take in the ledger: bytes that the embedded store is given, by part, against the bytes that are new to it.
 *
 * Bytes are counted by triggers in the ledger's file, so a state that a later one replaces counts too. A byte count does not depend on how fast or how
 * busy the machine is.
 */
import { hash } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { load, openStore } from "@remit/host";
import type { Json } from "@remit/language";
import type { Row, Section } from "./harness.ts";

/** Of a table: bytes of what of a row can be long. */
const TABLES = {
    events: "length(CAST(new.data AS BLOB))",
    continuations: "length(CAST(new.state AS BLOB)) + ifnull(length(new.packed), 0)",
    blobs: "length(CAST(new.bytes AS BLOB)) + ifnull(length(new.packed), 0)",
} as const;
type Table = keyof typeof TABLES;

/** Bytes of a file that is used once, and results of a conversation: how many, and of how many bytes. */
const FILE = 700_000;
const TURNS = 51;
const RESULT = 8_000;

interface Case {
    readonly name: string;
    /** Bytes that are new to the ledger, each once. */
    readonly fresh: number;
    readonly most: number;
    readonly source: string;
    readonly replies: readonly Json[];
}

/** A text of so many bytes that no other of these is a part of. */
function text(bytes: number, seed: number): string {
    let out = "";
    for (let n = seed * 1_000_003; out.length < bytes; n++) out += `${n.toString(36)} reads line ${n} of a log\n`;
    return out.slice(0, bytes);
}

/** Objects whose JSON is of so many bytes. `dense`: of texts that nothing can make shorter but by a quarter. */
function objects(bytes: number, dense: boolean): Json[] {
    const one = (id: number): Json => ({
        id,
        name: dense ? hash("sha256", `name ${id}`, "base64") : `row ${id} of a table`,
        note: dense ? hash("sha512", `note ${id}`, "base64") : `${(id * 7919).toString(36)} reads a line`,
        done: id % 2 === 0,
    });
    const out: Json[] = [];
    for (let size = 2; size < bytes; size += JSON.stringify(out.at(-1)).length + 1) out.push(one(out.length));
    return out;
}

const agent = (body: string): string => `
import llm Model from "mock:"
import tool Work from "host:work"
main agent A {
    model Model
    role "a reader"
    description "Reads."
    main func(input: { n: number }) {
        ${body}
    }
}`;

const CASES: readonly Case[] = [
    {
        name: "a 700 kB text used in one generate",
        fresh: FILE,
        most: 1.2,
        source: agent(`log = Work.get({ i: 0, bytes: ${FILE} })\n        use log as "log"\n        generate({ input: "What is it?" })`),
        replies: [{ text: "a log" }],
    },
    {
        // Three forms of one value: its JSON, which events and outcomes share; its text in the prompt, indented; its objects in the state.
        name: "objects of 700 kB used in one generate",
        fresh: FILE,
        most: 1.2,
        source: agent(`log = Work.rows({ i: 0, bytes: ${FILE} })\n        use log as "log"\n        generate({ input: "What is it?" })`),
        replies: [{ text: "a table" }],
    },
    {
        name: "objects of 700 kB of random texts, used in one generate",
        fresh: FILE,
        most: 1.2,
        source: agent(`log = Work.rows({ i: 1, bytes: ${FILE} })\n        use log as "log"\n        generate({ input: "What is it?" })`),
        replies: [{ text: "a table" }],
    },
    {
        name: `${TURNS} turns with a result of 8 kB each`,
        fresh: (TURNS - 1) * RESULT,
        most: 3,
        source: agent(`generate({ input: "Look at all.", tools: [Work], turns: ${TURNS + 1} })`),
        replies: [
            ...Array.from({ length: TURNS - 1 }, (_, i): Json => ({ calls: [{ name: "Work_get", args: { i: i + 1, bytes: RESULT } }] })),
            { text: "all seen" },
        ],
    },
];

/** Bytes written to each table. */
async function written({ source, replies }: Case): Promise<{ readonly [T in Table]: number } & { readonly file: number }> {
    const folder = mkdtempSync(join(tmpdir(), "remit-bench-"));
    const path = join(folder, "ledger.db");
    try {
        writeFileSync(join(folder, "replies.json"), JSON.stringify(replies));
        // The store refuses a file that has triggers already.
        const store = await openStore(path, { config: join(folder, "config") });
        const counting = new DatabaseSync(path);
        counting.exec("CREATE TABLE written (part TEXT PRIMARY KEY, bytes INTEGER NOT NULL)");
        for (const [table, size] of Object.entries(TABLES))
            counting.exec(
                `INSERT INTO written VALUES ('${table}', 0);
                 CREATE TRIGGER count_${table} AFTER INSERT ON ${table} BEGIN
                     UPDATE written SET bytes = bytes + ${size} WHERE part = '${table}';
                 END`,
            );
        const program = await load<{ n: number }, Json>(
            { source },
            {
                ledger: store,
                root: folder,
                cache: false,
                model: `scripted:${join(folder, "replies.json")}`,
                tools: {
                    Work: {
                        get: {
                            call: ({ i, bytes }: { i: number; bytes: number }) => text(bytes, i),
                            input: { type: "object", properties: { i: { type: "number" }, bytes: { type: "number" } } },
                            readOnly: true,
                        },
                        rows: {
                            call: ({ i, bytes }: { i: number; bytes: number }) => objects(bytes, i === 1),
                            input: { type: "object", properties: { i: { type: "number" }, bytes: { type: "number" } } },
                            readOnly: true,
                        },
                    },
                },
            },
        );
        await program({ n: 0 });
        await program.close();
        await store.close();
        const rows = counting.prepare("SELECT part, bytes FROM written").all() as { part: Table; bytes: number }[];
        counting.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        counting.close();
        const { size } = statSync(path);
        return { ...(Object.fromEntries(rows.map(({ part, bytes }) => [part, bytes])) as { [T in Table]: number }), file: size };
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

export async function texts(): Promise<Section> {
    const rows: Row[] = [];
    for (const one of CASES) {
        const { file, ...parts } = await written(one);
        const whole = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
        const ratio = whole / one.fresh;
        const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000).toLocaleString("en")} kB`;
        rows.push({
            name: one.name,
            ours: ratio,
            unit: "× its bytes",
            against: [],
            goal: `≤ ${one.most}×`,
            met: ratio <= one.most,
            note: `${Object.entries(parts)
                .map(([part, bytes]) => `${part} ${kilobytes(bytes)}`)
                .join(", ")}; the file is ${kilobytes(file)}`,
        });
    }
    return {
        title: "Bytes of large texts",
        how: "Bytes of events, outcomes (which stand beside them), saved states and blobs that the embedded ledger is given for a run, those of states that are replaced later counted too, as they are kept (long ones compressed), against the bytes of the texts that are new in it.",
        rows,
    };
}
