/**
 * What is taken of a model's answer, and why another one is not.
 *
 * Boundary: bytes as they come, before anything reads them.
 *
 * SDK3: an answer longer than the bound is cut off with an error.
 * SDK4: an answer that is not UTF-8 is cut off with an error: its letters would be replaced in silence.
 */
import { utf8Check } from "../input/bytes.ts";

/** Something answered, but not the API of a model. */
export class NotAnApi extends Error {
    readonly status: number;
    /** What came instead, to follow "answered with". */
    readonly what: string;
    constructor(status: number, what: string) {
        super(`answered with ${what}`);
        this.status = status;
        this.what = what;
    }
}

/** SDK3, SDK4. The message follows "cannot be read". */
export class Unreadable extends Error {}

/** `most`: bytes. `isAnswer`: false for a body that only explains an error. */
export function taken(most: number, isAnswer = true): TransformStream<Uint8Array, Uint8Array> {
    const isText = utf8Check();
    let bytes = 0;
    return new TransformStream({
        transform: (piece, out) => {
            bytes += piece.byteLength;
            if (bytes > most) out.error(new Unreadable(`it is longer than ${most} bytes`));
            else if (isAnswer && !isText(piece)) out.error(new Unreadable("it holds bytes that are not UTF-8"));
            else out.enqueue(piece);
        },
    });
}
