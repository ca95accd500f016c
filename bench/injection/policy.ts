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
    /** Bounds by tool, in a remit of the main agent that gives everything else: `ask Bank.transfer in amount: 200..1000`. */
    readonly bounds?: { readonly [tool: string]: string };
    /** Written at the beginning of each file: `flow strict`, say. */
    readonly head?: string;
    /** Tool loops hide what is not trusted. */
    readonly hide?: true;
}

/**
 * By world. A model's own words count as trusted (what was in its prompt counts as what it is). What says where something goes has to be the
 * owner's: his words, or an entry of his own address book; otherwise he is asked, and shown where it comes from. So has what leads somewhere in a text
 * that others will read.
 */
const POLICIES: { readonly [world: string]: Policy } = {
    banking: {
        models: "trusted",
        imports: {
            Payees: "trusted",
            Bank: `transfer: may, add_standing: may, change_standing: may, arg to: among("trusted", "user", "tool:Payees") or ask, arg subject: addresses among("trusted", "user", "tool:Payees") or ask`,
            Account: `set_address: may, set_password: may, arg password: among("trusted", "user") or ask, arg street: among("trusted", "user") or ask`,
        },
    },
    chat: {
        models: "trusted",
        imports: {
            People: `invite: may, remove: ask, arg email: among("trusted", "user") or ask`,
            Chat: `post: may, send: may, add: may, arg channel: among("trusted", "user") or ask, arg to: among("trusted", "user") or ask, arg person: among("trusted", "user") or ask, arg text: addresses among("trusted", "user") or ask`,
            Web: `publish: may, arg text: addresses among("trusted", "user") or ask, arg url: among("trusted", "user") or ask`,
        },
    },
    travel: {
        models: "trusted",
        imports: {
            Contacts: "trusted",
            Profile: `reads: "the traveller"`,
            Booking: `hotel: may, table: may, car: may, cancel: ask, arg hotel: from("trusted", "user", "tool:Travel") or ask, arg restaurant: from("trusted", "user", "tool:Travel") or ask, arg company: from("trusted", "user", "tool:Travel") or ask`,
            Calendar: `create: may, arg guests: among("trusted", "user", "tool:Contacts") or ask, arg title: addresses among("trusted", "user", "tool:Contacts") or ask`,
            Mail: `send: may, arg to: among("trusted", "user", "tool:Contacts") or ask, arg subject: addresses among("trusted", "user", "tool:Contacts") or ask, arg body: addresses among("trusted", "user", "tool:Contacts") or ask`,
            Web: `arg url: among("trusted", "user") or ask`,
        },
    },
    workspace: {
        models: "trusted",
        imports: {
            Contacts: "trusted",
            Calendar: `create: may, move: may, invite: may, arg move.start: among("trusted", "user") or ask, arg guests: among("trusted", "user", "tool:Contacts") or ask, arg guest: among("trusted", "user", "tool:Contacts") or ask, arg title: addresses among("trusted", "user", "tool:Contacts") or ask`,
            Mail: `send: may, delete: ask, arg to: among("trusted", "user", "tool:Contacts") or ask, arg subject: addresses among("trusted", "user", "tool:Contacts") or ask, arg body: addresses among("trusted", "user", "tool:Contacts") or ask`,
            Drive: `create: may, append: may, share: may, delete: ask, arg person: among("trusted", "user", "tool:Contacts") or ask, arg text: addresses among("trusted", "user", "tool:Contacts") or ask`,
        },
    },
};

/** The policy of a world; null where none is written. */
export function policyOf(world: string): Policy | null {
    return Object.hasOwn(POLICIES, world) ? (POLICIES[world] as Policy) : null;
}

/** A program under a policy. Tools that it does not import need no clause. */
export function withPolicy(source: string, policy: Policy): string {
    const has = (tool: string): boolean => new RegExp(`^import tool\\s+${tool}\\s`, "m").test(source);
    let text = source.replace(/^import tool\s+(\w+)\s+from\s+"[^"]+"$/gm, (line: string, tool: string) =>
        clause(line, fitted(policy.imports?.[tool], has)),
    );
    text = text.replace(/^import llm\s+\w+\s+from\s+"[^"]+"$/gm, (line: string) => clause(line, policy.models));
    const bounds = Object.entries(policy.bounds ?? {}).filter(([tool]) => has(tool));
    const remit = policy.remit ?? (bounds.length === 0 ? undefined : ["may all", ...bounds.map(([, words]) => words)].join("  "));
    if (remit !== undefined) text = text.replace(/^main agent \w+ \{$/m, (line) => `${line}\n    remit { ${remit} }`);
    if (policy.hide === true) text = text.replace(/\bturns: \d+(?= \}\))/g, (turns) => `${turns}, hide: "untrusted"`);
    return policy.head === undefined ? text : `${policy.head}\n${text}`;
}

/** Words of a clause without fields of tools that the program does not import. */
function fitted(words: string | undefined, has: (tool: string) => boolean): string | undefined {
    return words?.replace(/,? ?\b([A-Z]\w*)\.\w+\.[\w.]+/g, (field: string, tool: string) => (has(tool) ? field : ""));
}

function clause(line: string, words: string | undefined): string {
    return words === undefined ? line : `${line} { ${words} }`;
}
