/** Contracts of functions: of a Standard Schema (real zod), and what a module of another copy of this package says of origins. */
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { z } from "zod";
import { failureOf, RemitError } from "../../src/failure/error.ts";
import { networkCode } from "../../src/failure/network.ts";
import { method } from "../../src/tool/functions.ts";
import { call, failure, perform, work } from "./setup.ts";

const REFUND = z.object({ order: z.string().min(1), amount: z.number().max(500), note: z.string().default("none") });

test("a function is given objects of its own, as usual ones: the same in this process as on a worker elsewhere", async () => {
    await using here = work();
    const change = (given: { list: number[] }): string => `${given} ${given.list.push(2)}`;
    const rename = (given: { name?: string; n: number }): string => {
        delete given.name;
        return `${given} ${given.n++} ${Object.keys(given)} ${Object.getPrototypeOf(given) === Object.prototype}`;
    };
    const tools = here.tools(undefined, {
        Work: { change: { call: change }, rename: { call: rename }, sort: { call: (given: number[]) => given.sort() } },
    });
    // As the machine makes them.
    const own = <T extends object>(parts: T): T => Object.assign(Object.create(null), parts) as T;
    const given = own({ list: [1] });
    expect(await call(tools, "host:Work", "change", given)).toBe("[object Object] 2");
    expect(given.list).toEqual([1]);
    const flat = own(JSON.parse('{"name":"a","n":1,"__proto__":"b"}') as { name: string; n: number });
    expect(await call(tools, "host:Work", "rename", flat)).toBe("[object Object] 1 n,__proto__ true");
    expect(JSON.stringify(flat)).toBe('{"name":"a","n":1,"__proto__":"b"}');
    const list = [2, 1];
    expect(await call(tools, "host:Work", "sort", list)).toEqual([1, 2]);
    expect(list).toEqual([2, 1]);
});

test("a function of the calling program is held to the schema that it brings, and a model is shown it", async () => {
    await using here = work();
    const Pay = {
        refund: method({
            description: "Pays back.",
            input: REFUND,
            output: z.object({ said: z.string() }),
            call: (given) => ({ said: `${given.amount} ${given.note}` }),
        }),
        lies: { input: REFUND, output: z.number(), call: () => "text" },
    };
    const tools = here.tools(undefined, { Pay });
    expect(await call(tools, "host:Pay", "refund", { order: "a", amount: 3 })).toEqual({ said: "3 none" });
    const bad = await failure(tools, "host:Pay", "refund", { order: "", amount: 501 });
    expect(bad.message).toMatch(/the argument of T\.refund does not hold its contract: order: .*; amount: /);
    expect((await failure(tools, "host:Pay", "lies", { order: "a", amount: 1 })).message).toMatch(
        /what T\.lies gave does not hold its contract/,
    );
    expect((await tools.describe({ name: "Pay", uri: "host:Pay", file: "" })).methods[0]).toMatchObject({
        name: "refund",
        description: "Pays back.",
        input: { properties: { order: { type: "string", minLength: 1 }, amount: { maximum: 500 } }, required: ["order", "amount"] },
    });
    // What has no JSON Schema is told, not hidden.
    const Odd = { at: { input: z.object({ on: z.date() }), call: () => 1 } };
    await expect(here.tools(undefined, { Odd }).describe({ name: "Odd", uri: "host:Odd", file: "" })).rejects.toThrow(
        /at is no JSON Schema/,
    );
});

test("an error of another realm (Jest, `vm`) is one: of a tool, of the network, and under the brand of ours", async () => {
    const made = (text: string): unknown => runInNewContext(text);
    await using here = work();
    const Shop = { order: () => Promise.reject(made('new TypeError("no stock")')) };
    expect((await failure(here.tools(undefined, { Shop }), "host:Shop", "order", {})).message).toMatch(/(?<!Error: )no stock$/);
    expect(failureOf(made('new Error("broken")'), "tool").message).toBe("broken");
    expect(networkCode(made('new Error("it failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) })'))).toBe(
        "ECONNREFUSED",
    );
    expect(made('Object.assign(new Error(), { [Symbol.for("remit.error")]: "RemitError" })') instanceof RemitError).toBe(true);
});

test("a module's functions may bring a schema, and say where parts of what they give come from", async () => {
    await using here = work();
    const module = (path: string): string => JSON.stringify(import.meta.resolve(path));
    here.write(
        "tools.ts",
        `import { z } from ${module("zod")};
import { withOrigins } from ${module("../../src/tool/origins.ts")};
export const refund = {
    description: "Pays back.",
    readOnly: false,
    input: z.object({ amount: z.number().max(500) }),
    call: ({ amount }: { amount: number }, about: { signal: AbortSignal }) => [amount, about.signal.aborted],
};
export const mail = () => withOrigins({ from: "eve", body: "x" }, { "/body": ["sender:eve"] });
export const plain = { call: 3 };
`,
    );
    const tools = here.tools(here.config({ allow: { local: ["tools.ts"] } }));
    expect(await call(tools, "./tools.ts", "refund", { amount: 3 })).toEqual([3, false]);
    expect((await failure(tools, "./tools.ts", "refund", { amount: "3" })).message).toContain("the argument of T.refund does not hold");
    expect(await perform(tools, "./tools.ts", "mail", [])).toMatchObject({
        ok: true,
        value: { from: "eve", body: "x" },
        parts: { "/body": ["sender:eve"] },
    });
    expect((await tools.describe({ name: "T", uri: "./tools.ts", file: "main.remit" })).methods).toMatchObject([
        { name: "mail", readOnly: false },
        { name: "refund", description: "Pays back.", writes: true, input: { properties: { amount: { maximum: 500 } } } },
    ]);
    expect((await failure(tools, "./tools.ts", "plain", {})).message).toContain("'plain' is not a function");
});
