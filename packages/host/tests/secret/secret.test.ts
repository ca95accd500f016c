/** References, names that look secret, and the scrubber (REF1–SR4). */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { Compiled, type Effect, Machine } from "@remit/machine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OPTIONS } from "../../../machine/tests/run/forms.ts";
import { formOf } from "../../../machine/tests/run/text.ts";
import { environmentSecrets, looksSecret } from "../../src/secret/names.ts";
import { isSecretRef, resolveSecret } from "../../src/secret/ref.ts";
import { formsOf } from "../../src/secret/forms.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

describe("references", () => {
    test("have one key, `$secret`", () => {
        expect(
            [{ $secret: "env:A" }, { $secret: "env:A", more: 1 }, { $secret: 1 }, null, [], "env:A"].map((one) => isSecretRef(one as Json)),
        ).toEqual([true, false, false, false, false, false]);
    });
    test("are resolved from the environment and from private files, each time anew", () => {
        const folder = mkdtempSync(join(tmpdir(), "remit-secret-"));
        const path = join(folder, "token");
        writeFileSync(path, "s3cret value\n", { mode: 0o600 });
        const env: Record<string, string> = { A: "one", EMPTY: "" };
        expect(resolveSecret("env:A", { env })).toEqual({ ok: true, value: "one" });
        expect(resolveSecret(`file:${path}`, { env })).toEqual({ ok: true, value: "s3cret value" });
        expect(resolveSecret("file:token", { env, folder })).toEqual({ ok: true, value: "s3cret value" });
        env.A = "two";
        expect(resolveSecret("env:A", { env })).toEqual({ ok: true, value: "two" });
        chmodSync(path, 0o644);
        for (const bad of ["env:B", "env:EMPTY", "env:", "A", "exec:ls", "file:token", `file:${path}`, "file:/nonexistent"]) {
            const resolved = resolveSecret(bad, { env });
            expect(resolved.ok, bad).toBe(false);
            expect(JSON.stringify(resolved)).not.toContain("s3cret");
        }
        rmSync(folder, { recursive: true });
    });
});

test("where a person stands is no secret", () => {
    expect(["PWD", "OLDPWD", "INIT_CWD"].filter((name) => looksSecret(name, "/home/ada/project"))).toEqual([]);
});

describe("names", () => {
    test.each([
        "API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "githubToken",
        "DB_PASSWORD",
        "PGPASSWORD",
        "CLIENT_SECRET",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_PRIVATE_KEY",
        "SESSION_COOKIE",
        "npm_config__auth",
        "SENTRY_DSN",
        "X_PAT",
        "MYAPIKEY",
    ])("%s looks secret", (name) => expect(looksSecret(name, "x")).toBe(true));
    test.each([
        "PATH",
        "HOME",
        "LANG",
        "PWD_X_Y",
        "MONKEY",
        "KEYBOARD",
        "COMPASS_DIR",
        "AUTHOR",
        "SSH_AUTH_SOCK",
        "TOKENIZERS",
        "PATTERN",
        "SPIN",
    ])("%s: by its name alone", (name) => expect(looksSecret(name, "x")).toBe(["PWD_X_Y", "TOKENIZERS"].includes(name)));
    test.each([
        "postgres://user:pass@host/db",
        "sk-abcdefghijklmnop1234",
        "ghp_abcdefghijklmnopqrstuv",
        "AKIAABCDEFGHIJKLMNOP",
        `AIza${"Sy-abc_DEF".repeat(3)}12345`,
        `glpat-${"aB3_".repeat(5)}`,
        `npm_${"aB3".repeat(12)}`,
        `hf_${"aBcD".repeat(9)}`,
        "-----BEGIN RSA PRIVATE KEY-----\nx",
        "eyJhbGciOiJI.eyJzdWIiOiIx.sig",
    ])("a value like %s is one", (value) => expect(looksSecret("HARMLESS", value)).toBe(true));
    test("an environment's secrets, without those that configuration declares plain", () => {
        expect(environmentSecrets({ A_KEY: "1", B_TOKEN: "2", HOME: "/" }, new Set(["B_TOKEN"]))).toEqual([
            { name: "env:A_KEY", value: "1" },
        ]);
    });
});

describe("the scrubber", () => {
    const secret = { name: "env:API_KEY", value: 'p@ss/w"ord+42?' };
    test("finds a secret in every form, in values and keys, at any depth", () => {
        const { scrub } = createScrubber([secret]);
        const { value } = secret;
        const basic = (user: string): string => Buffer.from(`${user}:${value}`).toString("base64");
        const dirty = {
            plain: `the key is ${value}.`,
            [value]: 1,
            json: JSON.stringify({ key: value }),
            url: `https://x/?k=${encodeURIComponent(value)}&l=1`,
            base64: Buffer.from(value).toString("base64"),
            base64url: Buffer.from(value).toString("base64url"),
            basic: [basic("a"), basic("ab"), basic("abc"), basic("abcd")],
            hex: Buffer.from(value).toString("hex"),
            deep: [[{ a: [value] }]],
        };
        const clean = scrub(dirty as unknown as Json);
        const text = JSON.stringify(clean);
        for (const form of formsOf(value).keys()) expect(text.includes(JSON.stringify(form).slice(1, -1)), form).toBe(false);
        expect(clean).toMatchObject({
            plain: "the key is [secret env:API_KEY].",
            "[secret env:API_KEY]": 1,
            base64: expect.stringContaining("[secret env:API_KEY]"),
            deep: [[{ a: ["[secret env:API_KEY]"] }]],
        });
        expect(JSON.stringify(clean)).not.toContain(basic("abcd"));
    });
    test("copies nothing where there is no secret", () => {
        const { scrub } = createScrubber([secret]);
        const clean = { a: [1, { b: "x".repeat(100) }], c: null };
        expect(scrub(clean)).toBe(clean);
        const mixed = { clean: clean.a, dirty: secret.value };
        expect((scrub(mixed) as typeof mixed).clean).toBe(clean.a);
    });
    test("PI6: what is nested too deep is refused, whether or not a secret is known", () => {
        let deep: Json = 1;
        for (let depth = 0; depth < 1_002; depth++) deep = depth % 2 === 0 ? [deep] : { a: deep };
        for (const scrubber of [createScrubber(), createScrubber([secret])]) {
            expect(() => scrubber.scrub(deep)).toThrow("nested more than 1000 deep");
            expect(() => scrubber.conceal(deep)).toThrow("nested more than 1000 deep");
        }
    });
    test("leaves short values and ordinary words alone", () => {
        const { text } = createScrubber([
            { name: "env:A_KEY", value: "true" },
            { name: "env:B_KEY", value: "password" },
            { name: "env:C_KEY", value: "xxxxxxxxxxxx" },
            { name: "env:D_KEY", value: "" },
        ]);
        expect(text("true password xxxxxxxxxxxx")).toBe("true password xxxxxxxxxxxx");
    });
    test("the longer of two secrets that overlap wins; later ones count too", () => {
        const { text, add } = createScrubber([{ name: "a", value: "abcdefgh" }]);
        add({ name: "b", value: "abcdefgh-ijkl" });
        expect(text("abcdefgh-ijkl abcdefgh")).toBe("[secret b] [secret a]");
    });
    test("a key named __proto__ stays a key", () => {
        const { scrub } = createScrubber([secret]);
        expect(JSON.stringify(scrub(JSON.parse(`{"__proto__": {"a": ${JSON.stringify(secret.value)}}}`)))).toBe(
            '{"__proto__":{"a":"[secret env:API_KEY]"}}',
        );
    });
    test("no secret survives in any text around it, and the rest of the text does", () => {
        const hidden = fc
            .string({ minLength: 10, maxLength: 30, unit: "grapheme" })
            .filter((one) => one.length >= 10 && !/^(.)\1*$/.test(one) && !one.includes("secret") && !one.includes("\ufffd"));
        fc.assert(
            fc.property(hidden, fc.string(), fc.string(), (value, before, after) => {
                const { scrub } = createScrubber([{ name: "n", value }]);
                const out = JSON.stringify(scrub([before + value + after, { [value]: value }]));
                expect(out.includes(JSON.stringify(value).slice(1, -1))).toBe(false);
                expect((scrub(`${before}\n${value}\n${after}`) as string).includes("[secret n]")).toBe(true);
            }),
        );
    });
    test("PI8: what is concealed for the saved state is revealed as it was, and holds no secret meanwhile", () => {
        const few = fc.string({ minLength: 8, maxLength: 14, unit: fc.constantFrom(..."abc") });
        fc.assert(
            fc.property(fc.array(few, { minLength: 1, maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }), (values, shape) => {
                const { conceal, reveal, text } = createScrubber(values.map((value, i) => ({ name: `n${i}`, value })));
                const [first = ""] = values;
                const coded = Buffer.from(first).toString("base64");
                const json = [
                    shape as Json,
                    { [`<${first}>`]: [`${first}${first}`, coded, { $pieces: [first] }], $pieces: 1, __proto__: null },
                    JSON.parse(`{"__proto__": ${JSON.stringify(first)}, "$entries": [[1, ${JSON.stringify(shape)}]]}`) as Json,
                ] as Json;
                const kept = JSON.stringify(conceal(json));
                expect(text(kept)).toBe(kept);
                expect(JSON.stringify(reveal(JSON.parse(kept) as Json))).toBe(JSON.stringify(json));
            }),
        );
    });
    test("PI8: a secret that is not known now is named, and nothing stands for it", () => {
        const kept = createScrubber([secret]).conceal({ [secret.value]: 1 });
        expect(() => createScrubber().reveal(kept)).toThrow("the secret env:API_KEY, which is not known here");
    });
    test("SR5: a text in pieces comes out as it would in one, whatever the cuts", () => {
        const few = fc.string({ minLength: 8, maxLength: 14, unit: fc.constantFrom(..."abc") });
        const around = fc.string({ maxLength: 12, unit: fc.constantFrom(..."abc-") });
        fc.assert(
            fc.property(
                fc.array(few, { minLength: 1, maxLength: 3 }),
                fc.array(around),
                fc.infiniteStream(fc.nat(9)),
                (values, texts, cuts) => {
                    const { text, hold } = createScrubber(values.map((value, i) => ({ name: `n${i}`, value })));
                    const whole = texts.flatMap((one, i) => [one, values[i % values.length] as string]).join("");
                    let out = "";
                    let held = "";
                    for (let at = 0; at < whole.length; ) {
                        const size = (cuts.next().value as number) + 1;
                        held += whole.slice(at, at + size);
                        at += size;
                        const from = hold(held);
                        out += text(held.slice(0, from));
                        held = held.slice(from);
                    }
                    expect(out + text(held)).toBe(text(whole));
                },
            ),
        );
    });
    test("SR7: the beginning of a text is the beginning of the text without its secrets, wherever it is cut", () => {
        const few = fc.string({ minLength: 8, maxLength: 14, unit: fc.constantFrom(..."abc") });
        const around = fc.string({ maxLength: 12, unit: fc.constantFrom(..."abc-") });
        fc.assert(
            fc.property(fc.array(few, { minLength: 1, maxLength: 3 }), fc.array(around), fc.nat(60), (values, texts, room) => {
                const { text, beginning } = createScrubber(values.map((value, i) => ({ name: `n${i}`, value })));
                const whole = texts.flatMap((one, i) => [one, values[i % values.length] as string]).join("");
                const begun = beginning(whole, room);
                expect(text(whole).startsWith(begun.text)).toBe(true);
                expect(begun.more || begun.text === text(whole)).toBe(true);
                // Without a secret in it as much is left as was asked for.
                if (begun.more && text(whole) === whole) expect(begun.text.length).toBeGreaterThanOrEqual(room);
            }),
        );
    });
    test("SR7: the end of a text is the end of the text without its secrets, wherever it is cut, also where it was cut before", () => {
        const few = fc.string({ minLength: 8, maxLength: 14, unit: fc.constantFrom(..."abc") });
        const around = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(..."xyz-") });
        fc.assert(
            fc.property(
                fc.array(few, { minLength: 1, maxLength: 3 }),
                fc.array(around),
                fc.nat(60),
                fc.nat(60),
                (values, texts, room, left) => {
                    const { text, ending } = createScrubber(values.map((value, i) => ({ name: `n${i}`, value })));
                    const whole = texts.flatMap((one, i) => [values[i % values.length] as string, one]).join("");
                    const kept = whole.slice(Math.max(0, whole.length - left));
                    for (const ended of [ending(whole, room), ending(kept, room, kept !== whole)]) {
                        expect(text(whole).endsWith(ended.text)).toBe(true);
                        expect(ended.more || ended.text === text(whole)).toBe(true);
                    }
                    const ended = ending(whole, room);
                    if (ended.more && text(whole) === whole) expect(ended.text.length).toBeGreaterThanOrEqual(room);
                },
            ),
        );
    });
    test("base64 of any text that holds the secret shows none of its middle", () => {
        const letters = fc
            .string({ minLength: 12, maxLength: 24, unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz0123456789") })
            .filter((one) => !/^(.)\1*$/.test(one));
        fc.assert(
            fc.property(letters, fc.string(), fc.string(), (value, before, after) => {
                const encoded = Buffer.from(before + value + after).toString("base64");
                expect(createScrubber([{ name: "n", value }]).text(encoded)).toContain("[secret n]");
            }),
        );
    });
});

test("a large value of a saved state is looked through as a value, also where JSON stands within JSON in it", () => {
    const secret = 'pa"ss\\wo"rd-1234';
    const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
    const value = { held: escaped(escaped(secret)), rows: Array.from({ length: 900 }, (_, n) => `row ${n}`) };
    const source =
        'import tool T from "http://example.test"\nmain agent A { role "r" description "d" main func(input) {\nx = T.get("a")\nT.get(x)\n} }';
    const machine = Machine.start(new Compiled(formOf(source, false)), { ...OPTIONS, input: {} });
    for (machine.advance(); machine.pending[0]?.path !== "main/T.get#1"; machine.advance()) {
        const [{ path, request }] = machine.pending as [Effect];
        const isDescribed = (request as { op?: Json }).op === "describe";
        const methods = [{ name: "get", input: { type: "object" }, readOnly: true }];
        machine.resolve(path, { ok: true, value: isDescribed ? { methods } : value, origins: ["tool:T"] });
    }
    const saved = JSON.stringify(machine.save({ image: true }));
    expect(saved).toContain('"of":"json"');
    const scrubber = createScrubber([{ name: "env:K", value: secret }]);
    expect(JSON.stringify(scrubber.conceal(JSON.parse(saved) as Json))).not.toContain("wo");
});
