/** The commands about blocks and about runs on Temporal: names, options, examples. */
import type { Command } from "commander";
import type { Add, Work } from "./adding.ts";
import { once } from "./io.ts";
import { decisionKey, place } from "./bounds.ts";

type Commands = typeof import("./commands/on-temporal.ts");

const load = (name: keyof Commands) => async (): Promise<{ default: Work }> => ({
    default: (await import("./commands/on-temporal.ts"))[name],
});

/** `bounds`, `ledger` and `running` put the options of other commands on these. */
export function ofBlocks(add: Add, put: { readonly [name in "bounds" | "ledger" | "running"]: (command: Command) => Command }): void {
    add("plan <file>", "Show what the blocks of a program will do, node by node, before anything runs", () => import("./commands/plan.ts"))
        .option("--json", "the plans as JSON, on one line")
        .option("--mermaid", "flowcharts in Mermaid's language")
        .option("--svg", "a picture, for browsers and documents");
    add("verbs [verbs...]", "List the verbs that blocks can call, or show some of them", () => import("./commands/verbs.ts")).option(
        "--json",
        "as JSON, on one line",
    );
    place(
        put.running(
            add(
                "translate <request...>",
                "Turn a request in plain words into a program, show it, and run it after a yes",
                () => import("./commands/translate.ts"),
            ),
        ),
    )
        .option("-i, --input <json>", "input of the program as JSON, @FILE, or - for standard input", once("--input"))
        .option("-o, --output <file>", "write the program to FILE, which must not exist yet")
        .option("--attempts <n>", "how often the model may answer, 1 to 10", "3")
        .option("--plan-only", "show it; ask nothing and run nothing");
    const reaching = (command: Command): Command =>
        place(put.ledger(command))
            .option("-m, --model <uri>", "model for every `import llm` (REMIT_MODEL)")
            .option("-w, --workspace <dir>", "folder the tools may reach; default: the current folder")
            .option("--as <identity>", "user on whose behalf the run is, such as user:alice; it sends what this user delegated (REMIT_AS)")
            .option("--trust", "let projects' configuration start commands and load modules");
    const working = (command: Command): Command =>
        decisionKey(reaching(command), "an answer to a question counts only if this key signed it; the public half is enough")
            .option("--deployment <name>", "worker deployment: executions stay with the build that they began with")
            .option("--build <id>", "with --deployment: name of this build; default: that of Remit's machine")
            .option("--max-activities <n>", "effects performed at once")
            .option("--max-workflows <n>", "workflow tasks at once")
            .option("--metrics <host:port>", "where its metrics are read, as Prometheus reads them");
    working(add("temporal <dev>", "dev: start a development server of Temporal and a worker", load("dev")))
        .option("--port <n>", "port of the server; default: a free one")
        .option("--ui-port <n>", "port of its pages; without it there are none")
        .option("--db <file>", "file in which it keeps its state; default: in memory");
    working(add("worker", "Carry out runs that were submitted to a Temporal server", load("worker")));
    put.bounds(reaching(add("submit <file>", "Begin a run on a Temporal server", load("submit"))))
        .option("-i, --input <json>", "input as JSON, @FILE, or - for standard input", once("--input"))
        .option("--id <id>", "id of the run, and of its workflow; of the schedule with --cron")
        .option("--cron <expression>", "instead of now: at these times, such as '0 7 * * 1-5', @daily or '@every 90m'")
        .option("--timezone <zone>", "with --cron: IANA name of the time zone; default: UTC")
        .option("--overlap <policy>", "with --cron: skip (default), buffer-one, buffer-all, cancel-other or allow-all")
        .option("--wait", "wait for the value and print it")
        .option("--json", "on one line");
    place(
        put.ledger(
            add("schedule <verb> [id]", "Schedules: list, show, pause, resume, trigger, delete", () => import("./commands/schedule.ts")),
        ),
    )
        .option("--note <text>", "with pause: why")
        .option("--json", "as JSON, one a line");
    const of = (name: "status" | "result" | "cancel", text: string): Command =>
        place(put.ledger(add(`${name} <run>`, text, load(name)))).option("--json", "as JSON, on one line");
    of("status", "What a run on Temporal does now, and what it asks");
    of("result", "Wait for the value of a run on Temporal");
    of("cancel", "Stop a run on Temporal");
    const answering = (command: Command): Command =>
        decisionKey(place(put.ledger(command)), "signs the answer, for workers that take no other").option(
            "--by <user>",
            "who answers; default: the owner of the run",
        );
    answering(
        add(
            "approve <run> [question] [answer]",
            "Answer a question of a run on Temporal; the answer is `once` where none is given. A run of this ledger: remit answer",
            load("approve"),
        ),
    );
    answering(
        add(
            "signal <run> <name> [value]",
            "Give a run on Temporal the input that it waits for by this name; cancel and drain are signals of every run",
            load("signal"),
        ),
    );
}

/** Options of what goes on with a run here or there. */
export function changing(command: Command): Command {
    return place(command)
        .option("--on <backend>", "memory or temporal: go on in this process, or in an execution on Temporal")
        .option("--wait", "with --on temporal: wait for the value and print it")
        .option("--move", "with --on temporal: a run that goes on there goes on with the workers that serve now")
        .option("--grace <duration>", "with --on memory or --move: how long to wait for what has begun there; default 30s")
        .option(
            "--fence",
            "with --on memory: take the run without asking the server; the ledger refuses what its execution does after that",
        );
}

export const BLOCK_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
    plan: ["remit plan main.remit", "remit plan main.remit --mermaid > plan.mmd", "remit plan main.remit --svg > plan.svg"],
    translate: [
        'remit translate "compare a.md and b.md and tell me what changed"',
        'remit translate "summarize https://example.com every morning" --output news.remit --plan-only',
    ],
    verbs: ["remit verbs", "remit verbs converge"],
    temporal: ["remit temporal dev --port 7233 --ui-port 8233"],
    worker: ["remit worker --address 127.0.0.1:7233", "remit worker --deployment reviews --build 2026-11-25 --metrics 127.0.0.1:9464"],
    submit: [
        "remit submit triage.remit --input @input.json --address 127.0.0.1:7233 --wait",
        "remit submit nightly.remit --cron '0 7 * * *' --timezone Europe/Berlin",
    ],
    schedule: ["remit schedule list", "remit schedule show nightly", "remit schedule pause nightly --note 'moving house'"],
    signal: ["remit signal last name Ada", "remit signal last drain"],
    status: ["remit status last"],
    result: ["remit result last"],
    cancel: ["remit cancel last"],
    approve: ["remit approve last", "remit approve last 3f9c deny"],
};
