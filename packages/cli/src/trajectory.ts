/**
 * Trajectories (ATIF) as files: read with a bound, written with the pictures and sounds beside them.
 */
import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { privateFolder } from "@remit/host";
import { atifOfRun, type LedgerEvent } from "@remit/machine";
import { counted, EXIT, plain, printJson, say, UsageError } from "./io.ts";

/** A run's trajectory on standard output, or in a file and a folder of the same name beside it. */
export function writeRun(events: readonly LedgerEvent[], file: string | undefined): number {
    if (events.length === 0) throw new UsageError("the run has no events yet");
    if (file === undefined) {
        const { trajectory, media } = atifOfRun(events);
        printJson(trajectory);
        if (media.length > 0) say(`The trajectory names ${counted(media.length, "file")}, written only with --output FILE.`);
        return EXIT.ok;
    }
    const mediaFolder = `${basename(file).replace(/\.json$/i, "")}.media`;
    const { trajectory, media } = atifOfRun(events, { mediaFolder });
    // the record of a run is its owner's alone
    if (media.length > 0) privateFolder(join(dirname(file), mediaFolder));
    for (const one of media) writeFileSync(join(dirname(file), one.path), Buffer.from(one.data, "base64"), { mode: 0o600 });
    writeFileSync(file, `${JSON.stringify(trajectory, null, 2)}\n`, { mode: 0o600 });
    say(`Wrote ${plain(file)}${media.length === 0 ? "" : ` and ${counted(media.length, "file")} in ${plain(mediaFolder)}`}.`);
    return EXIT.ok;
}
