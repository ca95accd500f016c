/** Remits, delegation, handed-over capabilities, clauses and questions, in running programs. The attacks stand beside what is allowed. */
import { type Json, loadProgram, lower, type Program } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome } from "../../src/index.ts";
import { describing, type How, type Ran, runAll } from "../run/forms.ts";

const IMPORTS = `
import tool Repo from "file://workspace"
import tool Mail from "mcp://mail"
import tool Web from "https://api.example.com/v1/"
import memory Notes from "file://notes.jsonl"
`;

function formOf(text: string, files: { [file: string]: string } = {}): Program {
    const all: { [file: string]: string } = { "main.remit": text, ...files };
    const loaded = loadProgram("main.remit", {
        read: (file) => all[file] ?? null,
        resolve: (_from, uri) => uri.replace(/^\.\//, ""),
        allowTool: () => ({ allowed: true }),
    });
    const errors = loaded.diagnostics
        .concat([...loaded.files.values()].flatMap((f) => f.diagnostics))
        .filter((d) => d.severity === "error");
    if (errors.length > 0) throw new Error(errors.map((d) => `${d.code}: ${d.message}`).join("\n"));
    return lower(loaded);
}

const said = (value: Json, origins: string[] = ["tool:Repo"]): Outcome => ({ ok: true, value, origins });

type Asked = Omit<How, "answer"> & {
    readonly yes?: string;
    readonly files?: { [file: string]: string };
    readonly answer?: (e: Effect) => Outcome | undefined;
};

/** Every tool answers with its method; questions are answered by `yes`. However the run is saved, loaded or compiled, it is the same run. */
function run(text: string, more: Asked = {}): Ran {
    const form = formOf(text, more.files);
    const ran = once(form, more);
    for (const how of [
        { saving: true },
        { saving: 3 },
        { options: { ...more.options, mode: "frames" } },
        { options: { ...more.options, slice: 3 } },
    ] as const)
        expect(once(form, { ...more, ...how })).toEqual(ran);
    return ran;
}

function once(form: Program, more: Asked): Ran {
    return runAll(form, {
        ...more,
        answer: (e) => {
            const own = more.answer?.(e);
            if (own !== undefined) return own;
            if (e.kind === "ask") return said(more.yes ?? "deny", ["user"]);
            const r = e.request as { op?: string; tool?: string; method?: string };
            if (r.op === "describe") return said(describing(form), [`tool:${r.tool}`]);
            return said({ did: `${r.tool}.${r.method}` }, [`tool:${r.tool}`]);
        },
    });
}

const calls = (ran: Ran): string[] =>
    ran.effects
        .filter((e) => e.kind === "tool" && (e.request as { op?: string }).op !== "describe")
        .map((e) => `${(e.request as { tool: string }).tool}.${(e.request as { method: string }).method}`);
const program = (remit: string, fixer: string, main: string): string =>
    `${IMPORTS}\nagent Fixer {\n${remit}\n${fixer}\n}\nmain agent Main {\nmain func(input) {\n${main}\n}\n}\n`;
/** The value, or the kind of the failure. */
const outcome = (ran: Ran): Json => (ran.result.ok ? ran.result.value : ran.result.failure.kind);
const trying = (expr: string): string => `(try { ${expr} } catch e { e.kind })`;

describe("what a remit gives", () => {
    const remit = `remit { may Repo.read  may Repo.write in "src/**", "docs/*.md"  never Mail  ask Web.get in "https://api.example.com/v1/items/*" }`;
    const fixer = `
        func read(p) { Repo.read({ path: p }) }
        func write(p) { Repo.write({ path: p, content: "x" }) }
        func list() { Repo.list({}) }
        func mail() { Mail.send({ to: "a" }) }
        func get(u) { Web.get({ url: u }) }
        func note() { Notes.add({ a: 1 }) }
        func other() { Other.go() }`;
    const text = (main: string): string => `${program(remit, fixer, main)}\nagent Other { func go() { 1 } }\n`;

    test.each([
        ['Fixer.read("a")', { did: "Repo.read" }],
        ['Fixer.write("src/a.ts")', { did: "Repo.write" }],
        ['Fixer.write("docs/a.md")', { did: "Repo.write" }],
        ['Fixer.write("docs/deep/a.md")', "violation.remit"],
        ['Fixer.write("src/../etc")', "violation.remit"],
        ['Fixer.write("/src/a")', "violation.remit"],
        ["Fixer.list()", "violation.remit"],
        ["Fixer.mail()", "violation.remit"],
        ["Fixer.note()", "violation.remit"],
        ["Fixer.other()", "violation.remit"],
        ['Fixer.get("items/7")', "denied"],
        ['Fixer.get("/v2/x")', "violation.remit"],
        ['Repo.write({ path: "anywhere", content: "x" })', { did: "Repo.write" }],
        ["Other.go()", 1],
    ])("%s: %j", (expr, expected) => {
        const ran = run(text(trying(expr)));
        expect(outcome(ran)).toEqual(expected);
        if (expected === "violation.remit" || expected === "denied") expect(calls(ran)).toEqual([]);
    });

    test("a refusal names principal, operation and place, and is in the ledger", () => {
        const ran = run(text('Fixer.write("etc/x")'));
        expect(ran.result).toMatchObject({
            ok: false,
            failure: {
                kind: "violation.remit",
                message: expect.stringContaining("Fixer uses Repo.write"),
                site: { line: expect.any(Number) },
            },
        });
        expect(ran.events.find((e) => e.kind === "policy.denied")).toMatchObject({
            principal: "agent:main.remit#Fixer",
            data: { capability: "Repo.write", why: "remit", origins: { content: [], path: [] } },
        });
    });

    test("the host is told the bounds", () => {
        const ran = run(text('Fixer.write("src/a")'));
        expect(ran.effects[0]?.request).toMatchObject({ within: [["src/**", "docs/*.md"]] });
        expect(ran.effects[0]?.principal).toBe("agent:main.remit#Fixer");
    });

    test("its own code cannot catch what it commits; a function of its file runs as it", () => {
        const fixing = `func go() { (try { helper() } catch e { "caught " + e.kind }) }`;
        const ran = run(
            `${program("remit { may Repo.read }", fixing, trying("Fixer.go()"))}\nfunc helper() { Repo.write({ path: "a", content: "b" }) }\n`,
        );
        expect(outcome(ran)).toBe("violation.remit");
        expect(calls(ran)).toEqual([]);
    });

    test("an empty remit gives nothing; a remit by name; may all but never", () => {
        expect(outcome(run(program("remit {}", "func go() { Repo.read({}) }", trying("Fixer.go()"))))).toBe("violation.remit");
        const named = `${program("remit R", "func go() { Repo.read({}) }", "Fixer.go()")}\nremit R { may Repo }\n`;
        expect(outcome(run(named))).toEqual({ did: "Repo.read" });
        const all = program(
            "remit { may all  never Repo.write }",
            'func go(m) { x = if m { Repo.write({ path: "a" }) } else { Mail.send({}) }  x }',
            `[${trying("Fixer.go(true)")}, Fixer.go(false)]`,
        );
        expect(outcome(run(all))).toEqual(["violation.remit", { did: "Mail.send" }]);
    });

    test("a second import of the same thing is no way around, nor is the generic call of a server", () => {
        const twice = `import tool Mail2 from "mcp://mail"\n${program("remit { may all  never Mail.send }", 'func go() { Mail2.send({}) }\nfunc sly() { Mail.call({ tool: "send", args: {} }) }', `[${trying("Fixer.go()")}, ${trying("Fixer.sly()")}]`)}`;
        const ran = run(twice);
        expect(outcome(ran)).toEqual(["violation.remit", "violation.remit"]);
        expect(calls(ran)).toEqual([]);
    });
});

describe("capabilities as values", () => {
    const remit = "remit { never Repo.undo }";
    test("an argument is a grant for that call, narrowed first where it should be", () => {
        const fixer = `func use(r, m) { x = if m == "w" { r.write({ path: "a", content: "b" }) } else if m == "u" { r.undo({}) } else { r.read({ path: "a" }) }  x }`;
        const ran = run(
            program(
                remit,
                fixer,
                `[Fixer.use(Repo, "r"), Fixer.use(Repo, "w"), ${trying('Fixer.use(Repo, "u")')}, Fixer.use(Repo.only(read), "r"), ${trying('Fixer.use(Repo.only(read), "w")')}, ${trying('Fixer.use(Repo.only(read).only(write), "r")')}]`,
            ),
        );
        expect(outcome(ran)).toEqual([
            { did: "Repo.read" },
            { did: "Repo.write" },
            "violation.remit",
            { did: "Repo.read" },
            "violation.remit",
            "violation.remit",
        ]);
    });

    test("in a list it is no grant; stashed it is dead after the call; another agent cannot use it", () => {
        const fixer = `
            func keep(box, r) { box.add(r)  1 }
            func later(box) { box[0].read({ path: "a" }) }
            func pass(r) { Other.use(r) }
            func leak(r) { [r] }`;
        const text = `${program("remit { may Other }", fixer, `box = []\nFixer.keep(box, Repo)\nhand = [Repo]\n[${trying("Fixer.later(box)")}, ${trying("Fixer.later(hand)")}, Fixer.pass(Repo), ${trying("Other.use(Repo.only(list))")}]`)}
agent Other { remit {} func use(r) { r.read({ path: "a" }) } }`;
        const ran = run(text);
        expect(outcome(ran)).toEqual(["violation.revoked", "violation.remit", { did: "Repo.read" }, "violation.remit"]);
        const leaked = run(program("remit {}", fixer.replace(/.*Other.*\n/, ""), 'Fixer.leak(Repo)[0].read({ path: "a" })'));
        expect(outcome(leaked)).toBe("violation.remit");
        const given = ran.events.filter((e) => e.kind === "delegate.granted").length;
        expect(ran.events.filter((e) => e.kind === "delegate.lifted").length).toBe(given);
    });

    test("a function that is handed over runs as whoever handed it over", () => {
        const text = `${program("remit {}", "func use(f) { f() }", "[Fixer.use(save), try { Fixer.use(deep) } catch e { e.kind }]")}
func save() { Repo.write({ path: "a", content: "b" }) }
func deep() { save() }`;
        expect(outcome(run(text))).toEqual([{ did: "Repo.write" }, { did: "Repo.write" }]);
    });
});

describe("who catches a violation", () => {
    const fixer = 'func go() { Repo.read({}) }\nfunc own() { try { Repo.read({}) } catch e { "caught" } }\nfunc twice() { own() }';
    test.each([
        ["what an agent commits, the program", "try { Fixer.go() } catch e { e.kind }", "violation.remit"],
        ["in a parallel for", "try { parallel for i in [1, 2] max 2 { Fixer.go() } } catch e { e.kind }", "violation.remit"],
        ["not the agent that commits it", "try { Fixer.twice() } catch e { e.kind }", "violation.remit"],
    ])("%s", (_what, main, expected) => {
        const ran = run(`${program("remit {}", fixer, `x = ${main}\n[x, "went on"]`)}`);
        expect(outcome(ran)).toEqual([expected, "went on"]);
    });
    test.each([
        ["a gate", 'try { Mail.send({}) } catch e { "caught" }'],
        ["a gate, in a function around it", "try { sends() } catch e { 1 }"],
        ["a gate, in an agent without a remit", "try { Plain.go() } catch e { 1 }"],
        ["a gate, in an iteration", "try { parallel for i in [1, 2] max 2 { Mail.send({}) } } catch e { 1 }"],
        [
            "a gate, in an iteration beside one of an agent",
            "try { parallel for i in [1, 2] max 2 { if i == 1 { Fixer.go() } else { Mail.send({}) } } } catch e { 1 }",
        ],
        ["a capability as text", 'try { ["x"].map((x) => x + [Repo][0]) } catch e { 1 }', "violation.capability"],
        ["a capability as text, between effects", 'try { Repo.read({})  "x" + [Repo][0] } catch e { 1 }', "violation.capability"],
    ])("what the program commits, nobody: %s", (_what, main, expected = "violation.remit") => {
        const text = program("remit {}", fixer, `x = ${main}\n[x, "went on"]`).replace('"mcp://mail"', '"mcp://mail" { send: never }');
        const ran = run(`${text}\nfunc sends() { try { Mail.send({}) } catch e { 2 } }\nagent Plain { func go() { Mail.send({}) } }\n`);
        expect(outcome(ran)).toBe(expected);
    });
});

describe("F23, F24, F25, F26, F30: delegation", () => {
    const fixer = `
        func write(p) { Repo.write({ path: p, content: "x" }) }
        func mail() { Mail.send({}) }
        func keep(box) { box.add(Repo)  1 }
        func use(box) { box[0].write({ path: "src/a", content: "x" }) }
        func onward() { x = 0  delegate Repo.write to Other { x = Other.write() }  x }
        func ask() { Other.write() }`;
    const other = `\nagent Other { remit { may Repo.list } func write() { Repo.write({ path: "src/a", content: "x" }) } }\nfunc twice(x) { x }`;
    const text = (main: string, remit = "remit { may Other }"): string => program(remit, fixer, main) + other;

    test("holds in its block, for what it names, and lifts on every way out", () => {
        const main = `out = []
            delegate Repo.write in "src/**" to Fixer {
                out.add(Fixer.write("src/a"))
                out.add(${trying('Fixer.write("etc/a")')})
                out.add(${trying("Fixer.mail()")})
            }
            out.add(${trying('Fixer.write("src/b")')})
            for i in [1, 2] max 2 { delegate all to Fixer { if i == 1 { continue }  out.add(Fixer.mail())  break } }
            out.add(${trying('Fixer.write("src/c")')})
            try { delegate all to Fixer { raise "x" } } catch e { out.add(e.message) }
            out.add(${trying('Fixer.write("src/d")')})
            out`;
        const ran = run(text(main));
        expect(outcome(ran)).toEqual([
            { did: "Repo.write" },
            "violation.remit",
            "violation.remit",
            "violation.remit",
            { did: "Mail.send" },
            "violation.remit",
            "x",
            "violation.remit",
        ]);
        expect(ran.events.filter((e) => e.kind === "delegate.lifted").length).toBe(4);
        expect(ran.events.filter((e) => e.kind === "delegate.granted").length).toBe(4);
    });

    test("a return inside the block lifts it", () => {
        const ran = run(
            `${text(`inside()\n${trying('Fixer.write("src/b")')}`)}\nfunc inside() { delegate all to Fixer { return Fixer.write("src/a") } }`,
        );
        expect(outcome(ran)).toBe("violation.remit");
        expect(calls(ran)).toEqual(["Repo.write"]);
    });

    test("what was stashed inside is dead outside", () => {
        const ran = run(text(`box = []\ndelegate all to Fixer { Fixer.keep(box)  Fixer.use(box) }\n${trying("Fixer.use(box)")}`));
        expect(outcome(ran)).toBe("violation.revoked");
        expect(calls(ran)).toEqual(["Repo.write"]);
    });

    test("does not leak to others called inside, nor go on without onward, and gives nothing that is not there", () => {
        expect(outcome(run(text(`delegate all to Fixer { ${trying("Fixer.ask()")} }\n1`)))).toBe(1);
        const leak = run(text(`x = 0\ndelegate all to Fixer { x = ${trying("Fixer.ask()")} }\nx`));
        expect(outcome(leak)).toBe("violation.remit");
        expect(outcome(run(text(`x = 0\ndelegate all to Fixer { x = ${trying("Fixer.onward()")} }\nx`)))).toBe("violation.remit");
        expect(outcome(run(text(`x = 0\ndelegate all to Fixer onward { x = ${trying("Fixer.onward()")} }\nx`)))).toEqual({
            did: "Repo.write",
        });
    });

    test("iterations beside the block do not have it", () => {
        const main = `parallel for i in [0, 1, 2, 3] max 4 {
                if i == 0 { x = 0  delegate all to Fixer { x = Fixer.write("src/a") }  return x }
                return ${trying('Fixer.write("src/b")')}
            }`;
        const ran = run(text(main), { concurrency: 4 } as How);
        expect(outcome(ran)).toEqual([{ did: "Repo.write" }, "violation.remit", "violation.remit", "violation.remit"]);
    });

    test("iterations inside the block have it", () => {
        const ran = run(text(`x = 0\ndelegate Repo.write to Fixer { x = parallel for i in [0, 1] max 2 { Fixer.write("src/a") } }\nx`));
        expect(outcome(ran)).toEqual([{ did: "Repo.write" }, { did: "Repo.write" }]);
    });
});

describe("clauses at an import", () => {
    const clauses = (list: string): string =>
        `import tool Send from "mcp://send" { ${list} }\nimport tool Book from "mcp://book" { trusted }\nimport tool Page from "mcp://page"\n`;
    const main = (list: string, statements: string): string =>
        `${clauses(list)}main agent Main {\nmain func(input) {\n${statements}\n}\n}\n`;
    const answer = (e: Effect): Outcome | undefined => {
        const r = e.request as { tool?: string };
        return e.kind === "tool" && (r.tool === "Page" || r.tool === "Book") ? said({ to: "x@y.z" }, [`tool:${r.tool}`]) : undefined;
    };

    test("gates bind everybody", () => {
        expect(outcome(run(main("go: never", trying("Send.go({})"))))).toBe("violation.remit");
        expect(outcome(run(main("go: ask", trying("Send.go({})"))))).toBe("denied");
        expect(outcome(run(main("go: ask", "Send.go({})"), { yes: "once" }))).toEqual({ did: "Send.go" });
    });

    test.each([
        ['Send.go({ to: "a@b.c" })', { did: "Send.go" }],
        ["Send.go({ to: input })", { did: "Send.go" }],
        ["Send.go({ to: Book.find({}).to })", { did: "Send.go" }],
        ["Send.go({ to: Page.find({}).to })", "violation.flow"],
        ['Send.go({ to: "x", body: Page.find({}).to })', { did: "Send.go" }],
        ['Send.go({ to: ["a", Page.find({}).to].join(",") })', "violation.flow"],
        ["Send.go({ ...Page.find({}) })", "violation.flow"],
        ['Send.call({ tool: "go", args: { to: Page.find({}).to } })', "violation.flow"],
        ['Send.go({ to: endorse Page.find({}).to as trusted because "seen" })', { did: "Send.go" }],
        ["Send.go(Page.find({}).to, 1)", "violation.flow"],
    ])("arg to: trusted · %s: %j", (expr, expected) => {
        const ran = run(main("arg to: trusted", trying(expr)), { answer });
        expect(outcome(ran)).toEqual(expected);
        if (expected === "violation.flow") expect(calls(ran)).not.toContain("Send.go");
    });

    test.each([
        ["Send.go({ to: Page.find({}).to })", "violation.flow"],
        ["Book.find({})  Send.go({ to: Page.find({}).to })", { did: "Send.go" }],
        ['Send.go({ to: "nobody" })', { did: "Send.go" }],
        ['Send.go({ to: Page.find({}).to + "x" })', "violation.flow"],
        ["Book.find({})  Send.go({ to: [Page.find({}).to] })", { did: "Send.go" }],
        ["Book.find({})  Send.go({ to: [Page.find({}).to, Page.find({}).other] })", "violation.flow"],
        ["Send.go({ to: Page.find({}).said })", { did: "Send.go" }],
        ["Send.go({ to: Page.find({}).part })", "violation.flow"],
        ["Send.go({ to: Page.find({}).amount })", { did: "Send.go" }],
        ["Send.go({ to: Page.find({}).digits })", "violation.flow"],
    ])("arg to: among(…), a value that occurred there · %s: %j", (expr, expected) => {
        const page = { to: "x@y.z", other: "evil", said: "bo@b.c", part: "bo", amount: 30, digits: 15 };
        const found = (e: Effect): Outcome | undefined => {
            const r = e.request as { tool?: string };
            return r.tool === "Page" ? said(page, ["tool:Page"]) : answer(e);
        };
        const ran = run(main('arg to: among("user", "tool:Book")', trying(expr)), {
            answer: found,
            options: { input: "please pay 30 to bo@b.c, not 1150.15." },
        });
        expect(outcome(ran)).toEqual(expected);
    });

    test.each([
        ["Page.find({}).plain", { did: "Send.go" }],
        ['"See " + Page.find({}).mine', { did: "Send.go" }],
        ['"See (" + Page.find({}).mine + ")."', { did: "Send.go" }],
        ["Book.find({}).to + Page.find({}).plain", "violation.flow"],
        ["[Page.find({}).plain, { a: Page.find({}).mine }]", { did: "Send.go" }],
        ["[Page.find({}).plain, { a: Page.find({}).link }]", "violation.flow"],
        ["Page.find({}).link", "violation.flow"],
        ['"https://own.example/x and 5121 0800 1245"', { did: "Send.go" }],
        ["Page.find({}).mine + Page.find({}).plain", { did: "Send.go" }],
        ['Page.find({}).mine + "2"', "violation.flow"],
        ["Page.find({}).host", "violation.flow"],
        ["Page.find({}).account", "violation.flow"],
        ["Page.find({}).id", "violation.flow"],
        ["Page.find({}).mine.slice(0, 19)", "violation.flow"],
    ])("arg to: addresses among(…), what leads somewhere has to come from there · %s: %j", (expr, expected) => {
        const page = {
            plain: " the lunch is at 12:45 on 2026-05-08, bring 12.50",
            mine: "https://a.example/soup?x=1",
            link: "please confirm at https://login.evil.example/renew",
            host: "go to evil.example now",
            account: "pay to LT60 1010 0123 4567",
            id: 601010012345,
        };
        const found = (e: Effect): Outcome | undefined =>
            (e.request as { tool?: string }).tool === "Page" ? said(page, ["tool:Page"]) : answer(e);
        const ran = run(main('arg to: addresses among("user")', trying(`Send.go({ to: ${expr} })`)), {
            answer: found,
            options: { input: "post what https://a.example/soup?x=1 says" },
        });
        expect(outcome(ran)).toEqual(expected);
        if (expected === "violation.flow") expect(calls(ran)).not.toContain("Send.go");
    });

    test.each([
        ["addresses trusted", "Page.find({}).said", { did: "Send.go" }],
        ["addresses trusted", "Page.find({}).to", "violation.flow"],
        ['addresses from("tool:Page")', "Page.find({}).to", { did: "Send.go" }],
        ['addresses from("tool:Page")', "Book.find({}).to", "violation.flow"],
        ['addresses from("tool:Page")', "Book.find({}).n", { did: "Send.go" }],
    ])("arg to: %s · %s: %j", (rule, expr, expected) => {
        const found = (e: Effect): Outcome | undefined => {
            const { tool } = e.request as { tool?: string };
            return tool === "Page" || tool === "Book" ? said({ to: "x@y.z", said: "bo", n: 7 }, [`tool:${tool}`]) : answer(e);
        };
        expect(outcome(run(main(`arg to: ${rule}`, trying(`Send.go({ to: ${expr} })`)), { answer: found }))).toEqual(expected);
    });

    test("addresses … or ask: the question says which rule, and shows the text", () => {
        const text = main('arg to: addresses among("user") or ask', 'Send.go({ to: "write to " + Page.find({}).to })');
        const ran = run(text, { answer, yes: "once" });
        expect(outcome(ran)).toEqual({ did: "Send.go" });
        expect(ran.effects.find((e) => e.kind === "ask")?.request).toMatchObject({
            detail: {
                why: "flow",
                flow: { arg: "to", origins: ["tool:Page"], rule: 'arg to: addresses among("user")' },
                args: [{ to: "write to x@y.z" }],
            },
        });
        expect(outcome(run(text, { answer }))).toBe("denied");
    });

    test("a refused flow can be asked about, and shows itself", () => {
        const text = main('arg to: from("tool:Book") or ask', "Send.go({ to: Page.find({}).to })");
        const ran = run(text, { answer, yes: "once" });
        expect(outcome(ran)).toEqual({ did: "Send.go" });
        expect(ran.effects.find((e) => e.kind === "ask")?.request).toMatchObject({
            detail: { why: "flow", flow: { arg: "to", origins: ["tool:Page"] }, args: [{ to: "x@y.z" }], origins: { to: ["tool:Page"] } },
            options: ["once", "session", "deny", "deny session", "abort"],
        });
        expect(outcome(run(text, { answer }))).toBe("denied");
    });

    test("F39: readers: what is for alice does not reach bob, nor a tool that does not say who reads", () => {
        const text = (to: string): string => `import tool Inbox from "mcp://inbox" { reads: arg owner }
import tool Send from "mcp://send" { audience: arg to }
import tool Log from "mcp://log"
main agent Main {
main func(input) {
m = Inbox.first({ owner: "alice" }).text
${trying(to)}
}
}`;
        const inbox = (e: Effect): Outcome | undefined =>
            (e.request as { tool?: string }).tool === "Inbox" ? said({ text: "secret" }, ["tool:Inbox"]) : undefined;
        expect(outcome(run(text('Send.go({ to: "alice", body: m })'), { answer: inbox }))).toEqual({ did: "Send.go" });
        expect(outcome(run(text('Send.go({ to: "bob", body: m })'), { answer: inbox }))).toBe("violation.flow");
        expect(outcome(run(text('Send.go({ to: ["alice", "bob"], body: m })'), { answer: inbox }))).toBe("violation.flow");
        expect(outcome(run(text('Send.go({ to: "bob", body: "hello" })'), { answer: inbox }))).toEqual({ did: "Send.go" });
        expect(outcome(run(text("Log.add({ body: m })"), { answer: inbox }))).toBe("violation.flow");
        expect(
            outcome(run(text('Send.go({ to: "bob", body: endorse m for "alice", "bob" because "he asked" })'), { answer: inbox })),
        ).toEqual({ did: "Send.go" });
    });
});

describe("questions", () => {
    const text = program(
        "remit { ask Repo.write }",
        'func go(n) { Repo.write({ path: "a", content: n }) }',
        "[Fixer.go(1), Fixer.go(1), Fixer.go(2)]",
    );
    test("once is for one call, session for the rest, everything else is no", () => {
        const asked = (yes: string): number => run(text, { yes }).effects.filter((e) => e.kind === "ask").length;
        expect(asked("once")).toBe(3);
        expect(asked("session")).toBe(1);
        for (const no of ["deny", "yes", "ONCE", "", "may"]) expect([no, outcome(run(text, { yes: no }))]).toEqual([no, "denied"]);
        expect(outcome(run(text, { yes: "abort" }))).toBe("cancelled");
        expect(calls(run(text, { yes: "deny" }))).toEqual([]);
    });
    test("who endorses needs the right", () => {
        const fixer = 'func go(x) { endorse x as trusted because "I say so" }';
        expect(outcome(run(program("remit {}", fixer, trying("Fixer.go(1)"))))).toBe("violation.flow");
        const ran = run(program("remit { may endorse }", fixer, "Fixer.go(input)"), { input: { a: 1 } } as How);
        expect(ran.result).toMatchObject({ ok: true, origins: [expect.stringMatching(/^endorsed:main\.remit:\d+$/)] });
        expect(ran.events.find((e) => e.kind === "policy.endorsed")).toMatchObject({
            principal: "agent:main.remit#Fixer",
            data: { because: "I say so", before: ["user"] },
        });
    });
});
