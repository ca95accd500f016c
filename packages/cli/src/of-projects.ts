/** The commands that begin a project and keep it in order: names and options. */
import type { Add } from "./adding.ts";

export function ofProjects(add: Add): void {
    add("init [folder]", "Make a project that runs", () => import("./commands/init.ts"))
        .option("--npm", "also a package.json that names remit-lang")
        .option("--template <name>", "start, triage, extract, research, review, service or nightly; asked for on a terminal")
        .option("--from <framework>", "only print a small agent in langgraph, ai-sdk or mastra beside the same one here")
        .option("--force", "write into a folder that is not empty");
    add("models [what] [name]", "List models: configured, reachable, and why not", () => import("./commands/models.ts"))
        .usage("[options] [list | pull local]")
        .option("--json", "as JSON")
        .option("--workspace <dir>", "project folder");
    add("tools [file]", "List tools of a project or a program: reachable methods and which only read", () => import("./commands/tools.ts"))
        .option("--json", "as JSON")
        .option("--trust", "start servers named by this project's configuration")
        .option("--workspace <dir>", "project folder");
    add("skills [what] [subject]", "List Agent Skills, show one, or validate a folder", () => import("./commands/skills.ts"))
        .usage("[options] [list | show NAME | validate DIR]")
        .option("--json", "as JSON");
    add("lock [files...]", "Pin the agents, skills and tools of programs by digest in remit.lock", () => import("./commands/lock.ts"))
        .option("--check", "only say what has changed; exit with 1 where anything has")
        .option("--trust", "let this project's configuration say what its agents are")
        .option("--workspace <dir>", "project folder");
    add(
        "trust [folder]",
        "Let a project's configuration and skills count: start commands, load modules, speak to models",
        () => import("./commands/trust.ts"),
    )
        .option("--yes", "trust without asking, where no person is at a terminal")
        .option("--revoke", "take it back")
        .option("--show", "only say");
    add("errors [name]", "What a kind of failure or a code of check means, and what to do", () => import("./commands/errors.ts"));
}
