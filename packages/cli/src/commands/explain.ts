/** `remit explain`: every prompt a program can build, or why each byte of a run's prompts was there. */
import { existsSync } from "node:fs";
import { checkFile } from "@remit/host";
import { type PromptSurface, promptSurfaces, source } from "@remit/language";
import { explainRun, explainText } from "@remit/machine";
import { showDiagnostics } from "../diagnostics.ts";
import { EXIT, paint, plain, plainLine, printJson, printLines, say } from "../io.ts";
import { showRun } from "../ledger.ts";

export default async function explain(args: string[], options: Record<string, unknown>): Promise<number> {
    const subject = args[0] as string;
    // A file of a project that is called so stands for no run.
    return /\.(as|remit)$/.test(subject) || (subject !== "last" && existsSync(subject))
        ? explainFile(subject, options)
        : explainRunOf(subject, options);
}

async function explainFile(file: string, options: Record<string, unknown>): Promise<number> {
    const checked = await checkFile(file);
    const errors = checked.diagnostics.filter((one) => one.severity === "error");
    if (errors.length > 0) {
        showDiagnostics(errors, new Map([...checked.texts].map(([name, text]) => [name, source(text, name)])));
        return EXIT.failed;
    }
    const at = options["at"] as string | undefined;
    const surfaces = promptSurfaces(checked.checked).filter((one) => at === undefined || nameOf(one).includes(at));
    if (options["json"]) printJson(surfaces as never);
    else if (surfaces.length === 0) say("This program calls no model.");
    else printLines(surfaces.map((one, index) => surfaceText(one, index)).join("\n\n"));
    return EXIT.ok;
}

function nameOf(surface: PromptSurface): string {
    return `${surface.agent === null ? "" : `${surface.agent}.`}${surface.func}`;
}

function surfaceText(one: PromptSurface, index: number): string {
    const colour = paint(process.stdout);
    const row = (name: string, text: string): string => `  ${colour("dim", name.padEnd(12))} ${plainLine(text)}`;
    const lines = [
        `${colour("bold", `${index + 1}. ${plainLine(nameOf(one))}`)}  ${plain(one.site.file)}:${one.site.line}:${one.site.column}`,
        row("model", one.model ?? "none in scope"),
        row("identity", `You are ${one.role ?? "…"}. ${one.description ?? ""}`),
    ];
    if (one.items.length === 0) lines.push(row("context", "nothing: only identity, instruction and contract"));
    one.items.forEach((item, place) => {
        const budget = item.budget === null ? "" : ` max ${item.budget}`;
        const what = item.candidates
            ? `one of ${item.candidates.map((each) => `${each.name}${each.selected ? " (selected)" : ""}`).join(", ")}`
            : `${item.image ? "image " : ""}${item.source}${budget}`;
        const priority = item.priority === null ? "" : ` priority ${item.priority}`;
        lines.push(row(place === 0 ? "context" : "", `[${item.label ?? place}] ${what}${priority} ← line ${item.from.line}`));
    });
    if (one.contextMax !== null) lines.push(row("", `all items together max ${one.contextMax}`));
    lines.push(row("instruction", `${one.instruction ?? "none"}${one.instructionTakesData ? " (takes in data)" : ""}`));
    lines.push(row("contract", one.contract?.replace(/\s+/g, " ") ?? "free text"));
    one.tools.forEach((tool, place) => {
        lines.push(row(place === 0 ? "tools" : "", `${tool.source} ← ${tool.uri ?? "the tool that the variable holds"}`));
    });
    if (one.tools.length > 0) lines.push(row("", "their methods, with descriptions and schemas; then each call and what came of it"));
    if (one.attempts > 1)
        lines.push(row("attempts", `${one.attempts}: each after the first also shows what was wrong with the answer before`));
    if (one.options.length > 0) lines.push(row("options", one.options.join(", ")));
    if (one.notInPrompt.length > 0) lines.push(row("not in it", one.notInPrompt.join(", ")));
    return lines.join("\n");
}

async function explainRunOf(id: string, options: Record<string, unknown>): Promise<number> {
    const { store, run } = await showRun(id, options);
    try {
        const at = options["at"] as string | undefined;
        const found = explainRun(await Array.fromAsync(store.events(run.id))).filter((one) => at === undefined || one.path.includes(at));
        if (options["json"]) printJson(found as never);
        else if (found.length === 0)
            say(options["at"] ? `No generate of this run is at ${String(options["at"])}.` : "This run called no model.");
        else printLines(explainText(found, { paint: paint(process.stdout) as never, ...(options["full"] ? { full: plain } : {}) }));
        return EXIT.ok;
    } finally {
        await store.close();
    }
}
