/** Grammars of contracts: what they let a model write is JSON that holds the contract. Sampled from the grammar's own text. */
import { acceptValue, type Contract, type Shapes } from "@remit/language";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { grammarOf } from "../../src/model/grammar.ts";

/** Reads a grammar in GBNF and writes one of its texts; `pick(n)` chooses below n. Enough of the notation for the grammars made here. */
function sample(grammar: string, pick: (n: number) => number): string {
    const rules = new Map(grammar.split("\n").map((line) => [line.slice(0, line.indexOf(" ::= ")), line.slice(line.indexOf(" ::= ") + 5)]));
    let budget = 400;
    const run = (body: string): string => {
        let at = 0;
        const space = (): void => {
            while (body[at] === " ") at++;
        };
        const choices = (): (() => string)[] => {
            const all = [sequence()];
            for (space(); body[at] === "|"; space()) {
                at++;
                all.push(sequence());
            }
            return all;
        };
        const sequence = (): (() => string) => {
            const parts: (() => string)[] = [];
            for (space(); at < body.length && body[at] !== "|" && body[at] !== ")"; space()) parts.push(repeated(single()));
            return () => parts.map((part) => part()).join("");
        };
        const repeated = (part: () => string): (() => string) => {
            if (body[at] === "?") {
                at++;
                return () => (pick(2) === 0 ? "" : part());
            }
            const found = /^\{(\d+)(?:,(\d+))?\}/.exec(body.slice(at));
            if (found === null) return part;
            at += found[0].length;
            const [low, high] = [Number(found[1]), Number(found[2] ?? found[1])];
            return () => Array.from({ length: budget < 0 ? low : Math.min(low + pick(4), high) }, part).join("");
        };
        const single = (): (() => string) => {
            if (body[at] === '"') {
                let text = "";
                for (at++; body[at] !== '"'; at++) text += body[at] === "\\" ? unescaped(body[++at] as string) : body[at];
                at++;
                return () => text;
            }
            if (body[at] === "(") {
                at++;
                const all = choices();
                at++;
                return () => (all[pick(all.length)] as () => string)();
            }
            if (body[at] === "[") return range();
            const name = /^[a-z0-9-]+/.exec(body.slice(at))?.[0] as string;
            at += name.length;
            return () => {
                budget--;
                const known = rules.get(name);
                if (known === undefined) throw new Error(`no rule '${name}'`);
                return run(known);
            };
        };
        const range = (): (() => string) => {
            const end = body.indexOf("]", at + 2);
            const inside = body.slice(at + 1, end);
            at = end + 1;
            if (inside.startsWith("^")) return () => "aé 例😀.,"[pick(7)] as string;
            const chars = inside.includes("0-9a-fA-F")
                ? "0123456789abcdefABCDEF"
                : inside === "0-9"
                  ? "0123456789"
                  : inside === "1-9"
                    ? "123456789"
                    : inside.replaceAll("\\", "");
            return () => chars[pick(chars.length)] ?? "n";
        };
        const all = choices();
        if (at < body.length) throw new Error(`cannot read the grammar at '${body.slice(at, at + 20)}'`);
        // Past the budget the last choice is taken: rules that hold themselves end with what does not.
        return (all[budget < 0 ? all.length - 1 : pick(all.length)] as () => string)();
    };
    return run(rules.get("root") as string);
}

function unescaped(letter: string): string {
    return letter === "n" ? "\n" : letter === "r" ? "\r" : letter === "t" ? "\t" : letter;
}

const SHAPES: Shapes = {
    Tree: {
        type: "object",
        fields: [
            { name: "name", contract: { type: "string" } },
            { name: "left", contract: { type: "ref", name: "Tree" }, optional: true },
        ],
    },
};

const contracts = fc.letrec<{ contract: Contract }>((tie) => ({
    contract: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.constantFrom<Contract>(
            { type: "string" },
            { type: "number" },
            { type: "boolean" },
            { type: "json" },
            { type: "none" },
            { type: "ref", name: "Tree" },
        ),
        fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean()).map((value): Contract => ({ type: "literal", value })),
        tie("contract").map((item): Contract => ({ type: "list", item })),
        tie("contract").map((of): Contract => ({ type: "optional", of })),
        fc.array(tie("contract"), { minLength: 1, maxLength: 3 }).map((of): Contract => ({ type: "union", of })),
        fc
            .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "with space", 'quo"te', "né"), tie("contract"), fc.boolean()), {
                selector: ([name]) => name,
                maxLength: 4,
            })
            .map(
                (fields): Contract => ({
                    type: "object",
                    fields: fields.map(([name, contract, optional]) => ({ name, contract, optional })),
                }),
            ),
    ),
})).contract;

describe("grammars", () => {
    it("every text of a contract's grammar is JSON that holds the contract", () => {
        fc.assert(
            fc.property(contracts, fc.infiniteStream(fc.nat(1000)), (contract, stream) => {
                const pick = (n: number): number => (stream.next().value as number) % n;
                const text = sample(grammarOf(contract, SHAPES), pick);
                const value = JSON.parse(text);
                expect(acceptValue(contract, value, SHAPES, { strict: true })).toMatchObject({ ok: true });
            }),
            { numRuns: 400 },
        );
    });

    it("fields that may be absent take their commas with them", () => {
        const contract: Contract = {
            type: "object",
            fields: [
                { name: "a", contract: { type: "boolean" }, optional: true },
                { name: "b", contract: { type: "boolean" }, optional: true },
            ],
        };
        const seen = new Set<string>();
        for (let bits = 0; bits < 64; bits++) {
            let left = bits;
            seen.add(
                sample(grammarOf(contract, {}), (n) => {
                    const now = left % n;
                    left = Math.floor(left / n);
                    return now;
                }),
            );
        }
        expect(seen).toContain("{}");
        expect(seen).toContain('{"b": true}');
        expect(seen).toContain('{"a": true}');
        expect(seen).toContain('{"a": false, "b": false}');
    });
});
