/**
 * Features of the program form, of roles, handles and labels, each by the number under which they were asked for (F2 to F36), where no other test
 * shows exactly that. `npx vitest run -t F23` runs what shows F23, here and elsewhere.
 */
import { execFileSync } from "node:child_process";
import { type Json, validateFunc, validateProgram } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type AgentTurn, Compiled, type Effect, Machine, type Outcome, type Ruling } from "../../src/index.ts";
import { run as ranAs } from "../authority/running.ts";
import {
    answer,
    did,
    end,
    events,
    failed,
    handshake,
    kind,
    once,
    origins,
    remit,
    replied,
    run,
    said,
    turns,
    withFixer,
    METHODS,
} from "../run/handing.ts";
import type { Ran } from "../run/forms.ts";
import { formOf } from "../run/text.ts";

const REPO = 'import tool Repo from "file://workspace"';
/** Functions that were taken, to be run. */
const taken = (ran: Ran): number => events(ran, "yield.payload").filter((one) => one.ok === true).length;
const form = (source: Json): string => `\`\`\`json\n${JSON.stringify(source)}\n\`\`\``;

describe("F2: what is too deep is refused before it is read", () => {
    test("no deeper than the cap, however deep it is", () => {
        let levels = 0;
        // A list in a list in a list, made as it is looked at: whoever goes to its end comes to none.
        const endless = (): unknown =>
            new Proxy([], {
                get: (target, key) => {
                    if (key === "length") return 1;
                    if (key !== "0") return Reflect.get(target, key);
                    levels += 1;
                    return endless();
                },
                ownKeys: () => ["0", "length"],
                getOwnPropertyDescriptor: (target, key) => {
                    if (key !== "0") return Reflect.getOwnPropertyDescriptor(target, key);
                    levels += 1;
                    return { value: endless(), enumerable: true, configurable: true };
                },
            });
        const found = validateProgram(endless());
        expect(found.ok ? [] : found.errors.map((one) => one.code)).toEqual(["FORM_DEPTH"]);
        expect(levels).toBeGreaterThan(500);
        expect(levels).toBeLessThan(2_000);
    });
});

describe("F3: an answer has the signature that was asked for, or no step of it is run", () => {
    const twice = withFixer("return Fixer.yield(log: input, count: 2) with { turns: 1 }");
    const body: Json = [{ kind: "return", value: { kind: "literal", value: 1 } }];
    const named = (...names: string[]): Json => ({ name: "f", params: names.map((name) => ({ name })), effects: [], body });
    const without = once(twice, { agents: ["there is no function in this"] });

    test.each<[string, string[]]>([
        ["one argument less", ["agent", "log"]],
        ["one more", ["agent", "log", "count", "more"]],
        ["not led by agent", ["log", "count"]],
        ["agent at the end", ["log", "count", "agent"]],
        ["another name", ["agent", "log", "number"]],
        ["one of them twice", ["agent", "log", "log"]],
        ["none", []],
    ])("%s", (_, params) => {
        for (const text of [remit(`func answer(${params.join(", ")}) { return 1 }`), form(named(...params))]) {
            const ran = once(twice, { agents: [text] });
            expect(end(ran)).toMatch(
                /^invalid_payload: .*(?:parameters of \w+ must be \(agent, log, count\)|there is a 'log' already|DUPLICATE)/s,
            );
            expect(ran.steps).toBe(without.steps);
            expect(taken(ran)).toBe(0);
        }
    });

    test("and with it, in any order behind agent, it is run", () => {
        for (const text of [answer("return 1", "count", "log"), form(named("agent", "count", "log"))]) {
            const ran = once(twice, { agents: [text] });
            expect(end(ran)).toBe(1);
            expect(ran.steps).toBeGreaterThan(without.steps);
        }
    });
});

describe("F4: the body of an answer sees its parameters and nothing else", () => {
    const text = withFixer(
        'secret = "of the caller"\nreturn Fixer.yield(a: input) with { turns: 1 }',
        `${REPO}\nfunc helper() { return "of the program" }\nagent Other { func f() { return 1 } }`,
    );
    const NAMES = [
        ...["process", "globalThis", "require", "Function", "eval", "Object", "module", "arguments", "this", "window", "fetch"],
        ...["secret", "input", "helper()", "Repo", "Other", "Fixer", "A", "main()", "__main()"],
    ];
    test.each(NAMES)("%s", (name) => {
        for (const body of [`return ${name}`, `return [a].map((x) => ${name})`, `return try { ${name} } catch e { 1 }`]) {
            const ran = once(text, { options: { input: { b: 1 } }, agents: [answer(body, "a")] });
            expect([body, kind(ran)]).toEqual([body, expect.stringMatching(/^invalid_payload$|^violation\./)]);
            expect(taken(ran)).toBe(0);
        }
    });
    test.each(["a.constructor", "a.b.constructor", "a?.constructor", "[a][0].constructor", '"x".constructor', "a.toString.constructor"])(
        "%s",
        (path) => {
            const ran = once(text, { options: { input: { b: 1 } }, agents: [answer(`return ${path}`, "a")] });
            expect(kind(ran)).toMatch(/^violation\.payload$|^invalid_payload$/);
        },
    );
    test.each(['a["constructor"]', 'a.b["constructor"]', 'a["const" + "ructor"]', '"x"["constructor"]', 'a["__proto__"]["constructor"]'])(
        "%s",
        (path) => {
            const ran = once(text, { options: { input: { b: 1 } }, agents: [answer(`return ${path}`, "a")] });
            expect(kind(ran)).toMatch(/^value$|^violation\.payload$|^invalid_payload$/);
        },
    );
});

describe("F5: there is no prototype behind a value of any kind", () => {
    const VALUES: { readonly [kind: string]: string } = {
        none: "none",
        boolean: "true",
        number: "1.5",
        text: '"x"',
        list: "[1]",
        object: "{ k: 1 }",
        tool: "repo",
        agent: "agent",
        function: "helper",
        result: 'repo.read({ path: "a" })',
        failure: '(try { raise "x" } catch e { e })',
    };
    const NAMES = ["constructor", "__proto__", "prototype"];
    const text = withFixer("return Fixer.yield(repo: Repo, helper: helper) with { turns: 1 }", `${REPO}\nfunc helper(x) { return x }`);
    test.each(Object.entries(VALUES))("of %s", (_, value) => {
        for (const name of NAMES) {
            for (const path of [`(${value}).${name}`, `(${value})?.${name}`, `(${value}).${name}()`]) {
                const ran = once(text, { agents: [answer(`return ${path}`, "repo", "helper")] });
                expect([path, kind(ran)]).toEqual([path, expect.stringMatching(/^violation\.payload$|^invalid_payload$/)]);
                expect(taken(ran)).toBe(0);
            }
            const index = `v = ${value}\nreturn v["${name}"]`;
            expect([index, kind(once(text, { agents: [answer(index, "repo", "helper")] }))]).toEqual([
                index,
                expect.stringMatching(/^(?:value|violation\.\w+|invalid_payload)$/),
            ]);
        }
    });
    test.each<[string, Json]>([
        ["none", { kind: "literal", value: null }],
        ["boolean", { kind: "literal", value: true }],
        ["number", { kind: "literal", value: 1 }],
        ["text", { kind: "literal", value: "x" }],
        ["list", { kind: "list", items: [] }],
        ["object", { kind: "object", entries: [] }],
        ["parameter", { kind: "name", name: "agent" }],
    ])("of %s in program form", (_, object) => {
        for (const name of NAMES) {
            const found = validateFunc({
                name: "f",
                params: [{ name: "agent" }],
                effects: [],
                body: [{ kind: "expr", value: { kind: "member", object, name } }],
            });
            expect(found.ok ? [] : found.errors.map((one) => [one.code, one.pointer])).toEqual([["FORM_NAME", "/body/0/value/name"]]);
        }
    });
});

describe("F8: a nested yield has what it asks for, and no more than what is left", () => {
    const OUTER = "steps: 4000, turns: 5, calls: 9, tokens: 3000, usd: 2, bytes: 9000, silence: 20 s";
    /** What the agent is told, and what its turn is held to. */
    function limits(asked: string): { readonly [meter: string]: number } {
        const inner = answer(`return agent.yield(b: a)${asked}`, "a");
        const ran = once(withFixer(`return Fixer.yield(a: 1) with { ${OUTER} }`), {
            agents: (turn) => ({
                ...replied(turn.turn === 0 ? inner : answer("return b", "b")),
                usage: { input: 70, output: 30, usd: 0.5 },
            }),
        });
        expect(end(ran)).toBe(1);
        return { ...(turns(ran)[1]?.limits as object), ...(handshake(ran, 1).limits as object) };
    }
    const left = limits("");
    test("what is left is what the session has not used", () => {
        expect(left).toMatchObject({ turns: 4, calls: 7, tokens: 2900, usd: 1.5, bytes: 9000, silence: 20_000 });
        expect(left.steps).toBeLessThan(4000);
        expect(left.steps).toBeGreaterThan(3900);
    });
    test.each([
        ["steps", 50],
        ["turns", 1],
        ["calls", 1],
        ["tokens", 200],
        ["usd", 1],
        ["bytes", 200],
    ])("%s: the least of what it asks for and what is left", (meter, little) => {
        const remaining = left[meter] as number;
        // A turn of the agent is one of the calls, and is not left for its hands.
        const own = meter === "calls" ? 1 : 0;
        for (const asked of [little, remaining, remaining + own, remaining + own + 1, 100_000]) {
            const said = asked % 1 === 0 ? asked : Math.floor(asked);
            expect([said, limits(` with { ${meter}: ${said} }`)[meter]]).toEqual([said, Math.min(said - own, remaining)]);
        }
    });
    test("time: the least of what is said around it", () => {
        const inner = (asked: string): string => answer(`return agent.yield(b: a)${asked}`, "a");
        for (const [asked, seconds] of [
            ["", 60],
            [" with { time: 20 s }", 20],
            [" with { time: 10 min }", 60],
        ] as const) {
            const text = withFixer("spend 1 min { return Fixer.yield(a: 1) with { time: 5 min } }");
            const ran = once(text, { agents: (turn) => (turn.turn === 0 ? inner(asked) : answer("return b", "b")) });
            expect([0, 1].map((nth) => (handshake(ran, nth).limits as { seconds: number }).seconds)).toEqual([60, seconds]);
            expect(turns(ran)[1]?.limits.ms).toBeLessThan(seconds * 1000);
        }
    });
    test("silence: the least of both", () => {
        expect(limits(" with { silence: 3 s }").silence).toBe(3_000);
        expect(limits(" with { silence: 3 min }").silence).toBe(20_000);
    });

    test("what an answer is asked for within a nested yield draws on that one", () => {
        const deepest = "agent.yield(c: 1) with { turns: 9, bytes: 5000, silence: 10 s }";
        const ran = once(withFixer(`return Fixer.yield(a: 1) with { ${OUTER} }`), {
            agents: [
                answer("return try { agent.yield(b: 1) with { turns: 2, bytes: 300, silence: 5 s } } catch e { [e.kind] }", "a"),
                answer(`return try { [${deepest}, ${deepest.replace("c:", "d:")}] } catch e { "caught within" }`, "b"),
                answer("return c", "c"),
            ],
        });
        expect(turns(ran).map((turn) => turn.limits.silence)).toEqual([20_000, 5_000, 5_000]);
        expect(handshake(ran, 2).limits).toMatchObject({ turns: 1, bytes: 300 });
        // The two turns of the one in the middle are used up: only whoever said so catches it.
        expect(end(ran)).toEqual(["limit.turns"]);
    });

    test("the bytes of a session bound the answers to what its answers ask", () => {
        const long = answer(`return "${"x".repeat(400)}"`, "b");
        const ran = once(withFixer("return Fixer.yield(a: 1) with { bytes: 200 }"), {
            agents: [answer("return agent.yield(b: 1) with { bytes: 9000 }", "a"), long],
        });
        expect(end(ran)).toMatch(/^invalid_payload: .*more than 200 bytes/);
    });
});

test("F9: a text that doubles stops at the cap before the process grows by twice the cap", () => {
    const CAP = 32 * 1024 * 1024;
    const script = `
        import { runText, body } from ${JSON.stringify(new URL("../run/text.ts", import.meta.url).href)};
        const options = { limits: { bytes: ${CAP} } };
        runText(body('s = "ab"  repeat * 4 { s = s + s }  s.length'), { options });
        const before = process.resourceUsage().maxRSS;
        const told = [];
        for (const look of ["1", 's.contains("?")']) {
            const { result } = runText(body('s = "abcdefgh"  loop until false max 100 { s = s + s  x = ' + look + ' }'), { options });
            told.push(result.failure?.kind ?? "ok");
        }
        console.log(JSON.stringify({ told, grown: (process.resourceUsage().maxRSS - before) * 1024 }));`;
    const out = execFileSync(process.execPath, ["--input-type=module", "--no-warnings", "-e", script], { encoding: "utf8" });
    const { told, grown } = JSON.parse(out) as { told: string[]; grown: number };
    expect(told).toEqual(["limit.bytes", "limit.bytes"]);
    expect(grown).toBeLessThan(2 * CAP);
});

describe("F21: who owns what", () => {
    const LOOK = 'import tool Look from "inspect:"\nimport tool Repo from "file://workspace"\n';
    const ask = (path: string): string => `Look.owner({ path: "${path}" })`;
    test("what is handed on has an owner of its own, and the first one's stays the first one's", () => {
        const text = `${LOOK}
agent One { remit { may Look, Two } func go(r) { 
 before = ${ask("0/r")}
 theirs = Two.go(r.only(read))
 after = ${ask("0/r")}
 [before, theirs, after]
} }
agent Two { remit { may Look } func go(r) { ${ask("0/r")} } }
main agent M { main func() { One.go(Repo.only(read, list)) } }`;
        const ran = ranAs(text);
        const told = (ran.result.ok ? ran.result.value : []) as { right: { holder: string; from: string; methods: string[] } }[];
        expect(told.map(({ right }) => [right.holder, right.from, right.methods])).toEqual([
            ["One", "user", ["list", "read"]],
            ["Two", "One", ["read"]],
            ["One", "user", ["list", "read"]],
        ]);
    });
    test.each(['r.holder = "Two"', 'r["holder"] = "Two"', "r.right = none", 'r.principal = "user"', 'r["owner"] = "user"'])(
        "no assignment gives it another: %s",
        (statement) => {
            const text = `${LOOK}
agent One { remit { may Look } func go(r) {\n x = try { ${statement}\n 1 } catch e { 2 }\n ${ask("0/r")}\n} }
main agent M { main func() {\n told = try { One.go(Repo.only(read)) } catch e { e.kind }\n told\n} }`;
            const { result } = ranAs(text);
            // It is a violation, which ends the call, or it did nothing.
            const value = result.ok ? result.value : null;
            if (typeof value === "string") expect(value).toMatch(/^violation\./);
            else expect(value).toMatchObject({ principal: "One", right: { holder: "One" } });
        },
    );
});

describe("F22: an agent has its parameters and nothing else", () => {
    const IMPORTS = `${REPO}
import memory Notes from "file://notes.jsonl"
import llm Big from "openai://big"
import llm Own from "openai://own"
import agent Out from "acp://out"
agent Other { func go() { 1 } }
`;
    test.each([
        ["a tool", 'Repo.read({ path: "a" })', "Repo.read"],
        ["a memory", "Notes.query({})", "Notes.query"],
        ["a record", "Notes.add({ a: 1 })", "Notes.add"],
        ["a model", 'generate({ input: "x", model: Big })', "Big"],
        ["an agent", "Other.go()", "Other.go"],
        ["an agent outside", 'Out.send("x")', "Out"],
        ["handing over", "Out.yield(a: 1)", "Out"],
        ["a task", 'agent("x", { agent: Out, on_error: "fail" })', "Out"],
        ["endorsing", 'endorse 1 as trusted because "x"', "endorses"],
    ])("%s is a violation that names role, operation and position", (_, use, operation) => {
        const text = `${IMPORTS}agent Fixer {\n    remit {}\n    model Own\n    role "x"\n    description "x"\n    func go() {\n        ${use}\n    }\n}\nmain agent M { main func() { Fixer.go() } }`;
        const ran = ranAs(text);
        if (ran.result.ok) throw new Error("it was let through");
        const { kind: what, message, site } = ran.result.failure;
        expect(what).toMatch(/^violation\./);
        expect(message).toContain("Fixer");
        expect(message).toContain(operation);
        expect(site).toMatchObject({ file: "main.remit", line: text.split("\n").findIndex((line) => line.trim() === use) + 1 });
        expect(ran.effects).toEqual([]);
    });
});

/** What the hands of agents may do at each turn, asked in the middle of it, in the order in which turns are answered. */
function ruled(text: string, last: boolean, end: (turn: AgentTurn) => Outcome): string[] {
    const options = { run: "r", programHash: "h", input: null, concurrency: 4 };
    const machine = Machine.start(new Compiled(formOf(text)), options as never);
    const told: string[] = [];
    const waiting: Effect[] = [];
    const rule = (one: Effect): Ruling =>
        machine.rule(one.path, { tool: "Repo", method: "write", args: [{ path: "src/a", content: "x" }] });
    for (let step = machine.advance(); step.state !== "done"; step = machine.advance()) {
        waiting.push(...step.effects.filter((one) => one.kind === "agent"));
        // What an agent is given tells first what it has.
        const described = step.effects.filter((one) => one.kind === "tool");
        for (const { path } of described) machine.resolve(path, said(METHODS, ["tool:Repo"]));
        if (described.length > 0) continue;
        // Whoever is in the middle of a turn is asked each time somebody else goes on.
        for (const one of waiting) told.push(`${(one.request as unknown as AgentTurn).agent.name} ${rule(one).kind}`);
        const next = last ? waiting.pop() : waiting.shift();
        if (next === undefined) throw new Error("nobody is asked");
        machine.resolve(next.path, end(next.request as unknown as AgentTurn));
    }
    return told;
}
const unique = (told: readonly string[]): string[] => [...new Set(told)].sort();
const fine = (): Outcome => replied(answer("return 1", "a"));

describe("F23, F24: a delegation around a yield is for the block and for nobody else", () => {
    const main = (body: string): string =>
        `${REPO}\nimport agent One from "acp://x"\nimport agent Two from "acp://y"\nmain agent A { main func(input) {\n${body}\n} }`;
    test("before it, in it and behind it", () => {
        const body = `One.yield(a: 1)\ndelegate Repo.write in "src/**" to One {\nOne.yield(a: 2)\nTwo.yield(a: 3)\n}\nOne.yield(a: 4)`;
        expect(ruled(main(body), false, fine)).toEqual(["One refused", "One ask", "Two refused", "One refused"]);
    });
    test("behind a failure that left it", () => {
        const body = "try { delegate Repo.write to One { One.yield(a: 1) } } catch e { }\nOne.yield(a: 2)";
        let n = 0;
        expect(ruled(main(body), false, () => (n++ === 0 ? failed("unreachable") : fine()))).toEqual(["One ask", "One refused"]);
    });
    test("what is not held is not delegated", () => {
        const text = `${REPO}\nimport agent One from "acp://x"
agent Poor { remit { may One, Repo.read } func go() { delegate Repo.write to One { One.yield(a: 1) } } }
main agent A { main func() { Poor.go() } }`;
        const ran = run(text, { agents: [answer("return 1", "a")], unchecked: true });
        expect(kind(ran)).toBe("violation.remit");
        expect(turns(ran)).toEqual([]);
    });
});

test("F25: what an answer was lent is none when its call has ended, also where a function of the program gave it back", () => {
    const text = withFixer("Fixer.yield(keep: keep, repo: Repo)\nreturn 1", `${REPO}\nfunc keep(x) { return x }`);
    const ran = run(text, { agents: [answer('y = keep(repo)\nreturn y.read({ path: "a" }).did', "keep", "repo")] });
    expect(kind(ran)).toBe("violation.remit");
    expect(did(ran)).toEqual([]);
});

describe("F26: two yields at once, one with a delegation", () => {
    test("the other never passes a check, whoever goes on first", () => {
        const text = `${REPO}\nimport agent One from "acp://x"\nimport agent Two from "acp://y"
main agent A { main func(input) {
    parallel for who in [1, 2, 3] max 3 {
        if who == 1 { delegate Repo.write to One { One.yield(a: 1)  One.yield(a: 2) } }
        if who == 2 { Two.yield(a: 1)  Two.yield(a: 2) }
        if who == 3 { One.yield(a: 1) }
        1
    }
} }`;
        for (const last of [false, true]) {
            const told = ruled(text, last, fine);
            expect(unique(told.filter((one) => one.startsWith("Two")))).toEqual(["Two refused"]);
            // The same agent outside the block has it no more than another.
            expect(unique(told.filter((one) => one.startsWith("One")))).toEqual(["One ask", "One refused"]);
            expect(told.length).toBeGreaterThan(7);
        }
    });
});

test("F30: an answer hands on nothing of what was delegated to it", () => {
    const text = withFixer(
        "x = 0\ndelegate Repo.write to Fixer { x = Fixer.yield(other: Other, a: 1) with { turns: 1 } }\nreturn x",
        `${REPO}\nagent Other { remit {} func go() { Repo.write({ path: "a" }) } }`,
    );
    for (const body of [
        "x = 0\ndelegate all to other { x = other.go() }\nreturn x",
        "x = 0\ndelegate all to Other { x = other.go() }\nreturn x",
    ])
        expect(kind(run(text, { agents: [answer(body, "other", "a")], unchecked: true }))).toBe("invalid_payload");
    const plain = run(text, { agents: [answer("return other.go()", "other", "a")], unchecked: true, yes: "once" });
    expect(kind(plain)).toBe("violation.remit");
    expect(did(plain)).toEqual([]);
});

describe("F31: every kind of value has the origins of what it was made from", () => {
    const found = { n: 3, text: "abc", flag: true, list: [1, 2], nothing: null, object: { key: "v" } };
    const world = (e: Effect): Outcome | undefined => (e.kind === "tool" ? said(found, ["tool:Net"]) : undefined);
    const carries = (expr: string): readonly string[] =>
        origins(
            once(
                `import tool Net from "https://net.example"\nmain agent A { main func(input) {\nx = Net.get({ url: "/" })\nreturn ${expr}\n} }`,
                { world },
            ),
        );
    test.each([
        ["a number and a constant", "x.n + 1"],
        ["a comparison", "x.n > 2"],
        ["a boolean", "not x.flag"],
        ["none", "x.nothing"],
        ["a text and a constant", '"constant " + x.text'],
        ["an item of a list", "[1, x.n][1]"],
        ["an item of its list", "x.list[0]"],
        ["a list", "[1, [2, x.n]]"],
        ["a field", "{ a: x.n }.a"],
        ["an object", "{ a: { b: x.n } }"],
        ["keys of an object", "x.object.keys()"],
        ["one key", "x.object.keys()[0]"],
        ["a key that it chose", "({ a: 1 }.merge(x.object)).keys()[1]"],
        ["whether a key is there", 'x.object.has("key")'],
        ["a length", "x.text.length"],
        ["a number of items", "x.list.length"],
    ])("%s", (_, expr) => expect(carries(expr)).toEqual(["tool:Net"]));
    test("and the constant beside it has none", () => {
        expect(carries("[x.n, 7][1]")).toEqual([]);
        expect(carries("{ a: x.n, b: 7 }.b")).toEqual([]);
    });
});

test("F35: who endorses is on record with why, and with what the value carried before and after", () => {
    const text = (right: string): string => `import tool Net from "https://net.example"
agent Reader { remit { ${right} } func go(x) { endorse x as trusted because "we looked at it" } }
main agent A { main func(input) { Reader.go(Net.get({ url: "/" })) } }`;
    const ran = ranAs(text("may endorse"));
    expect(ran.result).toMatchObject({ ok: true, origins: ["endorsed:main.remit:2"] });
    expect(ran.events.find((one) => one.kind === "policy.endorsed")).toMatchObject({
        principal: "agent:main.remit#Reader",
        site: { file: "main.remit", line: 2 },
        data: { because: "we looked at it", before: ["tool:Net"], after: ["endorsed:main.remit:2"] },
    });
    const refused = ranAs(text("never Net"));
    expect(refused.result).toMatchObject({ ok: false, failure: { kind: "violation.flow" } });
    expect(refused.events.some((one) => one.kind === "policy.endorsed")).toBe(false);
});

test("F36: `if secret` gives a constant the secret's origin in strict mode, and not in basic mode", () => {
    const of = (flow: string): readonly string[] =>
        ranAs(
            `${flow}\nimport tool T from "https://t.example"\nmain func() {\n    secret = T.get({}).did\n    x = if secret { "a" } else { "b" }\n    x\n}`,
        ).result as never as readonly string[];
    expect(of("flow strict")).toMatchObject({ ok: true, value: "a", origins: ["tool:T"] });
    expect(of("")).toMatchObject({ ok: true, value: "a", origins: [] });
});
