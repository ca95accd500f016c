/** Programs about authority from their text, run to the end however they are saved, loaded and compiled. */
import { type Json, loadProgram, lower, type Program } from "@remit/language";
import { expect } from "vitest";
import { kindOf } from "../../src/authority/refusal.ts";
import { type Effect, type Outcome, refusalIn } from "../../src/index.ts";
import { type How, describing, type Ran, runAll } from "../run/forms.ts";

export function formOf(text: string, files: { [file: string]: string } = {}): Program {
    const all: { [file: string]: string } = { "main.remit": text, ...files };
    const loaded = loadProgram("main.remit", {
        read: (file) => all[file] ?? null,
        resolve: (_from, uri) => uri.replace(/^\.\//, ""),
        allowTool: () => ({ allowed: true }),
    });
    const errors = loaded.diagnostics
        .concat([...loaded.files.values()].flatMap((f) => f.diagnostics))
        .filter((d) => d.severity === "error");
    if (errors.length > 0) throw new Error(`${errors.map((d) => `${d.code}: ${d.message}`).join("\n")}\n${text}`);
    return lower(loaded);
}

export const said = (value: Json, origins: string[]): Outcome => ({ ok: true, value, origins });

export type Asked = Omit<How, "answer"> & {
    readonly yes?: string;
    readonly files?: { [file: string]: string };
    readonly answer?: (e: Effect) => Outcome | undefined;
};

/** Every tool answers with its method; questions are answered by `yes`. */
export function once(form: Program, more: Asked = {}): Ran {
    return runAll(form, {
        ...more,
        answer: (e) => {
            const own = more.answer?.(e);
            if (own !== undefined) return own;
            if (e.kind === "ask") return said(more.yes ?? "deny", ["user"]);
            const r = e.request as { tool?: string; op?: string; method?: string };
            if (r.op === "describe") return said(describing(form), [`tool:${r.tool}`]);
            return said({ did: `${r.tool}.${r.method}` }, [`tool:${r.tool}`]);
        },
    });
}

/** The same run, however it is saved, loaded or compiled. A violation that ends it is told (BRK1). */
export function run(text: string, more: Asked = {}): Ran {
    const form = formOf(text, more.files);
    const ran = once(form, more);
    if (!ran.result.ok && ran.result.failure.kind.startsWith("violation.")) {
        const told = ran.events.flatMap((e) => (e.kind === "policy.denied" ? (refusalIn(e.data as Json) ?? []) : []));
        expect(told.map(kindOf)).toContain(ran.result.failure.kind);
    }
    for (const how of [
        { saving: true },
        { saving: 3 },
        { options: { ...more.options, mode: "frames" } },
        { options: { ...more.options, slice: 3 } },
    ] as const)
        expect(once(form, { ...more, ...how })).toEqual(ran);
    return ran;
}

/** What reached the world. */
export const did = (ran: Ran): string[] =>
    ran.effects
        .filter((e) => e.kind !== "ask" && (e.request as { op?: string } | null)?.op !== "describe")
        .map((e) => {
            const r = e.request as { tool?: string; method?: string; memory?: string; op?: string };
            return r.tool !== undefined && r.op !== "describe"
                ? `${r.tool}.${r.method}`
                : r.memory !== undefined
                  ? `${r.memory} ${e.kind}`
                  : e.kind;
        });

/** The value, or the kind of the failure. */
export const outcome = (ran: Ran): Json => (ran.result.ok ? ran.result.value : ran.result.failure.kind);
export const trying = (expr: string): string => `(try { ${expr} } catch e { e.kind })`;
