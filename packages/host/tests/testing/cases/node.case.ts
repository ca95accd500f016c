import test from "node:test";
import { auditBeforeAssertion } from "@remit/host/node-test";
import { clean, refused, tainted } from "./flow.ts";

const assert: typeof import("node:assert/strict") = auditBeforeAssertion();

test("clean passes", async () => {
    assert.equal(await (await clean())({ to: "bob" }), true);
    assert(true);
    assert.throws(() => assert.equal(1, 2), assert.AssertionError);
});
test("tainted fails although its assertion holds", async () => {
    assert.equal(await (await tainted())({}), true);
});
test("clean passes again", async () => {
    assert.deepEqual(await (await clean())({ to: "bob" }), true);
});
test("tainted fails with no assertion", async () => {
    await (await tainted())({});
});
test("refused fails as a refusal", async () => {
    assert.equal(await (await refused())({ to: "bob", evil: true }), false);
});
