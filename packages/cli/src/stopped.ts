/** The end that a person gives a command which would go on for ever. */
import { EXIT } from "./io.ts";

/** Resolves at Ctrl-C or SIGTERM; a second one ends the process at once. */
export function untilStopped(): Promise<void> {
    return new Promise((resolve) => {
        let hits = 0;
        const stop = (): void => {
            if (++hits > 1) process.exit(EXIT.cancelled);
            resolve();
        };
        process.on("SIGINT", stop);
        process.on("SIGTERM", stop);
    });
}
