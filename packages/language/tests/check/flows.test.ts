/** What a refused flow is said to have come by, and that looking for them ends soon and with the same answer. */
import { expect, test } from "vitest";
import { check, type Diagnostic, loadProgram, parseClausesText, parseRemitText, position, type Project, source } from "../../src/index.ts";

function checked(files: { readonly [file: string]: string }, project: Project | null = null): readonly Diagnostic[] {
    const loaded = loadProgram("main.remit", { read: (file) => files[file] ?? null, resolve: (_from, uri) => uri.replace(/^\.\//, "") });
    const program = check(loaded, { project });
    return program.diagnostics.filter((one) => one.code.startsWith("FLOW") || one.code.endsWith("DENIED"));
}

/** A project's file, with the clauses of one place and the remit of one agent in it. */
function projectOf(place: string, clauses: string, agent: string, remit: string): Project {
    const text = JSON.stringify({ policy: { clauses: { [place]: clauses }, remits: { [agent]: remit } } }, null, 4);
    const file = source(text, "remit.json");
    const at = (said: string) => ({ file: "remit.json", ...position(file, text.indexOf(JSON.stringify(said))) });
    const [one, other] = [parseClausesText(clauses), parseRemitText(remit)];
    if (!one.ok || !other.ok) throw new Error("they cannot be read");
    return {
        policy: {
            clauses: { [place]: one.value.map((clause) => ({ ...clause, site: at(clauses) })) },
            remits: { [agent]: { ...other.value, site: at(remit) } },
        },
        sources: new Map([["remit.json", file]]),
    };
}

test("what a project says counts, and is told with its place in the project's file", () => {
    const files = {
        "main.remit": `import tool Web from "https://pages.example.com"
import tool Post from "mcp://post"
import tool Own from "mcp://own" { reads: "alice" }
agent Writer {
    func write(text) { Own.put({ text: text }) Post.list({}) }
}
main agent A {
    main func(input) {
        Post.send({ to: Web.get({ url: "/" }).body, body: "x" })
        Writer.write("x")
    }
}`,
    };
    expect(checked(files)).toEqual([]);
    const project = projectOf("mcp://post", "arg to: trusted", "Writer", "may Own  never Post.list");
    const text = project.sources.get("remit.json")?.text ?? "";
    const found = checked(files, project);
    expect(found.map(({ code, message }) => [code, message])).toEqual([
        ["REMIT_DENIED", "the project's remit of Writer says never to Post.list"],
        ["FLOW_REFUSED", "this comes from Web, and 'to' of Post takes only what is trusted"],
    ]);
    const places = found.map(({ related }) => related?.findLast((one) => one.file === "remit.json"));
    expect(places.map((one) => [one?.message, text.slice(one?.range.start, one?.range.end)])).toEqual([
        ["the project's policy (line 7)", '"may Own  never Post.list"'],
        ["the clause (line 4)", '"arg to: trusted"'],
    ]);
    // By the name of an import, and what does not name the method: nothing gives it.
    const byName = checked(files, projectOf("Post", "arg send.to: trusted", "Writer", "may Own"));
    expect(byName.map(({ code, message }) => [code, message])).toEqual([
        ["REMIT_DENIED", "the project's remit of Writer does not name Post.list"],
        ["FLOW_REFUSED", "this comes from Web, and 'to' of Post takes only what is trusted"],
    ]);
    // A project's word for who reads gives nothing: what is sent is read by anybody, as without it.
    const sent = {
        "main.remit": files["main.remit"].replace('body: "x"', "body: Own.get({})").replace('Web.get({ url: "/" }).body', '"a"'),
    };
    const told = checked(sent, projectOf("Post", 'audience: "alice"', "Nobody", "may Own")).map(({ code, message }) => [code, message]);
    expect(told).toEqual([["FLOW_REFUSED", "what comes from Own is for alice only, and no import says who reads Post"]]);
    // Another thing's clauses, and those of things that the program does not import, say nothing.
    expect(checked(files, projectOf("mcp://other", "arg to: trusted", "Other", "never Post"))).toEqual([]);
});

test("a flow is told with where it entered, what it went through, where it is refused and by which clause", () => {
    const files = {
        "main.remit": `import tool Mail from "mcp://mail" { arg to: trusted }
import agent Reader from "./reader.remit"
func send(to) { Mail.send({ to: to, body: "x" }) }
func relay(mail) { send(mail.to) }
main agent A {
    main func(input) {
        who = Reader.owner(input.page)
        relay({ to: who, body: "x" })
    }
}`,
        "reader.remit": `import tool Web from "https://pages.example.com"
agent Reader {
    func owner(page) { first(Web.get({ url: page })) }
    func first(page) { page.body.owner.trim() }
}`,
    };
    const [one, ...more] = checked(files);
    expect(more).toEqual([]);
    expect({ code: one?.code, message: one?.message, hint: one?.hint }).toEqual({
        code: "FLOW_REFUSED",
        message: "this comes from Web, goes through first, owner, relay, send, and 'to' of Mail takes only what is trusted",
        hint: "take the value from the input or the program, add `or ask` to the clause, or endorse the value",
    });
    const text = (file: keyof typeof files, { start, end }: { start: number; end: number }): string => files[file].slice(start, end);
    expect(text("main.remit", one?.range ?? { start: 0, end: 0 })).toBe('{ to: who, body: "x" }');
    expect(one?.related?.map(({ message, file, range }) => [message, file, text(file as keyof typeof files, range)])).toEqual([
        ["it enters here (line 3)", "reader.remit", "Web.get({ url: page })"],
        ["it is handed on in relay", "main.remit", "send(mail.to)"],
        ["it is refused here", "main.remit", 'Mail.send({ to: to, body: "x" })'],
        ["the clause", "main.remit", "arg to: trusted"],
    ]);
});

test("functions that call one another, wide and deep, are looked at once for each thing that is learnt", () => {
    const head = `import tool Find from "sh://find"\nimport tool Mail from "mcp://mail" { arg to: trusted }\n`;
    // Every function calls the next twice: as many ways as there are numbers of 60 bits.
    const wide = Array.from({ length: 60 }, (_, i) => `func w${i}(x) { w${i + 1}(x) + w${i + 1}(x.a) }`).join("\n");
    const circle = Array.from(
        { length: 40 },
        (_, i) => `func c${i}(x, n) { if n == 0 { return x.a } c${(i + 1) % 40}({ a: x }, n - 1) }`,
    ).join("\n");
    const sum = Array.from({ length: 900 }, (_, i) => `"${i}"`).join(" + ");
    const text = `${head}${wide}
func w60(x) { Mail.send({ to: x }) x }
${circle}
main agent A {
    main func(input) {
        w0(Find.run({}))
        c0(Find.run({}), 3)
        Mail.send({ to: ${sum} + Find.run({}) })
    }
}`;
    const found = checked({ "main.remit": text });
    const loaded = loadProgram("main.remit", { read: () => text, resolve: () => null });
    const source = loaded.files.get("main.remit")?.source;
    const lines = found
        .map((one) => (source === undefined ? 0 : position(source, one.range.start).line))
        .map((line) => text.split("\n")[line - 1]?.trim().slice(0, 9));
    expect(lines).toContain("Mail.send");
    expect(checked({ "main.remit": text })).toEqual(found);
});

test("where the checker stops following a function, it says so", () => {
    const head = `import tool Find from "sh://find"\nimport tool Mail from "mcp://mail" { arg to: trusted }\n`;
    const many = (of: number, line: (i: number) => string, by = "\n"): string => Array.from({ length: of }, (_, i) => line(i)).join(by);
    const told = (text: string) =>
        checked({ "main.remit": head + text })
            .filter(({ code }) => code === "FLOW_NOT_FOLLOWED")
            .map(({ message, severity }) => `${severity}: ${message.replace(/: .*/, "")}`);
    // Each look finds one variable more that comes from Find.
    const loop = (length: number): string => `main func(input) {
${many(length, (i) => `v${i} = 1`)}
for x in input.xs max 20 {
${many(length - 1, (i) => `v${i} = v${i + 1}`)}
v${length - 1} = Find.run({})
}
Mail.send({ to: v0 })
}`;
    expect(told(loop(4))).toEqual([]);
    expect(told(loop(20))).toEqual(["note: a loop here is not settled after 8 looks"]);
    // Each look at it finds one field more that is not certain.
    const calls = (fields: number): string => `func f(n) {
if n < 1 { return { ${many(fields, (i) => `a${i}: ${i === 0 ? 1 : "Find.run({})"}`, ", ")} } }
x = f(n - 1)
return { ${many(fields, (i) => `a${i}: ${i === 0 ? "Find.run({})" : `x.a${i - 1}`}`, ", ")} }
}
main func(input) { Mail.send({ to: f(9).a1 }) }`;
    expect(told(calls(4))).toEqual([]);
    expect(told(calls(20))).toEqual(["note: functions that call one another are not settled after 12 looks"]);
    const uses = (of: number): string => `func f(x) {\n${many(of, () => "Mail.send({ to: x })")}\n}\nmain func(input) { f(Find.run({})) }`;
    expect(told(uses(30))).toEqual([]);
    expect(told(uses(40))).toEqual(["note: 40 uses here depend on what callers pass"]);
});

test("what decides over a call is told once for it, as an error where it is certain", () => {
    const text = `flow strict
import tool Find from "sh://find"
import tool Mail from "mcp://mail" { arg to: trusted }
func perhaps(now) { if now { Mail.send({ to: "a" }) } Mail.find({ to: "b" }) Mail.send({ to: "c" }) }
main agent A {
    main func(input) {
        page = Find.run({})
        if page.files.length > 3 { perhaps(input.now) }
        to = "x"
        for one in page.files max 9 { if one == "k" { to = "y" } }
        Mail.send({ to: to })
    }
}`;
    const found = checked({ "main.remit": text });
    expect(found.map(({ code, message, range }) => [code, message, text.slice(range.start, range.end)])).toEqual([
        [
            "FLOW_REFUSED",
            "what decides over this comes from Find, goes through perhaps, and 'to' of Mail takes only what is trusted",
            "perhaps(input.now)",
        ],
        ["FLOW_REFUSED", "what decides over this comes from Find, and 'to' of Mail takes only what is trusted", "to"],
    ]);
});
