/** A value that may not go where it was sent: the failure names the command that shows its way, and that command shows it (F33). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeAll(() => {
    at = room();
    at.write("hello.txt", "hi");
    at.write(
        "flow.remit",
        `import tool Repo from "file://workspace" { arg content: trusted }
func id(x, q) { if q == "x" { return x } { content: q } }
main func(q: string) {
    found = Repo.read({ path: "hello.txt" })
    Repo.write({ path: "o.txt", content: id(found, q).content })
}
`,
    );
});
afterAll(() => at.clear());

test("F33: a refused flow ends with the way from where it entered to where it stood", () => {
    const ran = at.remit("run", "flow.remit", "--input", '"x"', "--workspace", ".");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("violation.flow");
    const [, run, where] = /the way: remit why (\S+) '([^']+)'/.exec(ran.err) as RegExpExecArray;
    const why = at.remit("why", run as string, where as string);
    expect(why.code).toBe(0);
    const lines = why.out.trimEnd().split("\n");
    expect(lines[0]).toBe(`${where} carries tool:Repo`);
    expect(lines.slice(1).map((line) => line.trim().split(/ {2,}/).slice(0, 3))).toEqual([
        ["tool Repo.read", "flow.remit:4:13", 'Repo.read({ path: "hello.txt" })'],
        ["flow.remit:5:42", "id(found, q)", "main"],
    ]);
});
