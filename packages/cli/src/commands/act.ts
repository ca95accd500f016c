/** `remit act`: one call of a tool, in a pipeline. */
import { call } from "./call.ts";

export default function act(args: string[], options: Record<string, unknown>): Promise<number> {
    const { manual } = options;
    return call("act", manual === undefined ? args : ["--manual", ...(manual === true ? [] : [String(manual)]), ...args], options);
}
