/**
 * The smallest change to what is written that would let a refused use be, and what else it would let be.
 *
 * Boundary: pure; from the record of a refusal to words. What stands in backticks can be written as it stands.
 *
 * RM1: a change names what it is put in place of, or the import or remit that it is added to. Where a rule already speaks, a second one beside it lets
 *     nothing in.
 */
import { type Json, argText, shownUse } from "@remit/language";
import type { Flow } from "./decide.ts";
import { NOT_THERE } from "./named.ts";

const quoted = (texts: readonly string[]): string => texts.map((one) => JSON.stringify(one)).join(", ");

function listed(origins: readonly string[]): string {
    return origins.join(", ");
}

/** A rule about values as it stands: its head, `addresses` or `plain`, and the list that it lets in. */
const RULE = /^(.*?: )(addresses |plain(?: |$))?(?:trusted|(from|among)\((.*)\))?$/s;

/** The same rule with these origins in its list, too. */
function widened(rule: string, origins: readonly string[]): string | null {
    const [, head, words = "", which, list] = RULE.exec(rule) ?? [];
    if (head === undefined) return null;
    const space = words === "plain" ? "plain " : words;
    if (which === undefined) return `${head}${space}from("trusted", ${quoted(origins)})`;
    return `${head}${space}${which}(${list}, ${quoted(origins)})`;
}

/** What is sent would be read by those whom it is not for. Null where no line of the program would let it. */
function readersRemedy(
    tool: string,
    method: string,
    { origins, readers: { names, audience } = { names: [], audience: null } }: Flow,
): string | null {
    const otherwise = "or send less, or endorse it for them where that is right";
    if (audience !== null)
        return `write \`${audience} or ask\` in place of \`${audience}\`: a person is then asked about each value that is not for ${listed(origins)}; ${otherwise}`;
    if (names.length === 0 || method === "") return null;
    return `add \`audience ${method}: ${quoted(names)}\` to the import of ${tool}, where no other person reads what ${method} is sent: then whatever ${listed(names)} may read may be sent there; ${otherwise}`;
}

/** Null where no clause would let it. */
export function flowRemedy(capability: string, flow: Flow): string | null {
    const { arg, origins, besides = [], rule, unsaid, choice } = flow;
    const point = capability.indexOf(".");
    const [tool, method] = point < 0 ? [capability, ""] : [capability.slice(0, point), capability.slice(point + 1)];
    if (arg === "*") return readersRemedy(tool, method, flow);
    const what = choice === true ? `decides whether ${shownUse(capability)} is called` : `may stand in ${arg} of ${shownUse(capability)}`;
    const opens = `then whatever comes from ${listed(origins)} ${what}`;
    const otherwise = choice === true ? "or decide by a value that is trusted" : "or use a value that comes from elsewhere";
    if (unsaid !== true) {
        const wide = widened(rule, origins);
        return wide === null
            ? null
            : `write \`${wide}\` in place of \`${rule}\`: ${opens}; ${otherwise}, or endorse it where that is right`;
    }
    // What verbs use has no import in the program that a clause could stand at.
    if (tool.startsWith("Verb_"))
        return `use ${method} of a tool that the program imports in place of the verb: a clause of its import can let ${listed(origins)} in; ${otherwise}`;
    if (choice === true)
        return `add \`choice ${method}: from(${quoted(["trusted", ...origins])})\` to the import of ${tool}: ${opens}; ${otherwise}, or endorse it where that is right`;
    if (rule === NOT_THERE) return `call ${arg} by a name that ${tool} has; ${otherwise}, or endorse it where that is right`;
    if (!/^[a-z0-9_.-]+$/i.test(arg)) return null;
    const of = method === "" ? argText(arg) : `${method}.${argText(arg)}`;
    const from = quoted(["trusted", ...origins, ...besides]);
    return `add \`arg ${of}: from(${from})\` to the import of ${tool}: ${opens}; ${otherwise}, or endorse it where that is right`;
}

/** What means more in a bound than itself, or ends what is proposed: the value is an agent's, and a person copies it. */
const NOT_PLAIN = /[*`]/;

/** A bound with one value more. `value`: JSON text. Null where a value cannot stand in a bound. */
export function widerBound(bound: {
    readonly patterns: string;
    readonly value: string | null;
    readonly numbers: boolean;
    readonly name: string;
}): string | null {
    const { patterns, value, numbers, name } = bound;
    if (value === null) return null;
    const json = readJson(value);
    const one = numbers
        ? typeof json === "number"
            ? `${json}..${json}`
            : null
        : typeof json === "string" && !NOT_PLAIN.test(json)
          ? JSON.stringify(json)
          : null;
    return one === null ? null : `write \`in ${name}${patterns}, ${one}\` in place of \`in ${name}${patterns}\``;
}

/** Null where it was cut. */
function readJson(text: string): Json {
    try {
        return JSON.parse(text) as Json;
    } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
    }
}
