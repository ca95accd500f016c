/** What a refused flow is said to have come by, and that looking for them ends soon and with the same answer. */
import { expect, test } from "vitest";
import { check, type Diagnostic, loadProgram, position } from "../../src/index.ts";

function checked(files: { readonly [file: string]: string }): readonly Diagnostic[] {
    const loaded = loadProgram("main.remit", { read: (file) => files[file] ?? null, resolve: (_from, uri) => uri.replace(/^\.\//, "") });
    const program = check(loaded);
    return program.diagnostics.filter((one) => one.code.startsWith("FLOW"));
}

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
