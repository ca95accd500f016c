/**
 * What a yield to a `stub:` agent of a program would fail with, for those who check the program.
 *
 * Boundary: looks at the URI and for its file; what is in the file is read by the yield alone.
 */
import type { Program } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import { fileMeant, type ImportProblem } from "../load/texts.ts";
import type { ProgramTree } from "../load/tree.ts";
import { parseStubUri } from "./stub-uri.ts";

export function stubProblems(program: Program, tree: ProgramTree): ImportProblem[] {
    return program.files.flatMap(({ file, imports }) =>
        imports.flatMap(({ what, name, uri }) => {
            const wrong = what === "agent" && uri.startsWith("stub:") ? wrongIn(uri, file, tree) : null;
            return wrong === null ? [] : [{ file, name, error: new RemitError({ kind: "unreachable", site: null, ...wrong }) }];
        }),
    );
}

function wrongIn(uri: string, file: string, tree: ProgramTree): { readonly message: string; readonly hint: string } | null {
    const stub = parseStubUri(uri);
    if ("message" in stub) return stub;
    if (stub.file === "") return null;
    const read = tree.read(tree.pathOf(stub.file, file));
    if (read.ok) return null;
    const meant = read.why === "missing" ? fileMeant(stub.file, file, tree) : undefined;
    return { message: read.message, hint: meant ?? "a stub's file is named from the file that imports it" };
}
