/** Forms that break a rule of names and scopes: the code and the place of each. */
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
    IMPORTS,
    file,
    program,
    body,
    BODY,
    refuses,
} from "./build.ts";

describe("scope", () => {
    const cases: [string, unknown, ...[string, string][]][] = [
        ["an unknown name", body(expr(name("y"))), ["UNKNOWN_IDENTIFIER", `${BODY}/0/value`]],
        ["a name used before it is assigned", body(expr(name("y")), set("y", lit(1))), ["UNKNOWN_IDENTIFIER", `${BODY}/0/value`]],
        [
            "a name in its own first value",
            body(set("y", { kind: "binary", op: "+", left: name("y"), right: lit(1) })),
            ["UNKNOWN_IDENTIFIER", `${BODY}/0/value/left`],
        ],
        ["adding to a name that is not there", body(set("y", lit(1), "+=")), ["UNKNOWN_IDENTIFIER", `${BODY}/0/target`]],
        [
            "a name of a block that has ended",
            body({ kind: "if", branches: [{ test: lit(true), body: [set("y", lit(1))] }] }, expr(name("y"))),
            ["UNKNOWN_IDENTIFIER", `${BODY}/1/value`],
        ],
        [
            "the name of a loop after it",
            body({ kind: "for", item: "i", list: name("items"), max: 3, body: [] }, expr(name("i"))),
            ["UNKNOWN_IDENTIFIER", `${BODY}/1/value`],
        ],
        [
            "the name of a failure outside its handler",
            body({ kind: "try", body: [expr(name("e"))], name: "e", handler: [expr(name("e"))] }),
            ["UNKNOWN_IDENTIFIER", `${BODY}/0/body/0/value`],
        ],
        [
            "a shape as a value",
            program(file({ shapes: [{ name: "S", contract: { type: "string" } }], funcs: [func("f", [expr(name("S"))])] })),
            ["UNKNOWN_IDENTIFIER", "/files/0/funcs/0/body/0/value"],
        ],
        ["an unknown function", body(expr(call(name("helpr"), lit(1)))), ["UNKNOWN_FUNCTION", `${BODY}/0/value/callee`]],
        ["a variable that is called", body(expr(call(name("x")))), ["NOT_CALLABLE", `${BODY}/0/value/callee`]],
        ["a tool that is called by itself", body(expr(call(name("Repo")))), ["NOT_CALLABLE", `${BODY}/0/value/callee`]],
        [
            "the result of a call that is called",
            body(expr(call(call(name("helper"), lit(1))))),
            ["NOT_CALLABLE", `${BODY}/0/value/callee/callee`],
        ],
        ["too few arguments", body(expr(call(name("helper")))), ["INVALID_ARGUMENT_COUNT", `${BODY}/0/value/callee`]],
        [
            "a named argument",
            body(expr({ kind: "call", callee: name("helper"), args: [{ name: "a", value: lit(1) }] })),
            ["NAMED_ARGUMENT", `${BODY}/0/value`],
        ],
        ["an import that is assigned", body(set("Doc", lit(1))), ["IMMUTABLE_ASSIGNMENT", `${BODY}/0/target`]],
        ["a function that is assigned", body(set("helper", lit(1))), ["IMMUTABLE_ASSIGNMENT", `${BODY}/0/target`]],
        [
            "a literal that is assigned",
            body({ kind: "assign", target: lit(1), op: "=", value: lit(2) }),
            ["INVALID_ASSIGNMENT_TARGET", `${BODY}/0/target`],
        ],
        [
            "a safe member that is assigned",
            body({ kind: "assign", target: { ...member(name("x"), "a"), safe: true }, op: "=", value: lit(2) }),
            ["INVALID_ASSIGNMENT_TARGET", `${BODY}/0/target/object`],
        ],
        ["break outside a loop", body({ kind: "break" }), ["BREAK_OUTSIDE_LOOP", `${BODY}/0`]],
        [
            "continue in a parallel for inside a loop",
            body({
                kind: "repeat",
                times: 2,
                body: [set("y", { kind: "parallel", item: "i", list: name("items"), max: 2, body: [{ kind: "continue" }, expr(lit(1))] })],
            }),
            ["BREAK_OUTSIDE_LOOP", `${BODY}/0/body/0/value/body/0`],
        ],
        ["a lambda that is a value", body(set("f", lambda(lit(1)))), ["LAMBDA_PLACE", `${BODY}/0/value`]],
        [
            "a model in a lambda",
            body(expr(call(member(name("items"), "map"), lambda(generate(), "i")))),
            ["LAMBDA_EFFECT", `${BODY}/0/value/args/0/value/body`],
        ],
        [
            "return in a lambda",
            body(
                expr(
                    call(
                        member(name("items"), "map"),
                        lambda({ kind: "if.expr", branches: [{ test: lit(true), body: [{ kind: "return", value: lit(1) }] }] }, "i"),
                    ),
                ),
            ),
            ["LAMBDA_RETURN", `${BODY}/0/value/args/0/value/body/branches/0/body/0`],
        ],
        [
            "break in a lambda inside a loop",
            body({
                kind: "repeat",
                times: 1,
                body: [expr(call(member(name("items"), "map"), lambda({ kind: "try.expr", body: [{ kind: "break" }], handler: [] }, "i")))],
            }),
            ["BREAK_OUTSIDE_LOOP", `${BODY}/0/body/0/value/args/0/value/body/body/0`],
        ],
        [
            "a parallel for that assigns outside",
            body(
                set("n", lit(0)),
                expr({ kind: "parallel", item: "i", list: name("items"), max: 2, body: [set("n", name("i")), expr(name("i"))] }),
            ),
            ["PARALLEL_FOR_OUTER_ASSIGNMENT", `${BODY}/1/value/body/0/target`],
        ],
        [
            "a parallel for without a value",
            body(expr({ kind: "parallel", item: "i", list: name("items"), max: 2, body: [set("n", name("i"))] })),
            ["INVALID_PARALLEL_FOR_BODY", `${BODY}/0/value/body/0/target`],
        ],
        ["a number that cannot be kept", body(expr(lit(2 ** 53 + 2))), ["NUMBER_TOO_LARGE", `${BODY}/0/value/value`]],
        ["a number written otherwise", body(expr({ ...lit(2), text: "3.0" })), ["FORM_VALUE", `${BODY}/0/value/value`]],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });
});

describe("context and models", () => {
    const cases: [string, unknown, ...[string, string][]][] = [
        ["a call in use", body(use(call(name("helper"), lit(1)))), ["INVALID_USE_CALL", `${BODY}/0/value/callee`]],
        ["a tool in use", body(use({ kind: "list", items: [name("Repo")] })), ["INVALID_USE_RESOURCE", `${BODY}/0/value/items/0`]],
        [
            "a statement in use",
            body(use({ kind: "if.expr", branches: [{ test: lit(true), body: [set("y", lit(1))] }] })),
            ["INVALID_USE_CALL", `${BODY}/0/value`],
        ],
        ["a reserved label", body(use(name("x"), { label: "system" })), ["RESERVED_CONTEXT_LABEL", `${BODY}/0`]],
        [
            "a budget that says two things",
            body(use(name("x"), { max: { amount: 9, unit: "tokens", text: "4k tokens" } })),
            ["FORM_VALUE", `${BODY}/0/max/amount`],
        ],
        [
            "two candidates of one name",
            body({ kind: "use.one", label: "l", candidates: [{ name: "a" }, { name: "a", value: name("x") }] }),
            ["DUPLICATE_USE_ONE_OF_CANDIDATE", `${BODY}/0`],
        ],
        [
            "two that are selected",
            body({
                kind: "use.one",
                label: "l",
                candidates: [
                    { name: "a", selected: true },
                    { name: "b", selected: true },
                ],
            }),
            ["MULTIPLE_USE_ONE_OF_SELECTED", `${BODY}/0`],
        ],
        ["a role that is computed", body(config("role", name("x"))), ["INVALID_CONFIG_VALUE_TYPE", `${BODY}/0/value`]],
        ["a model that is a tool", body(config("model", name("Repo"))), ["INVALID_MODEL_BINDING", `${BODY}/0/value`]],
        ["a model that is a variable", body(config("model", name("x"))), ["INVALID_MODEL_BINDING", `${BODY}/0/value`]],
        ["a model that is not there", body(config("model", name("Gpt"))), ["UNKNOWN_MODEL", `${BODY}/0/value`]],
        ["tools that are none", body(expr(generate({ tools: [name("Notes")] }))), ["INVALID_GENERATE_TOOLS", `${BODY}/0/value/tools/0`]],
        [
            "a generate without a role",
            program(file({ funcs: [func("f", [config("model", name("Llm")), config("description", lit("d")), expr(generate())])] })),
            ["MISSING_GENERATE_CONFIG", "/files/0/funcs/0/body/2/value"],
        ],
        [
            "a role of a block that has ended",
            program(
                file({
                    funcs: [
                        func("f", [
                            config("model", name("Llm")),
                            config("description", lit("d")),
                            { kind: "if", branches: [{ test: lit(true), body: [config("role", lit("r"))] }] },
                            expr(generate()),
                        ]),
                    ],
                }),
            ),
            ["MISSING_GENERATE_CONFIG", "/files/0/funcs/0/body/3/value"],
        ],
        [
            "an agent's use of what is no file",
            program(file({ agents: [{ name: "A", config: [use(name("helper"))], funcs: [func("helper", [])] }] })),
            ["INVALID_USE_RESOURCE", "/files/0/agents/0/config/0/value"],
        ],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });
});

describe("declarations", () => {
    const agent = (of: string, more: Obj = {}): Obj => ({ name: of, config: [], funcs: [], ...more });
    const cases: [string, unknown, ...[string, string][]][] = [
        ["an import twice", program(file({ imports: [...IMPORTS, IMPORTS[0] as Json] })), ["DUPLICATE_IMPORT", "/files/0/imports/4"]],
        ["two agents of one name", program(file({ agents: [agent("A"), agent("A")] })), ["DUPLICATE_AGENT", "/files/0/agents/1"]],
        [
            "two main agents",
            program(file({ agents: [agent("A", { main: true }), agent("B", { main: true })] })),
            ["DUPLICATE_MAIN_AGENT", "/files/0/agents/1"],
        ],
        [
            "two functions of one name",
            program(file({ agents: [agent("A", { funcs: [func("f", []), func("f", [])] })] })),
            ["DUPLICATE_FUNCTION", "/files/0/agents/0/funcs/1"],
        ],
        ["a function with the name of an import", program(file({ funcs: [func("Repo", [])] })), ["DUPLICATE_BINDING", "/files/0/funcs/0"]],
        [
            "an agent's function with the name of an import",
            program(file({ agents: [agent("A", { funcs: [func("Repo", [])] })] })),
            ["DUPLICATE_BINDING", "/files/0/agents/0/funcs/0"],
        ],
        [
            "two parameters of one name",
            program(file({ funcs: [func("f", [], [{ name: "a" }, { name: "a" }])] })),
            ["DUPLICATE_PARAM", "/files/0/funcs/0"],
        ],
        [
            "a parameter with the name of an import",
            program(file({ funcs: [func("f", [], [{ name: "Repo" }])] })),
            ["PARAM_SHADOWS_IMPORT", "/files/0/funcs/0"],
        ],
        [
            "a parameter without a default after one with",
            program(file({ funcs: [func("f", [], [{ name: "a", default: 1 }, { name: "b" }])] })),
            ["INVALID_PARAM_CONTRACT", "/files/0/funcs/0"],
        ],
        [
            "a default that does not hold its contract",
            program(file({ funcs: [func("f", [], [{ name: "a", contract: { type: "string" }, default: 1 }])] })),
            ["INVALID_PARAM_CONTRACT", "/files/0/funcs/0"],
        ],
        [
            "a shape that is not there",
            program(
                file({
                    funcs: [
                        func("f", [{ kind: "return", value: { kind: "list", items: [] } }], [], {
                            result: { type: "list", item: { type: "ref", name: "S" } },
                        }),
                    ],
                }),
            ),
            ["UNKNOWN_CONTRACT_TYPE", "/files/0/funcs/0"],
        ],
        [
            "a shape with the name of a contract",
            program(file({ shapes: [{ name: "string", contract: { type: "number" } }] })),
            ["DUPLICATE_BINDING", "/files/0/shapes/0/name"],
        ],
        [
            "a shape that is nothing but itself",
            program(file({ shapes: [{ name: "S", contract: { type: "ref", name: "S" } }] })),
            ["ENDLESS_SHAPE", "/files/0"],
        ],
        [
            "a field twice",
            program(
                file({
                    shapes: [
                        {
                            name: "S",
                            contract: {
                                type: "object",
                                fields: [
                                    { name: "a", contract: { type: "string" } },
                                    { name: "a", contract: { type: "number" } },
                                ],
                            },
                        },
                    ],
                }),
            ),
            ["DUPLICATE_CONTRACT_FIELD", "/files/0"],
        ],
        [
            "a field's default that does not hold",
            program(
                file({
                    shapes: [
                        { name: "S", contract: { type: "object", fields: [{ name: "a", contract: { type: "string" }, default: [] }] } },
                    ],
                }),
            ),
            ["INVALID_CONTRACT_DEFAULT", "/files/0"],
        ],
        ["an entry file that is not there", { ...program(file()), entry: { file: 3, func: "f" } }, ["FORM_REFERENCE", "/entry/file"]],
        [
            "an entry agent that is not there",
            { ...program(file()), entry: { file: 0, agent: "A", func: "f" } },
            ["FORM_REFERENCE", "/entry/agent"],
        ],
        ["an entry function that is not there", { ...program(file()), entry: { file: 0, func: "f" } }, ["FORM_REFERENCE", "/entry/func"]],
        [
            "an agent from a later file",
            program(file({ imports: [{ what: "agent", name: "W", uri: "./w.remit", from: 1 }] }), file({ agents: [agent("W")] })),
            ["FORM_REFERENCE", "/files/0/imports/0/from"],
        ],
        [
            "an agent that its file does not declare",
            program(file(), file({ imports: [{ what: "agent", name: "W", uri: "./w.remit", from: 0 }] })),
            ["IMPORT_AGENT_MISSING", "/files/1/imports/0/from"],
        ],
        [
            "a tool from a file",
            program(file(), file({ imports: [{ what: "tool", name: "W", uri: "./w.ts", from: 0 }] })),
            ["FORM_REFERENCE", "/files/1/imports/0/from"],
        ],
    ];
    test.each(cases)("%s", (_, form, ...expected) => {
        refuses(form, ...expected);
    });
});
