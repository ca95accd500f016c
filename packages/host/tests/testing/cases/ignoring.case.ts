import { auditBeforeAssertion } from "@remit/host/vitest";
import { test } from "vitest";
import { clean, refused } from "./flow.ts";

const expect = auditBeforeAssertion({ ignore: ["flow-refused"], invariants: ['Sender never Mail.send outside "bob" of to'] });

test("refused passes where a test is about refusals", async () => {
    expect(await (await refused())({ to: "bob", evil: true })).toBe(false);
});
test("an invariant that holds passes", async () => {
    expect(await (await clean())({ to: "bob" })).toBe(true);
});
test("an invariant that does not hold fails", async () => {
    expect(await (await clean())({ to: "eve" })).toBe(true);
});
