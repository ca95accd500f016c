/** `verb:NAME`: the function of a verb of the program that embeds Remit. Only the code of the verb itself imports it. */
import { functionTool } from "./functions.ts";
import { type Open, ToolFail } from "./tool.ts";

export const openVerb: Open = (uri, about, { functions }) => {
    const tool = Object.hasOwn(functions, uri) ? functions[uri] : undefined;
    if (tool !== undefined) return functionTool(about.name, tool);
    throw new ToolFail(`the program that runs this brings no verb '${uri.slice("verb:".length)}'`, {
        kind: "unreachable",
        hint: "give its plugin as `registry: verbRegistry([plugin])`, to a worker as `host: { registry }`",
    });
};
