/** The example of an input that a message gives names what the program takes, and the program takes it. */
import { load } from "@remit/host";
import { expect, test } from "vitest";
import { inputExample } from "../src/input-example.ts";

test.each([
    ["main func(name: string, n: number = 2) { name }", '{"name":"…"}'],
    ["main func(input: { text: string, note: string? }) { input.text }", '{"text":"…","note":null}'],
    ["main agent A { main func(input { tags: list[string], n: number }) { input.n } }", '{"tags":[],"n":1}'],
    ['shape Order { id: string, size: "s" | "l" }\nmain func(order: Order) { order.id }', '{"id":"…","size":"s"}'],
    ["main func(flag: boolean) { flag }", '{"flag":true}'],
    ["func helper(x) { x }\nmain func() { 1 }", "{}"],
])("%s", async (source, wanted) => {
    const program = await load({ source }, { cache: false, ledger: "memory" });
    expect(inputExample(program.form)).toBe(wanted);
    expect(await program.run(JSON.parse(wanted)).result).toMatchObject({ ok: true });
    await program.close();
});
