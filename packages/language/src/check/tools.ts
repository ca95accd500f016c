/**
 * What the checker knows of tools by the scheme of their URI: their methods, and which of these change something.
 *
 * Boundary: data and look-ups. What a tool really does is known to the host alone.
 */
import { type Schema, toolSchema } from "../authority/schemas.ts";
import { schemeOf } from "../authority/thing.ts";
import type { Import } from "../syntax/tree.ts";
import type { Binding, Checking } from "../scope/model.ts";

/** Schemes whose calls are held to their methods here; the others say at the call what they have. */
const FIXED: ReadonlySet<string> = new Set(["sh", "env", "file", "inspect", "temporal", "shell", "webfetch", "skills", "mcp"]);

/** Methods of every memory. */
export const MEMORY_METHODS: readonly string[] = [...(toolSchema("memory", "") as Schema).methods.keys()];

/** AgentScript's names of methods that write, whatever the tool. */
const WRITING: ReadonlySet<string> = new Set(["write", "patch", "delete", "post", "put"]);
/** More of them, which AgentScript lets pass: told as a warning. */
const ALSO_WRITING: ReadonlySet<string> = new Set(["undo"]);
/** Schemes of which every method may write. */
const OPAQUE: ReadonlySet<string> = new Set(["mcp", "node"]);
/** Modules, of which every method may write unless the allow list says that none does. */
const MODULES: ReadonlySet<string> = new Set(["", "npm"]);

/** The methods of a tool, where its scheme or a file fixes them. */
export function methodsOf({ import: tool, has }: Pick<Binding, "import" | "has">): readonly string[] | null {
    return tool !== null && has !== null && FIXED.has(schemeOf(tool.uri.value)) ? [...has.methods.keys()] : null;
}

/** Schemes whose tools take one object a call, and nothing by place. */
const ONE_OBJECT: ReadonlySet<string> = new Set(["sh", "env", "file", "shell", "webfetch", "skills", "http", "https", "mcp", "temporal"]);

/** Whether a call of the method takes one object. `undo` takes the list that `write` gave, too. */
export function takesObject({ import: tool }: Pick<Binding, "import">, method: string): boolean {
    if (tool === null) return false;
    const scheme = schemeOf(tool.uri.value);
    return ONE_OBJECT.has(scheme) && !(scheme === "file" && method === "undo");
}

/** By AgentScript's names alone. */
export function writesByName(method: string): boolean {
    return WRITING.has(method);
}

/** Whether a call changes something, so that iterations in parallel must not make it: `error` by AgentScript's rule, `warning` beyond it. */
export function toolWrites(tool: Import, method: string, checking: Pick<Checking, "readOnly">): "error" | "warning" | null {
    const uri = tool.uri.value;
    const scheme = schemeOf(uri);
    if (OPAQUE.has(scheme)) return "error";
    if (WRITING.has(method)) return "error";
    if (MODULES.has(scheme) && !checking.readOnly.has(tool)) return "error";
    if (ALSO_WRITING.has(method) || WRITING.has(method.toLowerCase())) return "warning";
    return null;
}
