/** A run that a limit stopped says how it goes on, and does. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
    const hint = /goes on: remit (resume \S+ --raise depth=2000)/.exec(failed.err);
    at.write("ws/a.txt", "another text");
    expect(at.remit(...(hint?.[1] ?? "").split(" "))).toMatchObject({ code: 0, out: expect.stringContaining("x1500") });
    expect(at.remit("resume", "last", "--raise", "width=1").err).toContain("bytes, depth, memory, usd, time");
});

test("an amount below the bound in force is refused with both", () => {
    at.write("p.remit", "main func() {\n    i = 0\n    loop until i < 0 max 1000000 { i = i + 1 }\n    i\n}\n");
    expect(at.remit("run", "p.remit", "--max-steps", "500").err).toContain("limit.steps");
    const refused = at.remit("resume", "last", "--raise", "steps=400");
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("--raise steps gives 400, which is less than the 500 that the run may use now");
});

/** The command that standard error says lets the run go on; the first of several. */
function goesOn(err: string): string[] {
    const line = /goes on: remit (resume .*)/.exec(err)?.[1] ?? "";
    return (line.split(", or ")[0] as string).split(" ").map((word) => word.replaceAll("'", ""));
}

test("a `spend` of the program names its account, and the command that raises it", () => {
    at.write("ws/a.txt", "x");
    at.write(
        "p.remit",
        `import tool Repo from "file://workspace"
main func() {
    spend 1 calls { for n in ["a.txt", "a.txt"] max 9 { Repo.read({ path: n }) } }
    "done"
}
`,
    );
    const failed = at.remit("run", "p.remit", "-w", "ws");
    expect(failed.err).toMatch(/goes on: remit resume \S+ --raise 'main\/spend#0:calls=2'/);
    expect(at.remit("resume", "last").err).toMatch(/help: go on with remit resume \S+ --raise 'main\/spend#0:calls=2'/);
    const json = at.remit("run", "p.remit", "-w", "ws", "--json").err.trim().split("\n").at(-1) as string;
    expect(JSON.parse(json)).toMatchObject({
        failure: { kind: "limit.calls", detail: { meter: "calls", limit: 1 } },
        resume: ["--raise 'main/spend#0:calls=2'"],
    });
    expect(at.remit(...goesOn(failed.err))).toMatchObject({ code: 0, out: '"done"\n' });
});

describe("a reply that does not fit its contract", () => {
    const asks = (replies: readonly string[]): string => {
        at.write("replies.json", JSON.stringify(replies));
        at.write(
            "p.remit",
            `import llm M from "scripted:replies.json"
main agent A {
    model M
    role "r"
    description "d"
    main func() { generate({ input: "how many", attempts: 2 }) -> { n: number } }
}
`,
        );
        return at.remit("run", "p.remit").err;
    };
    test("can be given by hand, at the path that is named", () => {
        const err = asks(["none", "still none"]);
        expect(err).toMatch(
            /contract: .*\n(.*\n)* {2}goes on: remit resume \S+ --retry, or --answer 'main\/generate#0\/attempt\[1\]=VALUE'/,
        );
        const wrong = at.remit("resume", "last", "--answer", "main/generate#0/attempt[1]=several");
        expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("contract: ") });
        expect(at.remit("resume", "last", "--answer", 'main/generate#0/attempt[1]={"n":3}')).toMatchObject({
            code: 0,
            out: '{\n  "n": 3\n}\n',
        });
        expect(at.remit("replay", "last").code).toBe(0);
    });
    test("is asked for again: the last attempt alone", () => {
        const err = asks(["none", "still none"]);
        at.write("replies.json", JSON.stringify(['{"n": 4}']));
        expect(at.remit(...goesOn(err))).toMatchObject({ code: 0, out: '{\n  "n": 4\n}\n' });
        const attempts = at.remit("trace", "last").out.match(/attempt \d/g);
        expect(attempts).toEqual(["attempt 1", "attempt 2", "attempt 2"]);
        expect(at.remit("replay", "last").code).toBe(0);
    });
});

test("where the program itself failed, nothing is offered that cannot be", () => {
    at.write("p.remit", 'main func() { raise "no" }\n');
    expect(at.remit("run", "p.remit").err).not.toContain("goes on");
    const refused = at.remit("resume", "last");
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("mend the program and run it again") });
    expect(at.remit("resume", "last", "--retry").code).toBe(2);
});

describe("a missing input", () => {
    beforeEach(() => at.write("p.remit", "main func(name: string, n: number) { [name, n] }\n"));

    test("begins no run, nor does one of another type", () => {
        const missing = at.remit("run", "p.remit", "--input", '{"n": 1}');
        expect(missing).toMatchObject({ code: 2, err: expect.stringMatching(/p\.remit:1:1: contract: Missing input 'name'/) });
        expect(missing.err).toContain("--input");
        expect(at.remit("run", "p.remit", "--input", '{"name": "Ada", "n": "one"}')).toMatchObject({
            code: 2,
            err: expect.stringContaining("n"),
        });
        expect(at.remit("runs").err).toContain("No runs yet");
    });

    test("waits with --park; a wrong path or a value that does not fit changes nothing", () => {
        const parked = at.remit("run", "p.remit", "--input", '{"n": 1}', "--park");
        expect(parked).toMatchObject({ code: 3, err: expect.stringMatching(/remit resume \S+ --answer 'main\/name=VALUE'/) });
        expect(at.remit("resume", "last").code).toBe(3);
        const wrong = at.remit("resume", "last", "--answer", "nix=1");
        expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("'nix'") });
        expect(wrong.err).toContain("it takes answers at main/name (a missing input)");
        expect(at.remit("resume", "last", "--answer", "main/name=again").err).toContain("it takes answers at main/name");
        expect(at.remit("resume", "last", "--answer", "main/name=5")).toMatchObject({
            code: 2,
            err: expect.stringContaining("does not fit"),
        });
        expect(at.remit("resume", "last", "--answer", "main/name=Ada")).toMatchObject({ code: 0, out: '[\n  "Ada",\n  1\n]\n' });
    });
});
