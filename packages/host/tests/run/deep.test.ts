/** Values from the world that are nested deeper than any stack: refused as a value, with and without secrets to look for. */
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
