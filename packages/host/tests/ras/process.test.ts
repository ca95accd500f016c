/** RAS programs as processes: every shape of a call, and programs that mean ill. */
import {
    existsSync,
    lstatSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    realpathSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterAll, expect, test } from "vitest";
import { children } from "../../src/process/child.ts";
import { RAS_LIMITS, type RasCall, type RasLimits, type RasStep, startRas } from "../../src/ras/process.ts";
import { rasSource } from "../../src/ras/source.ts";
import { workFolder } from "../../src/ras/work.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-ras-test-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
    readonly calls: readonly RasCall[];
    readonly batches: readonly (readonly string[])[];
    readonly end: RasStep;
}

const owner = children();
afterAll(() => owner.close());
let made = 0;
/** Runs a program; each call is answered with its example, or with the name that was called. */
async function runs(
    ending: string,
    text: string,
    more: { limits?: Partial<RasLimits>; inputs?: Json; reason?: Json } = {},
): Promise<Ended> {
    const file = join(folder, `p${made++}.${ending}`);
    writeFileSync(file, text);
    const process_ = await startRas(rasSource(file), {
        inputs: more.inputs ?? {},
        limits: { ...RAS_LIMITS, ...more.limits },
        unconfined: false,
        env: process.env,
        children: owner,
        secrets: createScrubber(),
    });
    expect(process_.confinement).toBe("sandbox");
    const calls: RasCall[] = [];
    const batches: string[][] = [];
    let step = await process_.step([], new AbortController().signal);
    while (!step.done) {
        calls.push(...step.calls);
        batches.push(step.calls.map((one) => one.kind));
        const answers = step.calls.map(({ id, kind, args }) => ({
            id,
            value: (kind === "act"
                ? { content: [{ type: "text", text: `did ${String(args.name)}` }] }
                : (more.reason ?? { data: args.example ?? null })) as Json,
        }));
        step = await process_.step(answers, new AbortController().signal);
    }
    await process_.end();
    return { calls, batches, end: step };
}

test("Python: a script with await at its top, every shape of a call", async () => {
    const { calls, batches, end } = await runs(
        "py",
        `import asyncio
RIFF_ID = "shapes.v1"
one = await reason("one", {"a": ""})
two, three = await asyncio.gather(reason(["x", "y"], example={"action": "retry"}), act("bash", "npm test"))
four = await reason("list", ["url"])
five = await act("notify", {"to": "a"})
manual = await act("__manual__", {})
print(one, five["content"][0]["text"], inputs["n"], three.get("isError"))
`,
        { inputs: { n: 3 } },
    );
    expect(batches).toEqual([["reason"], ["reason", "act"], ["reason"], ["act"], ["act"]]);
    expect(calls.map((one) => one.args)).toEqual([
        { prompt: "one", example: { a: "" } },
        { prompt: ["x", "y"], example: { action: "retry" } },
        { name: "bash", args: "npm test" },
        { prompt: "list", example: ["url"] },
        { name: "notify", args: { to: "a" } },
        { name: "__manual__", args: {} },
    ]);
    expect(end).toEqual({ calls: [], done: true, output: "{'data': {'a': ''}} did notify 3 None\n" });
});

test("Python: a body with return, and a program with its own loop", async () => {
    expect((await runs("py", 'r = await reason("q", {"ok": True})\nif r["data"]["ok"]:\n    return {"k": [1, True]}\n')).end.value).toEqual(
        { k: [1, true] },
    );
    const own = await runs("py", 'import asyncio\nasync def main():\n    print(await reason("q", ["a"]))\nasyncio.run(main())\n');
    expect(own.end.output).toBe("{'data': ['a']}\n");
});

test("Python: an error is told with its lines and without the runner's", async () => {
    const { end } = await runs("py", 'x = await reason("q", {"a": 1})\nprint("before")\nx["error"]\n');
    expect(end.output).toBe("before\n");
    expect(end.error).toMatch(/^Traceback[\s\S]*line 3, in <module>\n\s+x\["error"\][\s\S]*KeyError: 'error'\n$/);
    expect(end.error).not.toContain("runner.py");
});

test("TypeScript: a body with await and return, a module, an error", async () => {
    const body = await runs(
        "ts",
        `const r: { data: unknown } = await reason("one", { a: "" });
const [x, y] = await Promise.all([reason(["p"], ["u"]), act("bash", "npm test")]);
console.log(r.data, y.content[0].text, inputs.n);
if (x) return { k: [1, true] };
`,
        { inputs: { n: 3 } },
    );
    expect(body.batches).toEqual([["reason"], ["reason", "act"]]);
    expect(body.end).toEqual({ calls: [], done: true, output: "{ a: '' } did bash 3\n", value: { k: [1, true] } });
    const module = await runs(
        "ts",
        'import { basename } from "node:path";\nconst r = await reason("q", { a: 1 });\nconsole.log(basename("/x/y"), r.data);\nthrow new Error("no");\n',
    );
    expect(module.end.output).toBe("y { a: 1 }\n");
    expect(module.end.error).toMatch(/^Error: no\n.*:4:7/);
});

// ---- the forms in which programs are written -------------------------------------------------------------------------

/** A route chosen by a model, as a function of the inputs, as a body indented as a whole, with inputs as names, as statements. */
const FORMS: { readonly [name: string]: readonly [ending: string, text: string] } = {
    "Python: run(inputs)": [
        "py",
        'RIFF_ID = "route.v1"\n\n\nasync def run(inputs):\n    r = await reason("Route " + inputs["mail"], {"q": ""})\n    return {"q": r["data"]["q"]}\n',
    ],
    "Python: run() by parameter names": [
        "py",
        'async def run(mail, *, more=2):\n    r = await reason(f"Route {mail}", {"q": ""})\n    return {"q": r["data"]["q"]}\n',
    ],
    "Python: run() that is no coroutine": [
        "py",
        'import asyncio\ndef run(inputs):\n    return go(inputs["mail"])\nasync def go(mail):\n    return (await reason("Route " + mail, {"q": ""}))["data"]\n',
    ],
    "Python: a body indented with tabs, below a comment": [
        "py",
        '# routes\n\tmail = mail.strip()\n\tif True:\n\t\tr = await reason(f"Route {mail}", {"q": ""})\n\treturn {"q": r["data"]["q"]}\n',
    ],
    "Python: its own call of run()": [
        "py",
        'async def run(it):\n    return await reason("Route " + it, {"q": ""})\nreturn (await run(mail))["data"]\n',
    ],
    "Python: a text that is run": [
        "py",
        'BODY = """\n    r = await reason(f"Route {mail}", {"q": ""})\n    return r["data"]\n"""\nreturn await ras.run(BODY, inputs={"mail": mail})\n',
    ],
    "Python: a text that is registered": [
        "py",
        'register_ras_definition("route", """\n    return (await reason("Route " + mail, {"q": ""}))["data"]\n""")\nreturn (await act("route", {"mail": mail}))["structuredContent"]\n',
    ],
    "TypeScript: run(inputs)": [
        "ts",
        'const RIFF_ID = "route.v1";\nasync function run(inputs: { mail: string }) {\n    // run it: npm run route\n    const r = await reason("Route " + inputs.mail, { q: "" });\n    return { q: r.data.q };\n}\n',
    ],
    "TypeScript: run(inputs) of a module": [
        "ts",
        'import { basename } from "node:path";\nexport const RIFF_ID = "route.v1";\nexport async function run(inputs: { mail: string }) {\n    return (await reason("Route " + basename(inputs.mail), { q: "" })).data;\n}\n',
    ],
    "TypeScript: the default of a module": [
        "ts",
        'export default async (inputs: { mail: string }) => (await reason(`Route ${inputs.mail}`, { q: "" })).data;\n',
    ],
    "TypeScript: names of inputs that it declares": [
        "ts",
        "const { mail } = inputs;\nconst run = (it: string) => reason(`Route ${it}`, { q: '' });\nreturn (await run(mail)).data;\n",
    ],
};

test.each(Object.entries(FORMS))("%s", async (_, [ending, text]) => {
    const { calls, end } = await runs(ending, text, { inputs: { mail: "m", print: 1, console: 1, class: 1, __name__: "x" } });
    expect(end).toEqual({ calls: [], done: true, output: "", value: { q: "" } });
    expect(calls.map((one) => one.args)).toEqual([{ prompt: "Route m", example: { q: "" } }]);
});

test("a run() that something calls, or that a program beside its own loop has, is not called again", async () => {
    const own = await runs(
        "py",
        'import asyncio\nasync def run(cmd):\n    return await act("bash", cmd)\nasync def main():\n    print((await run("ls"))["content"][0]["text"])\nasyncio.run(main())\n',
    );
    expect([own.calls.length, own.end.output]).toEqual([1, "did bash\n"]);
    const module = await runs(
        "ts",
        'export async function run(cmd: string) {\n    return act("bash", cmd);\n}\nconsole.log((await run("npm run x")).content[0].text);\n',
    );
    expect([module.calls.length, module.end.output]).toEqual([1, "did bash\n"]);
    const hidden = await runs("ts", 'import "node:path";\nasync function run(inputs: unknown) {\n    return inputs;\n}\n');
    expect(hidden.end.error).toContain("a module must export its run()");
});

test("an error in a body indented as a whole, or in a text that is run, is told with its line", async () => {
    const { end } = await runs("py", '    x = await reason("q", {"a": 1})\n    x["error"]\n    return 1\n');
    expect(end.error).toMatch(/line 2, in __program__\n\s+x\["error"\]/);
    expect((await runs("py", 'await ras.run("x = 1\\ny = [][0]")\n')).end.error).toMatch(/"<ras>", line 2/);
});

test("Bash: commands in pipelines, several at once", async () => {
    const { calls, end } = await runs(
        "sh",
        `act --manual | reason --prompt "pick" --prompt - --structure '["tool"]' | jq -r '.data[]' | while read -r t; do act "$t" '{"x": 1}' | jq -r '.content[0].text'; done
reason --prompt a --structure '{"k":1}' >/dev/null & reason --prompt b --structure '{"k":2}' >/dev/null & wait
reason --prompt x; echo "code $?"
printf '%s' "$RIFF_PARAMS" | jq -r .n
`,
        { inputs: { n: 3 } },
    );
    expect(calls.slice(0, 3).map((one) => one.args)).toMatchObject([
        { name: "__manual__", args: {} },
        { prompt: ["pick", "did __manual__\n"], example: ["tool"] },
        { name: "tool", args: { x: 1 } },
    ]);
    expect(
        calls
            .slice(3)
            .map((one) => one.args.prompt)
            .sort(),
    ).toEqual(["a", "b"]);
    expect(end.output).toBe("did tool\ncode 2\n3\n");
    expect(end.error).toBeUndefined();
});

test("it works in a folder of its own that holds its files; they themselves stay as they are", async () => {
    writeFileSync(join(folder, "lib.sh"), "greet() { echo hello; }\n");
    writeFileSync(join(folder, "build.log"), "ERR\n", { mode: 0o444 });
    mkdirSync(join(folder, "deep/er"), { recursive: true });
    for (const own of ["deep/.remit", "node_modules/lib/.remit"]) {
        mkdirSync(join(folder, own), { recursive: true });
        writeFileSync(join(folder, own, "keys.json"), "SECRET");
    }
    symlinkSync("/etc/hostname", join(folder, "outside"));
    symlinkSync(folder, join(folder, "deep/circle"));
    const bash = await runs(
        "sh",
        `source ./lib.sh
reason --prompt x --structure '{"a":"b"}' > a.txt && jq -r .data.a a.txt
echo more >> build.log && cat build.log
greet | tee deep/er/out.txt
echo no > node_modules/x
printf 'caf\\351' | reason --prompt - --structure '{"a":"b"}' 2>&1 || echo "code $?"
echo $(cat outside) $(ls "$(dirname "$0")/deep/er")
grep -lR 'SE[C]RET' . "$(dirname "$0")" 2>/dev/null; echo searched
`,
    );
    expect(bash.end.output).toBe("b\nERR\nmore\nhello\nreason: standard input is not UTF-8 text\ncode 1\n\nsearched\n");
    const python = await runs(
        "py",
        'log = open("build.log").read()\nopen("out.txt", "w").write(log)\nprint(open("out.txt").read(), end="")\n',
    );
    expect(python.end).toEqual({ calls: [], done: true, output: "ERR\n" });
    expect(readFileSync(join(folder, "build.log"), "utf8")).toBe("ERR\n");
    expect(existsSync(join(folder, "a.txt")) || existsSync(join(folder, "out.txt"))).toBe(false);
});

test("what is in the folder is bounded: the nearest files are copied, the rest can be read", () => {
    // in a place of its own: the other programs of this file would each have a copy of it
    const place = mkdtempSync(join(tmpdir(), "remit-ras-test-"));
    const from = join(place, "many");
    mkdirSync(join(from, "sub"), { recursive: true });
    for (let i = 0; i < 500; i++) writeFileSync(join(from, "sub", `${i}`), "x");
    writeFileSync(join(from, "near"), "x");
    writeFileSync(join(from, "large"), Buffer.alloc(5 << 20));
    const to = workFolder([from], join(place, "work"));
    const kept = (path: string): string => (lstatSync(join(to, path)).isSymbolicLink() ? "linked" : "copied");
    expect(["near", "large", "sub/0", "sub/99"].map(kept)).toEqual(["copied", "linked", "copied", "linked"]);
    expect(readdirSync(join(to, "sub"))).toHaveLength(500);
    rmSync(place, { recursive: true });
});

test("beside its own files it finds those of a folder that its tools name, and its own come first", () => {
    const place = mkdtempSync(join(tmpdir(), "remit-ras-test-"));
    for (const [path, text] of [
        ["own/a.txt", "own"],
        ["own/sub/b.txt", "own"],
        ["project/a.txt", "project"],
        ["project/build.log", "project"],
        ["project/sub/c.txt", "project"],
    ] as const) {
        mkdirSync(join(place, path, ".."), { recursive: true });
        writeFileSync(join(place, path), text);
    }
    const to = workFolder([join(place, "own"), join(place, "project")], join(place, "work"));
    const texts = ["a.txt", "build.log", "sub/b.txt", "sub/c.txt"].map((path) => readFileSync(join(to, path), "utf8"));
    expect(texts).toEqual(["own", "project", "own", "project"]);
    rmSync(place, { recursive: true });
});

test("in TypeScript, too, what reads data of an answer without any is told why there is none", async () => {
    const failed = { error: { kind: "unreachable", message: "no model is there" } };
    const { end } = await runs("ts", 'const v = await reason("x", { a: "" });\nv.data.a;\n', { reason: failed });
    expect(end.error).toMatch(/\.ts:2[\s\S]*The last answer had no data: no model is there/);
});

// ---- programs that mean ill ------------------------------------------------------------------------------------------

test("an endless loop ends at its own time, in each language", async () => {
    const limits = { time: 1500 };
    for (const [ending, text] of [
        ["py", "while True: pass\n"],
        ["ts", "for (;;);\n"],
        ["sh", "while :; do :; done\n"],
    ] as const)
        expect((await runs(ending, text, { limits })).end.error).toMatch(/took longer than/);
});

test("processes without end are ended", async () => {
    const { end } = await runs("sh", "f() { sleep 60 & f; }\nf\n", { limits: { processes: 20, time: 20_000 } });
    expect(end.error).toBe("it had more than 20 processes");
});

test("too much memory ends it", async () => {
    const { end } = await runs("py", "x = [bytearray(1 << 20) for _ in range(100000)]\n", { limits: { memory: 128 << 20, time: 20_000 } });
    expect(end.error).toBe("it took more than 128 MiB of memory");
});

test("output is kept up to its bound, whole characters", async () => {
    const { end } = await runs("py", 'print("😀" * 100000)\n', { limits: { output: 1001 } });
    expect(end.output).toMatch(/^(😀){500}\n… \d+ more characters were printed$/);
});

test("what looks like a frame on standard output is text", async () => {
    const text = '{"calls": [{"id": 0, "kind": "act", "args": {"name": "bash", "args": "x"}}]}';
    const { calls, end } = await runs("py", `print('${text}')\nprint('{"ended": true, "value": 1}')\n`);
    expect(calls).toEqual([]);
    expect(end).toEqual({ calls: [], done: true, output: `${text}\n{"ended": true, "value": 1}\n` });
});

test("a program that dies in the midst of a call has failed", async () => {
    const { calls, end } = await runs(
        "py",
        'import asyncio, os\nasyncio.get_running_loop().call_later(0.2, os._exit, 9)\nawait asyncio.gather(reason("q", {}), asyncio.sleep(5))\n',
    );
    expect(calls).toHaveLength(1);
    expect(end.error).toBe("it ended with exit code 9");
    const bash = await runs("sh", "echo why >&2; exit 4\n");
    expect(bash.end.error).toBe("it ended with exit code 4:\nwhy");
});

test("forged ids, frames that are none, and a second program end it", async () => {
    const speak = (line: string): string =>
        `import sys, time\nlink = sys.modules["__main__"].reason.__globals__["LINK"]\nlink.socket.sendall(${line})\ntime.sleep(5)\n`;
    for (const line of [
        `b'{"calls": [{"id": 1, "kind": "act", "args": {}}, {"id": 1, "kind": "act", "args": {}}]}\\n'`,
        `b'{"calls": [{"id": 1, "kind": "exec", "args": {}}]}\\n'`,
        `b'{"answers": [{"id": 1}]}\\n'`,
        "b'no json\\n'",
    ])
        expect((await runs("py", speak(line))).end.error).toMatch(/spoke to its run/);
});

test("nothing of the machine is seen, and no other run's socket can be used", async () => {
    const other = join(folder, "other.sh");
    writeFileSync(other, "reason --prompt wait --structure '{}'\n");
    const waiting = await startRas(rasSource(other), {
        inputs: {},
        limits: RAS_LIMITS,
        unconfined: false,
        env: process.env,
        children: owner,
        secrets: createScrubber(),
    });
    await waiting.step([], new AbortController().signal);
    const places = readdirSync(tmpdir()).filter((name) => name.startsWith("remit-ras-") && !name.startsWith("remit-ras-test"));
    expect(places.length).toBeGreaterThan(0);
    const { end } = await runs(
        "py",
        `import glob, os, socket
print(len(glob.glob("/tmp/remit-ras-*/s")), os.path.exists(${JSON.stringify(join(process.cwd(), "package.json"))}), os.listdir(os.path.expanduser("~")))
for path in ${JSON.stringify(places.map((name) => join(tmpdir(), name, "s")))}:
    try:
        link = socket.socket(socket.AF_UNIX); link.connect(path); link.sendall(b'{"hello": "x", "as": "program"}\\n'); print(path, link.recv(10))
    except OSError as error:
        print("no way")
try:
    socket.create_connection(("127.0.0.1", 80), 1)
except OSError:
    print("no network")
try:
    open(${JSON.stringify(join(folder, "x"))}, "w")
except OSError:
    print("read only")
`,
    );
    expect(end.output).toBe(`1 False []\n${"no way\n".repeat(places.length)}no network\nread only\n`);
    await waiting.end();
});

test("too many calls end it", async () => {
    const { end } = await runs("py", 'while True:\n    await act("x", {})\n', { limits: { calls: 5 } });
    expect(end.error).toBe("it made more than 5 calls");
});

test("a cancelled step ends it, and nothing is left", async () => {
    const file = join(folder, "long.sh");
    writeFileSync(file, "sleep 1000 & sleep 1000\n");
    const running = await startRas(rasSource(file), {
        inputs: {},
        limits: RAS_LIMITS,
        unconfined: true,
        env: process.env,
        children: owner,
        secrets: createScrubber(),
    });
    const abort = new AbortController();
    const step = running.step([], abort.signal);
    abort.abort();
    expect(await step).toMatchObject({ done: true, error: "it was cancelled" });
    await running.end();
});
