/** `remit agent`: one task of an agent, in a pipeline. */
import { call } from "./call.ts";

export default function agent(_args: string[], options: Record<string, unknown>): Promise<number> {
    const prompts = (options["prompt"] as string[] | undefined) ?? [];
    const config = options["config"] === undefined ? [] : ["--config", String(options["config"])];
    return call("agent", [...prompts.flatMap((one) => ["--prompt", one]), ...config], options);
}
