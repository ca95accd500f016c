/**
 * The runner of TypeScript and JavaScript programs, as text: it is written beside a run's socket and started there.
 *
 * Boundary: Node 24 and its own modules. It speaks the frames of `frames.ts` and knows nothing else of Remit.
 *
 * RN1: a program is the body of an async function, so that `await` and `return` stand where they like; one with `import` or `export` is a module.
 * RN2: what is called waits until nothing is left to do; then all open calls are told at once (timers do not count, reading a file does).
 * RN3: frames go over a socket of the runner's own; what is printed never touches it.
 * RN4: inputs are also names, where they do not hide a global one. A function `run` that nothing in the program calls, of a module the one that it
 *     exports, is called with the inputs, and what it returns is the program's value.
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
        // Made here, so that it names the line of the program.
        waiting.set(next++, { resolve, reject, failed: kind === "agent" ? new Error("") : null });
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

function failing(failed, message) {
    failed.message = message;
    failed.stack = "Error: " + message + "\n" + (failed.stack ?? "").split("\n").slice(1).join("\n");
    return failed;
}

/** Why the last answer without data has none: a program that reads it all the same is told. */
let missing;
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
        for (const { id, value, error } of frame.answers ?? []) {
            const one = waiting.get(id);
            waiting.delete(id);
            if (typeof value?.error === "object" && value.data === undefined) missing = value.error?.message;
            if (error === undefined) one?.resolve(value);
            else one?.reject(failing(one.failed ?? new Error(""), error));
        }
        if (waiting.size === 0 && !over) link.unref();
    }
});
link.on("close", () => exit(97));
link.on("error", () => exit(97));
send({ hello: token, as: "program" });

const told = (error) => shownError(error) + (error instanceof TypeError && missing !== undefined && /undefined/.test(error.message) ? "\nThe last answer had no data: " + missing : "");
const shownError = (error) =>
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

const TAKEN = new Set(["reason", "act", "agent", "inputs", "RIFF_PARAMS", "require", "eval", "arguments", "await"]);

/** Inputs that may be names: none hides what the language or the run has under that name. */
function namesOf(inputs) {
    if (inputs === null || typeof inputs !== "object" || Array.isArray(inputs)) return [];
    return Object.keys(inputs).filter((name) => {
        if (!/^[A-Za-z_$][\w$]*$/.test(name) || name.startsWith("__") || TAKEN.has(name) || name in globalThis) return false;
        try {
            return new vm.Script("(async function () { 'use strict'; let " + name + "; })") !== null;
        } catch {
            // A word of the language.
            return false;
        }
    });
}

/** Whether the name run stands in it once, where it is declared: then nothing in it calls that function. */
function declaresRun(text) {
    const bare = text
        .replace(/\/\*[^]*?\*\/|(?<![:\\])\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, " ")
        .replace(/${"`"}(?:[^${"`"}\\]|\\[^])*${"`"}/g, (one) => (one.match(/\$\{[^}]*\}/g) ?? []).join(" "));
    const named = bare.replace(/\bexport\s*\{[^}]*\}/g, " ").match(/(?<![.\w$])run(?![\w$]|\s*:)/g) ?? [];
    return named.length === 1 && /(?:\bfunction\s*\*?\s*|\b(?:const|let|var)\s+)run(?![\w$])/.test(bare);
}

function functionOf(text, names, enters) {
    // Of functions within each other, so that what the program declares may have the name of an input.
    const own = ["reason", "act", "agent", "inputs", "RIFF_PARAMS", "require", "__enter", ...names];
    const head = "(function (" + own.join(", ") + ") { return async function () {";
    const whole = head + text + (enters ? "\n;return __enter(typeof run === 'undefined' ? null : run)" : "") + "\n} })";
    const code = /\.[cm]?ts$/.test(file) ? stripTypeScriptTypes(whole) : whole;
    return new vm.Script(code, { filename: file, columnOffset: -head.length, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
}

async function run({ inputs }) {
    const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "").replace(/^#!.*/, "");
    const names = namesOf(inputs);
    const declares = declaresRun(text);
    const enter = (entry) => (typeof entry === "function" ? entry(inputs) : undefined);
    let script;
    let why;
    try {
        script = functionOf(text, names, declares);
    } catch (error) {
        why = error;
    }
    if (script !== undefined) {
        const given = names.map((name) => inputs[name]);
        return script.runInThisContext()(reason, act, agent, inputs, inputs, createRequire(file), enter, ...given)();
    }
    for (const name of names) globalThis[name] = inputs[name];
    Object.assign(globalThis, { reason, act, agent, inputs, RIFF_PARAMS: inputs });
    let module;
    try {
        module = await import(pathToFileURL(file).href);
    } catch (error) {
        throw error instanceof SyntaxError && !/\b(import|export)\b/.test(text) ? why : error;
    }
    if (typeof module.run === "function") return declares ? enter(module.run) : undefined;
    if (typeof module.default === "function") return enter(module.default);
    if (declares && module.run === undefined) throw new Error("a module must export its run(), so that it can be called");
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
