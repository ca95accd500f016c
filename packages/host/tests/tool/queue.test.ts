/** `temporal://` tools as their description says them (QT3): what does not fit is not sent, and is no result. What a server does with a call is tested in the package of Temporal. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { load } from "../../src/run/program.ts";
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
