/**
 * A question that an MCP server, or an agent, asks while a call is under way: a child effect, decided where the run's questions are decided.
 *
 * Boundary: from the server's form to `ask` and `input` effects and back. No person there, or no: the server is told `decline`.
 *
 * MC1: the question says which server asks; its text is the server's and is shown as data.
 * MC3: a field for which a person gives no answer stays empty, whatever the server has as its default; where it has to be there, the answer is no. What a
 *     person answers with nothing gets the default, and the question says which one that is.
 * MC2: a question is put for the one call that is under way; where there are several of one run, for the one that began last. Where several runs
 *     wait for the server, it is told `decline`: nothing says whose people it asks.
 */
import type { Contract, Json } from "@remit/language";
import type { AskRequest, Effect, InputRequest } from "@remit/machine";
import { headOf } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { CallIO } from "./tool.ts";

export interface ElicitAnswer {
    [key: string]: unknown;
    action: "accept" | "decline" | "cancel";
    content?: { [name: string]: string | number | boolean | string[] };
}

/** Fields one form may have. */
const MAX_FIELDS = 20;
const MAX_TEXT = 2000;

interface Property {
    readonly type?: unknown;
    readonly enum?: unknown;
    /** Names of what is in `enum`, in its order: how earlier revisions give them. */
    readonly enumNames?: unknown;
    readonly oneOf?: unknown;
    /** Of several that are chosen. */
    readonly items?: { readonly enum?: unknown; readonly anyOf?: unknown };
    readonly title?: unknown;
    readonly description?: unknown;
    readonly default?: unknown;
}

export async function elicit(
    server: string,
    params: unknown,
    calls: Map<CallIO, number>,
    secrets: Scrubber,
    who = "tool server",
): Promise<ElicitAnswer> {
    const io = [...calls.keys()].at(-1);
    const runs = new Set([...calls.keys()].map(({ run }) => run));
    const asked = params as {
        readonly mode?: string;
        readonly message?: string;
        readonly requestedSchema?: { readonly properties?: { readonly [name: string]: Property }; readonly required?: readonly string[] };
    };
    if (io === undefined || runs.size > 1 || (asked.mode !== undefined && asked.mode !== "form")) return { action: "decline" };
    const message = headOf(String(asked.message ?? ""), MAX_TEXT, secrets);
    const fields = Object.entries(asked.requestedSchema?.properties ?? {});
    if (fields.length > MAX_FIELDS) return { action: "decline" };
    const path = `${io.effect.path}/elicit#${calls.get(io) ?? 0}`;
    calls.set(io, (calls.get(io) ?? 0) + 1);

    const ask: AskRequest = {
        question: `The ${who} '${server}' asks: ${message}`,
        detail: { server, message, fields: fields.map(([name]) => name) },
        options: ["once", "deny"],
    };
    const allowed = await io.child(childEffect(io.effect, "ask", path, ask as unknown as Json));
    if (!allowed.ok || allowed.value !== "once") return { action: "decline" };
    const content: { [name: string]: string | number | boolean | string[] } = {};
    for (const [name, property] of fields) {
        const required = asked.requestedSchema?.required?.includes(name) === true;
        const contract = contractOf(property);
        const usual = defaultOf(property);
        const request: InputRequest = {
            name: `${server}.${name}`,
            contract: required ? contract : { type: "optional", of: contract },
            description:
                headOf(`${String(property.description ?? property.title ?? message)}${namesOf(property)}`, MAX_TEXT, secrets) +
                defaultText(usual),
            ...(usual === null ? {} : { default: usual }),
        };
        const given = await io.child(childEffect(io.effect, "input", `${path}/${name}`, request as unknown as Json));
        // MC3.
        const value = given.ok ? (given.value ?? usual) : null;
        if (isAnswer(value)) content[name] = value;
        else if (required) return { action: given.ok ? "cancel" : "decline" };
    }
    return { action: "accept", content };
}

function childEffect(parent: Effect, kind: "ask" | "input", path: string, request: Json): Effect {
    return { path, kind, principal: parent.principal, site: parent.site, request, labels: parent.labels };
}

type Primitive = string | number | boolean;

function isPrimitive(value: unknown): value is Primitive {
    return typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

function isAnswer(value: unknown): value is Primitive | string[] {
    return isPrimitive(value) || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}

function contractOf(property: Property): Contract {
    const choices = choicesOf(property);
    if (property.type === "array") return { type: "list", item: oneOf(choices) };
    if (choices.length > 0) return oneOf(choices);
    if (property.type === "number" || property.type === "integer") return { type: "number" };
    return property.type === "boolean" ? { type: "boolean" } : { type: "string" };
}

function oneOf(choices: readonly Choice[]): Contract {
    return choices.length === 0 ? { type: "string" } : { type: "union", of: choices.map(({ value }) => ({ type: "literal", value })) };
}

interface Choice {
    readonly value: Primitive;
    readonly name?: string;
}

/** What is to be chosen from, in each of the ways in which the revisions of the protocol say so. */
function choicesOf({ enum: plain, enumNames: names, oneOf: titled, items }: Property): Choice[] {
    const values = plain ?? items?.enum;
    if (Array.isArray(values))
        return values.flatMap((value, at): Choice[] => {
            const name: unknown = Array.isArray(names) ? names[at] : undefined;
            return isPrimitive(value) ? [{ value, ...(typeof name === "string" ? { name } : {}) }] : [];
        });
    const all = titled ?? items?.anyOf;
    if (!Array.isArray(all)) return [];
    return all.flatMap((one: { readonly const?: unknown; readonly title?: unknown } | null): Choice[] => {
        const { const: value, title } = one ?? {};
        return isPrimitive(value) ? [{ value, ...(typeof title === "string" ? { name: title } : {}) }] : [];
    });
}

/** MC3. One that is too long to be shown is none. */
function defaultOf({ default: given }: Property): Primitive | string[] | null {
    return isAnswer(given) && JSON.stringify(given).length <= MAX_TEXT ? given : null;
}

function defaultText(given: Json): string {
    return given === null ? "" : ` (nothing means ${JSON.stringify(given)})`;
}

/** What the values mean that a person chooses from, where the server says it. */
function namesOf(property: Property): string {
    const named = choicesOf(property).flatMap(({ value, name }) => (name === undefined ? [] : [`${value}: ${name}`]));
    return named.length === 0 ? "" : ` (${named.join("; ")})`;
}
