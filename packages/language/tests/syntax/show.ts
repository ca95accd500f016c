/** Trees as one short line, for tests: what was read, without ranges. */
import { type Diagnostic, parse, source, type tree } from "../../src/index.ts";

export function read(text: string): tree.File {
    return parse(source(text, "test.remit"));
}

/** Reads statements as the body of a function. */
export function readBody(text: string): tree.File {
    return read(`func f() {\n${text}\n}`);
}

export function codes(file: tree.File): string {
    return file.diagnostics.map((diagnostic) => diagnostic.code).join(" ");
}

/** `CODE "text it stands at"`, or `CODE after "word"`, for each diagnostic. */
export function marks(file: tree.File): string[] {
    return file.diagnostics.map(({ code, range }: Diagnostic) => {
        const { text } = file.source;
        const at = JSON.stringify(text.slice(range.start, range.end));
        return range.start < range.end ? `${code} ${at}` : `${code} after ${JSON.stringify(/\S*$/.exec(text.slice(0, range.start))?.[0])}`;
    });
}

/** The statements of the only function of `readBody`. */
export function showBody(file: tree.File): string {
    const func = file.items[0] as tree.Func;
    return func.body.statements.map(showStmt).join(" ");
}

export function showStmt(node: tree.Stmt): string {
    switch (node.kind) {
        case "config":
            return `(${node.key} ${showExpr(node.value)})`;
        case "context":
            return `(context ${showBudget(node.max)})`;
        case "use": {
            const parts = [node.image ? "use-image" : "use", showExpr(node.value)];
            if (node.max) parts.push(`max:${showBudget(node.max)}`);
            if (node.priority) parts.push(`priority:${node.priority.text}`);
            if (node.label) parts.push(`as:${node.label.quoted ? JSON.stringify(node.label.text) : node.label.text}`);
            return `(${parts.join(" ")})`;
        }
        case "use.one": {
            const list = node.candidates.map(
                (c) =>
                    `${c.name.text}:${c.value ? showExpr(c.value) : "EMPTY"}${c.max ? `<${showBudget(c.max)}` : ""}${c.selected ? "!" : ""}`,
            );
            return `(use-one ${list.join(" ")}${node.priority ? ` priority:${node.priority.text}` : ""} as:${node.label?.text})`;
        }
        case "define":
            return `(define ${node.func.name?.text ?? "?"} ${showBlock(node.func.body)}${node.keep ? " keep" : ""})`;
        case "return":
        case "raise":
            return `(${node.kind} ${showExpr(node.value)})`;
        case "repeat":
            return `(repeat ${node.times.text} ${showBlock(node.body)})`;
        case "for":
            return `(for ${node.item.text} ${showExpr(node.list)} ${node.max.text} ${showBlock(node.body)})`;
        case "loop":
            return `(loop ${showExpr(node.until)} ${node.max.text} ${showBlock(node.body)})`;
        case "if":
            return showIf(node);
        case "try":
            return `(try ${showBlock(node.body)} ${node.name?.text ?? "_"} ${showBlock(node.handler)})`;
        case "delegate":
            return `(delegate ${node.all ? "ALL" : node.refs.map(showRef).join(" ")} to ${node.to.text}${node.onward ? " onward" : ""} ${showBlock(node.body)})`;
        case "spend":
            return `(spend ${node.amounts.map((a) => `${a.meter}:${a.amount}`).join(" ")} ${showBlock(node.body)})`;
        case "break":
        case "debugger":
        case "continue":
            return node.kind.toUpperCase();
        case "assign":
            return `(${node.op} ${showExpr(node.target)} ${showExpr(node.value)})`;
        case "expr":
            return showExpr(node.value);
    }
}

function showIf(node: Pick<tree.If, "branches" | "otherwise">): string {
    const parts = node.branches.map((branch) => `${showExpr(branch.test)} ${showBlock(branch.body)}`);
    return `(if ${parts.join(" elif ")}${node.otherwise ? ` else ${showBlock(node.otherwise)}` : ""})`;
}

function showBlock(block: tree.Block): string {
    return `{${block.statements.map(showStmt).join(" ")}}`;
}

export function showBudget(budget: tree.Budget): string {
    return `${budget.amount}${budget.unit === "tokens" ? "t" : "c"}${budget.keep === "end" ? "-end" : ""}`;
}

export function showExpr(node: tree.Expr | tree.Spread): string {
    switch (node.kind) {
        case "string":
            return JSON.stringify(node.value);
        case "number":
            return node.text;
        case "bool":
            return String(node.value);
        case "none":
            return "none";
        case "ident":
            return node.name;
        case "missing":
            return "MISSING";
        case "spread":
            return `...${showExpr(node.value)}`;
        case "list":
            return `[${node.items.map(showExpr).join(" ")}]`;
        case "object":
            return `{${node.entries.map((e) => (e.kind === "spread" ? showExpr(e) : `${e.key.text}:${showExpr(e.value)}`)).join(" ")}}`;
        case "member":
            return `(${node.safe ? "?." : "."} ${showExpr(node.object)} ${node.name.text})`;
        case "index":
            return `(@ ${showExpr(node.object)} ${showExpr(node.index)})`;
        case "call":
            return `(call ${[showExpr(node.callee), ...node.args.map((arg) => (arg.name ? `${arg.name.text}:` : "") + showExpr(arg.value))].join(" ")})`;
        case "unary":
            return `(${node.op} ${showExpr(node.value)})`;
        case "binary":
            return `(${node.op} ${showExpr(node.left)} ${showExpr(node.right)})`;
        case "paren":
            return `<${showExpr(node.value)}>`;
        case "lambda":
            return `(\\${node.params.map((param) => param.text).join(",")} ${showExpr(node.body)})`;
        case "if.expr":
            return showIf(node);
        case "try.expr":
            return `(try ${showBlock(node.body)} ${node.name?.text ?? "_"} ${showBlock(node.handler)})`;
        case "narrow":
            return `(only ${showExpr(node.object)} ${node.methods.map((m) => m.method.text + showBounds(m.bounds)).join(" ")})`;
        case "endorse":
            return `(endorse ${showExpr(node.value)} ${node.readers ? node.readers.map((r) => r.value).join("+") : "TRUSTED"} ${showExpr(node.because)})`;
        case "generate": {
            const options = node.options.map(
                (o) => `${o.key.text}:${o.budget ? showBudget(o.budget) : o.duration ? `${o.duration.milliseconds}ms` : showExpr(o.value)}`,
            );
            return `(generate ${options.join(" ")}${node.contract ? ` -> ${showContract(node.contract)}` : ""})`;
        }
        case "parallel":
            return `(parallel ${node.item.text} ${showExpr(node.list)} ${node.max.text} ${node.stop === undefined ? "" : `stop:${node.stop.text} `}${showBlock(node.body)})`;
    }
}

export function showContract(node: tree.ContractNode): string {
    switch (node.kind) {
        case "c.name":
            return node.name.text;
        case "c.literal":
            return JSON.stringify(node.value);
        case "c.list":
            return `list[${showContract(node.item)}]`;
        case "c.optional":
            return `(opt ${showContract(node.of)})`;
        case "c.union":
            return `(or ${node.members.map(showContract).join(" ")})`;
        case "c.object":
            return `{${node.fields.map(showField).join(" ")}}`;
    }
}

export function showBounds(bounds: readonly tree.Bound[]): string {
    return bounds.map((b) => `[${b.arg ? `${b.arg.text}=` : ""}${b.patterns.map((p) => p.value).join("|")}]`).join("");
}

export function showRef(ref: tree.Ref): string {
    return `${ref.name.text}${ref.method ? `.${ref.method.text}` : ""}${showBounds(ref.bounds)}${ref.counts === undefined ? "" : ` ${showCounts(ref.counts)}`}`;
}

export function showRemit(node: tree.RemitUse): string {
    if (node.kind === "remit.use") return `=${node.name.text}`;
    const lines = node.clauses.map((c) => {
        if (c.kind === "remit.flow") return "strict";
        if (c.kind === "remit.spend") return `spend(${c.amounts.map((a) => `${a.meter}:${a.amount}`).join(" ")})`;
        return `${c.grant.gate}(${c.grant.all ? "ALL" : c.grant.refs.map(showRef).join(" ")})`;
    });
    return `{${lines.join(" ")}}`;
}

export function showClause(clause: tree.ImportClause): string {
    switch (clause.kind) {
        case "clause.trusted":
            return "trusted";
        case "clause.untrusted":
            return "untrusted";
        case "clause.labels":
            return "labels from server";
        case "clause.choice":
            return `choice ${clause.method ? clause.method.text : "*"}:${clause.any ? "any" : clause.from ? clause.from.map((o) => o.value).join("|") : "trusted"}${clause.ask ? "?" : ""}`;
        case "clause.gate":
            return `${clause.method.text}:${clause.gate.text}`;
        case "clause.count":
            return `${clause.method.text}:${showCounts(clause.counts)}`;
        case "clause.arg":
            return `arg ${clause.method ? `${clause.method.text}.` : ""}${clause.name.text}:${clause.addresses ? "addresses " : ""}${clause.plain ? "plain " : ""}${clause.among ? "among " : ""}${clause.from || clause.fields ? [...(clause.from ?? []).map((o) => o.value), ...(clause.fields ?? []).map(({ of, method, path }) => [of, ...(method ? [method] : []), ...path].map((one) => one.text).join("."))].join("|") : "trusted"}${clause.ask ? "?" : ""}`;
        case "clause.readers": {
            const { readers } = clause;
            const who =
                readers.kind === "readers.names"
                    ? readers.names.map((n) => n.value).join("+")
                    : readers.kind === "readers.everyone"
                      ? "*"
                      : `${readers.kind === "readers.arg" ? "arg" : "result"} ${readers.name.text}${readers.through ? ` through ${[readers.through.at.of, readers.through.at.method, ...readers.through.at.path, readers.through.to].map((one) => one?.text).join(".")}` : ""}`;
            return `${clause.which}${clause.method ? ` ${clause.method.text}` : ""}:${who}${clause.ask ? "?" : ""}`;
        }
    }
}

function showCounts(counts: readonly tree.Count[]): string {
    return counts.map(({ most, per, by }) => (most === undefined ? `/${by?.text}` : `<=${most.value}${per ?? ""}`)).join(" ");
}

function showField(field: tree.ContractField): string {
    const type = field.type ? `:${showContract(field.type)}` : "";
    const fallback = field.default ? `=${showExpr(field.default)}` : "";
    const description = field.description ? `//${field.description.value}` : "";
    return `${field.name.text}${field.optional ? "?" : ""}${type}${fallback}${description}`;
}

/** `(>=> a (<*> b c))`, `(stage read "a.md" with:{timeout:3000ms})`, `(temporal dynamic a as:b)`. */
export function showFlow(node: tree.Flow): string {
    switch (node.kind) {
        case "pipe":
            return `(>=> ${node.stages.map(showFlow).join(" ")})`;
        case "fan":
            return `(<*> ${node.branches.map(showFlow).join(" ")})`;
        case "block":
            return `(${node.backend} ${node.mode} ${showFlow(node.body)}${node.name ? ` as:${node.name.text}` : ""})`;
        case "missing":
            return "MISSING";
        case "stage": {
            const value = (one: Pick<tree.StageArg, "value" | "duration">): string =>
                one.duration ? `${one.duration.milliseconds}ms` : showExpr(one.value);
            const args = node.args.map((arg) => (arg.name ? `${arg.name.text}:` : "") + value(arg));
            const more = node.options?.map((one) => `${one.key.text}:${value(one)}`);
            const parts = [
                node.call.text + (node.method ? `.${node.method.text}` : ""),
                ...args,
                ...(more ? [`with:{${more.join(" ")}}`] : []),
            ];
            return parts.length === 1 ? (parts[0] as string) : `(${parts.join(" ")})`;
        }
    }
}

/** A tree without ranges, source, comments and diagnostics, for comparison. */
export function bare(file: tree.File): unknown {
    return JSON.parse(JSON.stringify(file.items, (key, value) => (key === "range" ? undefined : value)));
}
