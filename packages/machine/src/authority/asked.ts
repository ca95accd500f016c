/**
 * A question about a call, read for a person: who wants what with which arguments, where each came from, and why it is asked.
 *
 * Boundary: pure, from the question's detail to words and values. How it looks is each face's; what of it others wrote is made plain there.
 */
import { isObject, type Json, LENT, shownName, shownUse, type Site } from "@remit/language";
import type { Flow } from "./decide.ts";
import { flowIn, flowText } from "./refusal.ts";

export interface AskedCall {
    readonly who: string;
    /** `Mail.send`. */
    readonly what: string;
    readonly uri: string;
    /** Who chose the call. */
    readonly by: string;
    /** What the one who asks says besides. */
    readonly note: string;
    readonly site: Place | null;
    /** Why it is asked, a sentence each. */
    readonly why: readonly string[];
    /** The sentences tell of flows that a rule would refuse. */
    readonly isFlow: boolean;
    /** Where the rule stands. */
    readonly clause: Place | null;
    readonly args: readonly AskedArg[];
    /** How long an answer holds that holds beyond this call. */
    readonly span: "the session" | "this run";
    /** What such an answer means, by the answer: for which calls, and how long. */
    readonly lasts: { readonly [answer: string]: string };
}

export type Place = Pick<Site, "file" | "line" | "column">;

export interface AskedArg {
    readonly name: string;
    readonly value: Json;
    /** None: the program's own text. */
    readonly origins: readonly string[];
    /** A flow into it is what is asked about. */
    readonly isAsked: boolean;
    /** What it changes in the text that is there now, line by line (`-` gone, `+` new), where that can be told. */
    readonly changes?: string;
}

type Fields = { readonly [key: string]: Json };

/** Null where the detail is of no call. */
export function askedCall(detail: Json): AskedCall | null {
    if (!isObject(detail) || !Array.isArray(detail["args"])) return null;
    const about: Fields = detail;
    const flows = flowsOf(about);
    const origins: Json = about["origins"] ?? null;
    // `approve` keeps one list, for all that flowed into the stage: what flowed in may be an object, whose fields are shown one by one.
    const whole = about["kind"] === "stage" ? "input" : "*";
    const from = (name: string): Json | undefined =>
        isObject(origins) ? (Object.hasOwn(origins, name) ? origins[name] : origins[whole]) : undefined;
    const changes = about["changes"] ?? null;
    const changed = (name: string): Json | undefined => (isObject(changes) && Object.hasOwn(changes, name) ? changes[name] : undefined);
    const isFlow = about["why"] === "flow" && flows.length > 0;
    const asks = typeof about["principal"] === "string" ? who(about["principal"]) : "";
    const what = shownUse(text(about["capability"]), text(about["uri"]));
    // A yes or a no for a lent tool holds for the server's session.
    const span = about["uri"] === LENT ? "the session" : "this run";
    const calls = `every call of ${what}${asks === "" ? "" : ` by ${asks}`}`;
    const which = isFlow ? flowsAlike(flows) : about["why"] === "changed" ? "as the tool describes it now" : "whatever its arguments";
    return {
        who: asks,
        what,
        span,
        lasts: {
            session: `yes to ${calls}, ${which}, for the rest of ${span}`,
            "deny session": `no to ${calls}, whatever its arguments, for the rest of ${span}`,
        },
        uri: text(about["uri"]),
        by: chosenBy(about),
        note: text(about["note"]),
        site: placeIn(about["site"]),
        why: isFlow
            ? flows.map((flow) => (flow.choice === true ? chose(about, flow) : flowText(text(about["capability"]), flow, null)))
            : [why(about)],
        isFlow,
        clause: about["why"] === "changed" ? null : placeIn(about["clause"]),
        args: named(detail["args"]).map(([name, value]) => ({
            name,
            value,
            origins: list(from(name)),
            isAsked: flows.some((flow) => flow.arg === name || flow.arg === "*"),
            ...(typeof changed(name) === "string" ? { changes: text(changed(name)) } : {}),
        })),
    };
}

/** `agent:fix.remit#Fixer` is Fixer of fix.remit; `user` is the program itself. */
function who(principal: string): string {
    const found = /^agent:(.*)#([^#]+)$/.exec(principal);
    if (found !== null) return `${shownName(found[2] as string)} (${found[1]})`;
    return principal === "user" ? "the program" : principal;
}

/** Of which calls a yes to these flows is one. */
function flowsAlike(flows: readonly Flow[]): string {
    const isChoice = flows.some(({ choice }) => choice === true);
    const isGiven = flows.some(({ choice }) => choice !== true);
    return [isGiven ? "whose arguments come from the same places" : "", isChoice ? "chosen after reading the same and no more" : ""]
        .filter((one) => one !== "")
        .join(" and ");
}

function chosenBy(about: Fields): string {
    const by = text(about["chosen_by"]);
    if (by.startsWith("agent:")) return `the agent ${by.slice(6)} itself`;
    if (by === "agent") return "a function that the agent wrote";
    if (!by.startsWith("model:")) return "the program";
    return `the model ${by.slice(6)}${typeof about["generate"] === "string" ? ` in ${about["generate"]}` : ""}`;
}

/** Who decided that the call happens, after reading what (`choice`). */
function chose(about: Fields, { origins, rule, unsaid }: Flow): string {
    const from = origins.join(", ");
    const who = chosenBy(about);
    const said = who === "the program" ? `the program comes here by what ${from} says` : `${who} chose this after reading ${from}`;
    // What is not pinned of a tool's description counts as read; the question does not tell it from a result.
    const isModel = text(about["chosen_by"]).startsWith("model:");
    const pin =
        isModel && origins.some((one) => one.startsWith("tool:"))
            ? "; where that is only a description of the tool, `remit lock` pins it"
            : "";
    return `${said}${pin}; ${unsaid === true ? "no clause lets that choose" : "the clause lists who may choose, and that is not among them"} (${rule})`;
}

function why(about: Fields): string {
    if (about["why"] === "changed") return "the tool describes this method otherwise than when it was allowed";
    if (placeIn(about["clause"]) !== null) return "a clause says ask";
    const isChosen = text(about["chosen_by"]).startsWith("model:");
    return isChosen ? "a model chose a call that does more than read, and nothing says may" : "its gate says ask";
}

/** Every flow that is asked about. */
function flowsOf(about: Fields): Flow[] {
    const more = Array.isArray(about["flows"]) ? about["flows"] : [];
    return [about["flow"], ...more].map(flowIn).filter((one) => one !== null);
}

/** An object's fields where there is one, else by place. */
function named(args: readonly Json[]): [string, Json][] {
    const only = args.length === 1 && isObject(args[0] ?? null) ? (args[0] as Fields) : null;
    return only === null ? args.map((arg, i) => [String(i + 1), arg]) : Object.entries(only);
}

function placeIn(json: Json | undefined): Place | null {
    if (!isObject(json ?? null)) return null;
    const { file, line, column } = json as Fields;
    return typeof file === "string" && typeof line === "number" && typeof column === "number" ? { file, line, column } : null;
}

function list(json: Json | undefined): string[] {
    return Array.isArray(json) ? json.filter((one) => typeof one === "string") : [];
}

function text(json: Json | undefined): string {
    return typeof json === "string" ? json : "";
}
