/**
 * Blocks: `temporal static ( read "a.md" >=> Reviewer ) as verdict` on one line where it fits, else one stage a line.
 *
 * Boundary: as the rest of the printer; the order of the two words stays as it is, for there is only one.
 *
 * PST1: parentheses stand around a fan-out inside a pipe or inside another fan-out, and nowhere else.
 */
import type { BlockDecl, Flow, Stage, StageArg } from "../tree.ts";
import { expression, option } from "./layout.ts";
import { between, fits, hasComments, indented, newline, put, sequence, significant, type Writer } from "./writer.ts";

export function backendBlock(w: Writer, node: BlockDecl, tail = 0): void {
    const { backend, mode, body, name } = node;
    const end = name === undefined ? "" : ` as ${name.text}`;
    put(w, `${backend} ${mode} `);
    group(w, body, node.range.start, tail + end.length, hasComments(w, node.range));
    put(w, end);
}

/** In parentheses. `from`: before its first stage; `breaks`: there is a comment in it. */
function group(w: Writer, body: Flow, from: number, tail: number, breaks: boolean): void {
    const onOneLine = (): void => {
        put(w, "( ");
        write(w, body, 0);
        put(w, " )");
    };
    if (w.limit !== undefined) onOneLine();
    else if (breaks || !fits(w, tail, onOneLine)) {
        // The range of a fan-out in parentheses holds these.
        const inside = { range: { start: firstOf(body), end: body.kind === "fan" ? body.range.end - 1 : body.range.end } };
        const close = significant(w, inside.range.end);
        put(w, "(");
        indented(w, { from, close }, [inside], () => flow(w, body, 0));
        put(w, ")");
    }
}

/** Where the first of what stands in it begins: with its own parenthesis, if that is a fan-out. */
function firstOf(body: Flow): number {
    const first = body.kind === "pipe" ? body.stages[0] : body.kind === "fan" ? body.branches[0] : undefined;
    if (first === undefined || first.kind === "fan") return (first ?? body).range.start;
    return firstOf(first);
}

/** `step`: how much further in what follows the first line stands. */
function flow(w: Writer, node: Flow, tail: number, step = 0): void {
    if (w.failed) return;
    if (w.limit === undefined) {
        between(w, firstOf(node));
        if (!hasComments(w, node.range) && fits(w, tail, () => write(w, node, 0))) return;
    }
    write(w, node, tail, step);
}

function write(w: Writer, node: Flow, tail: number, step = 0): void {
    switch (node.kind) {
        case "pipe":
            parts(w, node.stages, ">=>", tail, step);
            return;
        case "fan":
            parts(w, node.branches, "<*>", tail, step);
            return;
        case "stage":
            stage(w, node, tail);
            return;
        case "block":
            backendBlock(w, node, tail);
            return;
        case "missing":
            return;
    }
}

/** Over several lines each on one of its own, behind what joins it to the one before. */
function parts(w: Writer, all: readonly Flow[], join: ">=>" | "<*>", tail: number, step: number): void {
    all.forEach((one, index) => {
        if (w.failed) return;
        if (index === 1) w.indent += step;
        between(w, one.range.start);
        if (index > 0) {
            if (w.limit !== undefined) put(w, " ");
            else if (!w.fresh) newline(w);
            put(w, `${join} `);
        }
        const rest = index === all.length - 1 ? tail : 0;
        if (one.kind === "fan") group(w, one, one.range.start, rest, hasComments(w, one.range));
        else flow(w, one, rest, join === "<*>" ? 1 : 0);
    });
    if (!w.failed) w.indent -= step;
}

function stage(w: Writer, { call, method, args, options, range }: Stage, tail: number): void {
    const named = args.filter((arg) => arg.name !== undefined);
    const last = named.at(-1);
    put(w, method === undefined ? call.text : `${call.text}.${method.text}`);
    for (const arg of args) {
        if (arg.name !== undefined) continue;
        put(w, " ");
        argument(w, arg, 1);
    }
    if (last !== undefined) {
        const close = significant(w, last.range.end);
        sequence(w, { open: "(", from: (named[0] as StageArg).range.start, close }, named, argument, options === undefined ? tail : 7);
    }
    if (options === undefined) return;
    put(w, " with ");
    const from = options[0]?.range.start ?? range.end;
    sequence(w, { open: "{", from, close: significant(w, options.at(-1)?.range.end ?? from) }, options, option, tail);
}

function argument(w: Writer, arg: StageArg, tail: number): void {
    if (arg.name !== undefined) put(w, `${arg.name.text}: `);
    if (arg.duration !== undefined) put(w, arg.duration.text);
    else expression(w, arg.value, tail);
}
