/** Forms that look odd and are valid. */
import { describe, test } from "vitest";
import type { Json } from "../../src/contract/contract.ts";
import {
    type Obj,
    lit,
    name,
    expr,
    set,
    call,
    member,
    lambda,
    use,
    config,
    generate,
    func,
    file,
    program,
    body,
    accepts,
} from "./build.ts";

describe("F1: what is valid", () => {
    const parallel = (...inner: Json[]): Obj => ({ kind: "parallel", item: "i", list: name("items"), max: 2, body: inner });
    const cases: [string, Json][] = [
        ["an empty file", program(file())],
        ["no statements", body()],
        ["a parameter read", body(expr(name("x")))],
        ["assigned, then read", body(set("y", lit(1)), expr(name("y")))],
        [
            "assigned in a block from outside it",
            body(set("y", lit(1)), { kind: "if", branches: [{ test: lit(true), body: [set("y", lit(2), "+=")] }], otherwise: [] }),
        ],
        [
            "break and continue in loops",
            body({
                kind: "repeat",
                times: 2,
                body: [{ kind: "if", branches: [{ test: lit(true), body: [{ kind: "break" }] }], otherwise: [{ kind: "continue" }] }],
            }),
        ],
        [
            "repeat and loop that never run",
            body({ kind: "repeat", times: 0, body: [] }, { kind: "loop", until: lit(true), max: 0, body: [] }),
        ],
        ["the item of a loop", body({ kind: "for", item: "i", list: name("items"), max: 3, body: [expr(name("i"))] })],
        [
            "a failure in its handler",
            body({
                kind: "try",
                body: [{ kind: "raise", value: lit("x") }],
                name: "e",
                handler: [{ kind: "return", value: member(name("e"), "message") }],
            }),
        ],
        ["a handler without a name", body({ kind: "try", body: [], handler: [] })],
        [
            "if and try as values",
            body(
                set("y", { kind: "if.expr", branches: [{ test: lit(true), body: [expr(lit(1))] }] }),
                set("z", { kind: "try.expr", body: [], name: "e", handler: [expr(name("e"))] }),
            ),
        ],
        [
            "a lambda for a built-in",
            body(expr(call(member(name("items"), "map"), lambda({ kind: "binary", op: "+", left: name("i"), right: name("x") }, "i")))),
        ],
        ["a function of the agent", body(expr(call(name("helper"), lit(1))))],
        ["a recursive call", body(expr(call(name("main"), lit(1), lit(2))))],
        ["an agent that is called", body(expr(call(name("A"), lit(1), lit(2))), expr(call(member(name("A"), "helper"), lit(1))))],
        [
            "a tool, a memory, a built-in",
            body(
                expr(call(member(name("Repo"), "list"), { kind: "object", entries: [] })),
                expr(call(member(name("Notes"), "query"), { kind: "object", entries: [] })),
                expr(call(member(name("json"), "parse"), lit("1"))),
                expr(call(name("text"), lit(1))),
            ),
        ],
        ["a variable that hides a built-in", body(set("max", lit(1)), expr(name("max")))],
        ["a capability passed on", body(expr(call(name("helper"), name("Repo"))))],
        [
            "named arguments of a yield",
            body(expr({ kind: "call", callee: member(name("A"), "yield"), args: [{ name: "log", value: name("x") }] })),
        ],
        [
            "a file in use",
            body(
                use(name("Doc")),
                use(member(name("x"), "a"), {
                    label: "user",
                    priority: 0,
                    max: { amount: 4000, unit: "tokens", keep: "end", text: "4k tokens keep end" },
                }),
            ),
        ],
        [
            "a condition in use",
            body(use({ kind: "if.expr", branches: [{ test: name("x"), body: [expr(lit(1))] }], otherwise: [expr(lit(2))] })),
        ],
        [
            "use one of",
            body({
                kind: "use.one",
                label: "l",
                candidates: [
                    { name: "none" },
                    { name: "x", value: name("x"), max: { amount: 500, unit: "chars", text: "500" }, selected: true },
                ],
            }),
        ],
        ["a total budget", body({ kind: "context", max: { amount: 2300, unit: "chars", text: "2.3k" } })],
        [
            "every option of generate",
            body(
                expr(
                    generate({
                        max_output: 1,
                        attempts: 1,
                        temperature: 0,
                        think: "auto",
                        strict: true,
                        debug: false,
                        stream: true,
                        turns: 1,
                        timeout: 0.5,
                        model: name("Llm"),
                        tools: [name("Repo"), member(name("Repo"), "read")],
                        contract: { type: "json" },
                    }),
                ),
            ),
        ],
        [
            "a generate with a model of its own",
            program(
                file({
                    funcs: [func("f", [config("role", lit("r")), config("description", lit("d")), expr(generate({ model: name("Llm") }))])],
                }),
            ),
        ],
        ["parallel for with names of its own", body(expr(parallel(set("y", name("i")), set("y", lit(1), "+="), expr(name("y")))))],
        ["return in a parallel for", body(expr(parallel({ kind: "return", value: name("i") }, expr(lit(1)))))],
        ["a loop in a parallel for", body(expr(parallel({ kind: "repeat", times: 1, body: [{ kind: "break" }] }, expr(lit(1)))))],
        [
            "spread, index, safe members",
            body(
                expr({
                    kind: "list",
                    items: [
                        { kind: "spread", value: name("items") },
                        { kind: "index", object: name("items"), index: lit(0) },
                    ],
                }),
                expr({ ...member(name("x"), "a"), safe: true }),
            ),
        ],
        [
            "words as properties and keys",
            body(
                expr(member(name("x"), "generate")),
                expr({
                    kind: "object",
                    entries: [
                        { kind: "entry", key: "odd key", value: lit(null) },
                        { kind: "entry", key: "", value: lit(1) },
                    ],
                }),
            ),
        ],
        [
            "words as parameters",
            program(file({ funcs: [func("f", [expr(name("use"))], [{ name: "use" }, { name: "if" }, { name: "list" }])] })),
        ],
        [
            "numbers as written",
            body(expr({ ...lit(2.5), text: "2.50" }), expr({ ...lit(2 ** 53 + 2), text: "9007199254740994.0" }), expr(lit(-(2 ** 53)))),
        ],
        [
            "shapes that hold themselves in a list",
            program(
                file({
                    shapes: [
                        {
                            name: "T",
                            contract: {
                                type: "object",
                                fields: [{ name: "of", contract: { type: "list", item: { type: "ref", name: "T" } } }],
                            },
                        },
                    ],
                    funcs: [
                        func("f", [], [{ name: "t", contract: { type: "ref", name: "T" }, default: { of: [] } }], {
                            result: { type: "optional", of: { type: "ref", name: "T" } },
                        }),
                    ],
                }),
            ),
        ],
        ["an entry", { ...program(file({ funcs: [func("f", [], [], { main: true })] })), entry: { file: 0, func: "f" } }],
        ["effects", program(file({ funcs: [func("f", [], [], { effects: ["agent:W", "memory:Notes.add", "model", "tool:Repo.read"] })] }))],
        [
            "an agent of an earlier file",
            program(
                file({ agents: [{ name: "W", config: [], funcs: [func("__main", [], [], { main: true })] }] }),
                file({ imports: [{ what: "agent", name: "W", uri: "./w.remit", from: 0 }], funcs: [func("f", [expr(call(name("W")))])] }),
            ),
        ],
        ["places", body({ ...expr({ ...lit(1), at: [1, 1, 1, 2] }), at: [1, 1, 1, 2] })],
    ];
    test.each(cases)("%s", (_, form) => {
        accepts(form);
    });
});
