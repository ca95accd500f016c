/**
 * The runner of TypeScript and JavaScript programs, as text: it is written beside a run's socket and started there.
 *
 * Boundary: Node 24 and its own modules. It speaks the frames of `frames.ts` and knows nothing else of Remit.
 *
 * J1: a program is the body of an async function, so that `await` and `return` stand where they like; one with `import` or `export` is a module.
 * J2: what is called waits until nothing is left to do; then all open calls are told at once (timers do not count, reading a file does).
 * J3: frames go over a socket of the runner's own; what is printed never touches it.
 */
export const NODE_RUNNER = String.raw`
import { readFileSync, writeSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { connect } from "node:net";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const file = process.argv[2];
const shown = basename(file);
const link = connect(process.env.REMIT_RAS);
const token = process.env.REMIT_RAS_TOKEN;
delete process.env.REMIT_RAS;
delete process.env.REMIT_RAS_TOKEN;
const { exit } = process;
const later = setImmediate;
const pause = setTimeout;

let next = 0;
let fresh = [];
let watching = false;
let over = false;
const waiting = new Map();

const send = (frame, done) => link.write(JSON.stringify(frame) + "\n", done);

function plain(kind, args) {
    const text = JSON.stringify(args, (key, value) => {
        const type = typeof value;
        if (type === "function" || type === "symbol" || type === "bigint" || (type === "number" && !Number.isFinite(value)))
            throw new TypeError(kind + "(): what is given must be plain data: " + String(value) + " at " + key);
        return value;
    });
    return JSON.parse(text);
}

function call(kind, args) {
    return new Promise((resolve, reject) => {
        let given;
        try {
            given = plain(kind, args);
        } catch (error) {
            reject(error);
            return;
        }
        fresh.push({ id: next, kind, args: given });
        waiting.set(next++, resolve);
        link.ref();
        watch();
    });
}

function watch() {
    if (watching) return;
    watching = true;
    later(look);
}

/** Reading a file may lead to another call: it is waited for. */
const busy = () => process.getActiveResourcesInfo().some((one) => /^(FSReq|FileHandle|GetAddrInfo|Process|Zlib|Pbkdf|RandomBytes)/.test(one));

function look() {
    if (busy()) {
        pause(look, 1);
        return;
    }
    watching = false;
    const calls = fresh;
    fresh = [];
    if (calls.length > 0) send({ calls });
}

const reason = (prompt, example, more) => call("reason", { prompt, example: example ?? more?.example ?? null });
const act = (name, args) => call("act", { name, args: args ?? {} });
const agent = (prompt, config) => call("agent", { prompt, config: config ?? {} });

let heard = "";
let begin;
const begun = new Promise((resolve) => {
    begin = resolve;
});
link.setEncoding("utf8");
link.on("data", (piece) => {
    heard += piece;
    for (let at = heard.indexOf("\n"); at >= 0; at = heard.indexOf("\n")) {
        const frame = JSON.parse(heard.slice(0, at));
        heard = heard.slice(at + 1);
        if (frame.answers === undefined) begin(frame);
        for (const { id, value } of frame.answers ?? []) {
            waiting.get(id)?.(value);
            waiting.delete(id);
        }
        if (waiting.size === 0 && !over) link.unref();
    }
});
link.on("close", () => exit(97));
link.on("error", () => exit(97));
send({ hello: token, as: "program" });

const told = (error) =>
    error instanceof Error
        ? (error.stack ?? String(error))
              .split("\n")
              .filter((line) => !/^\s+at /.test(line) || line.includes(shown))
              .join("\n")
        : String(error);

function end(frame) {
    if (over) return;
    over = true;
    link.ref();
    send({ ended: true, ...frame }, () => exit(frame.error === undefined ? 0 : 1));
}
process.on("uncaughtException", (error) => end({ error: told(error) }));
process.on("unhandledRejection", (error) => end({ error: told(error) }));

function functionOf(text) {
    const head = "(async function (reason, act, agent, inputs, RIFF_PARAMS, require) {";
    const whole = head + text + "\n})";
    const code = /\.[cm]?ts$/.test(file) ? stripTypeScriptTypes(whole) : whole;
    return new vm.Script(code, { filename: file, columnOffset: -head.length, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
}

async function run({ inputs }) {
    const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "").replace(/^#!.*/, "");
    let script;
    let why;
    try {
        script = functionOf(text);
    } catch (error) {
        why = error;
    }
    if (script !== undefined) return script.runInThisContext()(reason, act, agent, inputs, inputs, createRequire(file));
    Object.assign(globalThis, { reason, act, agent, inputs, RIFF_PARAMS: inputs });
    try {
        await import(pathToFileURL(file).href);
    } catch (error) {
        throw error instanceof SyntaxError && !/\b(import|export)\b/.test(text) ? why : error;
    }
}

try {
    let value;
    let returned = false;
    // a program that waits for nothing that can come would otherwise end without a word
    process.on("beforeExit", () => {
        if (returned) end({ value });
        else end({ error: "the program waits for something that never comes" });
    });
    const frame = await begun;
    link.unref();
    const gave = await run(frame);
    returned = true;
    value = gave === undefined ? undefined : plain("return", gave);
} catch (error) {
    end({ error: told(error) });
}
`;
