/** ENC1, ENC2: keys that follow one another, and payloads that are read only where they belong. */
import { randomBytes } from "node:crypto";
import type { Payload, SerializationContext } from "@temporalio/common";
import { expect, test } from "vitest";
import { encryption } from "../src/codec/encryption.ts";

const [first, second, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const PLAIN: Payload = { metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from('"the word"') };
const at = (workflowId: string): SerializationContext => ({ namespace: "default", workflowId }) as SerializationContext;
const before = encryption({ current: "2025", keys: { 2025: first } });
const after = encryption({ current: "2026", keys: { 2025: first, 2026: second } });
const text = (payload: Payload | undefined): string => Buffer.from(payload?.data ?? []).toString("latin1");

test("after a rotation what the earlier key encrypted is read, and new payloads are under the current key", async () => {
    const [old] = await before.encode([PLAIN], at("run-1"));
    const [made] = await after.encode([PLAIN], at("run-1"));
    expect(text(old)).not.toContain("the word");
    const read = await after.decode([old as Payload, made as Payload, PLAIN], at("run-1"));
    expect(read.map(text)).toEqual(['"the word"', '"the word"', '"the word"']);
    await expect(before.decode([made as Payload], at("run-1"))).rejects.toMatchObject({
        message: "a payload is encrypted under the key 2026, which is not given here",
        hint: "give that key too",
    });
});

test("a payload of another workflow, a changed one and one under another key of the same name are not read", async () => {
    const [made] = await after.encode([PLAIN], at("run-1"));
    const payload = made as Payload;
    await expect(after.decode([payload], at("run-2"))).rejects.toThrow("a payload of default/run-1 was found in default/run-2");
    const data = Buffer.from(payload.data ?? []);
    data[14] = (data[14] ?? 0) ^ 1;
    await expect(after.decode([{ ...payload, data }], at("run-1"))).rejects.toThrow("was changed, or the key is another one");
    const wrong = encryption({ current: "2026", keys: { 2026: other } });
    await expect(wrong.decode([payload], at("run-1"))).rejects.toThrow("was changed, or the key is another one");
    const metadata = { ...payload.metadata, "encryption-place": Buffer.from("default/run-2") };
    await expect(after.decode([{ ...payload, metadata }], at("run-2"))).rejects.toThrow("was changed, or the key is another one");
});

test("keys are 32 bytes, and the current one is among them", () => {
    expect(() => encryption({ current: "a", keys: { a: randomBytes(16) } })).toThrow("the key a has 16 bytes");
    expect(() => encryption({ current: "b", keys: { a: first } })).toThrow("there is no key b");
});
