/**
 * `remit atif`: trajectories of whatever agent, validated by every rule of the format, or shown.
 */
import { createReadStream, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readJson } from "@remit/host";
import type { Json } from "@remit/language";
import { type AtifProblem, atifText, checkTrajectory, readTrajectory } from "@remit/machine";
import { eachFile } from "../files.ts";
import { counted, EXIT, paint, plain, plainLine, print, safeJson, say, UsageError } from "../io.ts";
import { decoded } from "../text.ts";

/** A trajectory is read as one document. */
const MAX_BYTES = 64 * 1024 * 1024;

export default async function atif(args: string[], options: Record<string, unknown>): Promise<number> {
    const [verb, ...files] = args;
    if (verb === "validate") return validate(files, options);
    if (verb !== "show")
        throw new UsageError(`remit atif has no '${plain(verb ?? "")}'`, "remit atif validate FILE…, or remit atif show FILE");
    if (files.length !== 1) throw new UsageError(`remit atif show takes one file, not ${files.length}`);
    return show(files[0] as string, options);
}

async function validate(files: readonly string[], options: Record<string, unknown>): Promise<number> {
    let valid = true;
    const failed = await eachFile(files, async (file) => {
        const read = await parsed(file);
        const problems = "problem" in read ? [read.problem] : checked(read.json, file, options["strict"] === true);
        const bad = problems.filter((one) => one.severity === "error").length;
        if (bad > 0) valid = false;
        if (options["json"]) print(safeJson({ file, valid: bad === 0, problems: problems as unknown as Json }));
        else tell(file, problems, bad, "problem" in read ? null : read.json);
    });
    return valid && !failed ? EXIT.ok : EXIT.failed;
}

function tell(file: string, problems: readonly AtifProblem[], bad: number, json: Json): void {
    const colour = paint(process.stdout);
    const name = plainLine(file === "-" ? "standard input" : file);
    if (bad === 0) {
        const { schema_version, steps } = json as { schema_version?: string; steps: Json[] };
        print(`${name}: ${colour("green", "valid")}, ${plainLine(schema_version ?? "no version")}, ${counted(steps.length, "step")}`);
    } else print(`${name}: ${colour("red", "not valid")}, ${counted(bad, "problem")}`);
    for (const one of problems) {
        const kind = one.severity === "note" ? colour("dim", "note ") : "";
        print(`  ${plainLine(one.path === "" ? "(the whole)" : one.path)}  ${kind}rule ${one.rule}: ${plainLine(one.message)}`);
    }
}

async function show(file: string, options: Record<string, unknown>): Promise<number> {
    const read = await parsed(file);
    const result = "problem" in read ? { ok: false as const, problems: [read.problem] } : readTrajectory(read.json);
    if (!result.ok) {
        const bad = result.problems.filter((one) => one.severity === "error");
        const first = bad[0] as AtifProblem;
        throw new UsageError(
            `${plain(file)} is no valid trajectory: ${first.path === "" ? "" : `${plainLine(first.path)}: `}${plainLine(first.message)}`,
            bad.length > 1 ? `remit atif validate says the other ${bad.length - 1} too` : undefined,
        );
    }
    if (options["json"]) print(safeJson(result.trajectory as unknown as Json, 2));
    else print(atifText(result.trajectory, { full: options["full"] === true, paint: paint(process.stdout) as never }));
    for (const one of result.notes) say(`note: ${plainLine(one.path)}: ${plainLine(one.message)}`);
    return EXIT.ok;
}

function checked(json: Json, file: string, strict: boolean): AtifProblem[] {
    const folder = file === "-" ? process.cwd() : dirname(resolve(file));
    return checkTrajectory(json, { writing: strict, exists: (path) => existsSync(resolve(folder, path)) });
}

async function parsed(file: string): Promise<{ readonly json: Json } | { readonly problem: AtifProblem }> {
    const name = file === "-" ? "standard input" : file;
    const read = readJson(decoded(await bounded(file, name), name));
    if (read.ok) return { json: read.value };
    return { problem: { rule: 9, path: "", message: `the text ${read.message}`, severity: "error" } };
}

/** At most `MAX_BYTES`, never more in memory: what is said of a file's size need not be true of a pipe. */
async function bounded(file: string, name: string): Promise<Uint8Array> {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of (file === "-" ? process.stdin : createReadStream(file)) as AsyncIterable<Buffer>) {
        size += piece.length;
        if (size > MAX_BYTES)
            throw new UsageError(
                `${plain(name)} is larger than ${MAX_BYTES / 1024 / 1024} MiB, and is not read`,
                "a trajectory this large is split with continued_trajectory_ref",
            );
        pieces.push(piece);
    }
    return Buffer.concat(pieces, size);
}
