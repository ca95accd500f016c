/**
 * Checking: the whole process of `remit check` of the packed build on one file of strict code in which everything may be everything, and on a
 * project of many files; and that project again in one process after a file of it changed, as a loader of a bundler does it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkFile } from "@remit/host";
import { figure, median, QUICK, type Row, type Section } from "./harness.ts";

const ROUNDS = QUICK ? 1 : 11;
const FILES = 50;
const root = fileURLToPath(new URL("../../", import.meta.url));

/** Aliases of what a loop and a condition change, handed from each function to the one before it: what may carry what grows with each. */
function strict(): string {
    const one = (at: number): string => `func f${at}(a: list[json], b: json, c: json) {
    x = a
    y = { p: x, q: b, r: c }
    z = [y, y, x]
    for item in a max 100 {
        if item == b { y.p = item }
        for other in z max 100 {
            if other == c {
                z.add(y)
            } else {
                x.add(other)
            }
            w = { one: other, two: y, three: x }
            w.one = z
            if w.two == item { w.two = w }
        }
    }
    v = y.p
    loop until v == b max 10 {
        v = z.map((q) => { q: q, y: y })
        if v == c { y.q = v }
    }
    u = if y == z { x } else { z }
    u.add(v)
    t = try { f${Math.max(0, at - 1)}(u, v, y) } catch failure { failure.message }
    m = Files.read({ path: "a" }).content
    if t == m { x.add(m) }
    { u: u, t: t, y: y }
}
`;
    const count = 34;
    const head = `flow strict\nimport tool Files from "file://workspace"\nimport tool Web from "https://a.example" { post: ask, arg body: trusted }\n`;
    const end = `main func(a: list[json]) {\n    done = f${count - 1}(a, 1, 2)\n    Web.post({ url: "/", body: done.t })\n}\n`;
    return `${head}${Array.from({ length: count }, (_, at) => one(at)).join("")}${end}`;
}

/** One of the project's files: an agent that calls that of the file before it. */
function file(at: number, word: string): string {
    const func = (name: number): string => `    func g${name}(a: list[json], b: string) {
        use b max 1k as "b"
        found = generate({ input: "${word}" }) -> {
            text: string
            n: number
        }
        for one in a max 10 {
            if one == b { found.n = found.n + 1 }
        }
        content = Files.read({ path: b }).content
        { text: found.text, n: found.n, content: content }
    }
`;
    const before = at === 0 ? "" : `import agent A${at - 1} from "./m${at - 1}.remit"\n`;
    const call = at === 0 ? "g0(a, b)" : `A${at - 1}(a, b)`;
    return `import llm Model from "default:"
import tool Files from "file://workspace"
${before}main agent A${at} {
    model Model
    role "a reader"
    description "Reads."
${Array.from({ length: 16 }, (_, name) => func(name)).join("")}    main func(a: list[json], b: string) {
        ${call}
    }
}
`;
}

const lines = (text: string): number => text.split("\n").length - 1;

export async function checking(): Promise<Section> {
    execFileSync(process.execPath, [join(root, "scripts", "pack.mjs")]);
    const folder = mkdtempSync(join(tmpdir(), "remit-bench-"));
    try {
        const hard = strict();
        const project = Array.from({ length: FILES }, (_, at) => file(at, "Say it"));
        writeFileSync(join(folder, "strict.remit"), hard);
        for (const [at, text] of project.entries()) writeFileSync(join(folder, `m${at}.remit`), text);
        mkdirSync(join(folder, "home"));
        const env = { ...process.env, XDG_CACHE_HOME: join(folder, "home"), XDG_CONFIG_HOME: join(folder, "home"), NO_COLOR: "1" };
        const cpu = join(folder, "cpu.cjs");
        writeFileSync(
            cpu,
            'process.on("exit", () => { const u = process.cpuUsage(); require("fs").writeSync(2, "\\nCPU " + (u.user + u.system) / 1000); });',
        );
        const entry = `m${FILES - 1}.remit`;
        const cases = [
            {
                name: `\`remit check\`, ${figure(lines(hard))} lines of strict code in one file`,
                file: "strict.remit",
                goal: 500,
                wall: [] as number[],
                cpu: [] as number[],
            },
            {
                name: `\`remit check\`, ${figure(lines(project.join("")))} lines in ${FILES} files`,
                file: entry,
                goal: 1000,
                wall: [] as number[],
                cpu: [] as number[],
            },
        ];
        const again = { wall: [] as number[], cpu: [] as number[] };
        const bin = join(root, "dist", "npm", "bin", "remit.mjs");
        for (let round = -2; round < ROUNDS; round++) {
            for (const one of cases) {
                const begun = performance.now();
                const ran = spawnSync(process.execPath, ["--require", cpu, bin, "check", one.file], { cwd: folder, env, encoding: "utf8" });
                const wall = performance.now() - begun;
                const used = Number(/CPU ([\d.]+)/.exec(ran.stderr)?.[1]);
                if (ran.status !== 0 || Number.isNaN(used)) throw new Error(`${one.name}: ${ran.stderr.slice(-500)}`);
                if (round < 0) continue;
                one.wall.push(wall);
                one.cpu.push(used);
            }
            // Ten times before the first that counts: a bundler has read the project before a file changes.
            for (let turn = round === -2 ? 10 : 1; turn > 0; turn--) {
                writeFileSync(join(folder, "m0.remit"), file(0, `Say it ${round} ${turn}`));
                const before = process.cpuUsage();
                const begun = performance.now();
                const { diagnostics, form } = await checkFile(join(folder, entry), { env: {} });
                const wall = performance.now() - begun;
                const { user, system } = process.cpuUsage(before);
                if (form === null || !JSON.stringify(form).includes(`Say it ${round} ${turn}`))
                    throw new Error(diagnostics.map((one) => one.message).join("\n") || "the change was not seen");
                if (round < 0) continue;
                again.wall.push(wall);
                again.cpu.push((user + system) / 1000);
            }
        }
        const row = (name: string, goal: number, { wall, cpu: used }: { wall: readonly number[]; cpu: readonly number[] }): Row => ({
            name,
            ours: median(used),
            unit: "ms",
            against: [],
            goal: `≤ ${goal} ms`,
            met: median(used) <= goal,
            note: `best ${figure(Math.min(...used))} ms; by the clock ${figure(median(wall))} ms, best ${figure(Math.min(...wall))} ms`,
        });
        return {
            title: "Checking",
            how: "Processor time of the whole process, packed, and by the clock in the notes. The strict code changes lists and objects under many names in loops and under conditions. The last row is the project again in one process, its first file changed, as a loader has it: all files are read and checked, and what parsing and lowering made of the others is kept.",
            rows: [...cases.map((one) => row(one.name, one.goal, one)), row("the project again, a file changed", 50, again)],
            cause: "Where a row is over its goal: the checker goes through all functions of the program, whichever file changed, since what a function does counts for its callers in other files.",
        };
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}
