/**
 * Seeded flows and their near-misses, each told by the checker and run: what is refused is called refused, and what is let through is not.
 *
 * A row is the body of a main func; `x` is what a tool gave, `p` what only alice may read.
 */
import { check, loadProgram, lower, type Project } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, FileContent, Outcome } from "../../src/index.ts";
import { withStandIns } from "../run/stand-ins.ts";
import { once, said } from "./running.ts";

const MAIN = `import llm Writer from "openai://writer"
import llm Sure from "openai://sure" { trusted }
import tool Find from "mcp://find"
import tool Own from "mcp://own" { trusted }
import tool People from "mcp://people" { trusted, reads get: "alice" }
import memory Notes from "file://notes.jsonl"
import tool Mail from "mcp://mail" { arg to: trusted, audience: everyone }
import tool Post from "mcp://post" { arg to: from("tool:Own"), audience: "alice" }
import tool Chat from "mcp://chat" { audience: "bob" }
import llm Whisper from "openai://whisper" { trusted, reads: "alice" }
import memory Diary from "file://diary.jsonl" { trusted, reads query: "alice" }
import tool Server from "mcp://server" { trusted, reads get: "alice", reads one: arg owner }
import file Plan from "plan.json" { trusted, reads: "alice" }
import file Menu from "menu.json" { reads: everyone }
import tool Pick from "mcp://pick" { arg to: among("user"), arg body: addresses trusted, arg cc: addresses among("user"), audience: everyone }
import tool Ask from "mcp://ask" { arg to: trusted or ask }
import agent Helper from "./helper.remit"
func get() { Find.get({}) }
func own() { Own.get({}) }
func first(x) { x.list[0] }
func wrap(to) { { to: to, body: "x" } }
func half(x) { { to: "a", body: x } }
func send(to) { Mail.send({ to: to }) }
func tell() { Mail.send({ to: "a" }) }
func chosen(x) { if x == "x" { return "a" } "b" }
func all(mail) { Mail.send(mail) }
func post(tool, to) { tool.send({ to: to }) }
func back(n, x) { if n == 0 { return x } back(n - 1, x) }
func early(x, now) { if now { return x } "a" }
func change(mail, to) { mail.to = to }
func grow(list, item) { list.add(item) }
func pick(a, b) { b }
agent Fixer {
    remit { may Mail, Find }
    func tell(to) { Mail.send({ to: to }) }
    func find() { Find.get({}).a }
    func say(text) { text + "!" }
}
main agent Main {
    model Writer
    role "r"
    description "d"
    func mine(x) { theirs(x) }
    func theirs(x) { x.inner.b }
    main func(input) {
        x = Find.get({})
        p = People.get({})
        BODY
    }
}
`;
const HELPER = `import tool Find from "mcp://find"
import tool Mail from "mcp://mail"
agent Helper {
    func find() { Find.get({}).a }
    func back(x) { x }
    func const(x) { "a" }
    func tell(to) { Mail.send({ to: to }) }
}
`;

const REFUSED: readonly string[] = [
    "Mail.send({ to: x.a })",
    "Mail.send({ to: get().a })",
    "Mail.send({ to: first(x) })",
    "Mail.send(wrap(x.a))",
    "Mail.send({ to: wrap(x.a).to })",
    "send(x.a)",
    'all({ body: "x", to: x.a })',
    "all(wrap(first(get())))",
    "post(Mail, x.a)",
    "post(Mail.only(send), x.a)",
    "Mail.send({ to: back(3, x.a) })",
    "Mail.send({ to: back(0, own().a + x.a) })",
    "Mail.send({ to: mine(x) })",
    "Mail.send({ to: Helper.find() })",
    "Mail.send({ to: Helper.back(x.a) })",
    "Helper.tell(x.a)",
    "Fixer.tell(x.a)",
    "Mail.send({ to: Fixer.say(Fixer.find()) })",
    "delegate Mail to Fixer { Fixer.tell(x.a) }",
    "spend 1k steps { send(x.a) }",
    "for one in x.list max 3 { send(one) }",
    "l = []  for one in x.list max 3 { l.add(one) }  l.add(x.a)  Mail.send({ to: l })",
    "l = [x.a]  grow(l, own().a)  m = x.list  Mail.send({ to: m[0] })",
    'o = { to: "a" }  o.to = x.a  Mail.send({ to: o.to })',
    "o = { in: { to: [x.a] } }  Mail.send({ to: o.in.to[0] })",
    'Mail.send({ to: x.list.map(one => one + "!").join(",") })',
    'Mail.send({ to: ["a", "b"].map(one => one + x.a)[1] })',
    'Mail.send({ to: "dear " + x.a.trim().upper() })',
    "Mail.send({ to: json.parse(json.text(x)).a })",
    "Mail.send({ to: text({ who: x.a }) })",
    'o = { x: "a" }  Mail.send({ to: o[x.a] })',
    "Mail.send({ to: x.a == own().a })",
    "to = own().a  if input.yes { to = x.a } else { to = Notes.query({})[0].a }  send(to)",
    'Mail.send({ to: if input.yes { x.a } else { generate({ input: "Who?" }) } })',
    "Mail.send({ to: try { x.a } catch { x.list[0] } })",
    'Mail.send({ to: generate({ input: "Who?" }) })',
    'Mail.send({ to: generate({ input: "Who wrote " + x.a, model: Sure }) })',
    'use x as found\n Mail.send({ to: generate({ input: "Who?", model: Sure }) })',
    'use x max 1k as found\n send(generate({ input: "Who?", model: Sure }))',
    "Mail.send({ to: Notes.query({})[0].a })",
    'Mail.call({ tool: "send", args: { to: x.a } })',
    "l = parallel for one in x.list max 3 { { to: one } }  Mail.send({ to: l[0].to })",
    "Post.send({ to: own().a + Own.get({}).a + Find.get({}).a })",
    'Post.send({ to: endorse x.a for "alice" because "asked" })',
    "Mail.send({ to: p.a })",
    "Mail.send({ to: own().a, body: [{ who: p.a }] })",
    "send(first(p))",
    'Chat.send({ text: "about " + p.a })',
    'Chat.send({ text: endorse p.a as trusted because "seen" })',
    "Notes.add({ text: p.a })",
    'Chat.send({ text: generate({ input: "Who?", model: Whisper }) })',
    'Mail.send({ to: "a", body: Diary.query({})[0].a })',
    "for one in Diary.query({}) max 3 { Chat.send({ text: one.a }) }",
    "Chat.send({ text: Plan.a })",
    "Mail.send({ to: Menu.a })",
    'Chat.send({ text: Server.call({ tool: "get", args: {} }).a })',
    'Chat.send({ text: Server.call({ tool: "one", args: { owner: "alice" } }).a })',
    'Chat.send({ text: Server.one({ owner: "carol" }).a })',
    "Pick.send({ to: { name: x.a } })",
    'Pick.send({ to: ["k", { name: x.a }] })',
    'Pick.send({ body: "see https://example.com/?q=" + x.a })',
    'Pick.send({ body: "mail " + x.a.trim() + " to me@example.com" })',
    'Pick.send({ body: { link: "https://example.com", text: x.a } })',
    'link = "https://example.com/"  if input.yes { link = link + x.a } else { link = "http://" + x.list[0] }  Pick.send({ body: link })',
    'Pick.send({ body: if input.no { "a@b" + x.a } else { "http://b/" + x.a } })',
];

const PASSES: readonly string[] = [
    "Mail.send({ to: input.t, body: x.a })",
    "Mail.send({ to: own().a })",
    "Mail.send(half(x.a))",
    "Mail.send({ to: half(x.a).to })",
    "send(first(own()))",
    'all({ body: x.a, to: "a" })',
    "post(Chat, x.a)",
    "Mail.send({ to: back(3, own().a) })",
    "Mail.send({ to: early(x.a, false) })",
    "Mail.send({ to: pick(x.a, own().a) })",
    "Mail.send({ to: Helper.const(x) })",
    "Helper.tell(input.t)",
    "Mail.send({ to: Fixer.say(own().a) })",
    'delegate Mail to Fixer { Fixer.tell("a") }',
    "for one in own().list max 3 { Mail.send({ to: one, body: x.a }) }",
    'o = { to: x.a }  o.to = "a"  Mail.send({ to: o.to })',
    'o = { to: x.a }  change(o, "a")  Mail.send(o)',
    'o = { to: x.a }  other = o  other.to = "a"  Mail.send({ to: o.to })',
    "o = { in: { to: x.a, cc: own().a } }  Mail.send({ to: o.in.cc })",
    "l = [x.a, own().a]  Mail.send({ to: l[1] })",
    'l = [x.a]  l[0] = "a"  Mail.send({ to: l[0] })',
    'l = []  for one in x.list max 3 { if one == "zz" { l.add(one) } }  Mail.send({ to: l })',
    'Mail.send({ to: own().list.filter(one => one != "zz") })',
    'to = x.a  to = "a"  send(to)',
    'to = "a"  if input.no { to = x.a }  send(to)',
    "to = x.a  if input.yes { to = own().a }  send(to)",
    'Mail.send({ to: if x.a == "x" { own().a } else { "b" } })',
    "Mail.send({ to: try { [][0] } catch { own().a } })",
    'to = x.a  try { to = "a"  y = [][0] } catch { Mail.send({ to: to }) }',
    'Mail.send({ to: generate({ input: "Who?", model: Sure }) })',
    'Mail.send({ to: endorse x.a as trusted because "seen" })',
    'Chat.send({ text: endorse p.a for "bob" because "asked" })',
    'Mail.call({ tool: "send", args: { to: own().a, body: x.a } })',
    "Post.send({ to: own().a, body: p.a })",
    "Post.send({ to: Own.get({}).a + own().list[0] })",
    "Chat.send({ text: x.a })",
    "Notes.add({ text: x.a })  Mail.send({ to: own().a })",
    'Chat.send({ text: Diary.add({ text: "x" }) })',
    "Post.send({ to: own().a, body: Diary.query({})[0].a })",
    "Post.send({ to: own().a, body: Plan.a })",
    "Chat.send({ text: Menu.a })",
    'Post.send({ to: own().a, body: generate({ input: "Who?", model: Whisper }) })',
    'Chat.send({ text: Server.call({ tool: "find", args: {} }).a })',
    'Chat.send({ text: Server.call({ tool: "one", args: { owner: "bob" } }).a })',
    "Chat.send({ text: Server.find({}).a })",
    'Pick.send({ to: generate({ input: "Who wrote " + x.a }) })',
    'Pick.send({ to: [generate({ input: "Who?" }), "k"] })',
    'Pick.send({ body: "about " + x.a })',
    'Pick.send({ body: [x.a, "me"] })',
    'Pick.send({ to: "a", body: "https://example.com" })',
    'Pick.send({ body: "https://example.com/" + own().a })',
    'Pick.send({ body: "https://example.com/".slice(0, 5) + x.a })',
    'link = "https://example.com/" + x.a  Pick.send({ body: if link == "" { link } else { "k" } })',
    'Pick.send({ cc: "see " + x.a })',
    'Pick.send({ to: "http://k" })',
];

const ANSWER = { a: "x", list: ["p", "q"], inner: { b: "y" } };

function answer(e: Effect): Outcome | undefined {
    const r = e.request as { op?: string; tool?: string; memory?: string; model?: { name: string } };
    if (e.kind === "model") {
        const name = r.model?.name ?? "";
        return said({ text: "k", value: "k", calls: [], finish: "stop", model: name }, [`model:${name}`]);
    }
    if (e.kind === "recall") return said([ANSWER], [`memory:${r.memory}`]);
    return e.kind === "tool" && r.op !== "describe" ? said(ANSWER, [`tool:${r.tool}`]) : undefined;
}

const content = (name: string): FileContent => ({ json: ANSWER, origins: [`file:${name}.json`] });

function both(
    body: string,
    head = "",
    project: Project | null = null,
    main = MAIN,
): { readonly notes: readonly string[]; readonly told: readonly string[]; readonly ran: string; readonly sent: boolean } {
    const files: { readonly [file: string]: string } = { "main.remit": head + main.replace("BODY", () => body), "helper.remit": HELPER };
    const loaded = loadProgram("main.remit", { read: (file) => files[file] ?? null, resolve: (_from, uri) => uri.replace(/^\.\//, "") });
    const checked = check(withStandIns(loaded), { project });
    const errors = checked.diagnostics.filter((one) => one.severity === "error").map((one) => one.code);
    const { result, effects } = once(lower(checked), {
        answer,
        options: {
            input: { t: "k", yes: true, no: false },
            imports: { "1/Plan": content("plan"), "1/Menu": content("menu") },
            ...(project === null ? {} : { policy: project.policy }),
        },
    });
    const outside = new Set(["Mail", "Post", "Chat", "Pick"]);
    return {
        notes: checked.diagnostics.filter((one) => one.code === "FLOW_MAY_BE_REFUSED").map((one) => one.message.replace(/^.*: /, "")),
        told: errors,
        ran: result.ok ? "ok" : result.failure.kind,
        sent: effects.some((e) => e.kind === "tool" && outside.has((e.request as { tool: string }).tool)),
    };
}

describe("flows that are refused", () => {
    test.each(REFUSED)("%s", (body) => {
        expect(both(body)).toMatchObject({ told: ["FLOW_REFUSED"], ran: "violation.flow", sent: false });
    });
});

describe("near-misses", () => {
    test.each(PASSES)("%s", (body) => {
        expect(both(body)).toMatchObject({ told: [], ran: "ok", sent: true });
    });
});

/** Refused in strict code, and let through elsewhere. */
const DECIDED: readonly string[] = [
    'if x.a == "x" { Mail.send({ to: "a" }) }',
    'if x.a == "z" { 0 } else { send("a") }',
    'if x.a != "z" { all({ to: "a", body: "b" }) }',
    'to = "a"  if x.a == "z" { to = "b" }  Mail.send({ to: to })',
    'to = "a"  if own().a == "z" { to = "c" } else if x.a == "z" { to = "b" } else { send(to) }',
    'to = if x.a == "x" { "a" } else { "b" }  send(to)',
    'to = "a"  for one in x.list max 3 { if one == "zz" { to = "b" } }  Mail.send({ to: to })',
    'to = "a"  for one in x.list max 3 { to = "b" }  post(Mail, to)',
    'for one in x.list max 3 { Mail.send({ to: "a" }) }',
    'n = 0  loop until x.a == "z" or n > 1 max 5 { n += 1 }  Mail.send({ to: n })',
    'for one in own().list max 3 { if x.a == "z" { break } send("a") }',
    'if x.a == "z" { return 0 }  Mail.send({ to: "a" })',
    'to = "a"  if input.yes { if x.a == "z" { return 0 } to = "b" } else { if x.a == "z" { return 0 } to = "c" }  Mail.send({ to: to })',
    "Mail.send({ to: chosen(x.a) })",
    'if x.a == "x" { tell() }',
    'if x.a == "x" { Fixer.tell("a") }',
    'if x.a == "x" { Mail.send({ to: endorse "a" as trusted because "seen" }) }',
    'if p.a == "x" { Mail.send({ to: "a" }) }',
    'if p.a == "x" { Chat.send({ text: "k" }) }',
    'if x.a == "x" { Mail.call({ tool: "send", args: { to: "a" } }) }',
    'l = parallel for one in own().list max 3 { if x.a == "x" { send("a") } 0 }  l',
];

/** What is changed under a condition carries it, whichever way was taken. */
const CHANGED: readonly string[] = [
    'l = []  for one in x.list max 3 { l.add("k") }  Mail.send({ to: l })',
    'o = { to: "a" }  if x.a == "x" { o.to = "b" }  Mail.send(o)',
];

/** Let through in strict code too. */
const UNDECIDED: readonly string[] = [
    'if own().a == "x" { Mail.send({ to: "a", body: x.a }) }',
    'if x.a == "z" { 0 }  Mail.send({ to: "a" })',
    'to = "a"  if x.a == "z" { other = "b" }  Mail.send({ to: to })',
    'for one in x.list max 3 { other = one }  send("a")',
    'for one in x.list max 3 { if one == "p" { break } }  Mail.send({ to: "a" })',
    'to = "a"  if input.yes { to = own().a }  Mail.send({ to: to })',
    'if x.a == "x" { Mail.send({ body: "k" }) }',
    'if x.a == "x" { Post.list({}) }  Mail.send({ to: "a" })',
    'to = if x.a == "x" { "a" } else { "b" }  Mail.send({ to: "c", body: to })',
    'to = endorse (if x.a == "x" { "a" } else { "b" }) as trusted because "either is mine"  Mail.send({ to: to })',
];

describe("what only control flow carries", () => {
    test.each([...DECIDED, ...CHANGED])("strict: %s", (body) => {
        expect(both(body, "flow strict\n")).toMatchObject({ told: ["FLOW_REFUSED"], ran: "violation.flow", sent: false });
        const basic = both(body);
        expect([basic.told, basic.ran]).toEqual([[], "ok"]);
    });
    test.each(UNDECIDED)("strict, and let through: %s", (body) => {
        expect(both(body, "flow strict\n")).toMatchObject({ told: [], ran: "ok", sent: true });
    });
});

const DECIDES = 'if x.a == "x" { Mail.send({ to: "a" }) }';
const GIVES = "may Find, Own, People, Mail  flow strict";

test.each([
    ["its remit", MAIN.replace("main agent Main {", `main agent Main {\n    remit { ${GIVES} }`), null],
    ["a remit that it names", MAIN.replace("main agent Main {", `remit Bound { ${GIVES} }\nmain agent Main {\n    remit Bound`), null],
    ["the project", MAIN, { policy: { strict: true }, sources: new Map() }],
] as const)("an agent is strict as %s says", (_name, main, project) => {
    expect(both(DECIDES, "", project, main)).toMatchObject({ told: ["FLOW_REFUSED"], ran: "violation.flow", sent: false });
});

test("what a question may let pass is not called refused", () => {
    expect(both("Ask.send({ to: x.a })")).toMatchObject({ told: [], ran: "denied", sent: false });
});

describe("what the input carries", () => {
    const nobodys: Project = { policy: { input: "unlabelled" }, sources: new Map() };
    test.each([
        "Post.send({ to: input.t })",
        "post(Post, input.t)",
        "if input.yes { Post.send({ to: [own().a, input.t] }) }",
        "o = { to: own().a }  o.to = input.t  Post.send(o)",
    ])("the user's word is not told of where a clause takes it, and noted where it names others: %s", (body) => {
        const notes = ["the run refuses it if the input is the user's"];
        expect(both(body)).toMatchObject({ told: [], notes, ran: "violation.flow", sent: false });
    });
    test.each([
        "Mail.send({ to: input.t })",
        "send(input.t)",
        'Mail.send({ to: "dear " + mine({ inner: { b: input.t } }) })',
        "all({ to: input.t })",
    ])("nobody's word is noted where a clause takes only what is trusted: %s", (body) => {
        const notes = ["the run refuses it if the origin of the input is unknown"];
        expect(both(body, "", nobodys)).toMatchObject({ told: [], notes, ran: "violation.flow", sent: false });
        expect(both(body)).toMatchObject({ told: [], notes: [], ran: "ok", sent: true });
    });
    test.each([
        'Mail.send({ to: "a", body: input.t })',
        "Chat.send({ text: input.t })",
        'Mail.send({ to: endorse input.t as trusted because "seen" })',
    ])("and nothing is noted of %s", (body) => {
        expect(both(body, "", nobodys)).toMatchObject({ told: [], notes: [], ran: "ok", sent: true });
    });
});

test("there are enough of both", () => {
    expect([REFUSED.length > 30, PASSES.length > 30]).toEqual([true, true]);
});
