/**
 * `generate`: its options, what must be in force around it, and what its instruction is made of.
 *
 * Boundary: one `generate` at a time; the contract's own rules are in `contracts.ts`.
 *
 * GN1: every option but `input` is a literal, so that what a model is asked can be read from the source.
 */
import { GENERATE_OPTIONS, type OptionKind, unfit } from "../form/options.ts";
import type { Code } from "../diagnostics/codes.ts";
import { FOREIGN_OPTIONS } from "../syntax/foreign.ts";
import type { Expr, Generate, GenerateOption, Import } from "../syntax/tree.ts";
import { effectName, raise } from "./sites.ts";
import { checkModel, thousand } from "./context.ts";
import { checkContract } from "./contracts.ts";
import { type Binding, DATA, type Walk } from "../scope/model.ts";
import { suggestion } from "./names.ts";
import { isTrusted } from "./things.ts";
import { methodsOf, toolWrites, writesByName } from "./tools.ts";
import { schemeOf } from "../authority/thing.ts";
import { contractType, FREE_TEXT, type Type } from "../scope/types.ts";

export function generate(w: Walk, e: Generate): Type {
    let input: Expr | null = null;
    let model = false;
    let data = 0;
    let hide: GenerateOption | null = null;
    let offers: Offers = NO_OFFERS;
    const { report } = w;
    const seen: string[] = [];
    /** Options that are meant by words which are none. */
    const others: string[] = [];
    for (const option of e.options) {
        const key = option.key.text;
        if (seen.includes(key)) {
            w.report("DUPLICATE_GENERATE_OPTION", option.key.range, `'${key}' is given twice`);
            continue;
        }
        seen.push(key);
        switch (key) {
            case "input":
                input = option.value;
                if (w.ring.expr(w, option.value).cap === null) data = w.from.data;
                else w.report("INVALID_GENERATE_INPUT", option.value.range, "a capability is never data, and cannot be in an instruction");
                break;
            case "max_output":
                maxOutput(w, option);
                break;
            case "model":
                model = true;
                if (option.value.kind !== "missing") checkModel(report, w.checking, w.file, w.names, option.value);
                break;
            case "tools":
                offers = tools(w, option.value);
                break;
            case "hide":
                hide = option;
                literalOption(w, option, "hidden");
                break;
            default: {
                const kind = GENERATE_OPTIONS.get(key);
                if (kind !== undefined) {
                    literalOption(w, option, kind);
                    break;
                }
                const foreign = FOREIGN_OPTIONS.get(key);
                if (foreign?.for !== undefined) others.push(foreign.for);
                w.report("UNKNOWN_GENERATE_OPTION", option.key.range, `generate has no option '${key}'`, {
                    hint: foreign?.hint ?? `the options are ${[...GENERATE_OPTIONS.keys()].join(", ")}`,
                    ...(foreign === undefined ? suggestion(w.checking, key, option.key.range, GENERATE_OPTIONS.keys()) : {}),
                });
            }
        }
    }
    if (hide !== null && !seen.includes("tools"))
        w.report("INVALID_GENERATE_HIDE", hide.range, "there are no results to hide: this generate offers no tools", {
            hint: "take `hide` away, or offer tools: [Name]",
        });
    if (hide === null && offers.reads !== null && offers.writes !== null)
        w.report("LOOP_MIXES", head(e), `the model of this loop reads what ${offers.reads} gives, and may call ${offers.writes}`, {
            hint: 'add hide: "untrusted", so that what it reads cannot choose what it does; or let a model without tools read, under a contract',
        });
    if (input === null && !others.includes("input"))
        w.report("INVALID_GENERATE_INPUT", head(e), "generate has no input", { hint: 'write generate({ input: "…" })' });
    const imports = [...w.file.names.values()].find((one) => one.kind === "llm");
    const example = imports === undefined ? `model Model, and import llm Model from "…" at the top of the file` : `model ${imports.name}`;
    if (w.config.model === null && !model) missing(w, e, "model", example);
    if (w.config.role === null) missing(w, e, "role", 'role "…"');
    if (w.config.description === null) missing(w, e, "description", 'description "…"');
    if (e.contract !== undefined) checkContract(report, w.file, e.contract, false);
    raise(w, "model", head(e), false);
    if (w.agent !== null) w.agent.generates = true;
    see(w);
    w.func.generates.push({ node: e, func: w.func, uses: w.uses, config: w.config, at: ++w.clock, data });
    if (w.uses === null && input !== null && data === 0) w.report("NO_CONTEXT", head(e), "no `use` is in force here");
    w.isFresh(DATA);
    return e.contract === undefined ? FREE_TEXT : contractType(e.contract, w.file);
}

/** One whose value is looked at alone; its finding has a code of its own. */
function literalOption(w: Walk, { key, value }: GenerateOption, kind: OptionKind): void {
    const written = kind === "count" && value.kind === "number" && !/^\d+$/.test(value.text) ? "a whole number above 0" : null;
    const wants = value.kind === "missing" ? null : (unfit(kind, value) ?? written);
    const code = `INVALID_GENERATE_${key.text.toUpperCase()}` as Code;
    if (wants === null) return;
    const bare = value.kind === "string" && /^(?:\d+(?:\.\d+)?k?|true|false)$/.test(value.value) ? value.value : undefined;
    const hint = bare === undefined ? undefined : { hint: `leave the quotes out: ${key.text}: ${bare}` };
    w.report(code, value.range, `'${key.text}' must be ${wants}, written as a literal`, hint);
}

/** The word `generate`. */
function head(e: Generate): { start: number; end: number } {
    return { start: e.range.start, end: Math.min(e.range.end, e.range.start + 8) };
}

function missing(w: Walk, e: Generate, key: string, example: string): void {
    const where = w.agent === null ? "write it in the function" : "write it in the agent or in the function";
    w.report("MISSING_GENERATE_CONFIG", head(e), `no ${key} is in scope here`, { hint: `${where}: ${example}` });
}

/** Marks every `use` in force as seen; what is before a seen one is seen already. The agent's own are looked at with the agent. */
function see(w: Walk): void {
    const outer = w.agent?.uses ?? null;
    for (let one = w.uses; one !== null && one !== outer && !one.seen; one = one.before) {
        one.seen = true;
        if (one.twin !== null)
            w.report(
                "DUPLICATE_LABEL",
                one.node.label?.range ?? one.node.range,
                `another item of the same prompt is labelled '${one.node.label?.text}'`,
                {
                    related: [{ message: "the other one", file: w.file.name, range: one.twin.node.range }],
                },
            );
    }
}

function maxOutput(w: Walk, option: GenerateOption): void {
    const { value, budget } = option;
    if (value.kind === "missing") return;
    if (budget === undefined || value.kind !== "number") {
        w.report("INVALID_GENERATE_MAX_OUTPUT", value.range, "'max_output' must be a number of tokens, written as a literal");
        return;
    }
    if (budget.suffix !== "" && budget.suffix !== "k")
        w.report("INVALID_GENERATE_MAX_OUTPUT_UNIT", budget.range, `'max_output' has no unit '${budget.suffix}'`, {
            hint: "write 800, or 2k",
            ...thousand(budget),
        });
    else if (!(budget.amount >= 1) || !Number.isInteger(budget.amount))
        w.report("INVALID_GENERATE_MAX_OUTPUT", budget.range, "'max_output' must be a whole number of tokens above 0");
}

/** Of what a loop offers, as written: a method whose results are not trusted, and one that may do more than read; null where there is none. */
interface Offers {
    readonly reads: string | null;
    readonly writes: string | null;
}

const NO_OFFERS: Offers = { reads: null, writes: null };

/** `[Search, Repo.read]`: names of tools and of their methods. */
function tools(w: Walk, value: Expr): Offers {
    if (value.kind === "missing") return NO_OFFERS;
    if (value.kind !== "list") {
        w.report("INVALID_GENERATE_TOOLS", value.range, "'tools' must be a list, written here");
        return NO_OFFERS;
    }
    let { reads, writes } = NO_OFFERS;
    for (const item of value.items) {
        const object = item.kind === "member" ? item.object : item;
        const method = item.kind === "member" ? item.name.text : null;
        const found = object.kind === "ident" && !w.names.has(object.name) ? w.file.names.get(object.name) : undefined;
        if (object.kind === "ident" && found === undefined) {
            const local = w.names.get(object.name);
            if (local !== undefined && (local.type.kind === "tool" || local.type.kind === "any")) {
                if (local.type.cap !== null) offered(w, local.type.cap, method, item.range);
                else raise(w, "tool:*", item.range, false);
                continue;
            }
            // Says what is wrong with the name itself.
            if (local === undefined) w.ring.expr(w, object);
        }
        if (found !== undefined) found.used = true;
        if (found?.kind !== "tool") {
            if (object.kind !== "ident" || found !== undefined || w.names.has(object.name))
                w.report("INVALID_GENERATE_TOOLS", item.range, "only an imported tool, or one of its methods, can be offered to a model");
            continue;
        }
        offered(w, found, method, item.range);
        const name = method === null ? found.name : `${found.name}.${method}`;
        const does = doesBy(found, method, w);
        if (does.reads && !isTrusted(found)) reads ??= name;
        if (does.writes) writes ??= name;
    }
    return { reads, writes };
}

/** Of a whole tool whose methods are not known, both are in it. What a name says is enough to propose something, and to nothing else. */
function doesBy(tool: Binding, method: string | null, { checking }: Walk): { readonly reads: boolean; readonly writes: boolean } {
    const { import: node } = tool;
    if (node === null) return { reads: false, writes: false };
    const scheme = schemeOf(node.uri.value);
    if (scheme === "skills") return { reads: true, writes: false };
    const methods = method === null ? (methodsOf(tool) ?? ["get", "post"]) : [method];
    const writes = (one: string): boolean => !READING.test(one) && (scheme === "shell" || toolWrites(node, one, checking) !== null);
    return { reads: methods.some((one) => !writesByName(one)), writes: methods.some(writes) };
}

const READING = /^(get|list|read|search|find|query|fetch|describe|show|count)/i;

function offered(w: Walk, tool: Binding, method: string | null, range: { start: number; end: number }): void {
    const effect = `tool:${tool.name}.${method ?? "*"}`;
    // What a model calls is decided later and by the host: only a method that writes by its name is certain.
    const certain = method !== null && writesByName(method);
    raise(w, effect, range, certain);
    if (certain || tool.import === null) return;
    const methods = method === null ? (methodsOf(tool) ?? ["post"]) : [method];
    if (!methods.some((one) => toolWrites(tool.import as Import, one, w.checking) !== null)) return;
    w.checking.writes.add(effect);
    if (w.level > 0)
        w.report("PARALLEL_FOR_REACHES_EFFECT", range, `iterations in parallel offer ${effectName(effect)} to a model, which may write`);
}
