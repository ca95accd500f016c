/**
 * Starting: the whole process of `remit run` on a small program that is in the cache, against a Node that does nothing; and importing the
 * library. Both of the packed build, laid out as it is published.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { figure, median, QUICK, type Row, type Section } from "./harness.ts";

const ROUNDS = QUICK ? 1 : 21;
const root = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAM = "main agent Hello {\n    main func(input: { n: number }) {\n        input.n + 1\n    }\n}\n";

export async function start(): Promise<Section> {
    execFileSync(process.execPath, [join(root, "scripts", "pack.mjs")]);
    const folder = mkdtempSync(join(tmpdir(), "remit-bench-"));
    const memory = existsSync("/dev/shm") ? mkdtempSync("/dev/shm/remit-bench-") : null;
    try {
        cpSync(join(root, "dist", "npm"), join(folder, "remit"), { recursive: true });
        writeFileSync(join(folder, "hello.remit"), PROGRAM);
        mkdirSync(join(folder, "home"));
        // The processor time of the process itself, said at its end on standard error.
        const cpu = join(folder, "cpu.cjs");
        writeFileSync(
            cpu,
            'process.on("exit", () => { const u = process.cpuUsage(); require("fs").writeSync(2, "\\nCPU " + (u.user + u.system) / 1000); });',
        );
        const importer = join(folder, "import.mjs");
        writeFileSync(
            importer,
            'await (await import("node:module")).enableCompileCache(process.argv[2]); const t = performance.now(); await import(process.argv[3]); process.stdout.write(String(performance.now() - t));',
        );
        const env = { ...process.env, XDG_CACHE_HOME: join(folder, "home"), XDG_CONFIG_HOME: join(folder, "home"), NO_COLOR: "1" };
        const bin = join(folder, "remit", "bin", "remit.mjs");
        const run = (ledger: string): string[] => [bin, "run", join(folder, "hello.remit"), "--input", '{"n":1}', "--ledger", ledger];
        const cases: { readonly name: string; readonly args: readonly string[]; readonly wall: number[]; readonly cpu: number[] }[] = [
            { name: "node -e 0", args: ["-e", "0"], wall: [], cpu: [] },
            { name: "remit run", args: run(join(folder, "ledger.db")), wall: [], cpu: [] },
            ...(memory === null ? [] : [{ name: "remit run, ledger in memory", args: run(join(memory, "ledger.db")), wall: [], cpu: [] }]),
        ];
        const imports: number[] = [];
        for (let round = -2; round < ROUNDS; round++) {
            for (const one of cases) {
                const begun = performance.now();
                const plain = spawnSync(process.execPath, one.args, { cwd: folder, env });
                const wall = performance.now() - begun;
                if (plain.status !== 0) throw new Error(`${one.name}: ${String(plain.stderr)}`);
                const said = /CPU ([\d.]+)/.exec(
                    String(spawnSync(process.execPath, ["--require", cpu, ...one.args], { cwd: folder, env }).stderr),
                );
                if (round < 0) continue;
                one.wall.push(wall);
                one.cpu.push(Number(said?.[1]));
            }
            const library = join(folder, "remit", "dist", "index.mjs");
            const took = Number(
                execFileSync(process.execPath, [importer, join(folder, "home", "code"), library], { env, encoding: "utf8" }),
            );
            if (round >= 0) imports.push(took);
        }
        return { ...section(cases, imports) };
    } finally {
        rmSync(folder, { recursive: true, force: true });
        if (memory !== null) rmSync(memory, { recursive: true, force: true });
    }
}

function section(
    cases: readonly { readonly name: string; readonly wall: readonly number[]; readonly cpu: readonly number[] }[],
    imports: readonly number[],
): Section {
    const [bare, ours, inMemory] = cases;
    if (bare === undefined || ours === undefined) throw new Error("nothing was measured");
    const row = (name: string, of: "wall" | "cpu", unit: string): Row => {
        const value = median(ours[of]);
        const against = [bare, ...(inMemory === undefined ? [] : [inMemory])].map((one) => ({
            name: one.name,
            value: median(one[of]),
            ratio: median(one[of]) / value,
        }));
        return {
            name,
            ours: value,
            unit,
            against,
            ...(of === "wall"
                ? { goal: "≤ 3× bare Node", met: value <= 3 * median(bare[of]) }
                : { goal: "≤ 2× bare Node", met: value <= 2 * median(bare[of]) }),
            note: `${figure(value / median(bare[of]))}× bare Node; best rounds ${figure(Math.min(...ours[of]))} against ${figure(Math.min(...bare[of]))}, ${figure(Math.min(...ours[of]) / Math.min(...bare[of]))}×`,
        };
    };
    const importing = median(imports);
    return {
        title: "Starting",
        how: "`remit run` of a program of five lines that is in the cache, with a ledger on disk, against `node -e 0`; whole processes in turn. Importing is of the library, packed.",
        rows: [
            row("`remit run`, wall clock", "wall", "ms"),
            row("`remit run`, processor time", "cpu", "ms"),
            {
                name: "importing the library",
                ours: importing,
                unit: "ms",
                against: [],
                goal: "≤ 100 ms",
                met: importing <= 100,
                note: `best ${figure(Math.min(...imports))} ms`,
            },
        ],
        cause: "Of what is left, most is Node's own: loading its modules for files, cryptography and SQLite, and the two commits and the folding in of the write-ahead log, each with a sync of this disk; and V8 reading the functions that were kept. Attempts: what such a run does without in a script of its own, which took the processor time from 3.46× to 2.83× of bare Node, both in turn on a busy machine; shorter names in the script, which made no difference; a startup snapshot of V8 with the command in it, which took 4.0× where the command as it is took 3.1×, both in turn on a busy machine: an empty snapshot takes 1.3× already, and what V8 compiled is not kept in one; the body of every function that such a run does not call taken out of the script (430 kB of 1.1 MB), which made no difference (1.00×, 21 pairs): what is not called costs nothing; V8 without its baseline compiler, with one thread for its collector, or with one thread (1.05×, 1.00×, 1.03×, 11 pairs each). A script that only loads Node's hash and SQLite and commits twice takes 1.4× of bare Node.",
    };
}
