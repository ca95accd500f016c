/**
 * Linked skills: `https://HOST/PATH/SKILL.md#sha256=…`, one document whose bytes have that digest.
 *
 * Boundary: fetches, compares, keeps. The digest is the program's author's; nothing else makes a document of the net trustworthy.
 *
 * K13: content whose SHA-256 is not the one in the link is refused, wherever it comes from, the cache included.
 * K14: no credentials are sent, a redirect to another origin is refused, and so is more than `SKILL_BOUNDS.document` bytes.
 * K15: `http:` only to this machine itself.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "../ledger/place.ts";
import { isLoopback } from "../process/loopback.ts";
import { sha256Of } from "./files.ts";
import { SKILL_BOUNDS, wrong } from "./rules.ts";
import { readDocument, type Skill, SkillError } from "./skill.ts";

export interface SkillLink {
    /** Without the digest. */
    readonly url: string;
    readonly sha256: string;
}

const REDIRECTS = 5;
const TIMEOUT_MS = 30_000;

export function isSkillLink(uri: string): boolean {
    return /^https?:/i.test(uri);
}

/** The parts of a link, or what is wrong with it. */
export function parseSkillLink(uri: string): SkillLink | { readonly message: string; readonly hint?: string } {
    if (!URL.canParse(uri)) return { message: `'${uri}' is no URL` };
    const url = new URL(uri);
    if (url.username !== "" || url.password !== "") return { message: "the link to a skill holds credentials" };
    if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.host)))
        return { message: `a skill is linked by https, not ${url.protocol}` };
    const digest = /^#sha256=([0-9a-fA-F]{64})$/.exec(url.hash)?.[1];
    if (digest === undefined)
        return { message: "the link to a skill carries no digest", hint: "end it with #sha256= and the SHA-256 of the document" };
    url.hash = "";
    return { url: url.href, sha256: digest.toLowerCase() };
}

export interface LinkedOptions {
    readonly signal?: AbortSignal;
    /** Folder of the cache; none where null. */
    readonly cache: string | null;
    readonly fetch?: typeof fetch;
}

/** Reads a linked skill, from the cache where it is there. Throws `SkillError`. */
export async function loadLinkedSkill(uri: string, options: LinkedOptions): Promise<Skill> {
    const link = parseSkillLink(uri);
    if ("message" in link) throw new SkillError(uri, [wrong("", link.hint === undefined ? link.message : `${link.message}; ${link.hint}`)]);
    const { cache } = options;
    const kept = cache === null ? null : join(cache, `${link.sha256}.md`);
    const known = kept === null ? null : fileOr(kept);
    const bytes = known !== null && sha256Of(known) === link.sha256 ? known : await fetched(link, options);
    const { skill, problems } = readDocument(bytes, { folder: null, folderName: null });
    const over = problems.filter(({ level }) => level !== "advice");
    if (skill === null || over.length > 0) throw new SkillError(link.url, over);
    if (kept !== null && bytes !== known) keep(kept, bytes);
    return skill;
}

async function fetched(link: SkillLink, options: LinkedOptions): Promise<Uint8Array> {
    const refused = (message: string) => new SkillError(link.url, [wrong("", message)]);
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(options.signal === undefined ? [] : [options.signal])]);
    const { origin } = new URL(link.url);
    let url = link.url;
    for (let hops = 0; hops <= REDIRECTS; hops++) {
        let response: Response;
        let bytes: Uint8Array | null = null;
        try {
            response = await (options.fetch ?? fetch)(url, {
                redirect: "manual",
                credentials: "omit",
                signal,
                headers: { accept: "text/markdown, text/plain;q=0.9, */*;q=0.1" },
            });
            if (response.ok) bytes = await bounded(response);
            else await response.body?.cancel();
        } catch (error) {
            const cause = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name;
            throw refused(`cannot be fetched (${cause})`);
        }
        const to = response.headers.get("location");
        if (response.status >= 300 && response.status < 400 && to !== null && URL.canParse(to, url)) {
            const next = new URL(to, url);
            if (next.origin !== origin) throw refused(`is redirected to another origin, ${next.origin}`);
            url = next.href;
            continue;
        }
        if (!response.ok) throw refused(`cannot be fetched (status ${response.status})`);
        if (bytes === null) throw refused(`has more than ${SKILL_BOUNDS.document} bytes`);
        const digest = sha256Of(bytes);
        if (digest !== link.sha256) throw refused(`has the digest ${digest}, and the link says ${link.sha256}`);
        return bytes;
    }
    throw refused(`is redirected more than ${REDIRECTS} times`);
}

/** Null where there is more than a document may have. */
async function bounded(response: Response): Promise<Uint8Array | null> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    if (response.body === null) return new Uint8Array();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (size > SKILL_BOUNDS.document) return null;
        chunks.push(chunk);
    }
    return Buffer.concat(chunks);
}

function fileOr(path: string): Buffer | null {
    try {
        return readFileSync(path);
    } catch {
        // Not kept, or not readable: it is fetched.
        return null;
    }
}

/** A cache that cannot be written is no cache. */
function keep(path: string, bytes: Uint8Array): void {
    try {
        writePrivate(path, bytes);
    } catch (error) {
        if (!(Error.isError(error) && "code" in error)) throw error;
    }
}
