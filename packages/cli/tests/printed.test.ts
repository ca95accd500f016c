/** What the commands that read and continue runs print: the words and figures, not the times. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeAll(() => {
    at = room();
    at.write(
        "a.remit",
        `import llm M from "mock:"
main agent A {
    model M
    role "r"
    description "d"
    main func(input: { text: string }) {
        use input.text as "text"
        generate({ input: "Answer." }) -> { ok: boolean }
    }
}
`,
    );
    const usage = { input: 12, output: 3 };
    at.write("replies.json", JSON.stringify([{ json: { ok: true }, usage }]));
    for (const text of ["one", "two"]) at.remit("run", "a.remit", "--input", JSON.stringify({ text }), "--model", "scripted:replies.json");
});
afterAll(() => at.clear());

/** Ids, times and sizes of them taken out. */
function plain(text: string): string {
    return text
        .replaceAll(/[a-z0-9]{8}-[a-z0-9]{8}/g, "RUN")
        .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, "TIME")
        .replaceAll(/\d+(\.\d+)? (ms|s)\b/g, "SPAN")
        .replaceAll(/ +/g, " ")
        .replaceAll(/ +$/gm, "");
}
const ids = (): string[] => (JSON.parse(at.remit("runs", "--json").out) as { id: string }[]).map((run) => run.id);

test("runs, newest first", () => {
    const { code, out } = at.remit("runs");
    expect({ code, out: plain(out) }).toMatchInlineSnapshot(`
      {
        "code": 0,
        "out": "RUN STARTED (UTC) STATE TOOK EFFECTS TOKENS COST PROGRAM
      RUN TIME done SPAN 1 15 a.remit
      RUN TIME done SPAN 1 15 a.remit
      ",
      }
    `);
});

test("cost, by model and place", () => {
    const { code, out } = at.remit("cost", "last");
    expect(code).toBe(0);
    expect(plain(out)).toMatch(/^RUN a\.remit\n M \(.*\)( answered by .*)? A\.main\[0\] 1 turn 12 in 3 out price unknown\n$/);
});

test("diff, line by line; of a run with itself nothing", () => {
    const [second, first] = ids() as [string, string];
    const { code, out } = at.remit("diff", first, second);
    expect({ code, out: plain(out) }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "out": "~ main run.started
       /data/input/text: "one" → "two"
      ~ main/generate#0 generate.started
       /data/items/0/text: "one" → "two"
      ~ main/generate#0/attempt[0] generate.attempt
       /data/messages/1/content/0/text
       …
       [text]
       source: input.text
       - <item-5f1f56>
       - one
       - </item-5f1f56>
       + <item-c0e927>
       + two
       + </item-c0e927>

       Instruction:
       …
      ",
      }
    `);
    const same = at.remit("diff", first, first);
    expect(same).toEqual({ code: 0, out: "", err: "The runs are equal: same steps, same prompts, same results.\n" });
});

test("resume asks about what is unknown, and goes on with the answer", () => {
    at.write(
        "kill.ts",
        `import { load } from ${JSON.stringify(new URL("../../host/src/index.ts", import.meta.url).href)};
const program = await load({ source: 'import tool Work from "host:work"\\nmain func() { Work.wait() }\\n' }, {
    tools: { Work: { wait: () => process.kill(process.pid, "SIGKILL") } }, ledger: process.argv[2] });
program.run(null);
setTimeout(() => undefined, 60_000);
`,
    );
    at.node("kill.ts", join(at.folder, "remit", "ledger.db"));
    expect(plain(at.remit("runs", "--waiting").out)).toContain("interrupted");
    const asked = at.remit("resume", "last");
    expect({ code: asked.code, out: asked.out, err: plain(asked.err) }).toMatchInlineSnapshot(`
      {
        "code": 3,
        "err": "run RUN · waiting · SPAN · 2 steps · 0 effects
      <memory>:2:15: waiting: the run waits for an answer: main/Work.wait#0
       help: remit resume RUN --answer 'main/Work.wait#0=…' (done:JSON where it happened, again where it did not, give-up to let the program fail)
      ",
        "out": "",
      }
    `);
    const done = at.remit("resume", "last", "--answer", 'main/Work.wait#0=done:{"n":5}');
    expect({ code: done.code, value: JSON.parse(done.out), err: plain(done.err) }).toMatchInlineSnapshot(`
      {
        "code": 0,
        "err": "answered: What became of Work.wait? (SPAN)
      run RUN · done · SPAN · 2 steps · 1 effect
      ",
        "value": {
          "n": 5,
        },
      }
    `);
});
