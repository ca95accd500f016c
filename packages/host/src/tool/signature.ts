/**
 * What kind of picture or document bytes are, by how they begin.
 *
 * Boundary: bytes in, a media type out. That all of it is well made is not said.
 */

/** How the files begin that models take as pictures, or as documents; their bytes decide, not their names. */
const SIGNATURES: readonly { readonly mediaType: string; readonly begins: (head: string) => boolean }[] = [
    { mediaType: "image/png", begins: (head) => head.startsWith("\x89PNG\r\n\x1a\n") },
    { mediaType: "image/jpeg", begins: (head) => head.startsWith("\xff\xd8\xff") },
    { mediaType: "image/gif", begins: (head) => head.startsWith("GIF87a") || head.startsWith("GIF89a") },
    { mediaType: "image/webp", begins: (head) => head.startsWith("RIFF") && head.startsWith("WEBP", 8) },
    { mediaType: "application/pdf", begins: (head) => head.startsWith("%PDF-") },
];

/** Null where it is none that models take. */
export function mediaTypeOf(bytes: Uint8Array): string | null {
    const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
    return SIGNATURES.find((one) => one.begins(head))?.mediaType ?? null;
}
