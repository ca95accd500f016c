/**
 * The sites that the person chose: the only ones of which the panel reads, shows or does anything.
 *
 * Boundary: a list in the extension's own storage, and the browser's permission beside it.
 *
 * XST1: a site is an exact origin of http or https. Nothing is chosen by what a page, a model or the server says.
 */
import { browser } from "./browser.ts";

const KEY = "sites";

/** The origin of an address; null for what is no site: files, the browser's own pages, `javascript:`, `data:`. */
export function siteOf(address: string | undefined): string | null {
    if (address === undefined || !URL.canParse(address)) return null;
    const { protocol, origin } = new URL(address);
    return protocol === "http:" || protocol === "https:" ? origin : null;
}

export async function chosenSites(): Promise<string[]> {
    const { [KEY]: kept } = await browser.storage.local.get(KEY);
    return Array.isArray(kept) ? kept.filter((one): one is string => typeof one === "string" && siteOf(one) === one) : [];
}

export async function isChosen(address: string | undefined): Promise<boolean> {
    const site = siteOf(address);
    return site !== null && (await chosenSites()).includes(site);
}

/** In answer to a click: the browser asks for its own permission. False where the person said no to it. */
export async function choose(site: string): Promise<boolean> {
    if (!(await browser.permissions.request({ origins: [patternOf(site)] }))) return false;
    await browser.storage.local.set({ [KEY]: [...new Set([...(await chosenSites()), site])] });
    return true;
}

export async function unchoose(site: string): Promise<void> {
    await browser.storage.local.set({ [KEY]: (await chosenSites()).filter((one) => one !== site) });
    // Two ports of a host share the browser's permission; one that stands in the manifest cannot be given back.
    const { host_permissions: always = [] } = browser.runtime.getManifest();
    const kept = [...(await chosenSites()).map(patternOf), ...always];
    if (!kept.some((one) => one === "<all_urls>" || one === patternOf(site)))
        await browser.permissions.remove({ origins: [patternOf(site)] });
}

/** Firefox knows no ports in its patterns. */
function patternOf(site: string): string {
    const { protocol, hostname } = new URL(site);
    return `${protocol}//${hostname}/*`;
}

const EVERYWHERE = { origins: ["<all_urls>"] };

/** Browsers let an extension take pictures only with the permission for all sites. */
export const mayPicture = (): Promise<boolean> => browser.permissions.contains(EVERYWHERE);
export const askToPicture = (): Promise<boolean> => browser.permissions.request(EVERYWHERE);
