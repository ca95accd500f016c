/** `import { Desk } from "./desk.remit"` where real Node, esbuild and Vite load it. The folder is in the checkout, so that `remit-lang` is found. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createServer, type Plugin } from "vite";
import remitEsbuild from "../../src/loader/esbuild.ts";
import remitVite from "../../src/loader/vite.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
let room: string;
beforeAll(() => {
    room = mkdtempSync(join(root, ".tools-loader-"));
    mkdirSync(join(room, "app"));
    writeFileSync(join(room, "app", "remit.json"), "{}\n");
    writeFileSync(join(room, "app", "rules.json"), '{ "__proto__": { "x": 1 }, "limit": 3 }\n');
    writeFileSync(
        join(room, "app", "desk.remit"),
        `import tool Stock from "host:stock"
import file Rules from "./rules.json"
func twice(n: number) { n * 2 }
func delete(n: number) { n - 1 }
func compile(n: number) { n }
func programModule(n: number) { n }
func JSON(n: number) { n }
main agent Desk {
    main func(input: { item: string }) { { item: input.item, left: Stock.left({ item: input.item }), limit: Rules.limit } }
}
`,
    );
    writeFileSync(
        join(room, "app", "use.mjs"),
        `import open, { delete as less, Desk, main, twice } from "./desk.remit";
const tools = { Stock: { left: ({ item }) => item.length } };
const program = await open({ tools });
const own = await program({ item: "lamp" });
await program.close();
const handle = await Desk.run({ item: "desk" }, { tools });
const refused = await twice({ n: "x" }).catch((error) => error.failure.kind);
export default [await twice({ n: 4 }), await less({ n: 4 }), own, (await handle.result).value, await main({ item: "" }, { tools }), refused];
`,
    );
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

const GAVE = [8, 3, { item: "lamp", left: 4, limit: 3 }, { item: "desk", left: 4, limit: 3 }, { item: "", left: 0, limit: 3 }, "contract"];

async function told(module: string, cwd: string, ...flags: string[]): Promise<unknown> {
    const script = `console.log(JSON.stringify((await import(${JSON.stringify(module)})).default))`;
    const args = [...flags, "--input-type=module", "-e", script];
    return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd })).stdout);
}

test("Node imports a program where remit-lang/register is loaded, and its errors are those of the import", async () => {
    const flags = ["--import", "remit-lang/register"];
    expect(await told("./use.mjs", join(room, "app"), ...flags)).toEqual(GAVE);
    writeFileSync(join(room, "app", "wrong.remit"), "main func() { missing }\n");
    await expect(told("./wrong.remit", join(room, "app"), ...flags)).rejects.toMatchObject({ stderr: expect.stringContaining("missing") });
});

test("an import of a program begins nothing, also where it has a function that makes a promise of what has it", async () => {
    const app = join(room, "app");
    writeFileSync(join(app, "then.remit"), "func then(n: number) { n + 1 }\n");
    writeFileSync(
        join(app, "then.mjs"),
        `const program = await (await import("./then.remit")).default();
export default [await program.entry("then")({ n: 1 }), await program.close()];
`,
    );
    expect(await told("./then.mjs", app, "--import", "remit-lang/register")).toEqual([2, null]);
});

test("esbuild puts a program into the bundle, with what it imports, and tells its mistakes by their places", async () => {
    const options = { bundle: true, format: "esm", platform: "node", logLevel: "silent", absWorkingDir: room } as const;
    const plugins: esbuild.Plugin[] = [remitEsbuild()];
    await esbuild.build({ ...options, plugins, entryPoints: ["app/use.mjs"], outfile: join(room, "out.mjs") });
    renameSync(join(room, "app", "rules.json"), join(room, "gone.json"));
    expect(await told("./out.mjs", room)).toEqual(GAVE);
    renameSync(join(room, "gone.json"), join(room, "app", "rules.json"));

    writeFileSync(join(room, "app", "wrong.remit"), "main func() {\n    missing\n}\n");
    const failed = esbuild.build({ ...options, plugins, write: false, entryPoints: ["app/wrong.remit"] });
    await expect(failed).rejects.toMatchObject({
        errors: [{ text: expect.stringContaining("missing"), location: { file: "wrong.remit", line: 2, column: 4 } }],
    });
});

test("Vite serves a program to Node, anew when a file of it changes, and shows its mistakes", async () => {
    const plugins: Plugin[] = [remitVite()];
    await using server = Object.assign(
        await createServer({
            root: room,
            configFile: false,
            logLevel: "silent",
            appType: "custom",
            server: { middlewareMode: true, ws: false },
            optimizeDeps: { noDiscovery: true },
            plugins,
        }),
        {
            async [Symbol.asyncDispose]() {
                await server.close();
            },
        },
    );
    expect((await server.ssrLoadModule("/app/use.mjs")).default).toEqual(GAVE);
    writeFileSync(join(room, "app", "rules.json"), '{ "limit": 4 }\n');
    const limit = async (): Promise<unknown> => (await server.ssrLoadModule("/app/use.mjs")).default[2].limit;
    await expect.poll(limit).toBe(4);
    writeFileSync(join(room, "app", "wrong.remit"), "main func() {\n    missing\n}\n");
    await expect(server.ssrLoadModule("/app/wrong.remit")).rejects.toThrow(/wrong\.remit:2:5.*missing/);
});
