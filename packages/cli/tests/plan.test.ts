/** `remit plan` shows blocks before anything runs; `remit run` runs them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let here: Room;
beforeAll(() => {
    here = room();
    here.write(
        "pair.remit",
        `func shout(text: string) { text.upper() + "!" }
func both(a, b) { a + " and " + b }
memory static ( ( shout "a" <*> shout "b" ) >=> both ) as pair
`,
    );
    here.write("plain.remit", "main func(n: number) { n + 1 }\n");
});
afterAll(() => here.clear());

test("a plan names every node, what it waits for and its place", () => {
    const { code, out } = here.remit("plan", "pair.remit");
    expect(code).toBe(0);
    expect(out).toContain("memory static block as pair, gives both#0");
    expect(out).toMatch(/both#0 +after shout#0, shout#1 +pair\.remit:3:49/);
});

test("what a stage says of how it runs stands in the table", () => {
    here.write("bounded.remit", "func one() { 1 }\nfunc two(n) { n }\nmemory static ( one >=> two with { timeout: 90s, retries: 2 } )\n");
    const { out } = here.remit("plan", "bounded.remit");
    expect(out).toMatch(/NODE +ARGUMENTS +WITH +WAITS FOR +PLACE\n +one#0 +bounded\.remit:3:17\n/);
    expect(out).toMatch(/two#0 +timeout 1 min 30 s, retries 2 +after one#0 +bounded\.remit:3:25/);
});

test("as JSON and as a flowchart", () => {
    const plans = JSON.parse(here.remit("plan", "pair.remit", "--json").out) as { nodes: { id: string }[]; results: string[] }[];
    expect(plans.map((plan) => [plan.nodes.map((node) => node.id), plan.results])).toEqual([
        [["shout#0", "shout#1", "both#0"], ["both#0"]],
    ]);
    expect(here.remit("plan", "pair.remit", "--mermaid").out).toContain("n0 --> n2");
});

test("a file without a block says how one is written", () => {
    expect(here.remit("plan", "plain.remit")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("has no block") });
});

test("remit run runs the blocks, and the trace shows the nodes", () => {
    expect(here.remit("run", "pair.remit")).toMatchObject({ code: 0, out: expect.stringContaining("A! and B!") });
    expect(here.remit("trace", "last").out).toContain("memory static block as pair (3 nodes)");
});

test("remit run --main begins where the program would without its blocks", () => {
    here.write("two.remit", 'agent A { main func() { "A" } }\nmain agent B { main func() { "B" } }\nmemory static ( echo "block" )\n');
    expect(here.remit("run", "two.remit", "-q").out).toBe('"block"\n');
    expect(here.remit("run", "two.remit", "--main", "-q").out).toBe('"B"\n');
    expect(here.remit("run", "pair.remit", "--main")).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringContaining("no main agent and no main func"),
    });
    const two = here.remit("run", "two.remit", "--main", "--agent", "A");
    expect(two).toMatchObject({ code: 2, out: "", err: expect.stringContaining("--main and --agent cannot be used together") });
});

test("a temporal block where no server answers fails with what to do", () => {
    here.write("there.remit", "func one() { 1 }\ntemporal static ( one )\n");
    const { code, err } = here.remit("run", "there.remit", "--address", "127.0.0.1:9");
    expect(code).toBe(1);
    expect(err).toContain("there.remit:2:1: unreachable: no Temporal server answers at 127.0.0.1:9");
    expect(err).toContain("remit temporal dev");
});
