/** `in amount: 0..500`: ranges of numbers in remits (LANGUAGE 5). Only a JSON number fits; what is forbidden is forbidden for anything that is none. */
import { describe, expect, test } from "vitest";
import { refusalText, remedyOf, refusalIn } from "../../src/index.ts";
import { run } from "./running.ts";

const text = (remit: string, args: string): string => `
import tool Pay from "mcp://pay"
agent Clerk {
    remit { ${remit} }
    func go() { Pay.refund(${args}) }
}
main agent Main { main func() { Clerk.go() } }
`;

describe("a range", () => {
    test.each([
        ["may Pay.refund in amount: 0..500", "{ amount: 0 }", true],
        ["may Pay.refund in amount: 0..500", "{ amount: 500 }", true],
        ["may Pay.refund in amount: 0..500", "{ amount: 500.01 }", false],
        ["may Pay.refund in amount: 0..500", "{ amount: -1 }", false],
        ["may Pay.refund in amount: 0..500", '{ amount: "7" }', false],
        ["may Pay.refund in amount: 0..500", "{ amount: [7] }", false],
        ["may Pay.refund in amount: 0..500", "{ amount: true }", false],
        ["may Pay.refund in amount: 0..500", "{ other: 7 }", false],
        ["may Pay.refund in amount: 0..1, 10..20", "{ amount: 15 }", true],
        ["may Pay.refund in amount: 0..1, 10..20", "{ amount: 5 }", false],
        ["may Pay.refund in amount: -2.5..-1", "{ amount: -2 }", true],
        ['may Pay.refund in amount: 0..500 in to: "a*"', '{ amount: 7, to: "b" }', false],
        ["may Pay  never Pay.refund in amount: 501..1000000", "{ amount: 7 }", true],
        ["may Pay  never Pay.refund in amount: 501..1000000", "{ amount: 600 }", false],
        ["may Pay  never Pay.refund in amount: 501..1000000", '{ amount: "600" }', false],
        ["may Pay  never Pay.refund in amount: 501..1000000", "{}", false],
    ])("%s, %s: %s", (remit, args, allowed) => {
        const { result } = run(text(remit, args), {});
        if (allowed) expect(result).toMatchObject({ ok: true, value: { did: "Pay.refund" } });
        else expect(result).toMatchObject({ ok: false, failure: { kind: "violation.remit" } });
    });

    test("a refusal names the value and the range, and what to do", () => {
        const { events } = run(text("may Pay.refund in amount: 0..500", "{ amount: 900 }"), {});
        const refusal = refusalIn(events.find(({ kind }) => kind === "policy.denied")?.data);
        if (refusal === null) throw new Error("no refusal");
        expect(refusalText(refusal)).toBe("Clerk uses Pay.refund with amount 900, which its remit allows only in 0..500 (main.remit:4)");
        expect(remedyOf(refusal)).toBe(
            "use amount inside of 0..500, or write `in amount: 0..500, 900..900` in place of `in amount: 0..500`: Clerk may then use it there, too",
        );
    });
});
