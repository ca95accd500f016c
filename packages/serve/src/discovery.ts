/**
 * Where servers are: one private file a server, which programs of the same user find it by.
 *
 * Boundary: files and process ids. Whether a server answers is seen by asking it.
 *
 * DSC1: a file of a process that is gone, or of another one with the same id, is no server, and is removed by who finds it.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isLivingSince, privateFolder, processStart, writePrivate } from "@remit/host";
import { z } from "zod";

export interface FoundServer {
    version: 1;
    url: string;
    token: string;
    pid: number;
    /** When the process began, as the system says; empty where it does not. */
    start: string;
    started: string;
}
const Found: z.ZodType<FoundServer> = z.strictObject({
    version: z.literal(1),
    url: z.url(),
    token: z.string(),
    pid: z.int().positive(),
    start: z.string(),
    started: z.string(),
});

export interface Announced {
    remove(): void;
}

/** `folder`: where servers of this user are announced. */
export function announce(folder: string, about: { readonly url: string; readonly token: string }): Announced {
    privateFolder(folder);
    const file = join(folder, `server-${process.pid}-${new URL(about.url).port}.json`);
    const found: FoundServer = {
        version: 1,
        ...about,
        pid: process.pid,
        start: processStart(process.pid) ?? "",
        started: new Date().toISOString(),
    };
    writePrivate(file, `${JSON.stringify(found)}\n`);
    return { remove: () => rmSync(file, { force: true }) };
}

/** Servers that run, the newest first. */
export function servers(folder: string): FoundServer[] {
    return names(folder)
        .flatMap((name) => one(join(folder, name)))
        .sort((a, b) => (a.started < b.started ? 1 : -1));
}

function names(folder: string): string[] {
    try {
        return readdirSync(folder).filter((name) => /^server-\d+-\d+\.json$/.test(name));
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
    }
}

function one(file: string): FoundServer[] {
    let read: ReturnType<typeof Found.safeParse>;
    try {
        read = Found.safeParse(JSON.parse(readFileSync(file, "utf8")));
    } catch (error) {
        // It went meanwhile, or is no JSON.
        if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
    }
    if (!read.success) return [];
    if (isLivingSince(read.data.pid, read.data.start)) return [read.data];
    rmSync(file, { force: true });
    return [];
}
