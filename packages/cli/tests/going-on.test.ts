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

test("an amount below the bound in force is refused with both", () => {
    at.write("p.remit", "main func() {\n    i = 0\n    loop until i < 0 max 1000000 { i = i + 1 }\n    i\n}\n");
    expect(at.remit("run", "p.remit", "--max-steps", "500").err).toContain("limit.steps");
    const refused = at.remit("resume", "last", "--raise", "steps=400");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("--raise steps gives 400, which is less than the 500 that the run may use now");
});
