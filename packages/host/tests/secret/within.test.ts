/** SR2 of what is a secret within one, and of forms that ordinary programs and libraries write. */
import { expect, test } from "vitest";
import { environmentSecrets } from "../../src/secret/names.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { partsOf } from "../../src/secret/within.ts";

const LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const PEM = `-----BEGIN PRIVATE KEY-----\n${LINE}\n-----END PRIVATE KEY-----\n`;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Without the secret that stands in a variable of this name. */
function without(name: string, value: string, text: string): string {
    return createScrubber(environmentSecrets({ [name]: value })).text(text);
}

test.each([
    [
        "the password of a URL, in the header that a client makes of it",
        "DATABASE_URL",
        "https://app:s3cr%2Ft-pass@h/db",
        `Basic ${base64("app:s3cr/t-pass")}`,
        "IvdC1w",
    ],
    [
        "the password of a URL, as a driver says it",
        "DATABASE_URL",
        "postgres://app:hunter2hunter2@db.example:5432/app",
        'password "hunter2hunter2" is wrong',
        "hunter2",
    ],
    [
        "a token in the place of a user",
        "GIT_REMOTE",
        "https://ghp_0123456789abcdefghijABCDEF:x-oauth-basic@github.com/a/b",
        "ghp_0123456789abcdefghijABCDEF",
        "ghp_",
    ],
    ["the token of a header", "AUTHORIZATION", "Bearer abcdefgh-12345678", "the token abcdefgh-12345678 has expired", "12345678"],
    ["the password in a header of another client", "AUTHORIZATION", `Basic ${base64("me:open-sesame-1")}`, "open-sesame-1", "sesame"],
    ["a field of JSON", "CREDENTIALS", JSON.stringify({ user: "me", password: "open-sesame-1" }), "it says open-sesame-1", "sesame"],
    ["a line of a key", "TLS_KEY", PEM, `1: -----BEGIN PRIVATE KEY-----\n2: ${LINE}`, "MIIE"],
    ["a line of a key whose ends of lines are two signs", "TLS_KEY", PEM.replaceAll("\n", "\\n"), LINE, "MIIE"],
    ["a line of a key in a field of JSON", "CREDENTIALS", JSON.stringify({ private_key: PEM }), `2: ${LINE}`, "MIIE"],
    [
        "a field of a connection string",
        "AZURE_STORAGE_KEY",
        "AccountName=me;AccountKey=q83vEjRWeJCrze8SNFZ4kA==;EndpointSuffix=x",
        "q83vEjRWeJCrze8SNFZ4kA==",
        "q83v",
    ],
    [
        "the key of a collector of telemetry",
        "OTEL_EXPORTER_OTLP_HEADERS",
        "api-key=0123-abcd-4567,x-team=blue",
        "unknown api-key '0123-abcd-4567'",
        "0123-",
    ],
    ["JSON as Go writes it", "DSN", "postgres://u:p@h/db?a=1&b=<2>", 'dial "postgres://u:p@h/db?a=1\\u0026b=\\u003c2\\u003e"', "postgres"],
    ["JSON as Gson writes it", "API_KEY", "abc=def&ghi'jkl", '{"k":"abc\\u003ddef\\u0026ghi\\u0027jkl"}', "ghi"],
    ["JSON as PHP writes it", "API_KEY", "abc/def/ghi+jkl", '{"k":"abc\\/def\\/ghi+jkl"}', "ghi"],
    ["JSON as Python writes it", "API_KEY", "pässwörd-12345", '{"k": "p\\u00e4ssw\\u00f6rd-12345"}', "12345"],
    ["a buffer as Node prints it", "API_KEY", "sk-0123456789", "<Buffer 73 6b 2d 30 31 32 33 34 35 36 37 38 39>", "30 31"],
    ["a buffer as JSON", "API_KEY", "sk-0123456789", '{"type":"Buffer","data":[115,107,45,48,49,50,51,52,53,54,55,56,57]}', "48,49"],
    [
        "base64 with broken lines",
        "API_KEY",
        "k".repeat(40) + "l".repeat(40),
        Buffer.from("k".repeat(40) + "l".repeat(40))
            .toString("base64")
            .replace(/.{76}/g, "$&\n"),
        "a2tr",
    ],
])("%s", (_, name, value, text, part) => {
    expect(text).toContain(part);
    const told = without(name, value, text);
    expect(told).toContain(`[secret env:${name}]`);
    expect(told).not.toContain(part);
});

test.each([
    ["a user's name, host and database are no secrets", "postgres://postgres:postgres@localhost/postgres", []],
    ["a name that is the user's and the database's is no secret", "postgres://remit-dev:remit-dev@localhost/remit-dev", []],
    ["a word may be a password and is no secret on its own", "postgres://app:elephants@localhost/app", []],
    [
        "an address without credentials is no secret",
        JSON.stringify({ token_uri: "https://oauth2.example.com/token", type: "service_account" }),
        [],
    ],
    ["a key that is one word has no parts", "sk-0123456789abcdefABCDEFGHIJ", []],
    ["text of several lines that is no key has none", "first line of a passphrase\nthe second line of it, which goes on for long", []],
    ["what looks like JSON and is none has none", '{"password": "open-sesame-1"', []],
    ["a percent sign alone is itself", "https://me:100%-open-sesame@h/", ["password"]],
])("WIT1: %s", (_, value, parts) => expect(partsOf(value).map(({ name }) => name)).toEqual(parts));

test("a saved state with a part of a secret in it is read again, and needs the secret", () => {
    const secrets = [{ name: "env:DATABASE_URL", value: "postgres://app:hunter2hunter2@db.example/app" }];
    const kept = createScrubber(secrets).conceal({ text: "it was hunter2hunter2, no?" });
    expect(JSON.stringify(kept)).not.toContain("hunter2");
    expect(createScrubber(secrets).reveal(kept)).toEqual({ text: "it was hunter2hunter2, no?" });
    expect(() => createScrubber().reveal(kept)).toThrow(/env:DATABASE_URL/);
});
