/**
 * Programs as a ledger holds them: a text is read and compared with its hash once, and its program stays for the runs of this process that go on.
 *
 * Boundary: texts and hashes; where a text is kept is the store's.
 *
 * PRG1: what is given again is of the very same text and hash, so that no ledger, however it was changed, has a part in what another one gives.
 */
import { canonicalJson, type Json, type Program } from "@remit/language";
import { sha256 } from "./blob.ts";

interface Known {
    readonly hash: string;
    readonly text: string;
    readonly program: Program;
}

/** The newest last. A pure function's results, so one list for the process. */
const KNOWN: Known[] = [];
const MOST = 16;
/** UTF-16 units of all texts that are kept. */
const ROOM = 16 << 20;

/** Null where the text is not that of the hash. Throws `SyntaxError` where it is no JSON. */
export function programIn(text: string, hash: string): Program | null {
    const at = KNOWN.findIndex((one) => one.hash === hash && one.text === text);
    const found = at < 0 ? read(text, hash) : (KNOWN.splice(at, 1)[0] as Known);
    if (found === null) return null;
    if (text.length <= ROOM) KNOWN.push(found);
    let room = ROOM;
    const from = KNOWN.findLastIndex((one) => {
        room -= one.text.length;
        return room < 0;
    });
    KNOWN.splice(0, Math.max(from + 1, KNOWN.length - MOST));
    return found.program;
}

function read(text: string, hash: string): Known | null {
    const form = JSON.parse(text) as Json;
    return sha256(canonicalJson(form)) === hash ? { hash, text, program: form as unknown as Program } : null;
}
