/**
 * Every example runs on its real data with its scripted replies and gives the value and the prompts, byte for byte, that stand beside it.
 * The same run must come out of its record, and of a continuation that was saved, printed, read and loaded at every effect.
 *
 * UPDATE_GOLDENS=1 writes the files anew; look at the difference before keeping it.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkFile, load, openLedger } from "@remit/host";
import { format, type Json, parse, source } from "@remit/language";
import { comparable, canonicalJson, compileProgram, type LedgerEvent, Machine, type MachineEvent } from "@remit/machine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "examples");
const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
const update = process.env.UPDATE_GOLDENS === "1";

/** A copy inside the checkout, so that an example's own server finds the checkout's packages. */
let room: string;
beforeEach(() => {
    room = mkdtempSync(join(root, ".tools-test-"));
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

function data(event: { readonly data: Json }): { [key: string]: Json } {
    return event.data as { [key: string]: Json };
}

/** Every prompt as it was sent, by path. */
function prompts(events: readonly LedgerEvent[]): string {
    const attempts = events.filter((event) => event.kind === "generate.attempt").sort((a, b) => (a.path < b.path ? -1 : 1));
    return attempts
        .map((event) => {
            const messages = data(event).messages as unknown as { role: string; content: string | { text?: string }[] }[];
            const shown = messages.map(({ role, content, ...rest }) => {
                const text =
                    typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? JSON.stringify(part)).join("\n");
                return `--- ${role}\n${text}${Object.keys(rest).length > 0 ? `\n${JSON.stringify(rest)}` : ""}`;
            });
            return `=== ${event.path}\n${shown.join("\n")}\n`;
        })
        .join("\n");
}

function golden(file: string, text: string): void {
    if (update) writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, "utf8"));
}

describe.each(names)("%s", (name) => {
    const at = join(folder, name);

    test("is formatted and has no errors and no warnings", async () => {
        for (const file of readdirSync(at).filter((one) => one.endsWith(".remit"))) {
            const text = readFileSync(join(at, file), "utf8");
            const tidy = format(parse(source(text, file)));
            if (update) writeFileSync(join(at, file), tidy);
            else expect(text).toBe(tidy);
        }
        const checked = await checkFile(join(at, "main.remit"), { trust: true, workspace: join(at, "data") });
        expect(
            checked.diagnostics.filter((one) => one.severity !== "note").map((one) => `${one.code} ${one.file}: ${one.message}`),
        ).toEqual([]);
    });

    test("gives its value and its prompts", async () => {
        cpSync(at, room, { recursive: true });
        const ledger = join(room, "ledger.db");
        const said = join(at, "answers.json");
        const answers = existsSync(said) ? (JSON.parse(readFileSync(said, "utf8")) as { [path: string]: string }) : {};
        const program = await load<Json, Json>(join(room, "main.remit"), {
            root: room,
            workspace: join(room, "data"),
            model: `scripted:${join(room, "replies.json")}`,
            trust: true,
            cache: false,
            ledger,
            // one at a time, so that a server which is told of several things is told in one order
            concurrency: 1,
            // what a person says to each question
            on: { ask: (_request, { effect }) => answers[effect.path] ?? "deny" },
        });
        const run = program.run(JSON.parse(readFileSync(join(at, "input.json"), "utf8")) as Json);
        const result = await run.result;
        expect(result.failure).toBeUndefined();
        const events: LedgerEvent[] = [];
        for await (const event of run.events) events.push(event);
        golden(join(at, "expected.json"), `${JSON.stringify(result.value, null, 2)}\n`);
        golden(join(at, "prompts.golden"), prompts(events));

        // from the record, without performing anything
        const kept = await openLedger(ledger);
        try {
            expect((await kept.verify(run.id)).ok).toBe(true);
            expect(await kept.replay(run.id)).toMatchObject({ equal: true });
            expect(
                continued(
                    program.form,
                    program.hash,
                    run.id,
                    await Array.fromAsync(kept.store.outcomes(run.id)),
                    (await kept.store.options(run.id)) as never,
                ),
            ).toEqual(events.filter((event) => data(event).host !== true).map(comparableText));
        } finally {
            await kept.close();
            await program.close();
        }
    });
});

function comparableText(event: MachineEvent): string {
    return canonicalJson(comparable(event) as unknown as Json);
}

/** The same run with the machine saved, printed, read and loaded at every effect. */
function continued(
    form: Parameters<typeof compileProgram>[0],
    programHash: string,
    run: string,
    outcomes: readonly { readonly path: string; readonly outcome: Parameters<Machine["resolve"]>[1] }[],
    kept: { input: Json; imports: never; limits: never; policy?: never; skills?: never },
): string[] {
    const compiled = compileProgram(form);
    const options = {
        run,
        programHash,
        input: kept.input,
        imports: kept.imports,
        limits: kept.limits,
        policy: kept.policy,
        ...(kept.skills === undefined ? {} : { skills: kept.skills }),
        concurrency: 1,
    };
    let machine = Machine.start(compiled, options);
    const events: MachineEvent[] = [];
    const rest = [...outcomes];
    for (;;) {
        const advanced = machine.advance();
        events.push(...advanced.events);
        if (advanced.state === "done") return events.map(comparableText);
        if (advanced.state === "slice") continue;
        const saved = machine.save({ image: true });
        if (!("image" in saved)) throw new Error("an image was asked for");
        machine = Machine.load(compiled, options, [JSON.parse(JSON.stringify(saved.image)) as Json]);
        const next = rest.shift();
        if (next === undefined) throw new Error("the record ends before the run");
        machine.resolve(next.path, next.outcome);
    }
}

test("the examples' page names every example", () => {
    const page = readFileSync(join(folder, "README.md"), "utf8");
    expect(names.filter((name) => !page.includes(`(${name}/main.remit)`))).toEqual([]);
    expect(
        [...page.matchAll(/\(([\w-]+)\/main\.remit\)/g)].map((found) => found[1]).filter((name) => !existsSync(join(folder, name ?? ""))),
    ).toEqual([]);
});
