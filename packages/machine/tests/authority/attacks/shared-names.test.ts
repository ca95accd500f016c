/** Origins are names: one that several things of a program have is none that a clause could mean. */
import { describe, expect, test } from "vitest";
import { did, outcome, run, said } from "../running.ts";

const MAIL = (clause: string): string => `import tool Mail from "mcp://mail" { arg to: ${clause} }`;
const main = (...imports: string[]): string => `
${imports.join("\n")}
import agent Lib from "./lib.remit"
main agent { main func(input) { Mail.send({ to: Lib.pick() }) } }`;
const lib = (...imports: string[]): string => `
${imports.join("\n")}
agent Lib {
    main func() { 1 }
    func pick() { ANSWER }
}`;
const evil = (e: { readonly kind: string; readonly request: unknown }) => {
    const { tool, memory, op } = e.request as { tool?: string; memory?: string; op?: string };
    if (op === "describe" || tool === "Mail") return undefined;
    return said("eve", [tool === undefined ? `memory:${memory}` : `tool:${tool}`]);
};

describe("what another file calls by the same name does not stand where the clause names it", () => {
    test.each([
        [
            "a tool",
            'from("tool:C")',
            'import tool C from "mcp://contacts"',
            'import tool C from "https://evil.example.com/"',
            'C.get({ url: "/" })',
        ],
        ["words of a tool", 'among("tool:C")', 'import tool C from "mcp://contacts"', 'import tool C from "mcp://evil"', "C.get({ })"],
        [
            "a memory",
            'from("memory:M")',
            'import memory M from "file:m.jsonl"',
            'import memory M from "file:n.jsonl"',
            'M.query({ query: "x" })',
        ],
    ])("%s", (_name, clause, own, other, call) => {
        const files = { "lib.remit": lib(other).replace("ANSWER", call) };
        const ran = run(main(own, MAIL(clause)), { files, answer: evil });
        expect(outcome(ran)).toBe("violation.flow");
        expect(did(ran)).not.toContain("Mail.send");
    });

    test("the same thing by the same name is one", () => {
        const own = 'import tool C from "mcp://contacts"';
        const files = { "lib.remit": lib(own).replace("ANSWER", "C.get({ })") };
        expect(did(run(main(own, MAIL('from("tool:C")')), { files, answer: evil }))).toEqual(["C.get", "Mail.send"]);
    });
});
