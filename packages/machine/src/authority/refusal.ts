/**
 * Why a use is refused or asked about: one record, made where it is decided. The failure, the event and the question carry it, and every face says it
 * by the functions here.
 *
 * Boundary: pure; from a record to words. What is decided is `decide.ts`, what follows from it is `run/gate.ts`.
 *
 * RF1: what is said names the rule, the line where it stands, the argument and what of it breaks the rule; `remedyOf` names the one thing to do.
 */
import { isObject, type Json, nearest, shownUse, type Site } from "@remit/language";
import { BROKEN } from "../effect/broken.ts";
import type { FailureKind } from "../effect/effect.ts";
import { shownPrincipal } from "./authority.ts";
import { boundIn, boundRemedy, boundText, type BrokenBound } from "./bound.ts";
import { type BrokenCount, brokenCountIn, brokenCountRemedy, brokenCountText } from "./counts.ts";
import type { Flow } from "./decide.ts";
import { argumentText } from "./given.ts";
import { NOT_THERE, type Unknown, UNNAMED } from "./named.ts";
import { flowRemedy } from "./remedy.ts";
import { type Outside, outsideIn, outsideRemedy, outsideText } from "./reach.ts";

/** What was wanted, and why it is not simply done. */
export interface Refusal {
    readonly principal: string;
    /** As it is shown: `Repo.write`. */
    readonly capability: string;
    /** Of the import, where it is one: how people know a use of it. Its event holds it beside the record. */
    readonly uri?: string;
    readonly why: Why;
    /** Where the rule stands; null where no line says it. */
    readonly clause: Site | null;
    /** What breaks a rule about values. */
    readonly flow?: Flow;
    /** What a rule names and the tool does not have. */
    readonly unknown?: Unknown;
    /** What breaks a row of a remit. */
    readonly bound?: BrokenBound;
    /** Where it leads that it may not. */
    readonly outside?: Outside;
    /** The count that is used up. */
    readonly count?: BrokenCount;
    /** Who handed on the value that it was used through, without the right to it. */
    readonly giver?: string;
    /** The methods that there are, where it names none of them. */
    readonly lacks?: readonly string[];
}

interface Words {
    readonly kind: FailureKind;
    says(who: string, what: string): string;
    /** `whose`: the remit that would have to say it. */
    remedy(who: string, what: string, whose: string): string;
    /** Where what breaks it is no argument that a clause speaks of. */
    flow?(what: string, flow: Flow): string;
}

const remit = (says: Words["says"], remedy: Words["remedy"]): Words => ({ kind: "violation.remit", says, remedy });
const uses = (which: string, remedy: Words["remedy"]): Words => remit((who, what) => `${who} uses ${what}, ${which}`, remedy);

function broken(why: keyof typeof BROKEN): Words {
    const { kind, says, remedy } = BROKEN[why];
    return { kind, says: (_who, what) => says(what, undefined), flow: says, remedy: (_who, what) => remedy(what) };
}

const WHY = {
    remit: uses(
        "which its remit does not give it",
        (_who, what, whose) =>
            `add \`may ${what}\` to ${whose}, which gives it with all arguments unless \`in\` bounds them; or pass it as an argument, or delegate it`,
    ),
    narrowed: uses("which was taken from the value that it holds", (_who, what) => {
        const method = what.slice(what.indexOf(".") + 1);
        return `name \`${method}\`, too, in the \`.only(…)\` that narrowed the value; or use ${what} by the name of its own import`;
    }),
    gate: uses("which a clause of its import forbids", (_who, what) => {
        const method = what.slice(what.indexOf(".") + 1);
        return `write \`${method}: ask\` in place of \`${method}: never\`: a person is then asked about each such call, of every principal`;
    }),
    holder: uses("which was not given to it", (who, what) =>
        who === "user"
            ? `write \`${what}\` in place of the use of the value: a file has what it imports by the name of its own import`
            : `pass it to ${who} as an argument of its own, not inside a list or an object; or write \`${what}\` in place of the use of the value, and add \`may ${what}\` to the remit of ${who} where it does not say that`,
    ),
    revoked: {
        kind: "violation.revoked",
        says: (who, what) => `${who} uses ${what}, which it had only inside a block or call that has ended`,
        remedy: () => "use it before the block or call ends, or delegate around the later use",
    },
    "use after": {
        kind: "violation.revoked",
        says: (who, what) => `${who} uses ${what}, which it had only by a delegation that has ended`,
        remedy: (_who, what, whose) =>
            `add \`may ${what}\` to ${whose}, which then has it beyond the block, too; or use it before the block ends, or delegate around the later use`,
    },
    flow: {
        kind: "violation.flow",
        says: (_who, what) => `${what} is given a value that may not go there`,
        remedy: () => "use a value that comes from where the clause says, or endorse it where that is right",
    },
    name: {
        kind: "denied",
        says: (_who, what) => `a rule about ${what} names what it does not have`,
        remedy: () => "name in the rule what the tool has",
    },
    reach: {
        kind: "denied",
        says: (_who, what) => `${what} leads where it may not`,
        remedy: () => "use an address of the list, or let the one who made the list add the origin",
    },
    count: {
        kind: "denied",
        says: (_who, what) => `${what} was used as often as it may be`,
        remedy: () => "raise the number in the rule where more are right",
    },
    offer: remit(
        (who, what) => `${who} offers ${what} to a model, which it was not given`,
        (_who, what, whose) => `add \`may ${what}\` to ${whose}, pass it as an argument, or delegate it`,
    ),
    endorse: {
        kind: "violation.flow",
        says: (who) => `${who} endorses a value, which its remit does not allow`,
        remedy: (_who, _what, whose) =>
            `add \`may endorse\` to ${whose}, which may then call any value trusted; or let the code that calls it endorse`,
    },
    define: remit(
        (who, what) => `${who} defines ${what}, which no delegation lets it`,
        (who) => `write \`delegate all to ${who} { … }\` around the yield where that is right`,
    ),
    "let define": {
        kind: "violation.flow",
        says: (_who, what) => `who decided that ${agentIn(what)} may define functions may not`,
        flow: (what, { origins, rule }) =>
            `whether ${agentIn(what)} may define functions was decided by what comes from ${origins.join(", ")}, which may not decide it (${rule})`,
        remedy: (_who, what) =>
            `write \`delegate all to ${agentIn(what)} { … }\` where nothing that is not trusted decides, and nothing with labels in strict code; or endorse the value that decides`,
    },
    hand: remit(
        (who, what) => `${who} hands on ${what}, which was not given to it`,
        (who, what) =>
            `write \`${what}\` in place of the value that is handed on, which was given to another principal: a file has what it imports by the name of its own import${who === "user" ? "" : `, as far as the remit of ${who} gives it`}`,
    ),
    "hand after": {
        kind: "violation.revoked",
        says: (who, what) => `${who} hands on ${what}, which it had only inside a call that has ended`,
        remedy: () => "hand it on before the call ends",
    },
    "hand onward": remit(
        (who, what) => `${who} hands on ${what}, which was delegated to it alone`,
        (who) => `write \`to ${who} onward\` in place of \`to ${who}\`: ${who} may then hand on all that this line gives it`,
    ),
    "hand over": {
        kind: "violation.flow",
        says: (_who, what) => `${what} is handed a value that it may not read`,
        flow: (what, { arg, rule }) => `${argumentText(arg)} ${rule}, and would be read by ${what}`,
        remedy: () => "hand over less, or endorse it for the agent where that is right",
    },
    "not told": {
        kind: "violation.capability",
        says: (who, what) => `${who} calls ${what}, which it was not given`,
        remedy: () => "call a method that the handshake lists",
    },
    change: broken("change"),
    data: broken("data"),
    payload: broken("payload"),
    delegate: remit(
        (who, what) => `${who} delegates ${what}, which it does not have`,
        (_who, what, whose) =>
            `a delegation gives only what the one who delegates has: add \`may ${what}\` to ${whose}, which it may then use itself, too`,
    ),
} as const satisfies { readonly [why: string]: Words };

/** Of `Fixer.yield`, as the clauses of an agent outside the program name it. */
function agentIn(what: string): string {
    return what.endsWith(".yield") ? what.slice(0, -".yield".length) : what;
}

export type Why = keyof typeof WHY;

export function kindOf({ why }: Pick<Refusal, "why">): FailureKind {
    return WHY[why].kind;
}

export function refusalText({
    principal,
    capability: use,
    uri,
    why,
    clause,
    flow,
    unknown,
    bound,
    outside,
    count,
    giver,
    lacks,
}: Refusal): string {
    if (unknown !== undefined) return unknownText(unknown);
    const capability = shownUse(use, uri);
    const at = clause === null ? "" : ` (${placeText(clause)})`;
    if (outside !== undefined) return `${capability} ${outsideText(outside)}${at}`;
    if (count !== undefined) return `${brokenCountText(count, capability)}${at}`;
    const words: Words = WHY[why];
    if (flow !== undefined && words.flow === undefined) return flowText(capability, flow, clause);
    const who = shownPrincipal(principal);
    if (lacks !== undefined) return `${who} uses ${capability}, which ${capability.slice(0, capability.indexOf("."))} does not have`;
    if (giver !== undefined) return `${who} uses ${capability}, which ${shownPrincipal(giver)} handed on and was not given${at}`;
    const said =
        flow !== undefined && words.flow !== undefined
            ? words.flow(capability, flow)
            : bound === undefined
              ? words.says(who, capability)
              : `${who} uses ${capability}${boundText(bound)}`;
    return `${said}${at}`;
}

function unknownText({ what, name, of, site }: Unknown): string {
    const at = site === null ? "in the project's policy" : `at ${placeText(site)}:${site.column}`;
    return `the rule ${at} names the ${what} '${name}', which ${of} does not have`;
}

/** `use`: `Mail.send`. */
export function flowText(use: string, { arg, origins, rule, unsaid, choice }: Flow, clause: Site | null): string {
    const what = shownUse(use);
    const at = clause === null ? "" : placeText(clause);
    const from = origins.join(", ");
    if (choice === true) {
        const broken =
            unsaid === true ? "which is not trusted, and no clause lets it choose this" : "which its clause does not let choose this";
        return `whether ${what} is called was decided by what comes from ${from}, ${broken} (${at === "" ? rule : `${rule}, ${at}`})`;
    }
    if (arg === "*") return `${what} is given a value that ${rule} and would be read by ${from}${at === "" ? "" : ` (${at})`}`;
    const broken = unsaid === true ? "is not trusted, and no clause lets it in" : "its clause does not allow";
    return `argument ${arg} of ${what} carries ${from}, which ${broken} (${at === "" ? rule : `${rule}, ${at}`})`;
}

export function remedyOf({ principal, capability, why, clause, flow, unknown, bound, outside, count, giver, lacks }: Refusal): string {
    if (unknown !== undefined) {
        const near = nearest(unknown.name, unknown.known);
        if (near === null) {
            const has = unknown.known.length === 0 ? "it has none:" : `it has ${unknown.known.join(", ")}: name one of them, or`;
            return `${has} take the rule out, which binds nothing as it stands`;
        }
        return `did you mean '${near}'? write \`${near}\` in place of \`${unknown.name}\`: the rule then binds what it means`;
    }
    if (outside !== undefined) return outsideRemedy(outside) ?? WHY.reach.remedy();
    if (count !== undefined) return brokenCountRemedy(count);
    if (bound !== undefined) return boundRemedy(bound, shownPrincipal(principal), capability);
    if (lacks !== undefined) return `call what it has: ${lacks.join(", ")}`;
    if (giver !== undefined)
        return `add \`may ${capability}\` to the remit of ${shownPrincipal(giver)}, which may then use it itself, too; or let ${shownPrincipal(principal)} use ${capability} by the name of its own import`;
    const words: Words = WHY[why];
    const who = shownPrincipal(principal);
    // The run's own principal has no remit but one that a call or the project binds it with.
    const whose = principal.startsWith("agent:")
        ? `the remit of ${who}`
        : clause === null
          ? "the remit that binds the run"
          : `the remit at ${placeText(clause)}`;
    const said = words.remedy(who, capability, whose);
    const isAtImport = why === "flow" || (why === "let define" && flow?.choice === true && capability.endsWith(".yield"));
    return isAtImport && flow !== undefined ? (flowRemedy(capability, flow) ?? said) : said;
}

/** `main.remit:3`. */
function placeText({ file, line }: Site): string {
    return `${file}:${line}`;
}

/** As an event, a question and the detail of a failure hold it. */
export function refusalJson({ principal, capability, why, clause, flow, unknown, bound, outside, count, giver, lacks }: Refusal): {
    readonly [key: string]: Json;
} {
    return {
        principal,
        capability,
        why,
        clause: clause as Json,
        ...(flow === undefined ? {} : { flow: flowJson(flow) }),
        ...(unknown === undefined ? {} : { unknown: unknown as unknown as Json }),
        ...(bound === undefined ? {} : { bound: { ...bound, patterns: [...bound.patterns] } }),
        ...(outside === undefined ? {} : { outside: { ...outside, origins: [...outside.origins] } }),
        ...(count === undefined ? {} : { count: { ...count } }),
        ...(giver === undefined ? {} : { giver }),
        ...(lacks === undefined ? {} : { lacks: [...lacks] }),
    };
}

export function flowJson({ arg, origins, besides, rule, choice, readers }: Flow): Json {
    return {
        arg,
        origins: [...origins],
        ...(besides === undefined ? {} : { besides: [...besides] }),
        rule,
        ...(choice === true ? { choice } : {}),
        ...(readers === undefined ? {} : { readers: { ...readers, names: [...readers.names] } }),
    };
}

export function flowIn(data: Json | undefined): Flow | null {
    if (data === undefined || !isObject(data)) return null;
    const { arg, origins, besides, rule, choice, readers } = data;
    if (typeof arg !== "string" || typeof rule !== "string" || !Array.isArray(origins)) return null;
    return {
        arg,
        origins: origins.map(String),
        ...(Array.isArray(besides) ? { besides: besides.map(String) } : {}),
        rule,
        ...(rule.startsWith("untrusted: ") || rule === UNNAMED || rule === NOT_THERE ? { unsaid: true } : {}),
        ...(choice === true ? { choice } : {}),
        ...(isObject(readers) ? { readers: readers as unknown as NonNullable<Flow["readers"]> } : {}),
    };
}

/** The record that an event, a question or the detail of a failure holds; null where it holds none, as those of earlier versions. */
export function refusalIn(data: Json | undefined): Refusal | null {
    if (data === undefined || !isObject(data)) return null;
    const { principal, capability, uri, why, clause = null, flow, unknown, giver, lacks } = data;
    if (typeof principal !== "string" || typeof capability !== "string" || typeof why !== "string" || !Object.hasOwn(WHY, why)) return null;
    const broken = flowIn(flow);
    const bound = boundIn(data["bound"]);
    const outside = outsideIn(data["outside"]);
    const count = brokenCountIn(data["count"]);
    return {
        principal,
        capability,
        ...(typeof uri === "string" ? { uri } : {}),
        why: why as Why,
        clause: isObject(clause) ? (clause as unknown as Site) : null,
        ...(broken === null ? {} : { flow: broken }),
        ...(isObject(unknown) ? { unknown: unknown as unknown as Unknown } : {}),
        ...(bound === null ? {} : { bound }),
        ...(outside === null ? {} : { outside }),
        ...(count === null ? {} : { count }),
        ...(typeof giver === "string" ? { giver } : {}),
        ...(Array.isArray(lacks) ? { lacks: lacks.map(String) } : {}),
    };
}
