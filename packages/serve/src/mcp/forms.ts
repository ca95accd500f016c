/**
 * What a run asks on its way, as a form of the Model Context Protocol, and what a person's answer in that form means to the run.
 *
 * Boundary: pure; from questions to forms, and from answers on the wire to values. Who is asked is `calls.ts`'s.
 *
 * MCF1: a form has one field. An answer that does not fit that field, or that was not offered, is a no where a decision is asked for, else no answer.
 * MCF3: a default that fits the field is the value that the form is filled in with. It is an answer only where the person sends it.
 * MCF2: who asks for a value stands before what it says, which may be made to look like another's question.
 */
import { type Contract, isObject, type Json, plain, plainLine, safeJson } from "@remit/language";
import type { AskRequest, InputRequest } from "@remit/machine";
import { reasonOf } from "../faces/reason.ts";

export type Wanted =
    /** Whether a call may be made. */
    | { readonly kind: "decision"; readonly request: AskRequest }
    /** A value that a server or an agent of the run asks for. */
    | { readonly kind: "value"; readonly request: InputRequest }
    /** What the program asks by `host:person`. */
    | { readonly kind: "words"; readonly question: string };

/** Characters of the arguments that are shown. */
const MAX_SHOWN = 4000;

/** `default`: what the form is filled in with. */
type Field =
    | { readonly type: "string"; readonly title: string; readonly enum?: string[]; readonly default?: string }
    | { readonly type: "number"; readonly title: string; readonly default?: number }
    | { readonly type: "boolean"; readonly title: string; readonly default?: boolean }
    | {
          readonly type: "array";
          readonly title: string;
          readonly items: { readonly type: "string"; readonly enum: string[] };
          readonly default?: string[];
      };

/** Name of the form's field. */
export function fieldOf({ kind }: Wanted): "decision" | "answer" {
    return kind === "decision" ? "decision" : "answer";
}

export function formOf(wanted: Wanted) {
    const name = fieldOf(wanted);
    return {
        message: messageOf(wanted),
        requestedSchema: { type: "object" as const, properties: { [name]: schemaOf(wanted) }, required: [name] },
    };
}

function schemaOf(wanted: Wanted): Field {
    if (wanted.kind === "decision") return { type: "string", title: "Decision", enum: [...wanted.request.options] };
    return wanted.kind === "words" ? { type: "string", title: "Answer" } : filled(valueField(wanted.request), wanted.request.default);
}

/** MCF3. */
function filled(field: Field, usual: Json | undefined): Field {
    return fits(usual, field) ? ({ ...field, default: usual } as Field) : field;
}

function valueField({ name, contract }: InputRequest): Field {
    const title = plainLine(name);
    const of = wholeOf(contract);
    if (of.type === "number" || of.type === "boolean") return { type: of.type, title };
    if (of.type === "list" && of.item !== undefined) {
        const items = textsOf(wholeOf(of.item));
        // The protocol has lists of choices alone.
        if (items.length > 0) return { type: "array", title, items: { type: "string", enum: items } };
    }
    const among = textsOf(of);
    return { type: "string", title, ...(among.length === 0 ? {} : { enum: among }) };
}

function wholeOf(contract: Contract): Contract {
    return contract.type === "optional" ? wholeOf(contract.of) : contract;
}

/** Where it is one of some texts. */
function textsOf(contract: Contract): string[] {
    if (contract.type !== "union") return [];
    const texts = contract.of.flatMap((one) => (one.type === "literal" && typeof one.value === "string" ? [one.value] : []));
    return texts.length === contract.of.length ? texts : [];
}

function messageOf(wanted: Wanted): string {
    if (wanted.kind === "words") return plain(wanted.question);
    if (wanted.kind === "value") {
        // MCF2.
        const { name, description } = wanted.request;
        return description === undefined ? plainLine(name) : `${plainLine(name)}: ${plain(description)}`;
    }
    const { question, detail, options } = wanted.request;
    const reason = reasonOf(
        question,
        detail,
        options.map((one) => [one, one]),
    );
    if (!isObject(detail) || !Array.isArray(detail["args"])) return reason;
    const { args } = detail;
    const shown = safeJson(args.length === 1 ? (args[0] as Json) : args, 2);
    const cut = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}\n… ${shown.length - MAX_SHOWN} more characters` : shown;
    return `${reason}\n${plain(cut)}`;
}

/** What the run is given (MCF1). Null: no answer. */
export function answerOf(wanted: Wanted, said: unknown): Json {
    const { action, content } = (said ?? {}) as { readonly action?: unknown; readonly content?: unknown };
    const given = action === "accept" && isObject(content) ? content[fieldOf(wanted)] : undefined;
    if (wanted.kind !== "decision") return fits(given, schemaOf(wanted)) ? given : null;
    // A cancel ends the run.
    if (action === "cancel") return "abort";
    return wanted.request.options.find((one) => one === given) ?? "deny";
}

function fits(given: unknown, field: Field): given is Json {
    if (field.type === "array") return Array.isArray(given) && given.every((one) => field.items.enum.includes(one));
    if (typeof given !== field.type || (typeof given === "number" && !Number.isFinite(given))) return false;
    return !("enum" in field) || field.enum === undefined || field.enum.includes(given as string);
}
