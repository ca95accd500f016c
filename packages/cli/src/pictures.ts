/**
 * Pictures that go with a task: the command reads the files, the server is sent their bytes.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { mediaTypeOf, systemWords } from "@remit/host";
import { MAX_PICTURE_BYTES, MAX_PICTURES, type Picture, PICTURE_TYPES } from "@remit/serve/client";
import { plain, UsageError } from "./io.ts";

const TAKEN = "PNG, JPEG, WebP and GIF are taken, at most 4 of 5 MiB each";

/** Throws `UsageError`. */
export function picturesOf(files: readonly string[]): Picture[] {
    if (files.length > MAX_PICTURES) throw new UsageError(`--image is given ${files.length} files`, TAKEN);
    return files.map((file) => {
        const bytes = bounded(file);
        const type = PICTURE_TYPES.find((one) => one === mediaTypeOf(bytes));
        if (type === undefined) throw new UsageError(`--image ${plain(file)} is no picture`, TAKEN);
        return { media_type: type, data: bytes.toString("base64") };
    });
}

/** At most one byte more than is taken. */
function bounded(file: string): Buffer {
    const fd = opened(file);
    try {
        const bytes = Buffer.alloc(MAX_PICTURE_BYTES + 1);
        let length = 0;
        for (let read = -1; read !== 0 && length < bytes.length; length += read)
            read = readSync(fd, bytes, length, bytes.length - length, null);
        if (length > MAX_PICTURE_BYTES) throw new UsageError(`--image ${plain(file)} is larger than ${MAX_PICTURE_BYTES} bytes`, TAKEN);
        return bytes.subarray(0, length);
    } finally {
        closeSync(fd);
    }
}

function opened(file: string): number {
    try {
        const fd = openSync(file, "r");
        if (fstatSync(fd).isFile()) return fd;
        closeSync(fd);
    } catch (error) {
        throw new UsageError(`--image ${plain(file)} cannot be read: ${systemWords(error)}`);
    }
    throw new UsageError(`--image ${plain(file)} is no file`, TAKEN);
}
