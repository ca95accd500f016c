/** The end that a person gives a command which would go on for ever. */
import { EXIT } from "./io.ts";

/**
 * Resolves at Ctrl-C or SIGTERM; a second one ends the process at once. They are counted apart, because the launcher of an older Node passes one Ctrl-C
 * on as SIGTERM while the terminal sends SIGINT.
 */
export function untilStopped(): Promise<void> {
    return new Promise((resolve) => {
        const hits = new Set<NodeJS.Signals>();
        const stop = (signal: NodeJS.Signals): void => {
            if (hits.has(signal)) process.exit(EXIT.cancelled);
            hits.add(signal);
            resolve();
        };
        process.on("SIGINT", stop);
        process.on("SIGTERM", stop);
    });
}
