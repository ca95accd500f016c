/** `remit lock`: agents, skills and tools of programs as they are now, so that a change is seen. */
import { relative, resolve } from "node:path";
import { LOCK_FILE, lockedPrograms, lockPrograms } from "@remit/host";
import { counted, EXIT, paint, plainLine, print, say, UsageError } from "../io.ts";
import { folder } from "../running.ts";

export default async function lock(args: string[], options: Record<string, unknown>): Promise<number> {
    const check = options["check"] === true;
    const files = args.length > 0 ? args.map((one) => resolve(one)) : lockedPrograms(process.cwd());
    if (files.length === 0) throw new UsageError(`there is no ${LOCK_FILE} here`, "name a program: remit lock main.remit");
    const locked = await lockPrograms(files, {
        check,
        ...(options["trust"] ? { trust: true } : {}),
        ...(options["workspace"] === undefined ? {} : { workspace: folder(String(options["workspace"]), "--workspace") }),
    });
    const colour = paint(process.stdout);
    const marks = { new: colour("green", "new"), changed: colour("yellow", "changed"), gone: colour("red", "gone") };
    let changes = 0;
    for (const [file, all] of Object.entries(locked.changes))
        for (const { what, change, differs } of all) {
            changes++;
            print(`${marks[change]}  ${plainLine(`${file}: ${what}`)}`);
            for (const one of differs) print(`  ${plainLine(one)}`);
        }
    const path = relative(process.cwd(), locked.path) || locked.path;
    if (check) {
        say(changes === 0 ? `${path}: nothing has changed` : `${path}: ${counted(changes, "difference")}`);
        return changes === 0 ? EXIT.ok : EXIT.failed;
    }
    say(
        `${path}: ${counted(locked.pinned, "agent, skill or tool", "agents, skills and tools")} pinned${locked.written ? "" : ", as before"}`,
    );
    return EXIT.ok;
}
