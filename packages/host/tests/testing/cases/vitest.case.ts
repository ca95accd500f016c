import { auditBeforeAssertion } from "@remit/host/vitest";
import { expect as plain, test } from "vitest";
import { clean, refused, tainted } from "./flow.ts";

const expect = auditBeforeAssertion();

test("clean passes", async () => {
    expect(await (await clean())({ to: "bob" })).toBe(true);
});
test("tainted fails although its assertion holds", async () => {
    expect(await (await tainted())({})).toBe(true);
});
test("clean passes again", async () => {
    expect(await (await clean())({ to: "bob" })).toBe(true);
    expect.soft(1).toBe(1);
    expect(["a"]).toEqual(expect.arrayContaining(["a"]));
});
test("tainted fails with an expect that looks at nothing", async () => {
    plain(await (await tainted())({})).toBe(true);
});
test("tainted fails where it runs inside the assertion", async () => {
    const program = await tainted();
    await expect(program({})).resolves.toBe(true);
});
test("tainted fails where what is thrown is caught", async () => {
    await (await tainted())({});
    try {
        expect(1).toBe(1);
    } catch {
        // a test that hides it
    }
});
test("refused fails as a refusal", async () => {
    expect(await (await refused())({ to: "bob", evil: true })).toBe(false);
});
test("a failing assertion fails as itself", async () => {
    expect(await (await clean())({ to: "bob" })).toBe(false);
});
test.concurrent("at the same time: clean passes", async () => {
    const program = await clean();
    for (let i = 0; i < 5; i++) await program({ to: "bob" });
});
test.concurrent("at the same time: tainted fails", async () => {
    const program = await tainted();
    for (let i = 0; i < 5; i++) await program({});
});
test.concurrent("at the same time: clean passes too", async () => {
    const program = await clean();
    for (let i = 0; i < 5; i++) await program({ to: "bob" });
});
