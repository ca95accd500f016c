/**
 * Capabilities and `use` along every way a value can go (rows 11 and 12 of the checklist, D9): a run that would be right is not refused, a
 * run that would put a capability into a prompt is refused before or stopped at it, and where only the run can tell there is a warning.
 */
import { describe, expect, test } from "vitest";
import { type Played, inMain, play, seenBy } from "./harness.ts";

const GEN = '\ngenerate({ input: "q" })';
const FUNCS = `
    func put(l) { l.add(T) }
    func give(n) { T }
    func show(x) {
        use x${GEN}
    }
    func either(t, d) {
        h = d
        t.get({ name: "A" })
        show(h)
    }
    func pick(i) {
        if i.a { return T }
        use i${GEN}
    }
    func id(x)`;

/** `runs`: to its end without a word; `warned`: to its end, with a warning; `stopped`: a violation, with a warning; `refused`: an error. */
type End = "runs" | "warned" | "stopped" | "refused";

const WAYS: readonly (readonly [way: string, text: string, end: End])[] = [
    ["an alias", `t = T\nuse t${GEN}`, "refused"],
    ["an alias of an alias", `t = T\nu = t\nuse u${GEN}`, "refused"],
    ["inside an object", `t = T\nuse { a: [t] }${GEN}`, "refused"],
    ["a variable that holds a list of it", `l = [T]\nuse l${GEN}`, "refused"],
    ["the result of a function", `a = give(1)\nuse a${GEN}`, "refused"],
    ["the result of an agent", `a = W(1)\nuse a${GEN}`, "refused"],
    [
        "assigned in both branches, used in the one that has data",
        `if input.a { x = T  x.get({ name: "A" }) } else { x = "v"\nuse x${GEN} }`,
        "runs",
    ],
    ["changed in one branch, used in the other", `x = none\nif input.a { x = T } else { x = "v"\nuse x${GEN} }`, "warned"],
    ["replaced by data before the use", `x = T\nx = "v"\nuse x${GEN}`, "warned"],
    ["replaced by data after the use, before the generate", `x = T\nuse x\nx = "v"${GEN}`, "warned"],
    ["data that becomes it after the generate", `x = "v"\nuse x${GEN}\nx = T`, "warned"],
    ["data that becomes it between the use and the generate", `x = "v"\nuse x\nif not input.a { x = T }${GEN}`, "stopped"],
    ["an early return", `x = "v"\nif input.a { x = T  return x.get({ name: "A" }) }\nuse x${GEN}`, "warned"],
    ["a property that is replaced", `o = { t: T, n: 1 }\no.t = "v"\nuse o${GEN}`, "warned"],
    ["the replaced property itself", `o = { t: T, n: 1 }\no.t = "v"\nuse o.t${GEN}`, "warned"],
    ["a property that is not replaced", `o = { t: T, n: 1 }\no.n = 2\nuse o.t${GEN}`, "stopped"],
    ["another property", `o = { t: T, n: "v" }\nuse o.n${GEN}`, "runs"],
    ["another property, deep", `o = { caps: { t: T }, data: { v: "v" } }\nuse o.data${GEN}`, "runs"],
    ["an item that is replaced", `o = [T]\no[0] = "v"\nuse o${GEN}`, "warned"],
    ["another item", `o = [T, "v"]\nuse o[1]${GEN}`, "warned"],
    ["this item", `o = [T, "v"]\nuse o[0]${GEN}`, "stopped"],
    ["a loop whose data changes", `x = "v"\nrepeat * 2 { use x${GEN}\n x = "w" }`, "runs"],
    ["a loop that makes it one", `x = "v"\nrepeat * 2 { use x${GEN}\n x = T }`, "stopped"],
    [
        "the same name in loops beside one another",
        `for x in [T] max 1 { x.get({ name: "A" }) }\nfor x in ["v"] max 1 { use x${GEN} }`,
        "runs",
    ],
    ["the same name in a block that is over", `if true { x = T  x.get({ name: "A" }) }\nx = "v"\nuse x${GEN}`, "runs"],
    ["an item of a loop", `for x in [T] max 1 { use x${GEN} }`, "stopped"],
    ["beside it in parallel", `r = parallel for x in ["v"] max 1 { t = T\n use x${GEN} }\nr`, "runs"],
    ["put into the list by another name", `a = []\nb = a\nb.add(T)\nuse a${GEN}`, "stopped"],
    ["put into the list by a function", `a = []\nput(a)\nuse a${GEN}`, "stopped"],
    ["put into a list inside", `a = { l: [] }\nb = a.l\nput(b)\nuse a${GEN}`, "stopped"],
    ["a parameter that is one", "show(T)", "stopped"],
    ["parameters of which one is one", 'either(T, "v")', "runs"],
    ["a function that returns it on another way", "pick(input)", "runs"],
    ["what a tool gave", `a = T.get({ name: "A" })\nuse a.value${GEN}`, "runs"],
    ["what a tool gave that stands in an object", `o = { t: T }\nr = o.t.get({ name: "A" })\nuse r.value${GEN}`, "runs"],
    ["whether there is one", `o = T\nuse o == none${GEN}`, "runs"],
    ["not", `o = T\nuse not o${GEN}`, "runs"],
    ["and", `o = T\nuse o and true${GEN}`, "runs"],
    ["how many", `o = [T]\nuse o.length${GEN}`, "runs"],
    ["keys", `o = { t: T }\nk = o.keys()\nuse k${GEN}`, "runs"],
    ["without it", `o = { t: T, n: "v" }\np = o.without("t")\nuse p${GEN}`, "warned"],
    ["the data of a list of both", `o = [{ t: T, n: "v" }]\np = o.map((x) => x.n)\nuse p${GEN}`, "warned"],
    ["the last of a mixed list", `o = [T, "v"]\np = o.last()\nuse p${GEN}`, "warned"],
    ["caught", `x = "v"\ntry { x = T\n raise "no" } catch e { x = e.message }\nuse x${GEN}`, "warned"],
    ["chosen", `x = if input.a { T } else { "v" }\nuse x${GEN}`, "warned"],
    ["given in its absence", `x = none\nx = x ?? "v"\nuse x${GEN}`, "runs"],
];

function endOf({ codes, warnings, failure }: Played): string {
    if (codes.length > 0) return codes.every((code) => code === "INVALID_USE_RESOURCE") ? "refused" : codes.join(" ");
    const warned = warnings.includes("POSSIBLE_USE_RESOURCE");
    if (failure !== undefined) return failure.kind === "violation.capability" && warned ? "stopped" : `${failure.kind} warned: ${warned}`;
    return warned ? "warned" : "runs";
}

describe("a capability and use", () => {
    test.each(WAYS)("%s", async (_way, text, end) => {
        const program = inMain(text, 'import tool T from "env://process"\nagent W { main func(x) { T } }').replace("    func id(x)", FUNCS);
        const played = await play(program, { input: { a: false }, replies: ["ok", "ok", "ok"], env: { A: "a" } });
        expect(endOf(played)).toBe(end);
        for (const turn of played.turns) expect(seenBy(turn)).not.toContain("env://");
    });
});
