/** What counts as an address in a text. Both lists are held: what is missed lets a link through, what is found without need asks somebody. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cases } from "../cases.ts";
import { addressesIn } from "../../src/authority/addresses.ts";

test.each([
    ["see https://a.example/b?c=d", ["https://a.example/b?c=d"]],
    ["(https://a.example/b).", ["https://a.example/b"]],
    ["[click](https://a.example)", ["click](https://a.example"]],
    ['<a href="https://a.example">x</a>', ['href="https://a.example">x</a']],
    ["HTTP://A.EXAMPLE", ["HTTP://A.EXAMPLE"]],
    ["ftp://1", ["ftp://1"]],
    ["www.evil", ["www.evil"]],
    ["mailto:someone", ["mailto:someone"]],
    ["write to x@localhost", ["x@localhost"]],
    ["a.example/path", ["a.example/path"]],
    ["the file readme.md", ["readme.md"]],
    ["b\u00fccher.example", ["b\u00fccher.example"]],
    ["evil\u3002example", ["evil\u3002example"]],
    ["evil\uff0eexample", ["evil\uff0eexample"]],
    ["ev\u200bil.ex\u200bample", ["ev\u200bil.ex\u200bample"]],
    ["at 192.168.1.7 or so", ["192.168.1.7"]],
    ["IBAN DE75512108001245126199", ["DE75512108001245126199"]],
    ["IBAN DE75 5121 0800 1245 1261 99, please", ["DE75 5121 0800 1245 1261 99"]],
    ["call +47 22 85 50 50!", ["+47 22 85 50 50"]],
    ["call (030) 1234-5678", ["1234-5678", "030 1234-5678"]],
    ["evil&#46;example", ["evil&#46;example"]],
    ["http&colon;&sol;&sol;1", ["http&colon;&sol;&sol;1"]],
    ["x&#X40;localhost", ["x&#X40;localhost"]],
    ["evil%2eexample", ["evil%2eexample"]],
    ["one\u2028https://a.example", ["https://a.example"]],
    ["\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667", ["\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667"]],
    ["//0xCB007107/x", ["//0xCB007107/x"]],
    ["//evil\\.example", ["//evil\\.example"]],
    ["see evil\\.example", ["evil\\.example"]],
    ['<a href="ht\ntp:/\n/ev\til.example/a b">', ["il.example/a", "http://evil.example/a"]],
    ["<a href=http:&#47;/ev&#9;il>", ["href=http:&#47;/ev&#9;il"]],
    ["[x](//ⓔⓥⓘⓛ.ⓒⓞⓜ)", ["x](//ⓔⓥⓘⓛ.ⓒⓞⓜ"]],
    ["ⓔⓥⓘⓛ.ⓒⓞⓜ", ["ⓔⓥⓘⓛ.ⓒⓞⓜ"]],
    ["//evil/x", ["//evil/x"]],
    ["/\\evil/x", ["/\\evil/x"]],
    ["[x](http:evil)", ["x](http:evil"]],
    ["localhost:80", ["localhost:80"]],
    ["\\\\evil\\share", ["\\\\evil\\share"]],
    ["evil=2Ecom", ["evil=2Ecom"]],
    ["<a href='javascript:x()'>", ["href='javascript:x("]],
    ["[x](data:text/html,y)", ["x](data:text/html,y"]],
    ["evil&percnt;2eexample", ["evil&percnt;2eexample"]],
    ["url(\\2f\\2f evil/x)", ["url(//evil/x"]],
    ["[x]( slack:y), not a:b", ["slack:y"]],
    ["see <vscode:x>", ["vscode:x"]],
    ["call 555-0123 or 5550123", ["555-0123", "5550123"]],
])("%s", (text, expected) => {
    expect(addressesIn(text)).toEqual(expected);
});

test.each([
    "",
    "Two pumpkins, ginger and coconut milk. Serves eight, 25 minutes.",
    "I land on 8 May at 13:00, and on 9 May I have dinner with Tiago.",
    "from 2026-05-08 to 2026-05-10T09:00, or 2026-05-08T14:00:00.000Z",
    "14 km, 620 metres up; 12.50 each, 1,150.00 in all",
    "version 9.1 of 10, e.g. i.e. U.S. No. 7...",
    "12, 30, 1234, 5678 in a list",
    "@channel: look, #general",
    "a: b, c/d and and/or",
    "1,000,000 people and 12,345,678.90 of it",
    "data: none, file: none; a javascript: label, and metadata:x",
    "line:80 of a:b, one:two and x:80; <b>: c",
    "the file plumber.txt, src/parser.ts:12, index.d.ts, main.test.tsx and package-lock.json",
    "console.log(process.env), Math.max(a.b, c.length), this.cache.entries and v2.alpha",
    "a // b, 1 / 2, and/or, either\\or, x = 20, ratio=15%",
    'name = "one word" and other = "line one\nline two"',
    "the port of localhost, tel. and data-driven work",
    "R&D, 20%, &#x110000; and &#x; of AT&T",
])("nothing in: %s", (text) => {
    expect(addressesIn(text)).toEqual([]);
});

test("in lists, objects, names of fields and numbers", () => {
    expect([...addressesIn([{ "a.example": 1, b: ["x@y.z", 12345678, 12, null, true] }])].sort()).toEqual([
        "12345678",
        "a.example",
        "x@y.z",
    ]);
});

test("a link is found whatever stands around it", () => {
    const glue = fc.stringMatching(/^[ \n\t(["'*_.,;:!?a-z0-9-]{0,12}$/);
    fc.assert(
        fc.property(glue, glue, fc.constantFrom("https://evil.example/x", "evil@evil.example", "LT601010012345678901"), (a, b, link) => {
            expect(addressesIn(`${a}${link}${b}`).join(" ")).toContain(link.slice(0, 12));
        }),
    );
});

/** What a browser makes of an attribute's value on a page elsewhere; null: it stays there, or is no URL. */
function followed(value: string): string | null {
    // Character references are decoded by the page, before the URL is read (HTML 13.2.5.72).
    const shown = value.replace(/&#x([0-9a-f]+);/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
    if (!URL.canParse(shown, "https://page.invalid/")) return null;
    const url = new URL(shown, "https://page.invalid/");
    return url.protocol === "https:" && url.host === "page.invalid" ? null : url.href;
}

const coded = (text: string): string => [...text].map((char) => `&#x${char.codePointAt(0)?.toString(16)};`).join("");
const PART = fc.constantFrom(
    ...["http", "https", "HTTPS", "ftp", "javascript", "data", "ws", ":", "/", "//", "\\", "\\\\", "///", "@", ":80", "#", "?", "."],
    ...[
        "evil",
        "evil.example",
        "example",
        "0xCB007107",
        "3405803783",
        "203.0.113.7",
        "[::1]",
        "localhost",
        "ⓔⓥⓘⓛ",
        "ⓒⓞⓜ",
        "b\u00fccher",
        "x",
    ],
    ...[
        "\u3002",
        "\uff0e",
        "\u00ad",
        "\u200b",
        "%2e",
        "%65",
        "\t",
        "\n",
        coded("."),
        coded("/"),
        coded("\t"),
        coded(":"),
        coded("evil"),
        " ",
    ],
);

const OPENER = fc.constantFrom("", "", "//", "\\\\/", "http:", "https:/", "\n/\t/", "javascript:", "x:", coded("//"), "ftp&#x3a;");

test("whatever a browser would load from an attribute is an address (WHATWG URL)", () => {
    let leading = 0;
    const runs = cases(1000);
    fc.assert(
        fc.property(OPENER, fc.array(PART, { minLength: 1, maxLength: 7 }), fc.constantFrom('"', "'"), (opener, parts, quote) => {
            const value = opener + parts.join("");
            const target = followed(value);
            if (target === null) return;
            leading++;
            expect(addressesIn(`<a href=${quote}${value}${quote}>now</a>`), target).not.toEqual([]);
        }),
        { numRuns: runs },
    );
    // else the test would hold of a rule that finds nothing
    expect(leading).toBeGreaterThan(runs / 5);
});

test("a long run of slashes of both kinds is looked at once, not from each of its signs", () => {
    expect(addressesIn("\\//".repeat(1_000_000))).toEqual([]);
    expect(addressesIn(`x${"\\//".repeat(1_000_000)}y`)).toHaveLength(1);
});
