/** `remit fmt`: one layout, comments kept; `--fix` also rewrites old spellings. A file with syntax errors is left alone. */
import { writeFileSync } from "node:fs";
import { applyFixes, format, parse, printForm, source, validateProgram } from "@remit/language";
import { showDiagnostics } from "../diagnostics.ts";
import { EXIT, plain, printText, say, UsageError } from "../io.ts";
import { eachFile } from "../files.ts";
import { readText } from "../text.ts";

export default async function fmt(args: string[], options: Record<string, unknown>): Promise<number> {
    if (options["fix"] && options["check"]) throw new UsageError("--fix and --check cannot be used together");
    let failed = false;
    const unread = await eachFile(args, (file) => {
        const before = readText(file);
        if (file.endsWith(".json")) {
            printText(fromForm(before, file));
            return;
        }
        const after = formatted(before, file, options["fix"] === true);
        if (after === null) failed = true;
        else if (options["check"]) {
            if (after !== before) {
                failed = true;
                say(`${plain(file)}: not formatted`);
            }
        } else if (options["fix"]) {
            if (after !== before) {
                writeFileSync(file, after);
                say(`${plain(file)}: formatted`);
            }
        } else printText(after);
    });
    return failed || unread ? EXIT.failed : EXIT.ok;
}

/** Null where the file has errors, which are shown. */
function formatted(text: string, file: string, fix: boolean): string | null {
    let from = source(text, file);
    let tree = parse(from);
    if (fix) {
        // a fix may uncover the next one; every round makes the text newer, so a few are enough
        for (let round = 0; round < 5; round++) {
            const fixes = tree.diagnostics.flatMap((one) => one.fixes?.filter((each) => each.safe).slice(0, 1) ?? []);
            if (fixes.length === 0) break;
            from = source(applyFixes(from.text, fixes), file);
            tree = parse(from);
        }
    }
    const errors = tree.diagnostics.filter((one) => one.severity === "error");
    if (errors.length > 0) {
        showDiagnostics(errors, new Map([[file, from]]));
        say(`${plain(file)}: left as it is`);
        return null;
    }
    return format(tree);
}

function fromForm(text: string, file: string): string {
    let json: unknown;
    try {
        json = JSON.parse(text);
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new UsageError(`${file} is not JSON: ${error.message}`);
    }
    const valid = validateProgram(json);
    if (!valid.ok) {
        const first = valid.errors[0];
        throw new UsageError(`${file} is not a program form: ${first ? `${first.pointer || "/"}: ${first.message}` : "unknown format"}`);
    }
    return printForm(valid.program).join("\n");
}
