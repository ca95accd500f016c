/** What a client is told of the origins of a result (STL1). */
import { expect, test } from "vitest";
import { statedOf } from "../src/mcp/stated.ts";

test.each([
    [[], "trusted", "public"],
    [["user", "mcp:tester", "model:Claude", "endorsed:main.remit:3"], "trusted", "public"],
    [["mcp:other"], "untrusted", "public"],
    [["user", "tool:Inbox"], "untrusted", "public"],
    [["choice:tool:Inbox", "user"], "untrusted", "public"],
    [['only:["ann"]', "user"], "trusted", "private"],
    [['choice:only:["ann"]'], "trusted", "private"],
    [undefined, "untrusted", "private"],
] as const)("%j", (origins, integrity, confidentiality) => {
    expect(statedOf(origins, ["mcp:tester"])).toEqual({ integrity, confidentiality });
});
