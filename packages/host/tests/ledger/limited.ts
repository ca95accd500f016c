/** What is opened in the current folder by a process that may make no large file: `node limited.ts ledger|memory|records`. Says what came of it. */
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { jsonlStore } from "../../src/memory/jsonl.ts";
import { sqliteStore } from "../../src/memory/sqlite.ts";

const at = (name: string): string => `${process.cwd()}/${name}`;

const CASES: Readonly<Record<string, () => Promise<string>>> = {
    async ledger() {
        try {
            openSqlite("l.db", { config: "." }).close();
            return "made";
        } catch (error) {
            return (error as { readonly code: string }).code;
        }
    },
    async memory() {
        try {
            (await sqliteStore(at("m.db"), "m.db", "n")).close();
            return "made";
        } catch (error) {
            return (error as Error).name;
        }
    },
    async records() {
        const memory = jsonlStore(at("m.jsonl"), "m.jsonl");
        const one = (id: string, text: string): Promise<string> =>
            memory.add({ id, created_at: "t", updated_at: "t", record: { text } }, new AbortController().signal).then(
                () => "added",
                (error: { readonly code: string }) => error.code,
            );
        const said = [await one("a", "small"), await one("b", "x".repeat(4000))];
        for await (const { id } of memory.newest()) said.push(id);
        return said.join(" ");
    },
};
console.log(await CASES[process.argv[2] ?? ""]?.());
