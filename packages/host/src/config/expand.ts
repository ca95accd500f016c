/**
 * `$NAME` and `${NAME}` in the environment and the headers of a configured server.
 *
 * Boundary: text in, text out. A name that is not set gives nothing, as in AgentScript; `$$` is a dollar sign.
 */

export interface Expanded {
    readonly text: string;
    /** Names that were put in. */
    readonly used: readonly string[];
}

export function expand(text: string, env: Readonly<Record<string, string | undefined>>): Expanded {
    const used: string[] = [];
    const out = text.replace(/\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/g, (_, bare?: string, braced?: string) => {
        const name = bare ?? braced;
        if (name === undefined) return "$";
        used.push(name);
        return Object.hasOwn(env, name) ? (env[name] ?? "") : "";
    });
    return { text: out, used };
}
