/**
 * The table of what hostile data could do, as text for people.
 */
import { columns } from "../text/columns.ts";
import type { Site } from "../text/source.ts";
import type { Bound } from "./rules.ts";
import type { HostileStop, HostileTable, HostileUse } from "./table.ts";

const HEAD = ["who", "use", "it may", "what is left to it", "where"] as const;

/** The uses that are left, what stops the others, and what is assumed. */
export function showHostile({ hostile, assumed, uses, stopped }: HostileTable): string {
    const from = hostile.join(", ");
    const first =
        uses.length === 0
            ? `Data from ${from} chooses no use, and no argument of one, without a question.`
            : `What data from ${from} could do without a question:\n\n${columns([HEAD, ...uses.flatMap(linesOf)])}`;
    const rest = stopped.length === 0 ? "" : `\n\nWhat is stopped:\n\n${[...new Set(stopped.map(stopText))].join("\n")}`;
    return `${first}${rest}\n\nAssumed:\n\n${assumed.map((one) => `- ${one}`).join("\n")}`;
}

function linesOf(use: HostileUse): string[][] {
    const { choice, args, bounds } = use;
    const whole = bounds.map(boundText);
    const parts: [string, readonly string[]][] = [
        ...(choice === null ? [] : [[`choose that it happens`, choice.bounds.map(boundText)] as [string, readonly string[]]]),
        ...args.map(({ name, how, bounds: own }): [string, readonly string[]] => [
            `${how === "writes" ? "write" : "pick"} ${argText(name)}`,
            own.map(boundText),
        ]),
    ];
    return parts.map(([may, own], i) => {
        const left = [...new Set([...own, ...(i === 0 ? whole : [])])].join("; ");
        const [who, what, where] = i === 0 ? [use.principal, useText(use), siteText(use.site)] : ["", "", ""];
        return [who, what, may, left === "" ? "anything" : left, where];
    });
}

const BY = { program: "", model: ", called by a model", agent: ", called by the agent" } as const;

function useText({ tool, method, by, does }: Pick<HostileUse, "tool" | "method" | "by" | "does">): string {
    return `${tool}.${method === "*" ? "(any other method)" : method}${does === "reads" ? " (reads)" : ""}${BY[by]}`;
}

function argText(name: string): string {
    if (name === "*") return "any other argument";
    return /^[1-9][0-9]*$/.test(name) ? `argument ${name}` : name;
}

function boundText({ kind, text, site }: Bound): string {
    const at = site === null ? "" : ` (${siteText(site)})`;
    return kind === "allowed" ? `let in by \`${text}\`${at}` : `${text}${at}`;
}

function siteText(site: Site | null): string {
    return site === null ? "" : `${site.file}:${site.line}`;
}

function stopText(stop: HostileStop): string {
    const { of, arg, outcome, rule, clause, decides } = stop;
    const what = of === "use" ? "any such call" : of === "choice" ? "that it happens" : argText(arg ?? "*");
    const by = decides.length === 0 ? "" : `, decided at ${decides.map(siteText).join(", ")}`;
    const where = stop.site === null ? "" : ` at ${siteText(stop.site)}`;
    return `- ${stop.principal}: ${useText(stop)}${where}: ${what}${by}: ${outcome === "asks" ? "asked about" : "refused"} by \`${rule}\`${clause === null ? "" : ` (${siteText(clause)})`}`;
}
