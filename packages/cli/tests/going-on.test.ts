/** A run that a limit stopped says how it goes on, and does. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
});
afterEach(() => at.clear());

test("too deep, with the bound that its hint names; nothing is performed again", () => {
    at.write("ws/a.txt", "x");
    at.write(
        "p.remit",
        `import tool Repo from "file://workspace"
func deep(n) { if n == 0 { return 0 }  deep(n - 1) + 1 }
main agent A {
    main func() {
        text = Repo.read({ path: "a.txt" }).content
        text + deep(1500)
    }
}
`,
    );
    const failed = at.remit("run", "p.remit", "-w", "ws");
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining("limit.depth") });
    const hint = /remit (resume \S+ --raise depth=5000)/.exec(failed.err);
    at.write("ws/a.txt", "another text");
    expect(at.remit(...(hint?.[1] ?? "").split(" "))).toMatchObject({ code: 0, out: expect.stringContaining("x1500") });
    expect(at.remit("resume", "last", "--raise", "width=1").err).toContain("bytes, depth, memory, usd, time");
});
