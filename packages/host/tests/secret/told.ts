/** A scrubber that writes down what it is told of. */
import { createScrubber, type Scrubber } from "../../src/secret/scrub.ts";

export function tellingScrubber(told: Map<string, string> = new Map()): Scrubber {
    const made = createScrubber();
    const add: Scrubber["add"] = (secret) => {
        told.set(secret.name, secret.value);
        made.add(secret);
    };
    return { ...made, add };
}
