/** Random blocks, made of the literals and names of other random trees. */
import fc from "fast-check";
import type { tree } from "../../src/index.ts";

interface Parts {
    readonly literal: fc.Arbitrary<tree.Expr>;
    readonly string: fc.Arbitrary<tree.StringLit>;
    /** Any word, and one that the language does not read otherwise. */
    readonly word: fc.Arbitrary<string>;
    readonly plain: fc.Arbitrary<string>;
}

const range = { start: 0, end: 0 };
const name = (text: string): tree.Name => ({ range, text });
const maybe = <X>(of: fc.Arbitrary<X>) => fc.option(of, { nil: undefined });

const duration = fc.tuple(fc.nat(999), fc.constantFrom("ms", "s", "min", "h")).map(([digits, unit]) => {
    const milliseconds = digits * ({ ms: 1, s: 1000, min: 60_000, h: 3_600_000 }[unit] as number);
    const written = { range, text: `${digits}${unit}` };
    return {
        value: { kind: "number", value: milliseconds, ...written } as tree.Expr,
        duration: { ...written, milliseconds } as tree.Duration | undefined,
    };
});

function stageOf({ literal, string, word, plain }: Parts): fc.Arbitrary<tree.Flow> {
    const ident = plain.map((written): tree.Expr => ({ kind: "ident", range, name: written }));
    const ref = fc.oneof(
        ident,
        fc.tuple(ident, word).map(([object, method]): tree.Expr => ({ kind: "member", range, object, name: name(method), safe: false })),
    );
    const refs = fc.array(ref, { maxLength: 3 }).map((items): tree.Expr => ({ kind: "list", range, items }));
    const bare = literal.filter((one) => one.kind !== "paren");
    const value = fc.oneof(
        duration,
        fc.oneof(bare, ref, refs).map((one) => ({ value: one, duration: undefined as tree.Duration | undefined })),
    );
    const credential = fc.tuple(fc.constantFrom("env", "exec"), string).map(
        ([source, arg]): tree.Expr => ({
            kind: "call",
            range,
            callee: { kind: "ident", range, name: source },
            args: [{ range, value: arg }],
        }),
    );
    const option: fc.Arbitrary<tree.GenerateOption> = fc.oneof(
        fc.tuple(fc.constantFrom("timeout", "rate", "as"), value).map(([key, one]) => ({ range, key: name(key), ...one })),
        credential.map((one) => ({ range, key: name("credential"), value: one })),
    );
    const few = { maxLength: 3 };
    return fc.record({
        kind: fc.constant("stage" as const),
        range: fc.constant(range),
        call: plain.map(name),
        method: maybe(word.map(name)),
        args: fc
            .tuple(fc.array(value, few), fc.array(fc.tuple(word, value), few))
            .map(([first, named]) => [
                ...first.map((one) => ({ range, ...one })),
                ...named.map(([key, one]) => ({ range, name: name(key), ...one })),
            ]),
        options: maybe(fc.array(option, { minLength: 1, maxLength: 3 })),
    });
}

export function backendBlocks(parts: Parts): fc.Arbitrary<tree.BlockDecl> {
    const stage = stageOf(parts);
    const several = { minLength: 2, maxLength: 4 };
    const flow = fc.letrec<{ flow: tree.Flow }>((tie) => {
        const stages = tie("flow").filter((one) => one.kind !== "pipe");
        const pipe = fc.array(stages, several).map((all): tree.Flow => ({ kind: "pipe", range, stages: all }));
        const fan = fc.array(tie("flow"), several).map((branches): tree.Flow => ({ kind: "fan", range, branches }));
        return { flow: fc.oneof({ maxDepth: 3, depthSize: "small" }, stage, stage, pipe, fan, blockOf(tie("flow"), parts)) };
    }).flow;
    return blockOf(flow, parts);
}

function blockOf(body: fc.Arbitrary<tree.Flow>, { plain }: Parts): fc.Arbitrary<tree.BlockDecl> {
    return fc.record({
        kind: fc.constant("block" as const),
        range: fc.constant(range),
        backend: fc.constantFrom("memory", "temporal"),
        mode: fc.constantFrom("static", "dynamic"),
        body,
        name: maybe(plain.map(name)),
    });
}
