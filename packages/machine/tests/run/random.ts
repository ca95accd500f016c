/**
 * Random programs from a tape of numbers, so that a failing one shrinks by shortening the tape. Every program ends: loops are short and
 * functions call only those before them.
 */
import type { ExprForm, FuncForm, ImportForm, Program, StmtForm } from "@remit/language";
import fc from "fast-check";
import { bin, call, func, give, lit, list, member, name, object, program, set, stmt, TOOL } from "./forms.ts";

const AGENT: ImportForm = { what: "agent", name: "F", uri: "acp://f" };

const BINARY = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or", "??"] as const;

export const randomProgram = randomPrograms(160);

/** `room`: nodes of the main function, about. */
export function randomPrograms(room: number): fc.Arbitrary<Program> {
    return fc.array(fc.nat(1000), { minLength: 10, maxLength: 160 }).map((tape) => placed(new Maker(tape, room).program()));
}

/** Programs that also hand over control to an agent `F`, with tools and functions among the arguments, and delegate to it. */
export const randomHandovers: fc.Arbitrary<Program> = fc
    .array(fc.nat(1000), { minLength: 10, maxLength: 160 })
    .map((tape) => placed(new Maker(tape, 90, true).program()));

/** Every node on a line of its own, so that places can be told apart. */
function placed(p: Program): Program {
    let line = 0;
    const walk = (node: unknown): unknown => {
        if (Array.isArray(node)) return node.map(walk);
        if (node === null || typeof node !== "object") return node;
        const made = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value)]));
        if ("kind" in made) {
            line++;
            made.at = [line, 1, line, 2];
        }
        return made;
    };
    return walk(p) as Program;
}

class Maker {
    private at = 0;
    private budget = 0;
    private readonly tape: readonly number[];
    private readonly room: number;
    private readonly pure: string[] = [];
    private readonly effectful: string[] = [];
    private names: string[][] = [];
    private fresh = 0;
    private travels = false;

    private readonly hands: boolean;

    constructor(tape: readonly number[], room: number, hands = false) {
        this.tape = tape;
        this.room = room;
        this.hands = hands;
    }

    private next(n: number): number {
        const value = this.tape[this.at++ % this.tape.length] as number;
        return (value + (this.at > this.tape.length ? this.at : 0)) % n;
    }

    program(): Program {
        const funcs: FuncForm[] = [];
        const count = 1 + this.next(3);
        for (let i = 0; i < count; i++) {
            const effects = this.next(2) === 0;
            this.budget = Math.ceil(this.room * 0.375);
            funcs.push(this.func(`f${i}`, ["a", "b"], effects));
            (effects ? this.effectful : this.pure).push(`f${i}`);
        }
        this.budget = this.room;
        // In some programs a capability travels as a value, so that every method call may reach an effect.
        this.travels = this.next(4) === 0;
        funcs.push(this.func("main", ["input"], true));
        return this.hands ? program(funcs, [TOOL, AGENT]) : program(funcs);
    }

    /** `F.yield(p: …, q: …)`, `F.send(…)`. */
    private handover(depth: number): ExprForm {
        if (this.next(4) === 0) return call(member(name("F"), "send"), this.expr(depth - 1, true));
        const second = this.next(3);
        const q = second === 0 ? name("T") : second === 1 && this.pure.length > 0 ? name(this.pure[0] as string) : this.leaf();
        return {
            kind: "call",
            callee: member(name("F"), "yield"),
            args: [
                { name: "p", value: this.expr(depth - 1, true) },
                { name: "q", value: q },
            ],
            ...(this.next(2) === 0 ? { with: { turns: 1 + this.next(5), steps: 300 + this.next(100) } } : {}),
            ...(this.next(4) === 0 ? { contract: { type: "number" } } : {}),
        };
    }

    private lent(loop: boolean): StmtForm {
        const which = this.next(3);
        const body = this.inner(2, true, loop);
        if (which === 0) return { kind: "spend", spend: { steps: 400 + this.next(200) }, body };
        const what = which === 1 ? { refs: [], all: true as const } : { refs: [{ name: "T", method: "read" }] };
        return { kind: "delegate", ...what, to: "F", body };
    }

    private func(n: string, params: string[], effects: boolean): FuncForm {
        this.names = [[...params, "xs", "o"]];
        const body: StmtForm[] = [set("xs", list(lit(3), lit(1), lit("z"))), set("o", object({ k: lit(1), v: name("xs") }))];
        if (this.travels) body.push(set("cap", name("T")));
        body.push(...this.block(3 + this.next(4), effects, false));
        body.push(stmt(list(name(params[0] as string), name("xs"), name("o"))));
        return func(n, params, body);
    }

    private block(n: number, effects: boolean, loop: boolean): StmtForm[] {
        const made: StmtForm[] = [];
        for (let i = 0; i < n && this.budget > 0; i++) {
            const s = this.statement(effects, loop);
            // Most failures are caught where they happen, so that programs get somewhere.
            const caught = s.kind !== "assign" && s.kind !== "try" && this.next(4) !== 0;
            made.push(
                caught
                    ? { kind: "try", body: [s], name: "e", handler: [stmt(call(member(name("xs"), "add"), member(name("e"), "message")))] }
                    : s,
            );
        }
        return made;
    }

    private inner(n: number, effects: boolean, loop: boolean, extra: string[] = []): StmtForm[] {
        this.names.push([...extra]);
        const made = this.block(n, effects, loop);
        this.names.pop();
        return made;
    }

    private variable(): string {
        const all = this.names.flat();
        return all[this.next(all.length)] as string;
    }

    private statement(effects: boolean, loop: boolean): StmtForm {
        this.budget--;
        if (this.hands && effects && this.next(6) === 0) return this.lent(loop);
        const n = this.next(16);
        switch (n) {
            case 0:
            case 1: {
                const inner = this.expr(2, effects);
                const value: ExprForm =
                    this.next(3) === 0
                        ? inner
                        : { kind: "try.expr", body: [stmt(inner)], name: "e", handler: [stmt(member(name("e"), "message"))] };
                const made = `v${this.fresh++ % 6}`;
                (this.names[this.names.length - 1] as string[]).push(made);
                return set(made, value);
            }
            case 2:
                return set(this.variable(), this.expr(2, effects), this.next(3) === 0 ? "+=" : "=");
            case 3:
                return set(member(name("o"), `k${this.next(4)}`), this.expr(2, effects));
            case 4:
                return stmt(call(member(name("xs"), "add"), this.expr(1, effects)));
            case 5:
                return {
                    kind: "assign",
                    target: { kind: "index", object: name("xs"), index: lit(this.next(4)) },
                    op: "=",
                    value: this.expr(1, effects),
                };
            case 6:
                return {
                    kind: "if",
                    branches: [{ test: this.expr(2, effects), body: this.inner(2, effects, loop) }],
                    ...(this.next(2) === 0 ? { otherwise: this.inner(2, effects, loop) } : {}),
                };
            case 7:
                return { kind: "repeat", times: this.next(4), body: this.inner(2, effects, true) };
            case 8:
                return {
                    kind: "for",
                    item: "item",
                    list: this.next(3) === 0 ? this.expr(1, effects) : name("xs"),
                    max: 1 + this.next(4),
                    body: this.inner(2, effects, true, ["item"]),
                };
            case 9:
                return { kind: "loop", until: this.expr(2, effects), max: 1 + this.next(3), body: this.inner(2, effects, true) };
            case 10:
            case 11:
                return { kind: "try", body: this.inner(2, effects, loop), name: "e", handler: this.inner(2, effects, loop, ["e"]) };
            case 12:
                return this.next(3) === 0 ? { kind: "raise", value: this.expr(1, effects) } : stmt(this.expr(2, effects));
            case 13:
                return loop ? { kind: this.next(2) === 0 ? "break" : "continue" } : stmt(this.expr(2, effects));
            case 14:
                return this.next(5) === 0 ? give(this.expr(1, effects)) : stmt(this.expr(2, effects));
            default:
                return stmt(this.expr(3, effects));
        }
    }

    private expr(depth: number, effects: boolean): ExprForm {
        this.budget--;
        if (depth <= 0 || this.budget <= 0) return this.leaf();
        if (this.hands && effects && this.next(5) === 0) return this.handover(depth);
        switch (this.next(18)) {
            case 0:
            case 1:
            case 2:
                return bin(
                    BINARY[this.next(BINARY.length)] as (typeof BINARY)[number],
                    this.expr(depth - 1, effects),
                    this.expr(depth - 1, effects),
                );
            case 3:
                return list(this.expr(depth - 1, effects), this.expr(depth - 1, effects));
            case 4:
                return object({ k: this.expr(depth - 1, effects), w: this.expr(depth - 1, effects) });
            case 5:
                return { kind: "index", object: name("xs"), index: this.next(3) === 0 ? this.expr(depth - 1, effects) : lit(this.next(3)) };
            case 6:
                return member(
                    this.next(2) === 0 ? name("o") : this.expr(depth - 1, effects),
                    ["k", "k1", "length", "v"][this.next(4)] as string,
                );
            case 7:
                return { kind: "unary", op: this.next(2) === 0 ? "not" : "-", value: this.expr(depth - 1, effects) };
            case 8:
            case 9:
                if (this.pure.length > 0)
                    return call(this.pure[this.next(this.pure.length)] as string, this.expr(depth - 1, effects), this.leaf());
                return this.leaf();
            case 10:
                if (effects && this.effectful.length > 0)
                    return call(this.effectful[this.next(this.effectful.length)] as string, this.leaf(), this.expr(depth - 1, effects));
                return this.leaf();
            case 11:
            case 12:
                if (effects)
                    return call(
                        member(name("T"), ["read", "get"][this.next(2)] as string),
                        this.next(6) === 0 ? lit("fail") : this.expr(depth - 1, effects),
                    );
                return this.leaf();
            case 13: {
                const body =
                    this.pure.length > 0 && this.next(2) === 0
                        ? call(this.pure[0] as string, name("x"), lit(1))
                        : bin("+", name("x"), this.leaf());
                return call(member(name("xs"), "map"), { kind: "lambda", params: ["x"], body });
            }
            case 14:
                return {
                    kind: "if.expr",
                    branches: [
                        {
                            test: this.expr(depth - 1, effects),
                            body: [...this.inner(1, effects, false), stmt(this.expr(depth - 1, effects))],
                        },
                    ],
                    otherwise: [stmt(this.expr(depth - 1, effects))],
                };
            case 15:
                return {
                    kind: "try.expr",
                    body: [stmt(this.expr(depth - 1, effects))],
                    name: "e",
                    handler: [stmt(member(name("e"), "message"))],
                };
            case 16:
                if (effects) {
                    this.names.push(["p"]);
                    const body = [...this.block(1, true, false), stmt(this.expr(depth - 1, true))];
                    this.names.pop();
                    return { kind: "parallel", item: "p", list: name("xs"), max: 1 + this.next(4), body };
                }
                return this.leaf();
            default:
                return this.leaf();
        }
    }

    private leaf(): ExprForm {
        switch (this.next(6)) {
            case 0:
                return lit(this.next(5));
            case 1:
                return lit(["", "a", "bc"][this.next(3)] as string);
            case 2:
                return lit([true, false, null][this.next(3)] as boolean | null);
            default:
                return name(this.variable());
        }
    }
}
