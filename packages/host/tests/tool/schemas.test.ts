/** SN1: what the checker knows of the runtime's own tools is what they say of themselves. */
import { type Json, toolSchema } from "@remit/language";
import { expect, test } from "vitest";
import { work } from "./setup.ts";

const URIS = [
    ["sh", "sh://find", "sh://grep", "sh://read-range"],
    ["env", "env://process"],
    ["file", "file://workspace"],
    ["shell", "shell:"],
    ["webfetch", "webfetch:"],
    ["skills", "skills:"],
    ["http", "http://127.0.0.1:1"],
    ["https", "https://api.example.com"],
];

test.each(URIS)("%s", async (scheme, ...uris) => {
    await using room = work();
    const found = new Map<string, Set<string>>();
    for (const uri of uris) {
        const { methods } = await room.tools(room.config({})).describe({ name: "T", uri, file: "main.remit" });
        for (const { name, input } of methods) {
            const { properties } = input as { readonly properties: { readonly [name: string]: Json } };
            found.set(name, new Set([...(found.get(name) ?? []), ...Object.keys(properties)]));
        }
    }
    expect(toolSchema("tool", `${scheme}://x`)?.methods).toEqual(found);
});
