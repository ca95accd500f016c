/**
 * The secrets that are known when a run is loaded, resumed or looked at: those of the environment, and those that a trusted configuration names.
 *
 * Boundary: where secrets come from. What is done with them is the scrubber's.
 */
import type { Config } from "../config/config.ts";
import { environmentSecrets } from "./names.ts";
import { resolveSecret } from "./ref.ts";
import { createScrubber, type Scrubber } from "./scrub.ts";

/** One that a configuration names and that cannot be read now is not known: its use fails and says why. */
export function knownSecrets(env: Readonly<Record<string, string | undefined>>, config?: Config): Scrubber {
    const known = createScrubber(environmentSecrets(env, config?.plainEnv));
    for (const [name, { file }] of Object.entries(config?.secrets ?? {})) {
        const read = resolveSecret(name, { env, folder: file.folder });
        if (read.ok) known.add({ name, value: read.value });
    }
    return known;
}
