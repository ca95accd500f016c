/**
 * Takes away, one after another, each rule by which labels go on in the machine, and by which the checker follows them, and says whether a test
 * notices. Exit code 1 where a rule is missed by none of its tests, or its text is not found once. It works on a copy and changes nothing here.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { CHECKER_MUTANTS } from "./lib/checker-mutants.mjs";
import { flags } from "./lib/flags.mjs";
import { MUTANTS } from "./lib/label-mutants.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { part: which, words } = flags(
    `npm run label-mutants -- [--part 1/1] [WORD …]

  --part  which part of the rules, and of how many: 2/4 is the second of every four
  WORD    only rules whose names hold all the words`,
    { part: "1/1" },
    { words: true },
);
const [part, parts] = which.split("/").map(Number);
if (!(part >= 1 && part <= parts)) ends("--part takes which part and of how many: 2/4");
const wanted = [...MUTANTS, ...CHECKER_MUTANTS].filter(([rule], i) => i % parts === part - 1 && words.every((word) => rule.includes(word)));

const copy = mkdtempSync(join(tmpdir(), "label-mutants-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
copied();

const tests = [...new Set(wanted.flatMap(([, , , , of]) => of))];
if (tests.length === 0) ends("no rule has that name");
if (outcome(tests) !== "passed") ends(`the tests fail as they stand\n${failing().join("\n")}`);

const rows = wanted.map(([rule, file, text, to, of]) => {
    const found = tried(file, text, to, of);
    console.log(`${found.padEnd(9)} ${rule}`);
    return found;
});
const bad = rows.filter((one) => one !== "killed").length;
console.log(`\n${rows.length - bad} of ${rows.length} killed`);
process.exitCode = bad === 0 ? 0 : 1;

/** What becomes of the tests without the rule. */
function tried(file, text, to, of) {
    const path = join(copy, file);
    const before = readFileSync(path, "utf8");
    if (before.split(text).length !== 2) return "not found";
    writeFileSync(
        path,
        before.replace(text, () => to),
    );
    const found = outcome(of);
    writeFileSync(path, before);
    return found === "passed" ? "SURVIVED" : found;
}

/** `killed` only by a test that ran and failed: an edit that does not load proves nothing. */
function outcome(files) {
    const report = join(copy, "report.json");
    rmSync(report, { force: true });
    const args = ["node_modules/vitest/vitest.mjs", "run", "--bail=1", "--reporter=json", `--outputFile=${report}`, ...files];
    spawnSync(process.execPath, args, { cwd: copy, stdio: "ignore" });
    const { numFailedTests = 0, success = false } = read(report);
    return numFailedTests > 0 ? "killed" : success ? "passed" : "broken";
}

/** Names of the tests that failed last, each with its file. */
function failing() {
    const { testResults = [] } = read(join(copy, "report.json"));
    return testResults.flatMap(({ name, assertionResults = [] }) =>
        assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => `    ${relative(copy, name)}: ${fullName}`),
    );
}

function read(report) {
    try {
        return JSON.parse(readFileSync(report, "utf8"));
    } catch (error) {
        if (error.code === "ENOENT") return {};
        throw error;
    }
}

function copied() {
    for (const one of ["package.json", "vitest.config.ts", "tsconfig.json"]) cpSync(join(root, one), join(copy, one));
    for (const one of ["language", "machine"])
        cpSync(join(root, "packages", one), join(copy, "packages", one), {
            recursive: true,
            filter: (path) => !path.endsWith("node_modules"),
        });
    const modules = join(copy, "node_modules");
    mkdirSync(join(modules, "@remit"), { recursive: true });
    for (const one of readdirSync(join(root, "node_modules")))
        if (one !== "@remit" && !one.startsWith(".")) symlinkSync(join(root, "node_modules", one), join(modules, one));
    for (const one of ["language", "machine"]) symlinkSync(join(copy, "packages", one), join(modules, "@remit", one));
}

function ends(why) {
    console.error(why);
    process.exit(1);
}
