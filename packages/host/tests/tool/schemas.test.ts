/** SN1: what the checker knows of the runtime's own tools is what they say of themselves. */
import { type Json, toolSchema } from "@remit/language";
import { expect, test } from "vitest";
import { work } from "./setup.ts";

const URIS = [
    "sh://find",
    "sh://grep",
    "sh://read-range",
    "env://process",
    "file://workspace",
    "shell:",
    "webfetch:",
    "skills:",
    "http://127.0.0.1:1",
    "https://api.example.com",
];

test.each(URIS)("%s", async (uri) => {
    await using room = work();
    const { methods } = await room.tools(room.config({})).describe({ name: "T", uri, file: "main.remit" });
    const known = toolSchema("tool", uri);
    expect([...(known?.methods.keys() ?? [])]).toEqual(methods.map(({ name }) => name));
    for (const { name, input } of methods) {
        const { properties, required = [] } = input as {
            readonly properties: { readonly [name: string]: Json };
            readonly required?: string[];
        };
        const params = known?.params?.get(name) ?? [];
        expect(known?.methods.get(name)).toEqual(new Set(Object.keys(properties)));
        for (const { name: field, hasDefault, kinds } of params) {
            const { type } = properties[field] as { readonly type?: string };
            // An `sh:` or `file:` tool is held to the kinds of its fields, too.
            if (kinds !== undefined) expect([...kinds]).toEqual([type === "integer" ? "number" : type]);
            if (/^(sh|file):/.test(uri)) expect([name, field, hasDefault]).toEqual([name, field, !required.includes(field)]);
        }
    }
});
