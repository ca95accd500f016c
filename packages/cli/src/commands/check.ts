/** `remit check`: every error of all files in one pass; with `--authority`, who may do what. */
import { readFileSync, writeFileSync } from "node:fs";
import { relative, sep } from "node:path";
import { type CheckedFile, checkFile, RemitError } from "@remit/host";
import {
    type AuthorityRow,
    applyFixes,
    authorityOf,
    choicesAsked,
    type Diagnostic,
    type Fix,
    type HostileTable,
    hostileUses,
    type Program,
    type Source,
    showAuthority,
    showHostile,
    source,
    unknownSeeds,
} from "@remit/language";
import { showDiagnostics } from "../diagnostics.ts";
import { eachFile } from "../files.ts";
import { counted, EXIT, paint, plain, plainLine, print, printJson, say } from "../io.ts";

export default async function check(args: string[], options: Record<string, unknown>): Promise<number> {
    const found = new Map<string, Diagnostic>();
    const sources = new Map<string, Source>();
    const tables: (AuthorityRow[] | HostileTable)[] = [];
    const hostile = (options["assumeHostile"] ?? []) as string[];
    if (hostile.length > 0 && !options["authority"])
        throw new RemitError({ kind: "value", message: "--assume-hostile is about the table of authority", hint: "add --authority" });
    const unread = await eachFile(args, async (file) => {
        let checked = await checkFile(file);
        if (options["fix"]) {
            let fixed = 0;
            for (const [name, path] of checked.paths) {
                const fixes = checked.diagnostics
                    .filter((one) => one.file === name)
                    .flatMap((one): Fix[] => one.fixes?.filter((fix) => fix.safe).slice(0, 1) ?? []);
                if (fixes.length === 0) continue;
                writeFileSync(path, applyFixes(readFileSync(path, "utf8"), fixes));
                fixed += fixes.length;
            }
            if (fixed > 0) {
                say(`${counted(fixed, "fix", "fixes")} applied`);
                checked = await checkFile(file);
            }
        }
        if (options["authority"] && checked.form !== null) tables.push(await tableOf(checked.form, checked, hostile));
        for (const slip of checked.slips) say(`${paint(process.stderr)("yellow", "warning")}: ${plainLine(slip)}`);
        // among several programs a name from a program's own folder could mean two files
        const nameOf = (name: string): string => {
            const path = checked.paths.get(name);
            return path === undefined || args.length === 1 ? name : relative(process.cwd(), path).replaceAll(sep, "/");
        };
        // a file that two programs import is told about once; another message is another mistake
        const asked = checked.form === null ? [] : choicesAsked(checked.form, checked.project?.policy ?? {}, checked.checked.files);
        for (const one of [...checked.diagnostics, ...asked]) {
            const file = nameOf(one.file);
            found.set(JSON.stringify([file, one.range.start, one.range.end, one.code, one.message]), { ...one, file });
        }
        for (const [name, text] of checked.texts) {
            const shown = nameOf(name);
            if (sources.get(shown)?.text !== text) sources.set(shown, source(text, shown));
        }
    });
    const all = [...found.values()];
    const errors = all.filter((one) => one.severity === "error").length;
    const warnings = all.filter((one) => one.severity === "warning").length;
    // Also where a program does what it may not: who may do what is then what the user wants to see.
    if (options["authority"] && tables.length === args.length) {
        if (options["json"]) printJson((hostile.length === 0 ? tables.flat() : tables.length === 1 ? tables[0] : tables) as never);
        else
            tables.forEach((table, i) => {
                if (args.length > 1) print(`${i > 0 ? "\n" : ""}${plain(args[i] as string)}`);
                print(plain("uses" in table ? showHostile(table) : showAuthority(table)));
            });
        if (!options["json"] || errors > 0) showDiagnostics(all, sources, { notes: true });
        return errors > 0 ? EXIT.failed : EXIT.ok;
    }
    if (options["json"]) {
        printJson(all as never);
        return errors > 0 || unread ? EXIT.failed : EXIT.ok;
    }
    showDiagnostics(all, sources, { notes: true });
    const colour = paint(process.stderr);
    const sums = [...(errors ? [counted(errors, "error")] : []), ...(warnings ? [counted(warnings, "warning")] : [])].join(", ");
    if (unread && errors === 0) return EXIT.failed;
    say(errors === 0 ? colour("green", sums ? `no errors, ${sums}` : "no errors") : colour("red", sums));
    return errors > 0 || unread ? EXIT.failed : EXIT.ok;
}

/** Who may do what; of data that is taken for hostile, what it could do. */
async function tableOf(
    form: Program,
    { project, descriptions }: Pick<CheckedFile, "project" | "descriptions">,
    hostile: readonly string[],
): Promise<AuthorityRow[] | HostileTable> {
    const policy = project?.policy;
    if (hostile.length === 0) return authorityOf(form, policy);
    const [unknown] = unknownSeeds(form, hostile);
    if (unknown !== undefined) throw new RemitError({ kind: "value", message: unknown.message, hint: unknown.hint });
    return hostileUses(form, hostile, { descriptions: await descriptions(), ...(policy === undefined ? {} : { policy }) });
}
