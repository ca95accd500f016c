/**
 * From a compiler's types to signatures.
 *
 * Boundary: a program of the compiler in, contracts out. Which compiler it is, and what is kept of it, is `types.ts`'s.
 */
import { type Contract, type Field, type Members, type Signature, type SignatureParam, showContract } from "@remit/language";
import type ts from "typescript";

/** Types in one signature, and how deep they stand in one another. */
const MAX_TYPES = 400;
const MAX_DEPTH = 10;
const JSON_VALUE: Contract = { type: "json" };

/** Of what the module exports, and what its default export has besides (MU1). */
export function signaturesIn(compiler: typeof ts, program: ts.Program, path: string): Members {
    const checker = program.getTypeChecker();
    const source = program.getSourceFile(path);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (source === undefined || module === undefined) return { signatures: [], open: true };
    const x: Reading = { compiler, checker, source, open: new Set(), left: MAX_TYPES };
    const exported = checker.getExportsOfModule(module);
    const fallback = exported.find((one) => one.name === "default");
    const whole = fallback === undefined ? null : checker.getTypeOfSymbolAtLocation(fallback, source);
    const named = exported.filter((one) => one.name !== "default");
    const besides = whole === null ? [] : whole.getProperties().filter((one) => !named.some(({ name }) => name === one.name));
    const signatures = [...named, ...besides].flatMap((one) => signatureOf({ ...x, left: MAX_TYPES }, one) ?? []);
    const { Any, Unknown } = compiler.TypeFlags;
    const isOpen = whole !== null && ((whole.flags & (Any | Unknown)) !== 0 || checker.getIndexInfosOfType(whole).length > 0);
    return { signatures, open: isOpen };
}

interface Reading {
    readonly compiler: typeof ts;
    readonly checker: ts.TypeChecker;
    readonly source: ts.SourceFile;
    /** What is being read: a type inside itself is `json`. */
    readonly open: Set<ts.Type>;
    left: number;
}

/** Null for what is no function, and no object with a function `call`. */
function signatureOf(x: Reading, symbol: ts.Symbol): Signature | null {
    const { checker, source } = x;
    const type = checker.getTypeOfSymbolAtLocation(symbol, source);
    const call = type.getCallSignatures().length > 0 ? undefined : type.getProperty("call");
    const called = call === undefined ? type : checker.getTypeOfSymbolAtLocation(call, source);
    const all = called.getCallSignatures();
    const [only] = all;
    if (only === undefined) return null;
    const description = textOf(x, symbol) || textOf(x, only);
    const about = { name: symbol.name, ...(description === "" ? {} : { description }) };
    // Which of several is meant shows at the call.
    if (all.length > 1) return { ...about, params: [{ name: "arguments", contract: JSON_VALUE, rest: true }], result: JSON_VALUE };
    const params = only.getParameters();
    // A method that says more of itself is given a second one by the caller: signal and progress.
    const own = call === undefined ? params : params.slice(0, 1);
    const given = call === undefined ? null : inputOf(x, type);
    const gave = checker.getAwaitedType(only.getReturnType()) ?? only.getReturnType();
    return {
        ...about,
        params: own.map((one, at) => ({ ...paramOf(x, one, at), ...(given === null ? {} : { contract: given }) })),
        result: fromType(x, gave, 0),
    };
}

/** What a schema takes that stands beside the function: its fields with a default may be left out, and the function has them all. Null without one. */
function inputOf(x: Reading, type: ts.Type): Contract | null {
    let at: ts.Type | undefined = type;
    for (const name of ["input", "~standard", "types", "input"]) {
        const property: ts.Symbol | undefined = at === undefined ? undefined : x.checker.getNonNullableType(at).getProperty(name);
        at = property === undefined ? undefined : x.checker.getTypeOfSymbolAtLocation(property, x.source);
    }
    return at === undefined ? null : fromType(x, at, 0);
}

function paramOf(x: Reading, symbol: ts.Symbol, at: number): SignatureParam {
    const { compiler, checker, source } = x;
    const declared = symbol.valueDeclaration;
    const param = declared !== undefined && compiler.isParameter(declared) ? declared : undefined;
    const type = checker.getTypeOfSymbolAtLocation(symbol, source);
    const name = symbol.name.startsWith("__") ? (at === 0 ? "input" : `input${at + 1}`) : symbol.name;
    const description = textOf(x, symbol);
    const said = description === "" ? {} : { description };
    if (param?.dotDotDotToken !== undefined) {
        const item = checker.getIndexTypeOfType(type, compiler.IndexKind.Number);
        return { name, contract: item === undefined ? JSON_VALUE : fromType(x, item, 0), ...said, rest: true };
    }
    const isOptional = param !== undefined && checker.isOptionalParameter(param);
    const contract = fromType(x, type, 0);
    return {
        name,
        contract: isOptional ? withoutUndefined(x, type, contract) : contract,
        ...said,
        ...(isOptional ? { optional: true as const } : {}),
    };
}

function textOf({ compiler, checker }: Reading, of: { getDocumentationComment(checker: ts.TypeChecker): ts.SymbolDisplayPart[] }): string {
    return compiler.displayPartsToString(of.getDocumentationComment(checker)).trim();
}

function fromType(x: Reading, type: ts.Type, depth: number): Contract {
    const { TypeFlags: F } = x.compiler;
    if (--x.left < 0 || depth > MAX_DEPTH || x.open.has(type)) return JSON_VALUE;
    const { flags } = type;
    if ((flags & (F.String | F.TemplateLiteral | F.StringMapping)) !== 0) return { type: "string" };
    if ((flags & F.Number) !== 0) return { type: "number" };
    if ((flags & F.Boolean) !== 0) return { type: "boolean" };
    if ((flags & (F.Null | F.Undefined | F.Void)) !== 0) return { type: "none" };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { type: "literal", value: type.value };
    if ((flags & F.BooleanLiteral) !== 0) return { type: "literal", value: x.checker.typeToString(type) === "true" };
    if ((flags & F.TypeParameter) !== 0) {
        const limit = x.checker.getBaseConstraintOfType(type);
        return limit === undefined || limit === type ? JSON_VALUE : fromType(x, limit, depth + 1);
    }
    x.open.add(type);
    const contract = type.isUnion()
        ? union(x, type.types, depth)
        : (flags & (F.Object | F.Intersection)) !== 0
          ? object(x, type, depth)
          : JSON_VALUE;
    x.open.delete(type);
    return contract;
}

function union(x: Reading, types: readonly ts.Type[], depth: number): Contract {
    const members = types.map((one) => fromType(x, one, depth + 1));
    if (members.some((one) => one.type === "json")) return JSON_VALUE;
    const bools = members.filter((one) => one.type === "literal" && typeof one.value === "boolean");
    const rest = bools.length < 2 ? members : [...members.filter((one) => !bools.includes(one)), { type: "boolean" } as const];
    // The compiler's order depends on what it looked at before.
    const some = rest.filter((one) => one.type !== "none").sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
    const [only] = some;
    if (only === undefined) return { type: "none" };
    const of: Contract = some.length === 1 ? only : { type: "union", of: some };
    return some.length === rest.length ? of : { type: "optional", of };
}

function rankOf(contract: Contract): string {
    return contract.type === "literal" ? `0 ${typeof contract.value} ${contract.value}` : `1 ${showContract(contract)}`;
}

function object(x: Reading, type: ts.Type, depth: number): Contract {
    const { compiler, checker, source } = x;
    if (checker.isArrayType(type)) {
        const item = checker.getIndexTypeOfType(type, compiler.IndexKind.Number);
        return item === undefined ? { type: "list" } : { type: "list", item: fromType(x, item, depth + 1) };
    }
    if (checker.isTupleType(type)) return { type: "list" };
    const properties = checker.getPropertiesOfType(type);
    const isBranded = type.isIntersection() && type.types.some((one) => (one.flags & compiler.TypeFlags.Object) === 0);
    const isCalled = type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0;
    // `{}` takes everything but null, and an index signature any name.
    const isAny = properties.length === 0 || checker.getIndexInfosOfType(type).length > 0;
    if (isAny || isBranded || isCalled || type.getSymbol()?.name === "WithOrigins") return JSON_VALUE;
    const fields: Field[] = [];
    for (const one of properties) {
        const of = checker.getTypeOfSymbolAtLocation(one, source);
        const isOptional = (one.flags & compiler.SymbolFlags.Optional) !== 0;
        // What has methods is an instance of a class, which JSON is not; symbols are no keys of JSON.
        if (checker.getNonNullableType(of).getCallSignatures().length > 0 || one.name.startsWith("__@")) return JSON_VALUE;
        const contract = fromType(x, of, depth + 1);
        const description = textOf(x, one);
        fields.push({
            name: one.name,
            contract: isOptional ? withoutUndefined(x, of, contract) : contract,
            ...(isOptional ? { optional: true as const } : {}),
            ...(description === "" ? {} : { description }),
        });
    }
    return { type: "object", fields };
}

/** `a?: T` has the type `T | undefined`, and `T` is what may stand there. */
function withoutUndefined(x: Reading, type: ts.Type, contract: Contract): Contract {
    if (contract.type !== "optional") return contract;
    const isNull = type.isUnion() && type.types.some((one) => (one.flags & x.compiler.TypeFlags.Null) !== 0);
    return isNull ? contract : contract.of;
}
