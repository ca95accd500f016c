/**
 * What can be wrong with foreign JSON that claims to be a program form.
 *
 * Boundary: codes and places. Codes beside these are the checker's own, where its rule is the same.
 */
import type { Code } from "../diagnostics/codes.ts";

export const FORM_CODES = {
    FORM_JSON: "The text is not JSON, or the value holds what JSON cannot.",
    FORM_BYTES: "The form is larger than allowed.",
    FORM_NODES: "The form has more values than allowed.",
    FORM_DEPTH: "The form is nested deeper than allowed.",
    FORM_STRING: "A text in the form is longer than allowed.",
    FORM_VERSION: "The form is of a version that is not known here.",
    FORM_KIND: "No node of that kind can stand there.",
    FORM_KEY: "A node has a key that its kind does not have.",
    FORM_TWICE: "A key stands twice in one object.",
    FORM_MISSING: "A node lacks a key that its kind must have.",
    FORM_TYPE: "A value is of the wrong type.",
    FORM_VALUE: "A value is of the right type, but out of its range or not among those allowed.",
    FORM_NAME: "A name is no identifier, or one that is refused.",
    FORM_REFERENCE: "A file, agent or function is referred to that the form does not have.",
} as const satisfies Readonly<Record<string, string>>;

export type FormCode = keyof typeof FORM_CODES | Code;

export interface FormError {
    /** JSON Pointer (RFC 6901) to the place; empty for the whole. */
    readonly pointer: string;
    readonly code: FormCode;
    readonly message: string;
}

/** Keys to where an error is, from the root. */
export type Place = readonly (string | number)[];

function pointerOf(place: Place): string {
    return place.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export const MAX_ERRORS = 50;

/** Collects errors; past `MAX_ERRORS` they are only counted. */
export interface Errors {
    readonly found: FormError[];
    add(code: FormCode, place: Place, message: string): void;
}

export function newErrors(): Errors {
    const found: FormError[] = [];
    return {
        found,
        add: (code, place, message) => {
            if (found.length < MAX_ERRORS) found.push({ pointer: pointerOf(place), code, message });
        },
    };
}
