/** Values from the world that are nested deeper than any stack, or larger than any of a program's: refused, with and without secrets to look for. */
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { load } from "../../src/run/program.ts";

function nested(depth: number): Json {
    let value: Json = [];
    for (let i = 0; i < depth; i++) value = [value];
    return value;
}

const PROGRAM = `import tool World from "host:World"
main agent {
    main func(input: { bytes?: list }) { World.say() }
}
`;

test.each([{}, { API_TOKEN: "hunter2-hunter2" }])("with the environment %j", async (env) => {
    const tools = { World: { say: { call: () => nested(50_000) } } };
    const program = await load({ source: PROGRAM }, { env, tools, cache: false } as never);
    const told = await program.run({}).result;
    expect(told).toMatchObject({
        ok: false,
        failure: { kind: expect.stringMatching(/^(value|tool)$/), message: expect.stringContaining("deep") },
    });
    const given = await Promise.resolve()
        .then(() => program.run({ bytes: nested(50_000) } as never).result)
        .catch((error: unknown) => ({ ok: false, failure: (error as { failure?: unknown }).failure }));
    expect(given).toMatchObject({ ok: false, failure: { kind: "value", message: expect.stringContaining("deep") } });
    await program.close();
});

test("PE4: a text or a list from outside is no larger than one that a program makes; the program can catch it", async () => {
    const most = 64 * 1024 * 1024;
    const values: { [name: string]: Json } = { text: "x".repeat(most), long: ["x".repeat(most + 1)] };
    const tools = { World: { say: { call: (name: string) => values[name] as Json } } };
    const source = `import tool World from "host:World"
main func(input) {
    said = try { World.say(input) } catch failure { failure.kind + ": " + failure.message }
    if said.length > 1000 { return said.length }
    said
}`;
    const program = await load<Json, Json>({ source }, { tools, cache: false });
    expect(await program("text")).toBe(most);
    expect(await program("long")).toBe("limit.bytes: a string may hold 67108864 characters, and this one has 67108865");
    const many: Json = Array(10_000_001).fill(0);
    for (const [input, why] of [
        [values["long"] as Json, "a string may hold 67108864 characters"],
        [{ many }, "a list may hold 10000000 items, and this one has 10000001"],
    ] as const) {
        const message = expect.stringContaining(`the input is too large: ${why}`);
        await expect((async () => program(input))()).rejects.toMatchObject({ failure: { kind: "limit.bytes", message } });
    }
    await program.close();
});
