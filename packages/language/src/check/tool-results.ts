/**
 * What calls of the runtime's own tools give, by the scheme of their URI. Of an MCP server it is the envelope that every answer comes in.
 *
 * Boundary: data and look-ups. A test of the host holds each row against what its tool gives.
 *
 * TLR1: a row names every field that a result can have: a field that is not there is a mistake of the program.
 */
import { schemeOf } from "../authority/thing.ts";
import type { Contract } from "../contract/contract.ts";
import { raiseContract } from "../form/raise.ts";
import type { ContractNode, Expr } from "../syntax/tree.ts";

const TEXT: Contract = { type: "string" };
const NUMBER: Contract = { type: "number" };
const YES_NO: Contract = { type: "boolean" };
const ANY: Contract = { type: "json" };

function list(item: Contract): Contract {
    return { type: "list", item };
}

/** `?` at the end of a name: the field may be absent. */
function object(fields: { readonly [name: string]: Contract }): Contract {
    const rows = Object.entries(fields).map(([name, contract]) =>
        name.endsWith("?") ? { name: name.slice(0, -1), contract, optional: true } : { name, contract },
    );
    return { type: "object", fields: rows };
}

const ok = YES_NO;
const effect = { id: TEXT, tool: TEXT, action: TEXT, path: TEXT, undoable: YES_NO, previous: ANY };
const answer = object({ ok, status: NUMBER, body: TEXT, json: ANY, "note?": TEXT });

/** By scheme (of `sh:`, by the whole URI), then by method; `*`: whatever the method. `read image`: as what a file is read. */
export const TOOL_RESULTS: { readonly [tool: string]: { readonly [method: string]: Contract } } = {
    file: {
        read: object({ ok, content: TEXT }),
        "read image": object({ ok, media_type: TEXT, data: TEXT }),
        list: object({ ok, entries: list(TEXT), "note?": TEXT }),
        write: object({ ok, effects: list(object({ ...effect, existed: YES_NO })) }),
        patch: object({ ok, effects: list(object(effect)) }),
        undo: object({ ok }),
    },
    "sh://find": { run: object({ ok, files: list(TEXT), "note?": TEXT }) },
    "sh://grep": { run: object({ ok, matches: list(object({ path: TEXT, line: NUMBER, text: TEXT })), "note?": TEXT }) },
    "sh://read-range": { run: object({ ok, text: TEXT, start: NUMBER, end: NUMBER }) },
    env: { get: object({ ok, value: { type: "optional", of: TEXT }, "note?": TEXT }) },
    shell: {
        run: object({ exit_code: ANY, "signal?": TEXT, stdout: TEXT, stderr: TEXT, truncated: YES_NO, "note?": TEXT }),
    },
    webfetch: { call: answer },
    skills: {
        activate: object({ name: TEXT, sha256: TEXT, text: TEXT, files: list(TEXT) }),
        file: object({ name: TEXT, sha256: TEXT, path: TEXT, content: TEXT }),
    },
    http: { "*": answer },
    https: { "*": answer },
    mcp: { "*": object({ ok, text: TEXT, content: list(ANY), structured: ANY, isError: YES_NO, "note?": TEXT }) },
};

const NODES: ReadonlyMap<string, ReadonlyMap<string, ContractNode>> = new Map(
    Object.entries(TOOL_RESULTS).map(([tool, rows]) => [
        tool,
        new Map(Object.entries(rows).map(([method, contract]) => [method, raiseContract(contract)])),
    ]),
);

/** Null where only the call itself shows it. `given`: the lone argument, as it is written. */
export function toolResult(uri: string, method: string, given: Expr | undefined): ContractNode | null {
    const scheme = schemeOf(uri);
    const rows = NODES.get(scheme === "sh" ? uri.replace(/\/$/, "") : scheme);
    const row = scheme === "file" && method === "read" ? readAs(given) : method;
    return row === null ? null : (rows?.get(row) ?? rows?.get("*") ?? null);
}

/** Rows of a `read`, by what its argument `as` says. */
const READ_AS: ReadonlyMap<string, string> = new Map([
    ["text", "read"],
    ["image", "read image"],
]);

/** Null: `as` may be known only when it is called. */
function readAs(given: Expr | undefined): string | null {
    if (given?.kind !== "object") return null;
    let row: string | null = "read";
    for (const entry of given.entries) {
        if (entry.kind !== "entry") return null;
        if (entry.key.text === "as") row = entry.value.kind === "string" ? (READ_AS.get(entry.value.value) ?? null) : null;
    }
    return row;
}
