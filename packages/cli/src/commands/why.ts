/** `remit why`: from a value back to where its data entered. */
import { openLedger, type RunInfo, whyOf } from "@remit/host";
import { columns, type Json, shownUse, type Site } from "@remit/language";
import { chooserIn } from "@remit/machine";
import { secretsNow } from "../here.ts";
import { sourceLines } from "../debug/text.ts";
import { EXIT, paint, plain, plainLine, printJson, printLines, safeJson } from "../io.ts";

export default async function why(args: string[], options: Record<string, unknown>): Promise<number> {
    const ledger = await openLedger(options["ledger"] as string | undefined);
    try {
        const run = await ledger.run(args[0] as string);
        const found = await whyOf(ledger.store, run.id, args[1] ?? "", secretsNow());
        if (options["json"]) {
            printJson(found as unknown as Json, true);
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        const place = `${found.use}${found.pointer}`;
        if (found.chain.length === 0) {
            printLines(`${plain(place)}: from the program's own text`);
            return EXIT.ok;
        }
        const listed = (origins: readonly string[]): string => origins.map((origin) => colour("cyan", plain(origin))).join(", ");
        const carried = found.origins.filter((origin) => chooserIn(origin) === null);
        const choosers = found.origins.flatMap((origin) => chooserIn(origin) ?? []);
        if (carried.length > 0) printLines(`${plain(place)} carries ${listed(carried)}`);
        if (choosers.length > 0) printLines(`${plain(place)} was chosen after reading ${listed(choosers)}`);
        const rows = found.chain.map(({ what, site, path }) => [
            "",
            what === "value" ? "" : plain(what.replace(/^tool (.*)$/s, (_, use: string) => `tool ${shownUse(use)}`)),
            at(site),
            codeAt(run, site),
            colour("dim", plain(path)),
        ]);
        printLines(columns(rows));
        if (found.hands.length > 0) printLines("what its agents did with their own hands meanwhile, any of which may have led to it:");
        for (const { tool, method, args, ok, seq } of found.hands) {
            const said = plain(safeJson(args.length === 1 ? (args[0] as Json) : [...args])).slice(0, 200);
            const how = ok === true ? "" : ok === null ? ", no end" : ", failed";
            printLines(`  ${plain(shownUse(`${tool}.${method}`))}  ${said}  ${colour("dim", `entry ${seq}${how}`)}`);
        }
        return EXIT.ok;
    } finally {
        await ledger.close();
    }
}

/** Most of a place's code that is shown. */
const MAX_CODE = 60;

/** What stands there in the file as it is now: its first line. Empty where the file cannot be read. */
function codeAt(info: RunInfo, site: Site | null): string {
    if (site === null) return "";
    const line = sourceLines(info, site.file)?.[site.line - 1] ?? "";
    const isWhole = site.endLine === site.line && site.endColumn !== undefined;
    const code = plainLine(line.slice(site.column - 1, isWhole ? (site.endColumn as number) - 1 : undefined).trim());
    return code.length <= MAX_CODE ? code : `${code.slice(0, MAX_CODE)}…`;
}

function at(site: Site | null): string {
    return site === null ? "" : plain(`${site.file}:${site.line}:${site.column}`);
}
