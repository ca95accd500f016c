/** A block that is a run of its own begins there under what decided that it begins (WTS4, ER2), in basic mode and in strict code. */
import { describe, expect, test } from "vitest";
import type { Json } from "@remit/language";
import type { Policy } from "../../src/index.ts";
import { outcome, run } from "./running.ts";

const policy: Policy = { untrusted: { gate: "never" } };
const under = (text: string, by?: readonly string[]) =>
    run(text, {
        answer: (e) => {
            const { tool, op } = e.request as { tool?: string; op?: string };
            return tool === "Inbox" && op === "call" ? { ok: true, value: { subject: "REFUND" }, origins: ["tool:Inbox"] } : undefined;
        },
        options: { input: {}, policy, ...(by === undefined ? {} : { under: by }) },
    });

describe.each([
    ["basic mode", "", ["choice:tool:Inbox"]],
    ["strict mode", "flow strict\n", ["choice:tool:Inbox", "tool:Inbox"]],
] as const)("a block that runs elsewhere, in %s", (_name, head, decided) => {
    const text = (last: string): string => `${head}import tool Inbox from "mcp://inbox"
import tool Out from "mcp://out"
func mail(x) { Inbox.read({ q: x }).subject }
func note(x) { Out.write({ content: "x" }) }
${last}`;

    test("is asked for with what decided that it begins", () => {
        const ran = under(text('memory static ( mail "a" >=> when "contains REFUND" >=> temporal static ( note ) )'));
        const asked = ran.effects.find(({ kind }) => kind === "run");
        expect([(asked?.request as { under?: Json } | undefined)?.under, asked?.labels]).toEqual([
            decided,
            ["choice:tool:Inbox", "tool:Inbox"],
        ]);
    });

    test("is asked for with it also where nothing of it flows in", () => {
        const body = 'memory static ( mail "a" >=> when "contains REFUND" >=> echo "b" >=> temporal static ( note ) )';
        const asked = under(text(body)).effects.find(({ kind }) => kind === "run");
        expect(asked?.labels).toEqual(decided);
    });

    test("begins under it", () => {
        const of = (labels: readonly string[] | undefined) => outcome(under(text("main func(input) { note(1) }"), labels));
        expect([of(decided), of(undefined)]).toEqual(["violation.flow", { did: "Out.write" }]);
    });
});
