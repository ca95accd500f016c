/** CHF1: `remit debug` of a run whose program is another text now. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { room } from "./remit.ts";

const PROGRAM = "main func() {\n    a = 1\n    a + 1\n}\n";

test("a file that was changed since is told, and one that was only written anew is not", () => {
    const of = room();
    of.write("main.remit", PROGRAM);
    expect(of.remit("run", "main.remit", "-q").code).toBe(0);
    const first = (): string => of.remitWith({ input: "quit\n" }, "debug", "last").out;
    of.write("main.remit", PROGRAM);
    expect(first()).not.toContain("changed");
    of.write("main.remit", `// a line more\n${PROGRAM}`);
    expect(first()).toContain("note: main.remit was changed since this run began: its lines are shown as they are now, not as they ran");
    of.write("main.remit", "main func(");
    expect(first()).toContain("note: main.remit was changed since this run began");
    rmSync(join(of.folder, "main.remit"));
    expect(first()).not.toContain("changed");
    of.clear();
});
