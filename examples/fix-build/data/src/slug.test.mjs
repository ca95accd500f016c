import assert from "node:assert/strict";
import { test } from "node:test";
import { slug } from "./slug.mjs";

test("every run of other characters is one hyphen", () => {
    assert.equal(slug("Frequently asked questions"), "frequently-asked-questions");
});
