/**
 * The `remit` command: names, options and help. Each command's work is in `commands/`, loaded when it is asked for, so that starting
 * costs only what is used.
 */
import { Help, Command, CommanderError, Option } from "commander";
import type { Add } from "./adding.ts";
import { examples } from "./examples.ts";
import { changing, ofBlocks } from "./of-blocks.ts";
import { ofCredentials } from "./of-credentials.ts";
import { bounds, place } from "./bounds.ts";
import { ofProjects } from "./of-projects.ts";
import { ofServing } from "./of-serving.ts";
import { writePipes } from "./pipes.ts";
import { VERSION } from "./version.ts";
import { columnsOf, EXIT, fitting, once, paint, plain, say, UsageError, watchPipes } from "./io.ts";

/** What a command's work gets: its arguments, then its options. Returns the exit code. */

/** Runs the command line in a process of its own. */
export function start(argv: readonly string[]): Promise<void> {
    writePipes();
    return main(argv);
}

/** Runs the command line and sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
    watchPipes();
    let code: number = EXIT.ok;
    const finish = (done: number): void => {
        code = done;
    };
    // Describing all commands takes longer than running a small program.
    const own = build(finish, argv[0]);
    const program = own.commands.length === 0 ? build(finish) : own;
    try {
        await program.parseAsync(withCommandLine(program, argv), { from: "user" });
    } catch (error) {
        code = await explain(error);
    }
    process.exitCode = code;
}

async function explain(error: unknown): Promise<number> {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const red = paint(process.stderr);
    if (error instanceof UsageError) {
        say(`${red("red", "error")}: ${plain(error.message)}`);
        if (error.hint) say(`  ${plain(error.hint)}`);
        return EXIT.usage;
    }
    const { showError } = await import("./failure.ts");
    return showError(error);
}

/** A program's file alone is run. What follows the name of a tool in `act` belongs to the tool, also where it looks like an option. */
function withCommandLine(program: Command, given: readonly string[]): string[] {
    // `remit FILE.as`, as AgentScript's own command is called.
    const argv = /\.(?:as|remit)$/i.test(given[0] ?? "") ? ["run", ...given] : given;
    const act = argv[0] === "act" ? program.commands.find((one) => one.name() === "act") : undefined;
    let at = 1;
    for (; act !== undefined && argv[at]?.startsWith("-") === true && argv[at] !== "-"; at++) {
        const option = act.options.find((one) => one.short === argv[at] || one.long === argv[at]);
        if (argv[at] === "--" || option?.long === "--manual") return [...argv];
        if (option?.required === true) at++;
    }
    return act === undefined || at >= argv.length ? [...argv] : [...argv.slice(0, at), "--", ...argv.slice(at)];
}

/** Stands for a command that is left out: takes every description. */
const LEFT_OUT: Command = new Proxy({} as Command, { get: () => () => LEFT_OUT });

/** The last column of a terminal stays free, as it does in all that is said. */
const helpWidth = (stream: NodeJS.WriteStream): number => (columnsOf(stream) ?? 81) - 1;

/** A name and what it means; below it where the terminal leaves no room beside it. */
function formatItem(term: string, width: number, description: string, helper: Help): string {
    const columns = helper.helpWidth ?? 80;
    if (description === "" || columns - width - 4 >= helper.minWidthToWrap)
        return Help.prototype.formatItem.call(helper, term, width, description, helper);
    return `  ${term}\n${helper.boxWrap(description, columns - 6).replace(/^/gm, "      ")}`;
}

/** The command line; `finish` gets the exit code of the command that ran. `only`: the name of the one command to describe. */
export function build(finish: (code: number) => void, only?: string): Command {
    const program = new Command("remit")
        .description(
            "Run agent programs whose every bound is in writing: what a model sees, what code may do and spend, and the record it leaves.",
        )
        .showSuggestionAfterError()
        .showHelpAfterError("  remit --help lists the commands")
        .exitOverride()
        .configureHelp({
            sortSubcommands: false,
            // columns of 80 that the names of the commands leave
            minWidthToWrap: 24,
            formatItem,
            subcommandTerm: (one) => [one.name(), (one.usage().split("\n")[0] ?? "").replace("[options]", "").trim()].join(" ").trim(),
        })
        .configureOutput({
            writeOut: (text) => void process.stdout.write(fitting(text, process.stdout)),
            writeErr: (text) => void process.stderr.write(fitting(text, process.stderr)),
            getOutHelpWidth: () => helpWidth(process.stdout),
            getErrHelpWidth: () => helpWidth(process.stderr),
        })
        .helpOption("-h, --help", "this text, or that of a command")
        .version(VERSION, "-v, --version", "the version")
        .addHelpText("after", `\nBegin with: remit init hello\n`)
        .option("--no-color", "no colours")
        .hook("preAction", (command) => {
            if (command.opts()["color"] === false) process.env["NO_COLOR"] = "1";
        });

    const add: Add = (name, description, load) => {
        const [word = ""] = name.split(" ");
        if (only !== undefined && word !== only) return LEFT_OUT;
        return program
            .command(name)
            .description(description)
            .helpOption("-h, --help", "this text")
            .showHelpAfterError(`  write: remit ${name}; remit ${word} --help lists the options`)
            .addHelpText("after", () => examples(word))
            .exitOverride()
            .action(async (...given: unknown[]) => {
                const command = given.at(-1) as Command;
                const work = (await load()).default;
                finish(await work(command.args, command.optsWithGlobals()));
            });
    };

    const groups: readonly (readonly [string, ...((add: Add) => void)[]])[] = [
        ["Begin, and keep in order", ofProjects],
        ["Write programs", ofPrograms],
        ["Run them", toRun, toAnswer, interactive],
        ["See what a run did", ofRuns, toDebug],
        ["Blocks, here and on Temporal", (each) => ofBlocks(each, { bounds, ledger, running })],
        ["Serve, drive, and lend to others", (each) => ofServing(each, ledger)],
        ["One question, task or call in a shell", reInAct],
        ["Users' credentials", ofCredentials],
    ];
    for (const [heading, ...describing] of groups) {
        program.commandsGroup(`${heading}:`);
        for (const describe of describing) describe(add);
    }
    program.commandsGroup(`${groups[0]?.[0]}:`).helpCommand("help [command]", "this text, or that of a command");
    return program;
}

/** A command of this name, what it does, and where its work is. */

// ---- running

function toRun(add: Add): void {
    const run = add("run <file>", "Run a program and print its value as JSON", () => import("./commands/run.ts"));
    place(running(run.allowExcessArguments(false)))
        .option("-i, --input <json>", "input as JSON, @FILE, or - for standard input", once("--input"))
        .option("--input-origin <origin...>", "the origin of the input, such as web:form or unlabelled; default: user")
        .option("--trace", "show the trace on standard error when the run has ended")
        .option("--trace-file <file>", "write every event to FILE, one JSON object a line")
        .option("--check", "check only, run nothing")
        .option("--main", "start with the main agent or main func, also where the file has blocks")
        .option("--agent <name>", "start with this agent's main func")
        .option("--function <name>", "start with this function")
        .option("--variant <site=name...>", "choose a candidate of a `use one of`")
        .option("--monitor", "audit the run as it goes, print each finding as it happens, and exit with 1 where there are any")
        .option("--against <run>", "with --monitor: compare with this run; what is new is a finding")
        .option("--replay <file>", "models and agents answer from a recording; the same as --model recorded:FILE")
        .option("--frozen", "only with the agents, skills and tools that remit.lock pins, unchanged")
        .option("--mock", "reach nothing: the model is mock:, tools and memories answer with fixed values")
        .option("--dry-run", "change nothing: the model is mock:, only calls that read are performed; the others are listed at the end")
        .option("--no-cache", "compile afresh");
    // AgentScript's command line, understood here (LANGUAGE 10, D11)
    for (const [flags, text] of [
        ["--input-file <file>", "AgentScript: --input @FILE"],
        ["--verbose", "AgentScript: --trace"],
        ["--parse", "AgentScript: remit parse"],
    ] as const)
        run.addOption(new Option(flags, text).hideHelp());
}

function toAnswer(add: Add): void {
    const resume = add(
        "resume <run>",
        "Continue a run that was interrupted, waits for an answer, or failed",
        () => import("./commands/resume.ts"),
    );
    changing(performing(resume))
        .option(
            "--answer <path=answer...>",
            "answer a question the run waits for: PATH=done:JSON, PATH=again or PATH=give-up; of a run that failed: PATH=VALUE",
        )
        .option(
            "--raise <bound...>",
            "of a run that a limit stopped: [ACCOUNT:]METER=AMOUNT, for example tokens=200k or main/spend#0:usd=2",
        )
        .option("--retry", "of a run that failed: ask again for what failed")
        .option("--accept-foreign", "go on with a run that was recorded under another key: on another machine, or by another user")
        .option("--trace", "show the trace on standard error when the run has ended");
    ledger(add("asks [run]", "List the questions that wait for an answer, of a run or of all", () => import("./commands/asks.ts")))
        .option("--all", "answered and expired ones too")
        .option("--full", "do not cut long values")
        .option("--json", "as JSON");
    ledger(
        add(
            "answer <run> [ask] [answer...]",
            "Answer a question: once, session, deny, deny session or abort",
            () => import("./commands/answer.ts"),
        ),
    )
        .option("--as <principal>", "who answers, such as user:alice; default: the user of this process")
        .option("--json", "the record as JSON");
    ledger(
        add(
            "replay <run>",
            "Run again from the ledger: no effect is performed, the record must come out equal",
            () => import("./commands/replay.ts"),
        ),
    ).option("--json", "the result as JSON on one line");
}

function interactive(add: Add): void {
    bounds(
        ledger(
            add(
                "repl",
                "Inputs one after another, each a piece of one program whose names live on; /browser TASK gives a server a turn",
                () => import("./commands/repl.ts"),
            ),
        ),
    )
        .option("-m, --model <uri>", "model for every `import llm` (REMIT_MODEL)")
        .option("-w, --workspace <dir>", "folder the tools may reach; default: the current folder")
        .option("--record <file>", "record every answer of models and agents to FILE, secrets removed")
        .option("--yes", "answer every question with yes, once")
        .option("--as <identity>", "user on whose behalf the run is, such as user:alice; it sends what this user delegated (REMIT_AS)")
        .option("--trust", "let this project's configuration start commands and load modules")
        .option("--json", "values as JSON on one line")
        .option("--url <url>", "for /browser: the server; default: the newest of this user on this machine, else one that begins here")
        .option("--token <token>", "for /browser: credential for it (REMIT_TOKEN)")
        .option("--auto-approve", "for /browser: answer every question about a call with yes, whichever call the model wants");
}

function toDebug(add: Add): void {
    ledger(
        add(
            "debug [run]",
            "Go through a run from its record, forwards and backwards: nothing is performed",
            () => import("./commands/debug.ts"),
        ),
    )
        .option("--dap", "speak the Debug Adapter Protocol on standard input and output, for editors")
        .option("--agent <name>", "let an agent look and propose a fix or a value: a name, a URI, or the file of a Remit agent")
        .option(
            "--at <place>",
            "with --agent: start, end, failure, debugger, FILE:LINE, step N, event N, or a path; default: where it failed",
        )
        .option("-m, --model <uri>", "with --agent: model for every `import llm` (REMIT_MODEL)")
        .option("-w, --workspace <dir>", "with --agent: folder that agents and tools may reach")
        .option("--trust", "with --agent: let this project's configuration start commands and load modules")
        .option("--park", "with --agent: a question of the new run without an answer waits in the ledger")
        .option("--probe", "with --agent: the new run only reads; what would change something is played")
        .option("--json", "with --agent: print the proposal as JSON, apply nothing")
        .option("-q, --quiet", "with --agent: no progress");
    ledger(
        add(
            "snapshot <run>",
            "Show a moment of a run: frames, variables and their origins, authority",
            () => import("./commands/snapshot.ts"),
        ),
    )
        .option("--at <place>", "start, end, failure, a number of steps, or a path; default: where it failed, else the end")
        .option("--against <file>", "compare with a snapshot that was kept; exit with 1 where they differ")
        .option("--json", "as JSON");
}

function reInAct(add: Add): void {
    tools(
        running(
            add(
                "ras <verb> [program]",
                "Run a Re in Act program (.py, .ts, .sh) or a Riff; `ras list` lists Riffs, `ras capabilities` says what a program is offered",
                () => import("./commands/ras.ts"),
            ),
        ),
    )
        .option("-i, --input <input>", "NAME=VALUE, an object as JSON, or @FILE; may be given several times", gathered)
        .option("--riff <file>", "register this program as a Riff; may be given several times", gathered)
        .option("--agent <uri>", "the agent that `agent()` asks, such as acp://opencode")
        .option("--own-time <duration>", "how long the program itself may take, answers not counted; default 10min")
        .option("--max-memory <mib>", "memory of all its processes; default 1024")
        .option("--max-processes <n>", "processes at once; default 64")
        .option("--max-output <n>", "characters of its output that are kept; default 262144")
        .option("--unconfined", "without a sandbox: the program has all your rights")
        .option("--trace", "show the trace on standard error when the run has ended")
        .option("--trace-file <file>", "write every event to FILE, one JSON object a line");
    running(
        add("reason", "One bounded question to a model: `{data}` or `{error}` on standard output", () => import("./commands/reason.ts")),
    )
        .option("-p, --prompt <text>", "a part of the prompt; may be given several times, - is standard input at that place", gathered)
        .option("--structure <json>", "an example of the answer")
        .option("--attempts <n>", "how often the model may try, 1 to 10; default 3")
        .addOption(new Option("--llm <uri>", "the model; as --model"))
        .option("--verbose", "progress on standard error");
    tools(running(add("agent", "One task of an agent: `{data}` or `{error}` on standard output", () => import("./commands/agent.ts"))))
        .option("-p, --prompt <text>", "a part of the task; may be given several times, - is standard input at that place", gathered)
        .option("--agent <uri>", "the agent that is asked, such as acp://opencode")
        .option("--config <json>", "budget, policy and on_error, as for agent()")
        .option("--verbose", "progress on standard error");
    tools(running(add("act [name] [arguments...]", "One call of a tool: its result on standard output", () => import("./commands/act.ts"))))
        .option("--manual [name]", "what there is to call")
        .option("--verbose", "progress on standard error");
}

// ---- reading programs and runs

function ofPrograms(add: Add): void {
    add("check <files...>", "Report every error of all files in one pass", () => import("./commands/check.ts"))
        .option("--json", "diagnostics as JSON")
        .option("--authority", "print who may do what: every principal, thing and method, its gate, and what gives it")
        .option(
            "--assume-hostile <name...>",
            "with --authority, behind the files: what data from there could do without a question, such as Inbox.read",
        )
        .option("--fix", "apply the fixes that keep the meaning");
    ledger(
        add(
            "policy <verb> <file>",
            "Propose clauses for review, from the program and its runs; write nothing",
            () => import("./commands/policy.ts"),
        ),
    )
        .usage("[options] suggest FILE")
        .option("--runs <n>", "look at the newest N runs that are done; default 20, 0: the program alone")
        .option("--json", "as JSON");
    add("fmt <files...>", "Format programs (also a program form in JSON); prints, or writes with --fix", () => import("./commands/fmt.ts"))
        .option("--fix", "write the formatted text, after applying fixes of old spellings")
        .option("--check", "exit with 1 where a file is not formatted; write nothing");
    add(
        "types [paths...]",
        "Write TypeScript declarations of programs (FILE.d.remit.ts): inputs, values, and the tools their callers bring",
        () => import("./commands/types.ts"),
    )
        .option("--out <dir>", "folder for the declarations, with the layout of the project; default: each beside its program")
        .option("--check", "exit with 1 where a declaration is not up to date; write nothing");
    add("parse <file>", "Print the syntax tree as JSON", () => import("./commands/parse.ts")).option("--json", "on one line");
    add("compile <file>", "Print the program form as JSON", () => import("./commands/compile.ts"))
        .option("-o, --output <file>", "write to FILE")
        .option("--positions", "keep source positions")
        .option("--json", "on one line");
    ledger(
        add(
            "explain <subject>",
            "FILE: every prompt a program can build, without running. RUN: why each byte of a prompt is there",
            () => import("./commands/explain.ts"),
        ),
    )
        .option("--at <path>", "only the generates whose path contains this")
        .option("--full", "of a run: the messages too, exactly as they were sent")
        .option("--json", "as JSON");
}

function ofRuns(add: Add): void {
    ledger(add("runs [runs...]", "List the runs of the ledger, or remove some", () => import("./commands/runs.ts")))
        .option("-n, --limit <count>", "how many, newest first", "20")
        .option("--waiting", "only runs that wait for an answer or were interrupted")
        .option("--prune", "remove runs for ever: those named, or finished ones by age and number; asks first")
        .option("--older-than <age>", "with --prune: finished runs that ended longer ago than this, such as 30d")
        .option("--keep <count>", "with --prune: keep the newest so many runs")
        .option("--yes", "with --prune: without asking")
        .option("--json", "as JSON");
    const trace = ledger(
        add("trace <run>", "Show what a run did (`remit trace verify RUN` checks the chain)", () => import("./commands/trace.ts")),
    )
        .option("--follow", "keep showing events to the run's end; waits for a first run, and for answers, until Ctrl-C")
        .option("--ndjson", "events, one JSON object a line")
        .option("--atif", "as an ATIF trajectory (JSON)")
        .option("-o, --output <file>", "with --atif: write to FILE, pictures and sounds into a folder beside it")
        .option("--otel [endpoint]", "OpenTelemetry spans: as JSON, or sent to an OTLP/HTTP endpoint")
        .option("--content", "with --otel: include prompts and replies")
        .option("--full", "do not cut long values");
    trace.usage("[options] <run>\n       remit trace verify [run]").allowExcessArguments(true);
    add("atif <verb> <files...>", "Validate or show ATIF trajectories, of any agent", () => import("./commands/atif.ts"))
        .option("--strict", "with validate: refuse what readers tolerate too, as for a trajectory about to be written")
        .option("--full", "with show: do not cut long texts")
        .option("--json", "as JSON");
    ledger(add("diff <a> <b>", "Compare two runs by path: what each saw and did", () => import("./commands/diff.ts"))).option(
        "--json",
        "as JSON",
    );
    ledger(
        add(
            "why <run> [where]",
            "Where a value came from: the chain of places back to where its data entered",
            () => import("./commands/why.ts"),
        ),
    ).option("--json", "as JSON");
    ledger(
        add(
            "audit [subject]",
            "Look for breaches, flows and wide grants in a RUN or a FILE; exit 0 clean, 1 findings, 2 could not tell",
            () => import("./commands/audit.ts"),
        ),
    )
        .option("--fail-on <severity>", "note, low, medium or high; default: the configuration's, else medium")
        .option("--baseline <file>", "findings that are known and accepted until a day")
        .option("--write-baseline <file>", "accept the findings of now, with --until and --reason")
        .option("--until <day>", "with --write-baseline: the last day, such as 2027-01-31")
        .option("--reason <text>", "with --write-baseline: why")
        .option("--against <run>", "compare with this run: rights and uses that are new are findings")
        .option("--accept-foreign", "accept a record without the code of your own key, made by another user or on another machine")
        .option("--auditor <file...>", "programs that look at the run too; they add findings, and take none away")
        .option("-m, --model <uri>", "model for every `import llm` of the auditors")
        .option("--invariant <text...>", "what must hold: 'Fixer never Repo.write outside \"src/**\"', or @FILE with one a line")
        .option("--sarif", "as SARIF 2.1.0")
        .option("--junit", "as JUnit XML")
        .option("--json", "as JSON");
    ledger(add("cost [runs...]", "Tokens and money of runs, by model and place", () => import("./commands/cost.ts"))).option(
        "--json",
        "as JSON",
    );
}

// ---- options that commands share

function ledger(command: Command): Command {
    return command.option("--ledger <file>", "ledger: a file, or postgres://USER@HOST/DATABASE (REMIT_LEDGER)");
}

/** Options of everything that performs effects. */
function performing(command: Command): Command {
    return ledger(command)
        .option("-m, --model <uri>", "model for every `import llm` (REMIT_MODEL)")
        .option("-w, --workspace <dir>", "folder the tools may reach; default: the current folder")
        .option("--record <file>", "record every answer of models and agents to FILE, secrets removed")
        .option("--otel [endpoint]", "send spans to an OTLP/HTTP endpoint when the run has ended (OTEL_EXPORTER_OTLP_ENDPOINT)")
        .option("--otel-content", "with --otel: include prompts, replies, arguments and results")
        .option("--yes", "answer every question with yes, once")
        .option("--park", "a question without an answer waits in the ledger (exit code 3); without it the answer is no")
        .option("--ask <when>", "now: on this terminal, or later: the question waits in the ledger, as with --park")
        .option("--as <identity>", "user on whose behalf the run is, such as user:alice; it sends what this user delegated (REMIT_AS)")
        .option("--trust", "let this project's configuration start commands and load modules")
        .option("--json", "value, progress and errors as JSON, one object a line")
        .option("-q, --quiet", "no progress");
}

/** Options of what calls tools by name. */
function tools(command: Command): Command {
    return command
        .option("--llm <uri>", "the model; as --model")
        .option("--tools <file>", "a program whose tool imports may be called; default: the servers of the configuration")
        .addOption(
            new Option(
                "--may <name>",
                "call this tool, or TOOL.METHOD, without a question; may be given several times (REMIT_MAY: names with commas between)",
            )
                .env("REMIT_MAY")
                .argParser<string[]>((value, before) => [...(before ?? []), ...value.split(/[\s,]+/).filter((one) => one !== "")]),
        );
}

function gathered(value: string, before: string[] | undefined): string[] {
    return [...(before ?? []), value];
}

/** Options of what begins a run: its bounds are kept with it, so that resuming it keeps them. */
function running(command: Command): Command {
    return bounds(performing(command));
}
