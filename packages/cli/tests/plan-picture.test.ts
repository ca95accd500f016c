/** Plans as pictures: SVG in a real browser, and lines that fill in on a terminal (played by a real emulator). */
import { spawn } from "node:child_process";
import headless from "@xterm/headless";
import * as fc from "fast-check";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { screen } from "../src/screen.ts";
import { BIN, type Room, room } from "./remit.ts";

const { Terminal } = headless;

let here: Room;
beforeAll(() => {
    here = room();
    here.write(
        "pair.remit",
        `func shout(text: string) { text.upper() + "!" }
memory static (
    ( shout "a" <*> shout "b" >=> when "contains z" >=> shout >=> ( shout <*> shout ) >=> merge )
    >=> merge
    >=> memory static ( ( shout <*> shout ) >=> merge )
) as pair
`,
    );
});
afterAll(() => here.clear());

/** What stands on a terminal that got this. */
async function shownBy(seen: string, columns: number, rows: number): Promise<string[]> {
    const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true });
    await new Promise<void>((done) => terminal.write(seen, done));
    const { active } = terminal.buffer;
    return Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? "");
}

/** In the page, which has types of its own. */
const LOOK = `(svg) => {
    const kinds = [...new DOMParser().parseFromString(svg, "image/svg+xml").querySelectorAll("*")].map((one) => one.tagName);
    const of = (one) => one.getBoundingClientRect();
    const boxes = [...document.querySelectorAll("rect.node")].map(of);
    const texts = [...document.querySelectorAll("g > rect.node ~ text")];
    return {
        kinds: [...new Set(kinds)].sort(),
        nodes: boxes.length,
        apart: boxes.every((a, i) => boxes.every((b, j) => i >= j || a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top)),
        inside: texts.every((text) => of(text).right <= of(text.parentElement.querySelector("rect")).right),
        title: document.title,
    };
}`;

test("the picture of a plan is sound SVG in a browser, its nodes stand apart, and no text of the program becomes markup", async () => {
    here.write(
        "hostile.remit",
        `func f(text: string) { text }
memory static ( ( f "</text><script>document.title = 'taken'</script>" <*> f "&amp; ]]> <!-- \\u{202e} \\u{7}" >=> f <*> f "a" ) >=> merge )
`,
    );
    const flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
    await using browser = await chromium.launch({ executablePath: process.env.REMIT_TEST_CHROMIUM ?? "/usr/bin/chromium", args: flags });
    const page = await browser.newPage();
    for (const [file, count] of [
        ["pair.remit", 12],
        ["hostile.remit", 5],
    ] as const) {
        const { code, out } = here.remit("plan", file, "--svg");
        expect(code).toBe(0);
        await page.setContent(`<body>${out}</body>`);
        const sound = await page.evaluate(`(${LOOK})(${JSON.stringify(out)})`);
        expect(sound).toEqual({
            kinds: ["defs", "g", "marker", "path", "rect", "style", "svg", "text", "title"],
            nodes: count,
            apart: true,
            inside: true,
            title: "",
        });
        expect(out).not.toContain("\u202e");
        expect(out).not.toContain("\u0007");
    }
});

test("--svg names every node, its place, and is one form of three", () => {
    const { out } = here.remit("plan", "pair.remit", "--svg");
    for (const text of ["shout#0", "when#0", "pair.remit:3:7", "memory static block as pair", "block#0: memory static block"])
        expect(out).toContain(text);
    expect(here.remit("plan", "pair.remit", "--svg", "--json")).toMatchObject({ code: 2, out: "" });
});

test("on a terminal the plan stays with the state of every node, those of nested blocks below theirs", async () => {
    const { code, seen } = here.onTerminal({ columns: 80, rows: 30 }, "run", "pair.remit");
    expect(code).toBe(0);
    const shown = (await shownBy(seen, 80, 60)).map((line) =>
        line
            .replace(/\d+ ms/, "N ms")
            .replace(/ +/g, " ")
            .trimEnd(),
    );
    const at = shown.indexOf("memory static block as pair");
    expect(shown.slice(at, at + 14)).toEqual([
        "memory static block as pair",
        '┌ ✓ shout#0 N ms "a"',
        '├ ✓ shout#1 N ms "b"',
        '│ ✓ when#0 N ms "contains z"',
        "│ – shout#2 skipped",
        "│ ┌ – shout#3 skipped",
        "│ └ – shout#4 skipped",
        "└ – merge#0 skipped",
        "✓ merge#1 N ms",
        "✓ block#0 N ms",
        " ┌ ✓ shout#0 N ms",
        " └ ✓ shout#1 N ms",
        " ✓ merge#0 N ms",
        expect.stringMatching(/^run \S+ · done/),
    ]);
    expect(shown.slice(0, at).join("")).toBe("");
});

test.each([
    ["too few rows", { columns: 80, rows: 8 }, []],
    ["too few columns", { columns: 30, rows: 30 }, []],
    ["--quiet", { columns: 80, rows: 30 }, ["--quiet"]],
    ["--json", { columns: 80, rows: 30 }, ["--json"]],
    ["no terminal that draws", { columns: 80, rows: 30, env: { TERM: "dumb" } }, []],
] as const)("no picture with %s", (_, how, more) => {
    const { code, seen } = here.onTerminal(how, "run", "pair.remit", ...more);
    expect(code).toBe(0);
    expect(seen).not.toContain("┌");
});

test("a node that fails is marked, and so are those that it stopped", async () => {
    here.write("bad.remit", 'func fail(x) { raise "no" }\nmemory static ( ( fail 1 <*> wait 10min ) >=> merge ) as bad\n');
    const { seen } = here.onTerminal({ columns: 80, rows: 30 }, "run", "bad.remit");
    const shown = (await shownBy(seen, 80, 40)).map((line) => line.replace(/\d+ ms/, "N ms").replace(/ +/g, " "));
    expect(shown).toContain("┌ ✗ fail#0 N ms 1");
    expect(shown).toContain("└ ○ wait#0 cancelled 600000");
    expect(shown).toContain("· merge#0");
});

test("Ctrl-C leaves the plan as it stood, once, and the cursor below it", async () => {
    here.write("long.remit", 'memory static ( ( echo "a" <*> echo "b" >=> wait 10min ) >=> merge ) as long\n');
    const line = `stty cols 80 rows 30; '${process.execPath}' '${BIN}' run long.remit`;
    const shell = spawn("script", ["-qec", line, "/dev/null"], { cwd: here.folder, env: { ...here.env, TERM: "xterm" } });
    let seen = "";
    let stopped = false;
    shell.stdout.on("data", (piece) => {
        seen += piece;
        if (stopped || !/echo#1[^\n]*\n[^\n]*wait#0/.test(seen)) return;
        stopped = true;
        shell.stdin.write("\u0003");
    });
    const code = await new Promise<number | null>((done) => shell.on("close", done));
    expect(code).toBe(130);
    const shown = (await shownBy(seen, 80, 40)).map((one) => one.replace(/\d+ ms/, "N ms").replace(/ +/g, " "));
    expect(shown.filter((one) => one.startsWith("memory static block as long"))).toHaveLength(1);
    expect(shown).toContain("└ ○ wait#0 stopped 600000");
    expect(shown.indexOf("· merge#0")).toBeLessThan(shown.findIndex((one) => one.includes("· stopped ·")));
    // what was switched off for a frame is on again, and the cursor was never hidden
    expect(seen.lastIndexOf("\u001b[?7h")).toBeGreaterThan(seen.lastIndexOf("\u001b[?7l"));
    expect(seen).not.toContain("\u001b[?25l");
});

test("[SCR1] whatever is drawn and however the terminal is resized, only what was kept is left", async () => {
    const line = fc.oneof(fc.string({ maxLength: 38 }), fc.constantFrom("漢字かな交じり文", "┌ ✓ a#0", ""));
    const clean = line.map((text) =>
        text
            .replace(/[^\x20-\x7e\u2500-\u257f\u2713\u3000-\u9fff]/g, "x")
            .slice(0, 19)
            .trimEnd(),
    );
    const step = fc.oneof(
        fc.record({ draw: fc.array(clean, { minLength: 1, maxLength: 6 }) }),
        fc.record({ columns: fc.integer({ min: 20, max: 90 }) }),
        fc.record({ keep: clean.filter((text) => text !== "") }),
    );
    await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
            const terminal = new Terminal({ cols: 80, rows: 24, allowProposedApi: true, convertEol: true, scrollback: 500 });
            const wrote: Promise<void>[] = [];
            const stream = {
                columns: 80,
                write: (text: string): boolean => {
                    wrote.push(new Promise((done) => terminal.write(text, done)));
                    return true;
                },
            };
            const area = screen(stream as unknown as NodeJS.WriteStream);
            const kept: string[] = [];
            for (const one of steps) {
                if ("draw" in one) area.draw(one.draw);
                else if ("keep" in one) {
                    area.keep([one.keep]);
                    kept.push(one.keep);
                } else {
                    await Promise.all(wrote);
                    terminal.resize(one.columns, 24);
                    stream.columns = one.columns;
                }
            }
            area.clear();
            await Promise.all(wrote);
            terminal.resize(90, 24);
            const { active } = terminal.buffer;
            const left = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? "");
            expect(left.filter((text) => text !== "")).toEqual(kept);
        }),
        { numRuns: 60 },
    );
});
