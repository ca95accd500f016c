/** `remit reason`: one bounded question to a model, in a pipeline. */
import { call } from "./call.ts";

export default function reason(_args: string[], options: Record<string, unknown>): Promise<number> {
    const prompts = (options["prompt"] as string[] | undefined) ?? [];
    const structure = options["structure"];
    const rest = [...prompts.flatMap((one) => ["--prompt", one]), ...(structure === undefined ? [] : ["--structure", String(structure)])];
    return call("reason", rest, options);
}
