// The thread in which `remit.ts` runs commands, one after the other: `main` of the sources, as Node itself loads them, with streams, environment and
// exit code of each command's own. The current folder is the process's, which the other thread sets.
import { Readable } from "node:stream";
import { workerData } from "node:worker_threads";
import { main } from "../src/main.ts";

const { port, flag } = workerData;

const { exit } = process;

/** Thrown where a command ends the process. */
class Ended extends Error {}

/** What is written to a stream of the thread's own, instead of where it goes to. */
function kept(stream) {
    const parts = [];
    // a command listens for errors of the streams of its process, which are these for all commands
    stream.removeAllListeners("error");
    stream.write = (chunk, encoding, done) => {
        parts.push(typeof chunk === "string" ? Buffer.from(chunk, typeof encoding === "string" ? encoding : "utf8") : Buffer.from(chunk));
        const written = typeof encoding === "function" ? encoding : done;
        if (written !== undefined) queueMicrotask(written);
        return true;
    };
    return () => Buffer.concat(parts).toString("utf8");
}

async function ran({ args, env, input }) {
    const [out, err] = [kept(process.stdout), kept(process.stderr)];
    const set = (name, value) => Object.defineProperty(process, name, { value, configurable: true, writable: true, enumerable: true });
    process.env = { ...env };
    set("stdin", Readable.from(input === "" ? [] : [Buffer.from(input)], { objectMode: false }));
    process.exitCode = undefined;
    const ended = Promise.withResolvers();
    set("exit", (code) => {
        ended.resolve(code ?? process.exitCode ?? 0);
        throw new Ended();
    });
    const over = main(args).then(
        () => process.exitCode ?? 0,
        (error) => (error instanceof Ended ? ended.promise : Promise.reject(error)),
    );
    const code = await Promise.race([over, ended.promise]).finally(() => set("exit", exit));
    return { code, out: out(), err: err() };
}

port.on("message", async (order) => {
    const said = await ran(order).catch((error) => ({ broken: String(error?.stack ?? error) }));
    port.postMessage(said);
    Atomics.store(flag, 0, order.number);
    Atomics.notify(flag, 0);
});
