/** `remit parse`: the syntax tree, for tools and the curious. */
import { parse, source } from "@remit/language";
import { EXIT, printJson } from "../io.ts";
import { showDiagnostics } from "../diagnostics.ts";
import { readText } from "../text.ts";

export default async function parseCommand(args: string[], options: Record<string, unknown>): Promise<number> {
    const file = args[0] as string;
    const text = source(readText(file), file);
    const tree = parse(text);
    printJson({ file, items: tree.items, comments: tree.comments } as never, options["json"] === true);
    return showDiagnostics(tree.diagnostics, new Map([[file, text]])) > 0 ? EXIT.failed : EXIT.ok;
}
