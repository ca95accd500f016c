/** Bytes that are no UTF-8 text, told by their look. */

/** Every second byte of its beginning is zero, a byte order mark aside. */
export function isUtf16(bytes: Uint8Array): boolean {
    const end = Math.min(bytes.length - (bytes.length % 2), 64);
    if (end < 4) return false;
    let [even, odd] = [0, 0];
    for (let i = 0; i < end; i += 2) {
        if (bytes[i] === 0) even++;
        if (bytes[i + 1] === 0) odd++;
    }
    return Math.max(even, odd) * 4 >= end && Math.min(even, odd) === 0;
}
