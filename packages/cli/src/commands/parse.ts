/** `remit parse`: the syntax tree, for tools and the curious. */
import { readFileSync } from "node:fs";
import { parse, source } from "@remit/language";
import { EXIT, printJson } from "../io.ts";
import { showDiagnostics } from "../diagnostics.ts";

export default async function parseCommand(args: string[], options: Record<string, unknown>): Promise<number> {
    const file = args[0] as string;
    const text = source(readFileSync(file, "utf8"), file);
    const tree = parse(text);
    printJson({ file, items: tree.items, comments: tree.comments } as never, options["json"] === true);
    return showDiagnostics(tree.diagnostics, new Map([[file, text]])) > 0 ? EXIT.failed : EXIT.ok;
}
