/**
 * `stub:` URIs: agents without a model, each a fixed way to answer.
 *
 * Boundary: text to parts, by a table. What each does is `stub.ts`.
 */
import type { Json } from "@remit/language";
import { readJson } from "../input/json.ts";

/** What a faulty stub does wrong. */
export const FAULTS = {
    refusal: "declines: the turn stops with `refusal`",
    unreachable: "is not there",
    timeout: "takes too long",
    rate_limited: "is told to wait by its provider",
    invalid_payload: "answers without a function",
    crash: "ends in the middle of its turn",
    silence: "says nothing until it is stopped",
    bad_source: "answers with a function that does not parse",
    wrong_signature: "answers with a function of other parameters",
    huge: "answers with a text of `bytes` bytes",
    error_then_ok: "answers wrongly `times` times, then with `json`",
    contract: "answers with a function that gives `{ unexpected: true }`",
    raised: "answers with a function that raises",
    value: "answers with a function that looks into what is not there",
    tool: "fails because a tool of its own did",
    model: "fails because its model did",
    denied: "is not let in",
    cancelled: "is called off in its turn",
    "limit.steps": "answers with a function that does not end",
    "limit.depth": "answers with a function that calls itself",
    "limit.bytes": "answers with a function that doubles a text again and again",
    "limit.turns": "answers with a function that asks for turn after turn",
    "limit.calls": "makes 100 tool calls of its own",
    "limit.time": "goes on until its time is over",
    "limit.tokens": "says that it used a thousand million tokens",
    "limit.cost": "says that it cost a million US dollars",
    "violation.capability": "answers with a function that makes a text of itself",
    "violation.payload": "answers with a program form that holds names of prototypes",
} as const;

export type Fault = keyof typeof FAULTS;

export interface StubUri {
    readonly kind: keyof typeof STUBS;
    /** Path of a file, empty for those that take none. */
    readonly file: string;
    readonly params: { readonly [name: string]: string };
}

/** Every stub: its form, its parameters (`!` where it needs one), and what it does. */
export const STUBS = {
    noop: { form: "stub:noop", params: [], file: false, does: "a function that does nothing and gives none" },
    value: { form: "stub:value?json=JSON", params: ["json!"], file: false, does: "a function that gives this value" },
    passthrough: {
        form: "stub:passthrough?param=NAME",
        params: ["param!"],
        file: false,
        does: "a function that gives what it was passed as NAME",
    },
    text: { form: "stub:text?say=TEXT", params: ["say!"], file: false, does: "this text, and no function" },
    sequence: {
        form: "stub:sequence:FILE",
        params: [],
        file: true,
        does: "the replies of a file, in order, from the beginning in each session",
    },
    source: { form: "stub:source:FILE", params: [], file: true, does: "the Remit source in a file" },
    faulty: {
        form: "stub:faulty?kind=KIND",
        params: ["kind!", "message", "bytes", "times", "json"],
        file: false,
        does: "something wrong",
    },
} as const;

export const STUB_HINT = `a stub is ${Object.values(STUBS)
    .map(({ form }) => form)
    .join(", ")}`;

/** The parts of a URI, or what is wrong with it. */
export function parseStubUri(uri: string): StubUri | { readonly message: string; readonly hint: string } {
    const bad = (message: string, hint: string = STUB_HINT) => ({ message, hint });
    const found = /^stub:([a-z_]+)(?::([^?]*))?(?:\?(.*))?$/s.exec(uri);
    const kind = found?.[1] ?? "";
    if (!Object.hasOwn(STUBS, kind)) return bad(`'${uri}' is no stub agent`);
    const stub = STUBS[kind as StubUri["kind"]];
    const file = (found?.[2] ?? "").trim();
    if (stub.file !== (file !== "")) return bad(stub.file ? `'${uri}' names no file` : `'${uri}' takes no file`, `write ${stub.form}`);
    const params: { [name: string]: string } = Object.create(null);
    for (const [name, value] of new URLSearchParams(found?.[3] ?? "")) {
        if (!stub.params.some((one) => one.replace("!", "") === name))
            return bad(`'${uri}': there is no parameter '${name}'`, `write ${stub.form}`);
        params[name] = value;
    }
    const missing = stub.params.find((one) => one.endsWith("!") && params[one.slice(0, -1)] === undefined);
    if (missing !== undefined) return bad(`'${uri}': the parameter '${missing.slice(0, -1)}' is missing`, `write ${stub.form}`);
    const json = params.json === undefined ? null : readJson(params.json);
    if (json?.ok === false) return bad(`'${uri}': its json ${json.message}`, `write ${stub.form}`);
    if (kind === "faulty" && !Object.hasOwn(FAULTS, params.kind as string))
        return bad(`'${uri}': there is no fault '${params.kind}'`, `known are ${Object.keys(FAULTS).join(", ")}`);
    for (const name of ["bytes", "times"])
        if (params[name] !== undefined && !/^\d{1,9}$/.test(params[name])) return bad(`'${uri}': '${name}' is no whole number`);
    return { kind: kind as StubUri["kind"], file, params };
}

/** A value of a parameter that was looked at by `parseStubUri`. */
export function jsonOf(text: string | undefined): Json {
    const read = readJson(text ?? "null");
    return read.ok ? read.value : null;
}
