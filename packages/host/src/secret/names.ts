/**
 * Which environment variables hold secrets, told by their names and by the form of their values.
 *
 * Boundary: guesses on the safe side; configuration may say otherwise by name.
 */

/** Parts of a name, between underscores, that mean a secret. */
const SECRET_WORDS = new Set([
    "key", "keys", "apikey", "token", "tokens", "secret", "secrets", "password", "passwords", "passwd", "passphrase", "pass", "pwd", "pw",
    "credential", "credentials", "creds", "auth", "authorization", "cookie", "cookies", "jwt", "bearer", "pat", "private", "signature", "salt", "dsn",
    "session", "otp", "pin",
]); // biome-ignore format: a table
/** Words that mean a secret wherever they stand in a name, also unseparated: `GITHUBTOKEN`, `PGPASSWORD`. */
const SECRET_PIECES = ["apikey", "token", "secret", "password", "passwd", "passphrase", "credential", "privatekey", "accesskey"];
/** Names with such a word that hold none: what every environment has, and places of things. */
const HARMLESS = new Set([
    "PWD",
    "OLDPWD",
    "INIT_CWD",
    "SSH_AUTH_SOCK",
    "XAUTHORITY",
    "GPG_TTY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "XDG_SESSION_ID",
    "XDG_SESSION_TYPE",
    "XDG_SESSION_CLASS",
    "XDG_SESSION_DESKTOP",
    "GDMSESSION",
    "SESSION_MANAGER",
    "TERM_SESSION_ID",
]);
/** What is sent to a collector of telemetry: with its key. */
const COLLECTOR_HEADERS = /^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$/;
/** Forms of values that are secrets whatever the name is. */
const SECRET_VALUES = [
    /^[a-z][a-z0-9+.-]*:\/\/[^/@\s:]*:[^/@\s]+@/i,
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
    /^(sk|rk|pk)[-_][A-Za-z0-9_-]{16,}$/,
    /^gh[pousr]_[A-Za-z0-9]{20,}$/,
    /^github_pat_[A-Za-z0-9_]{20,}$/,
    /^(AKIA|ASIA)[A-Z0-9]{16}$/,
    /^AIza[A-Za-z0-9_-]{30,}$/,
    /^glpat-[A-Za-z0-9_.-]{16,}$/,
    /^npm_[A-Za-z0-9]{30,}$/,
    /^hf_[A-Za-z0-9]{30,}$/,
    /^xox[abprs]-[A-Za-z0-9-]{10,}$/,
    /^eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\./,
    /^(Bearer|Basic) \S{8,}$/,
];

export function looksSecret(name: string, value = ""): boolean {
    if (SECRET_VALUES.some((form) => form.test(value))) return true;
    if (HARMLESS.has(name)) return false;
    if (COLLECTOR_HEADERS.test(name)) return true;
    const parts = name
        .replace(/([a-z])([A-Z])/g, "$1_$2")
        .toLowerCase()
        .split(/[^a-z0-9]+/);
    const joined = parts.join("");
    return parts.some((part) => SECRET_WORDS.has(part)) || SECRET_PIECES.some((piece) => joined.includes(piece));
}

/** The secrets of an environment, as the scrubber takes them. `plain` are names that configuration declares to be no secret. */
export function environmentSecrets(
    env: Readonly<Record<string, string | undefined>>,
    plain: ReadonlySet<string> = new Set(),
): { readonly name: string; readonly value: string }[] {
    const found: { name: string; value: string }[] = [];
    for (const name of Object.keys(env).sort()) {
        const value = env[name];
        if (value !== undefined && !plain.has(name) && looksSecret(name, value)) found.push({ name: `env:${name}`, value });
    }
    return found;
}
