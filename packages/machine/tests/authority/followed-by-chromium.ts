/**
 * What a real browser would load or link in generated hostile texts, held against `addresses`: `node packages/machine/tests/authority/followed-by-chromium.ts
 * [TIMES] [SEED]`. Ends with 1 where the browser follows a text in which no address is found. Each text is read as HTML, and as marked and
 * commonmark render it. Not part of `npm test`: it starts Chromium (`REMIT_TEST_CHROMIUM`).
 */
import { HtmlRenderer, Parser } from "commonmark";
import { parse } from "marked";
import { chromium } from "playwright-core";
import { addressesIn } from "../../src/authority/addresses.ts";
import { dice, hostile } from "./texts.ts";

const [times = "10000", seed = "1"] = process.argv.slice(2);
const BATCH = 250;

/** In the page: where elements of a document that was made of a text lead off the page. Scripts do not run in it, and nothing is loaded. */
const FOLLOWED = `(texts) => texts.map((text) => {
    const made = new DOMParser().parseFromString('<base href="https://page.invalid/">' + text, "text/html");
    for (const element of made.querySelectorAll("*:not(base)"))
        for (const name of ["href", "src", "action", "formaction", "data", "poster", "background", "cite", "ping"]) {
            const given = element.getAttribute(name);
            if (given === null || !URL.canParse(given, "https://page.invalid/")) continue;
            const url = new URL(given, "https://page.invalid/");
            if (url.protocol !== "https:" || url.host !== "page.invalid") return element.tagName + " " + name + " " + url.href;
        }
    return null;
})`;

const executablePath = process.env["REMIT_TEST_CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const page = await browser.newPage();
const roll = dice(Number(seed));
const [reader, writer] = [new Parser(), new HtmlRenderer()];
let led = 0;
const missed: (readonly [string, string])[] = [];
for (let done = 0; done < Number(times); done += BATCH) {
    const texts = Array.from({ length: Math.min(BATCH, Number(times) - done) }, () => hostile(roll));
    const shown = texts.flatMap((text) => [text, parse(text, { async: false }), writer.render(reader.parse(text))]);
    const found = (await page.evaluate(`(${FOLLOWED})(${JSON.stringify(shown)})`)) as (string | null)[];
    texts.forEach((text, at) => {
        const to = found.slice(3 * at, 3 * at + 3).find((one) => one !== null);
        if (to === undefined || to === null) return;
        led++;
        if (addressesIn(text).length === 0) missed.push([text, to]);
    });
}
await browser.close();
for (const [text, to] of missed.slice(0, 20)) console.log(`${JSON.stringify(text)} leads to ${to}`);
console.log(`${led} of ${times} texts lead off the page, ${missed.length} of them without an address`);
process.exitCode = missed.length === 0 ? 0 : 1;
