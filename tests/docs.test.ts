/**
 * What people read is true: every fenced sample of every page is run as far as its kind allows, and tables say what the implementation does.
 *
 * A fence says what its sample is:
 * - `remit`: a whole program, checked without errors and run with zero values from `mock:`; `remit fragment`: statements of a function;
 *   `remit fragment CODE`: statements that the checker refuses with that code; `remit wrong CODE`: a program that it refuses so, with the next
 *   `text` on its page; `remit old`: an earlier spelling, cured by its fixes;
 *   `remit answer`: what an agent answers a yield with, taken as such, and `answer.remit` for the programs below it on its page;
 * - `python`: a Re in Act program, run, and `triage.py` for command lines;
 * - `ts`: type-checked and run; `sh`: every command line read by the command's own definition, and run (the README's by packed.test.ts);
 * - `json`: read; `json remit.json`: a configuration, loaded; `text`: a picture or a grammar. Anything else fails.
 */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { checkFile, load, loadConfig } from "@remit/host";
import type { Json } from "@remit/language";
import { applyFixes, declarationsOf, declaredOf, format, parse, readAnswer, renderDiagnostic, source } from "@remit/language";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectOf } from "../packages/cli/src/commands/init-files.ts";
import { build } from "../packages/cli/src/main.ts";
import { FILES, inlineCode, inputOf, mocked, page, pages, prose, root, type Sample, samplesOf, shown } from "./docs/pages.ts";
import { commandLines } from "./docs/shell.ts";
import { linkPackages, scriptAt } from "../packages/host/tests/script.ts";
import { shareBundles } from "../packages/temporal/tests/bundles.ts";

const all = pages();
const samples = all.flatMap(samplesOf);
const of = (language: string): Sample[] => samples.filter((one) => one.language === language);
const named = (list: readonly Sample[]): [string, Sample][] => list.map((one) => [shown(one), one]);

/** A folder inside the checkout, so that samples find its packages. */
let room: string;
let env: Record<string, string>;
beforeAll(() => {
    room = mkdtempSync(join(root, ".tools-docs-"));
    const home = join(room, "home");
    const inherited = Object.entries(process.env).filter(
        ([name]) => !/^(REMIT_|XDG_|AGENTSCRIPT_|VITEST|NODE_|.*API_KEY|.*BASE_URL)/.test(name),
    );
    env = {
        ...(Object.fromEntries(inherited) as Record<string, string>),
        PATH: `${join(room, "bin")}:${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: home,
        XDG_CONFIG_HOME: join(home, "config"),
        XDG_STATE_HOME: join(home, "state"),
        XDG_CACHE_HOME: join(home, "cache"),
        REMIT_MODEL: "mock:",
        NO_COLOR: "1",
        // Some hundred processes are started: what was compiled once is there for the next.
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(room, "compiled"),
    };
    shareBundles(env.XDG_CACHE_HOME as string);
    // `npx` runs what follows; `npm` is not run: its scripts are looked up.
    mkdirSync(join(room, "bin"));
    script("remit", `exec "${process.execPath}" "${scriptAt("packages/cli/bin/remit.mjs")}" "$@"`);
    script("npx", 'exec "$@"');
    script("temporal", `exec "${process.env.REMIT_TEST_TEMPORAL ?? join(root, ".tools", "temporal", "bin", "temporal")}" "$@"`);
    script("npm", "exit 0");
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

function script(name: string, text: string): void {
    writeFileSync(join(room, "bin", name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(room, "bin", name), 0o755);
}

function folder(): string {
    const at = mkdtempSync(join(room, "sample-"));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(at, name), text);
    writeFileSync(join(at, "photo.gif"), Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "base64"));
    return at;
}

test("every fence says what it holds", () => {
    const known: Readonly<Record<string, RegExp>> = {
        remit: /^(fragment( [A-Z_]+)?|wrong [A-Z_]+|old|checked|answer)?$/,
        ts: /^$/,
        python: /^$/,
        json: /^(remit\.json)?$/,
        sh: /^$/,
        text: /^$/,
        // The tests of the server open these two in a browser.
        html: /^$/,
        tsx: /^$/,
    };
    expect(samples.filter((one) => !known[one.language]?.test(one.mode)).map((one) => `${shown(one)} ${one.language} ${one.mode}`)).toEqual(
        [],
    );
    expect(samples.filter((one) => one.text.trim() === "").map(shown)).toEqual([]);
});

describe("programs", () => {
    test.each(named(of("remit").filter((one) => one.mode === "")))("%s runs", async (_, sample) => {
        const { result, found } = await ran(sample.text, answerAbove(sample));
        expect(found.filter((one) => !one.startsWith("note"))).toEqual([]);
        expect(result.failure).toBeUndefined();
        expect(result.ok).toBe(true);
    });

    test.each(named(of("remit").filter((one) => one.mode === "checked")))("%s is right", async (_, sample) => {
        const at = join(folder(), "main.remit");
        writeFileSync(at, sample.text);
        for (const [, path = "", name = ""] of sample.text.matchAll(/^import skill \w+ +from "(\.\/(?:\w+\/)*(\w+))"/gm)) {
            mkdirSync(join(dirname(at), path), { recursive: true });
            writeFileSync(join(dirname(at), path, "SKILL.md"), `---\nname: ${name}\ndescription: One of a sample.\n---\nLook.\n`);
        }
        const { diagnostics } = await checkFile(at);
        expect(diagnostics.filter((one) => one.severity !== "note").map((one) => `${one.code} ${one.message}`)).toEqual([]);
        expect(format(parse(source(sample.text, "main.remit")))).toBe(sample.text);
    });

    test.each(named(of("remit").filter((one) => one.mode === "answer")))("%s is an answer", (_, sample) => {
        const params = /func answer\(agent(?:, )?(.*?)\)/.exec(sample.text)?.[1]?.split(", ") ?? [];
        const read = readAnswer(`\`\`\`remit\n${sample.text}\`\`\`\n`, [], {
            params: params.filter((one) => one !== ""),
            file: "answer",
            bytes: 65_536,
        });
        expect(read.ok ? [] : read.errors).toEqual([]);
        expect(format(parse(source(sample.text, "answer.remit")))).toBe(sample.text);
    });

    test.each(named(of("remit").filter((one) => one.mode === "fragment")))("%s is part of a function", (_, sample) => {
        const tree = parse(source(`main func() {\n${sample.text}}\n`, "sample.remit"));
        expect(tree.diagnostics.map((one) => `${one.code} ${one.message}`)).toEqual([]);
    });

    test.each(named(of("remit").filter((one) => /^fragment [A-Z]/.test(one.mode))))("%s is refused", async (_, sample) => {
        const at = join(folder(), "main.remit");
        writeFileSync(at, `main func() {\n${sample.text}}\n`);
        const { diagnostics } = await checkFile(at);
        expect(diagnostics.filter((one) => one.severity === "error").map((one) => one.code)).toEqual([sample.mode.split(" ")[1]]);
    });

    test.each(named(of("remit").filter((one) => /^wrong [A-Z]/.test(one.mode))))("%s is told of, as shown below it", async (_, sample) => {
        const at = join(folder(), "main.remit");
        writeFileSync(at, sample.text);
        const { diagnostics, checked } = await checkFile(at, { root: dirname(at) });
        const found = diagnostics.filter((one) => one.severity !== "note");
        expect(found.map((one) => one.code)).toEqual([sample.mode.split(" ")[1]]);
        const shown = of("text")
            .find((one) => one.page === sample.page && one.line > sample.line)
            ?.text.trimEnd();
        const [error] = found;
        expect(error === undefined ? "" : renderDiagnostic(error, checked.files.get(error.file)?.source)).toBe(shown);
        expect(format(parse(source(sample.text, "main.remit")))).toBe(sample.text);
    });

    test.each(named(of("remit").filter((one) => one.mode === "old")))("%s is cured by its fixes", async (_, sample) => {
        const before = parse(source(sample.text, "old.remit")).diagnostics;
        expect(new Set(before.map((one) => one.code))).toEqual(new Set(["OLD_SPELLING"]));
        const after = applyFixes(
            sample.text,
            before.flatMap((one) => one.fixes?.slice(0, 1) ?? []),
        );
        expect(parse(source(after, "old.remit")).diagnostics).toEqual([]);
        expect((await ran(after)).result.ok).toBe(true);
    });
});

/** What agents answer in a program: the sample above it. */
function answerAbove(sample: Sample): string | undefined {
    return of("remit").findLast((one) => one.mode === "answer" && one.page === sample.page && one.line < sample.line)?.text;
}

/** Checks a program, and runs it on zero values. */
async function ran(text: string, answer?: string) {
    const at = folder();
    if (answer !== undefined) writeFileSync(join(at, "answer.remit"), answer);
    writeFileSync(join(at, "main.remit"), text);
    const { diagnostics } = await checkFile(join(at, "main.remit"), { root: at, workspace: at });
    const found = diagnostics.map((one) => `${one.severity} ${one.code} ${one.message}`);
    const program = await load<Json, Json>(join(at, "main.remit"), mocked(at, env));
    try {
        return { found, result: await program.run(inputOf(program.form)).result };
    } finally {
        await program.close();
    }
}

describe("TypeScript", () => {
    const program = (name: string, nth: number): string => (of("remit").filter((one) => one.page === name)[nth] as Sample).text;
    const places = new Map<Sample, string>();
    beforeAll(async () => {
        of("ts").forEach((sample) => {
            const at = folder();
            writeFileSync(join(at, "triage.remit"), program("README.md", 0));
            writeFileSync(join(at, "router.remit"), program("docs/tour.md", 1));
            writeFileSync(join(at, "sample.mts"), sample.text);
            places.set(sample, join(at, "sample.mts"));
        });
        // The one sample that imports a program of its page; `remit types` makes its declaration.
        const importing = of("ts").filter((one) => one.text.includes("./desk.remit"));
        expect(importing.map((one) => one.page)).toEqual(["docs/typescript.md"]);
        const at = dirname(places.get(importing[0] as Sample) as string);
        writeFileSync(join(at, "desk.remit"), program("docs/typescript.md", 0));
        const { checked } = await checkFile(join(at, "desk.remit"));
        writeFileSync(join(at, "desk.d.remit.ts"), declarationsOf(declaredOf(checked), { path: "desk.remit" }));
    });

    test("the samples have no type errors", () => {
        const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
        const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
        const checked = ts.createProgram([...places.values()], { ...options, noEmit: true, allowArbitraryExtensions: true });
        const wrong = [...places].flatMap(([sample, file]) => {
            const found = checked.getSourceFile(file);
            if (found === undefined) return [`${shown(sample)}: not read`];
            return [...checked.getSyntacticDiagnostics(found), ...checked.getSemanticDiagnostics(found)].map(
                (one) => `${shown(sample)}: ${ts.flattenDiagnosticMessageText(one.messageText, "\n")}`,
            );
        });
        expect(wrong).toEqual([]);
    });

    /** What a process has once: Node's test runner, standard input, hooks of its loader, a Temporal core. */
    const ownProcess = /node:test|process\.|\.\/desk\.remit|@remit\/temporal|remit-lang\/temporal"/;
    let ended: Promise<Record<string, string | null>> | undefined;
    async function together(): Promise<Record<string, string | null>> {
        const files = of("ts").flatMap((sample) => (ownProcess.test(sample.text) ? [] : [places.get(sample) as string]));
        for (const file of files) linkPackages(dirname(file));
        const report = join(room, "together.json");
        const failed = await run(process.execPath, [join(root, "tests/docs/together.mjs"), report, ...files], room).then(
            () => null,
            String,
        );
        const said = JSON.parse(readFileSync(report, "utf8")) as Record<string, string | null>;
        // a failure of the process that no sample is named for counts against each
        const all = Object.values(said).every((one) => one === null) ? failed : null;
        return Object.fromEntries(files.map((file) => [file, file in said ? (said[file] ?? all) : `not run: ${failed}`]));
    }

    test.concurrent.each(named(of("ts")))("%s runs", async (_, sample) => {
        const file = places.get(sample) as string;
        if (!ownProcess.test(sample.text)) {
            ended ??= together();
            expect((await ended)[file]).toBe(null);
            return;
        }
        linkPackages(dirname(file));
        const flags = sample.text.includes("./desk.remit") ? ["--import", "remit-lang/register"] : [];
        await run(process.execPath, [...flags, file], dirname(file));
    });
});

/** Standard output of a command; throws with what it said where it failed. */
async function run(command: string, args: string[], cwd: string): Promise<string> {
    const child = promisify(execFile)(command, args, { cwd, env, encoding: "utf8", timeout: 500_000 });
    child.child.stdin?.end();
    try {
        return (await child).stdout;
    } catch (error) {
        const { stdout, stderr, code } = error as { stdout?: string; stderr?: string; code?: number };
        throw new Error(`${command} ended with ${code}\n${stdout}\n${stderr}`);
    }
}

describe("JSON", () => {
    test.each(named(of("json")))("%s is JSON", (_, sample) => {
        const value = JSON.parse(sample.text) as Json;
        if (sample.mode !== "remit.json") return;
        const at = folder();
        mkdirSync(join(at, "data"));
        writeFileSync(join(at, "tools.ts"), "export {};\n");
        writeFileSync(join(at, "remit.json"), sample.text);
        const config = loadConfig({ from: join(at, "main.remit"), workspace: at, trust: true, env });
        expect(config.files.map((file) => file.content)).toContainEqual(value);
    });
});

describe("the command line", () => {
    const lines = of("sh").flatMap((sample) => commandLines(sample.text).map((words) => ({ sample, words })));

    test("samples name commands and options that exist", () => {
        const scripts = (JSON.parse(page("package.json")) as { scripts: Record<string, string> }).scripts;
        const wrong: string[] = [];
        for (const { sample, words } of lines) {
            const [first = "", ...rest] = words[0] === "npx" ? words.slice(1) : words;
            let problem: string | null = null;
            if (first === "remit") problem = misread(rest);
            else if (first === "npm" && !["install", "exec", "create"].includes(rest[0] ?? ""))
                problem = Object.hasOwn(scripts, rest[0] === "run" ? (rest[1] ?? "") : (rest[0] ?? "")) ? null : "no such script";
            else if (!["cd", "cat", "echo", "npm"].includes(first)) problem = "not a command that samples use";
            if (problem !== null) wrong.push(`${shown(sample)}: ${words.join(" ")}: ${problem}`);
        }
        expect(lines.length).toBeGreaterThan(20);
        expect(wrong).toEqual([]);
    });

    test("what pages call remit with in passing exists", () => {
        const wrong = all.flatMap((one) =>
            inlineCode(prose(one)).flatMap((code) => {
                const words = /^(?:npx )?remit ([a-z]+)(.*)$/.exec(code);
                if (words === null) return [];
                const command = commands().find((each) => each.name() === words[1]);
                if (command === undefined) return [`${one.name}: ${code}`];
                const options = (words[2] as string).match(/(?<![\w-])--[a-z-]+/g) ?? [];
                return options.filter((name) => !longOptions(command).includes(name)).map((name) => `${one.name}: ${code}: ${name}`);
            }),
        );
        expect(wrong).toEqual([]);
    });

    /** A project in which one run has been made, for samples to begin in. */
    let begun: string;
    beforeAll(async () => {
        begun = folder();
        for (const { path, text } of projectOf("start", false)) writeFileSync(join(begun, path), text);
        writeFileSync(join(begun, "greeter.remit"), (of("remit").find((one) => one.page === "docs/tour.md") as Sample).text);
        writeFileSync(join(begun, "triage.py"), (of("python")[0] as Sample).text);
        writeFileSync(join(begun, "remit.json"), '{ "env": { "allow": ["PUBLIC_KEY"] } }\n');
        cpSync(join(root, "examples/triage-build"), join(begun, "examples/triage-build"), { recursive: true });
        await run("env", [...own(begun), "remit", "run", "main.remit", "-i", "@input.json", "-q"], begun);
    });
    /** A ledger, and trust, for each sample: `last` is its own run. */
    const own = (at: string): string[] => [`XDG_STATE_HOME=${join(at, "state")}`, `XDG_CONFIG_HOME=${join(at, "config")}`];

    test.concurrent.each(named(of("sh").filter((one) => one.page !== "README.md")))("%s runs", async (_, sample) => {
        const at = join(room, `shell-${sample.page.replaceAll("/", "-")}-${sample.line}`);
        cpSync(begun, at, { recursive: true });
        // a run that is over cannot be resumed: the command says so with 2
        const text = sample.text.replace(/\bRUN\b/g, "last").replace(/^(.*remit resume [^#\n]*)(#.*)?$/gm, "$1 || [ $? = 2 ]");
        writeFileSync(join(at, "sample.sh"), `set -e\n${text}`);
        await run("env", [...own(at), "sh", "sample.sh"], at);
    });

    test.concurrent.each(named(of("python")))("%s runs as a Re in Act program", async (_, sample) => {
        const at = folder();
        writeFileSync(join(at, "sample.py"), sample.text);
        const said = await run("env", [...own(at), "remit", "ras", "run", "sample.py", "--llm", "mock:", "--may", "bash", "-q"], at);
        expect(said).not.toBe("");
    });

    test("the transcript of docs/debugging.md is what the debugger says", async () => {
        const at = folder();
        const inPage = (language: string): Sample => of(language).find((one) => one.page === "docs/debugging.md") as Sample;
        writeFileSync(join(at, "remit.json"), "{}\n");
        writeFileSync(join(at, "main.remit"), inPage("remit").text);
        const { text } = inPage("text");
        writeFileSync(join(at, "typed"), [...text.matchAll(/^\(remit\) (.*)$/gm)].map((found) => `${found[1]}\n`).join(""));
        await run("env", [...own(at), "remit", "run", "main.remit", "--input", '{"prices": [3, 4]}', "-q"], at);
        const said = await run("env", [...own(at), "sh", "-c", "cat typed | remit debug last"], at);
        expect(said.replace(/^run \S+:/, "run RUN:")).toBe(text);
    });

    test("the pages of the command line name the options of every command, and no others", () => {
        const text = all.flatMap((one) => (one.name.startsWith("docs/cli") ? [one.text] : [])).join("\n");
        for (const command of commands()) {
            const own = longOptions(command).filter((name) => !["--help", "--no-color", "--version"].includes(name));
            expect([command.name(), ...sectionOptions(text, command.name())].sort()).toEqual([command.name(), ...own].sort());
        }
    });

    test("docs/cli.md names the environment variables", () => {
        const text = page("docs/cli.md");
        const used = new Set<string>();
        for (const file of ts.sys.readDirectory(join(root, "packages"), [".ts"], ["**/node_modules/**", "**/tests/**"], ["*/src/**/*"]))
            for (const found of readFileSync(file, "utf8").matchAll(/\benv(?:\.|\[")((?:REMIT|AGENTSCRIPT|OLLAMA)_[A-Z_]+)/g))
                used.add(found[1] as string);
        expect(used.size).toBeGreaterThan(5);
        expect([...used].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
    });
});

type Command = ReturnType<typeof build>;

function commands(): readonly Command[] {
    return build(() => undefined).commands;
}

/** Long names of the options of a command, those that help hides included. */
function longOptions(command: Command): string[] {
    return [
        ...command.options.flatMap((one) => (one.long === undefined || one.long === null ? [] : [one.long])),
        "--no-color",
        "--help",
        "--version",
    ];
}

/** What the command's definition has against a command line; null where nothing. */
function misread(words: readonly string[]): string | null {
    const program = build(() => undefined);
    const nothing = (): void => undefined;
    program.configureOutput({ writeOut: nothing, writeErr: nothing });
    for (const command of program.commands) command.configureOutput({ writeOut: nothing, writeErr: nothing }).action(nothing);
    try {
        program.parse([...words], { from: "user" });
        return null;
    } catch (error) {
        return (error as Error).message;
    }
}

/** Long options named in what the pages of the command line say of a command: the part under its heading, or its row of a table. */
function sectionOptions(text: string, name: string): string[] {
    const parts = text.split(/^(?=#+ )/m).filter((part) => new RegExp(`^##+ .*\`remit ${name}\\b`).test(part));
    const rows = text.split("\n").filter((line) => new RegExp(`^\\| \`remit ${name}\\b`).test(line));
    const own = parts.map((part) =>
        name === "parse"
            ? (part.split(/`compile`/)[0] as string)
            : name === "compile"
              ? `\`--output\`${part.split(/`compile` prints/)[1]}`
              : part,
    );
    const found = [
        ...own.map((part) => part.replace(/^```[\s\S]*?^```$/gm, "").replace(/AgentScript's options[\s\S]*?understood:/, "")),
        ...rows,
    ].join("\n");
    // "All of these take `--ledger FILE`"
    const ledger = rows.length > 0 && ["runs", "trace", "diff", "cost"].includes(name) ? ["--ledger"] : [];
    const codes = inlineCode(found).flatMap((code) => (code.startsWith("--") ? [code.split(/[ =]/)[0] as string] : []));
    const meanings = /is `(--input @FILE|--trace)`/g;
    expect(found.match(meanings)?.length ?? 0).toBe(name === "run" ? 2 : 0);
    return [...new Set([...codes, ...ledger])];
}
