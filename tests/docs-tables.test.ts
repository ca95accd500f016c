/** What pages say holds together: links, the README's list, and tables that say what the implementation does. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkFile } from "@remit/host";
import { EVENT_KINDS, FAILURE_KINDS } from "@remit/machine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failuresPage } from "../packages/cli/src/of-failures.ts";
import { diagnosticErrorsPage, diagnosticsPage } from "../packages/language/scripts/diagnostics-page.ts";
import { SCHEMES } from "../packages/language/src/load/schemes.ts";
import { PRECEDENCE } from "../packages/language/src/syntax/tokens.ts";
import { anchors, inlineCode, links, page, pages, prose, root, tableAfter } from "./docs/pages.ts";

const all = pages();

let room: string;
beforeAll(() => {
    room = mkdtempSync(join(tmpdir(), "remit-docs-"));
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

describe("pages", () => {
    test.each(all.map((one) => [one.name, one] as const))("the links of %s lead somewhere", (_, one) => {
        const wrong = links(one).filter((link) => {
            if (/^[a-z]+:/.test(link)) return false;
            const [path = "", anchor] = link.split("#");
            const target = path === "" ? one.name : join(dirname(one.name), path);
            if (!existsSync(join(root, target))) return true;
            return anchor !== undefined && !anchors(page(target)).includes(anchor);
        });
        expect(wrong).toEqual([]);
    });

    test("every page of docs is linked from the README", () => {
        const linked = links({ name: "README.md", text: page("README.md") });
        expect(all.filter((one) => one.name.startsWith("docs/") && !linked.includes(one.name)).map((one) => one.name)).toEqual([]);
    });

    test("docs/diagnostics.md and docs/diagnostics-errors.md are what the table makes (node packages/language/scripts/diagnostics-page.ts)", () => {
        expect(page("docs/diagnostics.md")).toBe(diagnosticsPage());
        expect(page("docs/diagnostics-errors.md")).toBe(diagnosticErrorsPage());
        expect(page("docs/failures.md")).toBe(failuresPage());
    });
});

test("CHANGELOG.md says in five minutes what a release is, each release and section once", () => {
    const twice = (headings: readonly string[]): string[] => headings.filter((one, at) => headings.indexOf(one) !== at);
    const text = page("CHANGELOG.md");
    expect(twice(text.match(/^## .*$/gm) ?? [])).toEqual([]);
    for (const release of text.split(/^## /m).slice(1)) {
        expect(twice(release.match(/^### .*$/gm) ?? [])).toEqual([]);
        expect(release.length).toBeLessThan(20_000);
    }
});

test("docs/ledger.md names the kinds of events", () => {
    const text = page("docs/ledger.md");
    const rows = tableAfter(text, "## What is in it").flatMap(([kinds]) => inlineCode(kinds ?? ""));
    expect(EVENT_KINDS.filter((kind) => !rows.includes(kind))).toEqual([]);
    expect(rows.filter((kind) => !(EVENT_KINDS as readonly string[]).includes(kind))).toEqual([]);
});

describe("the language reference", () => {
    const text = all.flatMap((one) => (one.name.startsWith("docs/language") ? [one.text] : [])).join("\n");
    const codes = (cell: string | undefined): string[] => inlineCode(cell ?? "");

    test("operators by precedence", () => {
        const rows = tableAfter(text, "Loosest first.");
        const table = rows.flatMap(([level, operators]) => codes(operators).map((one) => [one, Number(level)] as const));
        expect(Object.fromEntries(table.filter(([one]) => !/x/.test(one) && one !== "not" && one !== "f(…)"))).toEqual(PRECEDENCE);
    });

    test("import kinds and schemes", () => {
        const rows = tableAfter(text, "| kind | schemes |".slice(0, 8));
        const table: Record<string, string[]> = {};
        let last = "";
        for (const [kind, schemes] of rows) {
            // a row without a kind goes on with the one above
            last = codes(kind)[0] ?? last;
            table[last] = [...(table[last] ?? []), ...codes(schemes), ...(/a path/.test(schemes ?? "") ? [""] : [])];
        }
        const sorted = (of: Readonly<Record<string, readonly string[]>>) =>
            Object.fromEntries(Object.entries(of).map(([kind, schemes]) => [kind, [...schemes].sort()]));
        expect(sorted(table)).toEqual(sorted(SCHEMES));
    });

    test("failure kinds and their classes", () => {
        const rows = tableAfter(text, "| kind | class | when |".slice(0, 15));
        expect(Object.fromEntries(rows.map(([kind, of]) => [codes(kind)[0], of]))).toEqual(FAILURE_KINDS);
    });

    test("options of generate", async () => {
        const at = join(room, "main.remit");
        writeFileSync(at, 'main func() { generate({ input: "x", nothing: 1 }) }\n');
        const { diagnostics } = await checkFile(at);
        const hint = diagnostics.find((one) => one.code === "UNKNOWN_GENERATE_OPTION")?.hint ?? "";
        const rows = tableAfter(text, "## generate");
        expect(rows.map(([option]) => codes(option)[0]).sort()).toEqual(hint.replace("the options are ", "").split(", ").sort());
    });

    test("codes that pages name exist", () => {
        const known = page("docs/diagnostics.md") + page("docs/diagnostics-errors.md");
        const wrong = all.flatMap((one) =>
            inlineCode(prose(one))
                .filter(
                    (code) =>
                        /^[A-Z]+(_[A-Z]+)+$/.test(code) &&
                        !/^(REMIT|XDG|AGENTSCRIPT|OLLAMA|OPENAI|ANTHROPIC|GOOGLE|OTEL|RIFF|TEMPORAL|NODE|OPENCODE|CODEX|GEMINI)_|^MODEL_PROVIDER$|^HTTPS?_PROXY$|^NO_COLOR$|^GITHUB_TOKEN$|^LIBRARY_KEY$|^PUBLIC_KEY$/.test(
                            code,
                        ),
                )
                .filter((code) => !known.includes(`\`${code}\``))
                .map((code) => `${one.name}: ${code}`),
        );
        expect(wrong).toEqual([]);
    });
});
