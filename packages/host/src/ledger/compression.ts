/**
 * Long texts of the embedded ledger, compressed: what a statement writes for a text, and the text of what a row holds.
 *
 * Boundary: texts and bytes; which of them a row holds is the store's. Hashes and codes are of the text, so nothing else of the ledger knows of it.
 *
 * CPR1: `textOf` of the columns of a text is that text; a text that compression makes no shorter is kept as it is.
 * CPR2: a blob on which another text is compressed, its base, is in the ledger before that text, or in the same job, and stays as long as the text (PU1).
 *     A base is not compressed on another blob.
 * CPR3: a file may come from any author, so what is read back takes no more memory than `roomFor` says; what does not fit is `tampered`. A text that would not
 *     fit is kept as it is.
 *
 * Why: a large object stands in three forms: its JSON in events and outcomes, its text in a prompt, its objects in the saved state. They say the same
 * words, so the second and the third, compressed on the first, take a tenth of it, whatever the words are (section `texts` of `bench/`).
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Blobs } from "./blob.ts";
import { LedgerError } from "./error.ts";
import type { Job } from "./jobs.ts";

/** Columns of a row: the text, or an empty one and its compressed bytes. */
export type Columns = readonly [text: string, packed: Uint8Array | null];
export type Kept = { readonly text: string; readonly packed: Uint8Array | null };

/** Shorter texts are kept as they are: to compress one takes as long as writing its pages. */
const LEAST = 65_536;
/** Bytes of a base and of the text on it together, as far back as the compression looks. */
const WINDOW = 2 ** 21;
/** A base may be so many times longer than the text on it: to read it in costs time. */
const LONGER = 4;
/** On a base, a text is compressed to less than this part of its length; else it is compressed alone, and is the next base. */
const RELATED = 0.25;
/** Compressed to more than this part of its length, a text is kept as it is. */
const WORTH = 0.9;

/** The first byte of what is compressed: alone, or on the blob whose SHA-256 the next 32 bytes are. */
const ALONE = 0;
const ON_BASE = 1;
const NAME_BYTES = 32;

function packed(form: number, ...parts: readonly Uint8Array[]): Uint8Array {
    return Buffer.concat([Uint8Array.of(form), ...parts]);
}

/** Bytes of the longest text that compressed bytes may stand for. */
function roomFor(packed: Uint8Array): number {
    return Math.max(2 ** 26, 1000 * packed.length);
}

/** The texts of one run, in the order in which it writes them. */
export class Compressor {
    private base: { readonly name: string; readonly bytes: Uint8Array } | null = null;

    /** `name`: of a blob. */
    private columns(text: string, name: string | null): Columns {
        if (text.length < LEAST) return [text, null];
        const bytes = Buffer.from(text);
        const base = this.base;
        const fits = base !== null && bytes.length + base.bytes.length <= WINDOW && base.bytes.length <= LONGER * bytes.length;
        if (fits && base.name !== name) {
            const onBase = packed(ON_BASE, Buffer.from(base.name, "hex"), zstdCompressSync(bytes, { dictionary: base.bytes }));
            if (onBase.length < RELATED * bytes.length && bytes.length <= roomFor(onBase)) return ["", onBase];
        }
        if (name !== null && bytes.length < WINDOW) this.base = { name, bytes };
        const alone = packed(ALONE, zstdCompressSync(bytes));
        return alone.length < WORTH * bytes.length && bytes.length <= roomFor(alone) ? ["", alone] : [text, null];
    }

    /** With the long texts of its blobs and states compressed. Every other statement is left as it is, uncopied: each commit has a dozen. */
    statements(all: Job["statements"]): Job["statements"] {
        return all.map((one) => {
            const kind = one[0];
            if (kind !== "blob" && kind !== "state") return one;
            const [text, packed] = this.columns(one.at(-1) as string, kind === "blob" ? (one[1] as string) : null);
            return [...one.slice(0, -1), text, packed] as unknown as typeof one;
        });
    }

    /** CPR2: what was written last is perhaps not in the ledger. */
    forget(): void {
        this.base = null;
    }
}

/** The blob on which bytes are compressed. */
export function baseOf(packed: Uint8Array | null): string | null {
    return packed?.[0] === ON_BASE ? Buffer.from(packed.subarray(1, 1 + NAME_BYTES)).toString("hex") : null;
}

/** `path`: the ledger, for messages; `blobs` gives the text of a base. Throws `LedgerError`. */
export function textOf({ text, packed }: Kept, path: string, blobs: Blobs): string {
    if (packed === null) return text;
    const base = baseOf(packed);
    if (base === null && packed[0] !== ALONE)
        throw new LedgerError("tampered", `the ledger ${path} holds a text in a form that is not known`);
    try {
        const bytes = zstdDecompressSync(packed.subarray(base === null ? 1 : 1 + NAME_BYTES), {
            maxOutputLength: roomFor(packed),
            ...(base === null ? {} : { dictionary: Buffer.from(blobs(base)) }),
        });
        return bytes.toString();
    } catch (error) {
        if (error instanceof LedgerError) throw error;
        if (base !== null && !hasDictionaries())
            throw new LedgerError(
                "schema",
                `the ledger ${path} holds a text that Node ${process.versions.node} cannot read: use Node 24.6 or newer`,
            );
        throw new LedgerError("tampered", `the ledger ${path} holds a text that cannot be read`, error);
    }
}

/** Node up to 24.5 leaves the dictionary out without a word. */
function hasDictionaries(): boolean {
    const bytes = Buffer.from("what a dictionary holds need not be said again");
    return zstdCompressSync(bytes, { dictionary: bytes }).length < zstdCompressSync(bytes).length;
}
