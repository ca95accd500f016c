/**
 * A program whose text holds a known secret is refused: its form goes into the cache, the ledger and every message that quotes it.
 *
 * Boundary: looks at texts and at the form; nothing of the program has run, and nothing of it is on the disk.
 */
import { type FileForm, type Json, type Program, position, source } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import type { Scrubber } from "../secret/scrub.ts";

/** Throws `RemitError` `denied`. Of one file, before anything quotes it. */
export function refuseText(file: string, text: string, secrets: Scrubber): void {
    const found = secrets.find(text);
    if (found === null) return;
    // The place is no site: a site is shown with its line.
    const { line, column } = position(source(text, file), found.at);
    throw refused(`${file}:${line}:${column}`, found.name);
}

/** The same of a form: what stands in a text as an escape stands in the form as the text that it means. */
export function refuseForm(form: Json, secrets: Scrubber): void {
    const found = secrets.find(JSON.stringify(form));
    if (found !== null) throw refused("this program", found.name);
}

/** Forms of files that were lowered here, by the fingerprint of the secrets that are not in them. */
const clean = new WeakMap<FileForm, string>();

/** The same of a program that was made here, whose unchanged files are looked at once. */
export function refuseProgram({ files, ...rest }: Program, secrets: Scrubber): void {
    const fingerprint = secrets.fingerprint();
    for (const file of files) {
        if (clean.get(file) === fingerprint) continue;
        refuseForm(file as unknown as Json, secrets);
        clean.set(file, fingerprint);
    }
    refuseForm(rest as unknown as Json, secrets);
}

function refused(where: string, name: string): RemitError {
    const variable = name.startsWith("env:") ? name.slice("env:".length) : null;
    return new RemitError({
        kind: "denied",
        message: `${where} holds the value of the secret ${name}; a program's text holds no secret`,
        hint: `take it out and write {"$secret": "${name}"} where a tool needs it${
            variable === null
                ? ""
                : `; if ${variable} is no secret, list it in a trusted remit.json under "env": {"allow": ["${variable}"]}`
        }`,
    });
}
