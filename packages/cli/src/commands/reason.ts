/** `remit reason`: one bounded question to a model, in a pipeline. */
import { call } from "./call.ts";

export default function reason(_args: string[], options: Record<string, unknown>): Promise<number> {
    const prompts = (options["prompt"] as string[] | undefined) ?? [];
    const given = ["structure", "attempts"].flatMap((name) => (options[name] === undefined ? [] : [`--${name}`, String(options[name])]));
    const rest = [...prompts.flatMap((one) => ["--prompt", one]), ...given];
    return call("reason", rest, options);
}
