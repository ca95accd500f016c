/** `temporal://` tools as their description says them (QT3): what does not fit is not sent, and is no result. What a server does with a call is tested in the package of Temporal. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { checkFile } from "../../src/load/check.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import type { QueueCall } from "../../src/tool/queue.ts";

const ORDER = { type: "object", properties: { order: { type: "integer" } }, required: ["order"], additionalProperties: false };
const REFUNDED = { type: "object", properties: { refunded: { type: "integer" } }, required: ["refunded"] };

/** What a refund came to where the queue gives `result`, and what was sent to it. */
async function refunded(about: Json, argument: Json, result: Json): Promise<{ readonly said: Json; readonly sent: readonly Json[] }> {
    const folder = mkdtempSync(join(tmpdir(), "remit-queue-"));
    const sent: Json[] = [];
    const queues = async ({ args }: QueueCall): Promise<Json> => {
        sent.push(...args);
        return result;
    };
    try {
        writeFileSync(join(folder, "billing.json"), JSON.stringify({ methods: { refund: about } }));
        const path = join(folder, "main.remit");
        const body = 'try { Billing.refund(input).refunded } catch failure { failure.kind + ": " + failure.message }';
        writeFileSync(path, `import tool Billing from "temporal://q/billing.json" { refund: may }\nmain func(input) { x = ${body}\n x }`);
        const program = await load<Json, Json>(
            { path },
            { root: folder, workspace: folder, cache: false, queues, ledger: join(folder, "l.db") },
        );
        const said = await program(argument);
        await program.close();
        return { said, sent };
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

test("what fits is sent, and its result is the call's", async () => {
    const about = { activity: "refundOrder", input: ORDER, output: REFUNDED };
    expect(await refunded(about, { order: 7 }, { refunded: 5 })).toEqual({ said: 5, sent: [{ order: 7 }] });
});

test("QT3: an argument that does not fit is not sent", async () => {
    const about = { activity: "refundOrder", input: ORDER };
    for (const argument of [{ order: "7" }, {}, { order: 7, all: true }] as Json[]) {
        const { said, sent } = await refunded(about, argument, { refunded: 5 });
        expect(said).toMatch(/^contract: .*the argument of Billing\.refund does not fit `input` of billing\.json: /);
        expect(sent).toEqual([]);
    }
});

test("QT3: a result that does not fit is none", async () => {
    const about = { workflow: "refund", output: REFUNDED };
    const { said, sent } = await refunded(about, { order: 7 }, { refunded: "all" });
    expect(said).toMatch(/^contract: .*the result of Billing\.refund does not fit `output` of billing\.json: .*refunded/);
    expect(sent).toEqual([{ order: 7 }]);
});

test("a description whose schema is none is told, and nothing is sent", async () => {
    for (const input of [{ type: "integr" }, 5]) {
        const { said, sent } = await refunded({ activity: "refundOrder", input: input as Json }, { order: 7 }, null);
        expect(said).toMatch(/^unreachable: .*billing\.json is wrong: methods\.refund\.input is no JSON Schema/);
        expect(sent).toEqual([]);
    }
});

const CHECKED: readonly (readonly [body: string, found: readonly string[]])[] = [
    ['main func(input) { Billing.refund({ order: 7, note: "x" }) }', []],
    ["main func(input) { Billing.refund({ order: input.order, ...input }) }", []],
    ['main func(input) { Billing.anything({ order: "7" }) }', []],
    ["main func(input) { Billing.refnd({ order: 7 }) }", ["UNKNOWN_METHOD the tool 'Billing' has no method 'refnd'"]],
    ['main func(input) { Billing.refund({ note: "x" }) }', ["MISSING_FIELD the method 'refund' needs order"]],
    ["main func(input) { Billing.refund({ ordr: 7 }) }", ["UNKNOWN_FIELD the method 'refund' has no field 'ordr'"]],
    ["main func(input) { Billing.closed({ order: 7, note: 1 }) }", ["UNKNOWN_FIELD the method 'closed' has no field 'note'"]],
    [
        'main func(input) { order = "7"\n Billing.refund({ order: order, note: none }) }',
        ["CONTRACT_MISMATCH the field 'order' of the method 'refund' is number, not string"],
    ],
    [
        "main func(input) { Billing.refund({ order: 7, note: [1] }) }",
        ["CONTRACT_MISMATCH the field 'note' of the method 'refund' is string or none, not list"],
    ],
    [
        "func f(x) { Billing.refnd(x) }\nmemory static ( Billing.refnd )",
        ["UNKNOWN_METHOD", "INVALID_STAGE tool 'Billing' has no method 'refnd'"],
    ],
    [
        'remit R { may Billing.refnd, Billing.closed in notes: "a" }\nmain func(input) { 1 }',
        ["REMIT_UNKNOWN_METHOD", "REMIT_UNKNOWN_ARGUMENT Billing.closed takes no argument 'notes'"],
    ],
];

test("the checker holds calls, stages and remits against the description; what was compiled holds while it stays as it is", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-queue-"));
    const path = join(folder, "main.remit");
    const note = { type: ["string", "null"] };
    const open = { type: "object", properties: { order: { type: "integer" }, note }, required: ["order"] };
    const described = (methods: Json): void => writeFileSync(join(folder, "billing.json"), JSON.stringify({ methods }));
    const env = { HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
    const written = (body: string): void => writeFileSync(path, `import tool Billing from "temporal://q/billing.json"\n${body}\n`);
    try {
        const all = { refund: { activity: "a", input: open }, closed: { workflow: "w", input: ORDER }, anything: { activity: "a" } };
        for (const [body, wanted] of CHECKED) {
            described(all);
            written(body);
            const { diagnostics } = await checkFile(path, { root: folder, env });
            const found = diagnostics.filter(({ severity }) => severity === "error").map(({ code, message }) => `${code} ${message}`);
            expect(found).toEqual(wanted.map((one) => expect.stringContaining(one)));
        }
        written("main func(input) { Billing.refund({ order: 7 }) }");
        const options = { root: folder, env, folders: { cache: folder, config: folder } };
        await (await load({ path }, options as LoadOptions)).close();
        described({ other: { activity: "a" } });
        await expect(load({ path }, options as LoadOptions)).rejects.toThrow("the tool 'Billing' has no method 'refund'");
        rmSync(join(folder, "billing.json"));
        await expect(load({ path }, options as LoadOptions)).rejects.toThrow("there is no file billing.json; it describes the tool");
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
});
