/** Faulty replies: every one read right or refused with the reason, none read as something else. */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { readReply } from "../../src/model/reading.ts";
import { cases, FAULTS, type Case } from "./faults.ts";

function outcome(one: Case): string {
    const read = readReply(one.text, one.subject.contract, one.subject.shapes ?? {}, { strict: false, finish: one.finish });
    if ("error" in read) {
        if (read.error.message === "") return "refused without a reason";
        return one.fault.expect === "read" ? `refused: ${read.error.kind}: ${read.error.message}` : "fine";
    }
    if (!isDeepStrictEqual(read.value, one.value)) return `SILENTLY WRONG: ${JSON.stringify(read.value)}`;
    return one.fault.expect === "refuse" ? `read, though something is missing: ${JSON.stringify(read.value)}` : "fine";
}

describe("faulty replies", () => {
    it("has at least 60 faults, each with a name of its own", () => {
        expect(FAULTS.length).toBeGreaterThanOrEqual(60);
        expect(new Set(FAULTS.map((fault) => fault.name)).size).toBe(FAULTS.length);
    });
    for (const fault of FAULTS) {
        it(`${fault.expect}: ${fault.name}`, () => {
            const wrong = cases()
                .filter((one) => one.fault === fault)
                .map((one) => [one.name, outcome(one)] as const)
                .filter(([, said]) => said !== "fine");
            expect(wrong).toEqual([]);
        });
    }
});
