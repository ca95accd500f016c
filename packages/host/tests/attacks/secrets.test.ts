/** Attacks by a server that gives a secret back as its encoders write it. */
import { expect, test } from "vitest";
import { createScrubber } from "../../src/secret/scrub.ts";

const VALUE = `Zx9!k'q/Tr+7 &L<m=Q"w~8*(\\v\u00e9)`;
const again = (text: string): string => JSON.stringify(text).slice(1, -1);
const rfc3986 = encodeURIComponent(VALUE).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
const html = VALUE.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

test.each([
    ["as it is", VALUE],
    ["JSON", again(VALUE)],
    ["JSON in JSON", again(again(VALUE))],
    ["a URL", encodeURIComponent(VALUE)],
    ["a URL, every reserved character encoded", rfc3986],
    ["a URL in lower case", rfc3986.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
    ["a form", new URLSearchParams([["a", VALUE]]).toString().slice(2)],
    ["HTML", html],
    ["HTML with single quotes encoded", html.replaceAll("'", "&#39;")],
    ["base64", Buffer.from(`x${VALUE}y`).toString("base64url").slice(2, -2)],
])("%s", (_name, form) => {
    const { text } = createScrubber([{ name: "env:API_KEY", value: VALUE }]);
    const clean = text(`before ${form} after`);
    expect(clean).toContain("[secret env:API_KEY]");
    // Base64 ends with digits that its neighbours share.
    expect(clean.length).toBeLessThan("before [secret env:API_KEY] after".length + 4);
});
