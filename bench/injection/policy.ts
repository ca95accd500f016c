/**
 * What a careful owner of each world writes beside the programs: clauses at imports of tools, and a remit for the main agent. By world and tool, never
 * by task.
 *
 * Boundary: from a program's text to the same text with clauses.
 */
export interface Policy {
    /** Written behind `import tool NAME from "…"`, in braces: `transfer: may, arg transfer.to: from("user") or ask`. */
    readonly imports?: { readonly [tool: string]: string };
    /** Written behind `import llm NAME from "…"`, in braces. */
    readonly models?: string;
    /** Written at the beginning of the main agent, as `remit { … }`. */
    readonly remit?: string;
    /** Written at the beginning of each file: `flow strict`, say. */
    readonly head?: string;
}

/** The policy of a world; null where none is written. */
export function policyOf(_world: string): Policy | null {
    return null;
}

/** A program under a policy. Tools that it does not import need no clause. */
export function withPolicy(source: string, policy: Policy): string {
    let text = source.replace(/^import tool\s+(\w+)\s+from\s+"[^"]+"$/gm, (line: string, tool: string) =>
        clause(line, policy.imports?.[tool]),
    );
    text = text.replace(/^import llm\s+\w+\s+from\s+"[^"]+"$/gm, (line: string) => clause(line, policy.models));
    const remit = policy.remit;
    if (remit !== undefined) text = text.replace(/^main agent \w+ \{$/m, (line) => `${line}\n    remit { ${remit} }`);
    return policy.head === undefined ? text : `${policy.head}\n${text}`;
}

function clause(line: string, words: string | undefined): string {
    return words === undefined ? line : `${line} { ${words} }`;
}
