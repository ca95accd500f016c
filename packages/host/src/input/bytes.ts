/**
 * Bytes from outside that should be text, as they come in pieces.
 *
 * Boundary: it says whether they are UTF-8, and cuts them into lines; what is then done is the caller's.
 */

/** Takes the pieces of one text in their order: false from the first byte that is not UTF-8. Without a piece: the text is over. */
export function utf8Check(): (piece?: Uint8Array) => boolean {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let isText = true;
    return (piece) => {
        try {
            if (isText) decoder.decode(piece, { stream: piece !== undefined });
        } catch (error) {
            if (!(error instanceof TypeError)) throw error;
            isText = false;
        }
        return isText;
    };
}

/** Cuts bytes into lines of at most `most` bytes. `push` gives false once a line is longer, or `take` gave false. */
export function lineReader(most: number, take: (line: Buffer) => boolean): (piece: Buffer) => boolean {
    let pieces: Buffer[] = [];
    let size = 0;
    return (piece) => {
        let rest = piece;
        for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
            pieces.push(rest.subarray(0, at));
            const line = Buffer.concat(pieces);
            pieces = [];
            size = 0;
            rest = rest.subarray(at + 1);
            if (line.length > most || !take(line)) return false;
        }
        size += rest.length;
        pieces.push(rest);
        return size <= most;
    };
}
