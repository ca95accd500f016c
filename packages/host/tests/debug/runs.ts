/** Runs to debug: what was recorded of programs that end, fail, wait and are killed. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Json } from "@remit/language";
import { memoryStore } from "../../src/ledger/memory.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import { scriptAt } from "../script.ts";

const KILLED = scriptAt("packages/host/tests/debug/killed.ts");

export const BRANCHES = `import tool Work from "host:work"
func twice(n: number) {
    m = n + n
    m
}
func checked(n: number) {
    if n == 3 { return Work.fail(n) }
    Work.step(n)
}
main func(input: { items: list[number] }) {
    seen = []
    total = 0
    for n in input.items max 10 {
        total += twice(n)
        seen = [...seen, { n: n, twice: twice(n) }]
    }
    sorted = seen.sort_by((s) => 0 - s.n).map((s) => s.twice)
    parts = parallel for n in input.items max 10 {
        a = 0
        try { a = checked(n) } catch e { a = e.message.length }
        b = twice(a)
        b
    }
    shown = { total: total, parts: parts, sorted: sorted }
    shown
}
`;

/** Calls of its iterations come back the last one first; the iterations go on in their own order. */
export const TURNS = `flow strict
import tool Work from "host:work"
main func(input: { items: list[number] }) {
    parts = parallel for n in input.items max 10 {
        Work.late(n)
        b = n + 1
        c = Work.late(b)
        c
    }
    parts
}
`;

export const FAILS = `import tool Work from "host:work"
func last(n: number) {
    x = Work.step(n)
    y = { a: [x, n], b: "text" }
    y.a[7]
}
main func(input: { n: number }) {
    before = 1
    last(input.n)
}
`;

export const ASKS = `import tool Mail from "host:mail" { send: ask }
agent Sender {
    remit { may Mail.send  never Mail.purge }
    func go(to) {
        text = "to " + to
        Mail.send(to, text)
    }
}
main agent Main {
    main func(input: { to: string }) {
        first = Mail.read()
        done = none
        delegate Mail.read to Sender {
            done = Sender.go(input.to)
        }
        [first, done]
    }
}
`;

export const REFUSED = `import tool Mail from "host:mail"
agent Sender {
    remit { may Mail.send in to: "*@a.com" }
    func go(to) {
        text = "hello"
        Mail.send({ to: to, text: text })
    }
}
main agent Main {
    main func(input: { to: string }) {
        found = none
        try { Sender.go(input.to) } catch e { found = e.kind }
        found
    }
}
`;

/** Everything that can be asked, of everything that can be named. */
const ASKED = `[Look.stack({}), Look.frame({}), try { Look.frame({ index: 1 }) } catch e { e.message }, Look.owner({ path: "0/own" }), Look.origins({ path: "0/own" }), Look.capabilities({}), Look.find({ text: "a" }), Look.find({ origin: "tool:Work" }), try { Look.frame({ index: 99 }) } catch e { e.message }]`;

/** Programs that ask about themselves, several times in a statement, in calls, loops, branches and delegations, and then fail. */
export const LOOKS: { readonly [name: string]: string } = {
    "calls, loops and closures": `import tool Look from "inspect:"
import tool Work from "host:work"
func deep(n: number, own) {
    if n == 0 { return ${ASKED} }
    before = n * 2
    deep(n - 1, [own, before])
}
main func(input: { items: list[number] }) {
    own = Work.step(1)
    seen = []
    for n in input.items max 2 {
        own = { a: own, n: n }
        seen = [...seen, { n: n, at: ${ASKED} }]
    }
    text = "a" + own.n
    got = deep(1, text)
    seen.map((s) => s.n)[0] + Work.fail(7)
}
`,
    "branches that wait for one another": `import tool Look from "inspect:"
import tool Work from "host:work"
main func(input: { items: list[number] }) {
    own = "a"
    parts = parallel for n in input.items max 10 {
        mine = [own, n]
        first = Look.stack({})
        if n > 1 { mine.add(Work.step(n)) }
        second = Look.find({ text: "a" })
        mine.add(Look.frame({ index: 0 }).variables.length)
        third = Look.frame({ index: 1 })
        if n == 3 { Work.fail(n) }
        mine
    }
    parts
}
`,
    "principals, delegation and rights": `import tool Look from "inspect:"
import tool Mail from "host:mail"
agent Sender {
    remit { may Look, Mail.send  flow strict }
    func go(own, mail) {
        text = if own == "a" { "yes" } else { "no" }
        got = ${ASKED}
        mail.purge()
    }
}
main agent Main {
    main func(input: { items: list[number] }) {
        own = Mail.read()
        delegate Mail.read to Sender {
            done = Sender.go(own, Mail.only(send, read))
        }
        own
    }
}
`,
};

/** Budgets of regions: steps inside a lambda, time while it computes in branches, time while it waits. */
export const SPENDS = `import tool Work from "host:work"
main func(input: { items: list[number] }) {
    found = []
    try {
        spend 7 steps {
            x = 1
            x = input.items.map((n) => n + x).length
            x = x + 1
        }
    } catch e { found = [...found, e.detail.meter] }
    try {
        spend 40 ms {
            parts = parallel for n in input.items max 4 {
                a = Work.step(n)
                repeat * 90000000 { a = a + 1 }
                a
            }
        }
    } catch e { found = [...found, e.kind] }
    try {
        spend 40 ms { Work.hang(1) }
    } catch e { found = [...found, e.kind] }
    found
}
`;

const called: (() => void)[] = [];

const WORK = {
    step: (n: number) => n + 1,
    /** Four calls at once, which come back the last one first. */
    late: (n: number) =>
        new Promise<number>((resolve) => {
            called.push(() => resolve(n));
            if (called.length === 4) for (const [i, back] of called.splice(0).reverse().entries()) setTimeout(back, 20 * i);
        }),
    hang: (_: number, io: { signal: AbortSignal }) => wait(1e7, 1, { signal: io.signal }),
    fail: (n: number) => {
        throw new Error(`no ${n}`);
    },
};
export const TOOLS = { Work: WORK, Mail: { read: () => "a letter", send: () => "sent", purge: () => "gone" } };

export interface Recorded {
    readonly store: LedgerStore;
    readonly id: string;
}

/** Runs a program to where it gets by itself. */
export async function recorded(
    source: string,
    input: Json,
    options: Omit<LoadOptions, "ledger"> = {},
    store: LedgerStore = memoryStore(),
): Promise<Recorded> {
    const program = await load({ source, file: "main.remit" }, { tools: TOOLS, ledger: store, cache: false, ...options });
    const handle = program.run(input);
    await handle.result;
    return { store, id: handle.id };
}

/** A run whose process was killed while a tool worked. */
export async function killed(): Promise<Recorded & { close(): Promise<void> }> {
    const folder = mkdtempSync(join(tmpdir(), "remit-debug-"));
    const child = spawnSync(process.execPath, [KILLED, folder], { env: { ...process.env, NODE_OPTIONS: "" }, encoding: "utf8" });
    if (child.signal !== "SIGKILL") throw new Error(`not killed: ${child.stderr}`);
    const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
    const [run] = await store.runs();
    return {
        store,
        id: run?.id ?? "",
        close: async () => {
            await store.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** Everything that a store holds of a run. */
export async function contents(store: LedgerStore, id: string): Promise<string> {
    return JSON.stringify([
        await store.run(id),
        await Array.fromAsync(store.events(id)),
        await Array.fromAsync(store.outcomes(id)),
        await store.pending(id),
        await store.state(id),
    ]);
}
