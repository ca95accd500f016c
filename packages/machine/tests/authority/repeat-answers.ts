/** Random answers of an agent that use what they were handed and what the remit gives again and again at the same places, and the programs around them. */
import fc from "fast-check";
import type { How } from "../run/forms.ts";
import { answer, replied } from "../run/handing.ts";
import { clauses, fill, policies, type Repeating, rows, worldOf } from "./repeat-programs.ts";

export interface Answering extends Repeating {
    /** What the agent says, turn by turn. */
    readonly answers: readonly string[];
    readonly isChanging: boolean;
}

const text = fc.constantFrom("web.text", "a", '"x"', '"mine"', '"see https://a.example"', "none", "1", "text(a)");
const bag = fc.oneof(
    { weight: 4, arbitrary: fill`{ content: ${text} }` },
    { weight: 2, arbitrary: fill`{ content: ${text}, note: ${text} }` },
    fill`{ note: ${text}, content: ${text} }`,
    fill`{ n: ${fc.constantFrom("1", "6", "web.n")} }`,
    fill`{ content: [${text}] }`,
    fc.constantFrom("web", "{}", "{ ...web, note: 1 }"),
    text,
);
const use = fc.oneof(
    { weight: 4, arbitrary: fc.constant("out.write(one)") },
    { weight: 2, arbitrary: fc.constantFrom("far.write(one)", "out.look(one)", "far.look(one)") },
    { weight: 2, arbitrary: fc.constantFrom("Out.write(one)", "Far.write(one)", "Out.look(one)") },
    fc.constantFrom(
        "put(out, one)\nput(far, one)",
        "put(Out, one)\nput(out, one)",
        "put(out.only(write), one)",
        "put(out.only(look), one)",
        "put(out, one)\nput(out.only(look), one)",
        'out.call({ tool: "write", args: one })',
        "out.write()",
        "out.write({ content: one })",
        "out.read(one)",
        "part(out, one)",
    ),
);

/** Failures go on, so that what comes behind them is reached. */
const tried = fc.oneof({ weight: 3, arbitrary: fill`try {\n${use}\n} catch e { 0 }` }, use);
const body = fill`for one in [${fc.array(bag, { minLength: 3, maxLength: 6 }).map((all) => all.join(", "))}] max 9 {
${tried}
${fc.constantFrom("", "if web.go { try { out.write(one) } catch e { 0 } }", 'try { agent.yield(out: out, far: far, a: "again", web: web) } catch e { 0 }')}
}
return 1
}
func put(it, given) { it.write(given) }
func part(it, given) { r = parallel for x in [given, given] max 2 { one = try { it.write(x) } catch e { 0 }
one }
r`;

export const answers: fc.Arbitrary<Answering> = fc
    .record({
        clauses,
        far: clauses,
        maker: rows,
        one: rows,
        by: fc.constantFrom("One", "Two"),
        given: fc.constantFrom("Out", "Out", "Out.only(write)", "Out.only(look)"),
        head: fc.constantFrom("", "", "flow strict\n"),
        times: fc.constantFrom(1, 2, 3),
        policy: policies,
        yes: fc.array(fc.constantFrom("once", "once", "once", "session", "deny"), { minLength: 1, maxLength: 4 }),
        isReading: fc.boolean(),
        isChanging: fc.boolean(),
        answers: fc.array(body, { minLength: 1, maxLength: 2 }),
    })
    .map(({ policy, yes, isReading, isChanging, answers: said, ...p }) => ({
        policy,
        yes,
        isReading,
        isChanging,
        answers: said.map((one) => answer(one, "out", "far", "a", "web")),
        text: `${p.head}import tool Web from "mcp://web"
import tool Out from "mcp://out" { ${p.clauses} }
import tool Far from "mcp://far" { ${p.far} }
import agent Maker from "stub:noop"${p.maker === "" ? "" : ` { remit {\n${p.maker.replace("may Two", "")}\n} }`}
agent One { remit {\n${p.one}\nmay Maker\n}
func hand(web, a) { Maker.yield(out: ${p.given}, far: Far, a: a, web: web) with { turns: 1 } } }
agent Two { func hand(web, a) { Maker.yield(out: ${p.given}, far: Far, a: a, web: web) with { turns: 1 } } }
main agent M { main func(input) {
web = Web.read({})
${`try { ${p.by}.hand(web, input.text) } catch e { 0 }\ntry { ${p.by}.hand(web, web.text) } catch e { 0 }\n`.repeat(p.times)}1 } }`,
    }));

/** Turns of the agent follow from the path. */
export function answeringWorld(of: Answering): How {
    const { answer: tools, ...how } = worldOf(of);
    const { answer: others } = worldOf({ ...of, isReading: !of.isReading });
    return {
        ...how,
        answer: (effect) => {
            if (effect.kind === "agent") return replied(of.answers[effect.path.length % of.answers.length] as string, {}, "Maker");
            // What a tool says of itself differs from one time to the next.
            const isOther = of.isChanging && effect.path.length % 2 === 1;
            return (isOther ? others : tools)(effect);
        },
    };
}
