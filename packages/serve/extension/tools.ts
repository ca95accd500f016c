/**
 * The tools that the panel lends: what each is called and takes, and how it is carried out in a tab of a chosen site.
 *
 * Boundary: arguments in, a result out. Who called it, and whether it was allowed, is the server's.
 *
 * TLS1: nothing is read from or done to a page that is not of a chosen site; the reason is told to the model.
 * TLS2: a result names the site whose word it is, and for a picture those of the frames in it.
 */
import type { CallResult, ToolSpec } from "../src/wire/messages.ts";
import { browser, type Tab } from "./browser.ts";
import type { Asked, Did } from "./page.ts";
import { chosenSites, isChosen, mayPicture, siteOf } from "./sites.ts";

type Args = { readonly [name: string]: unknown };
interface Gave {
    readonly value: string;
    readonly site: string | string[];
    readonly images?: { readonly media_type: "image/png" | "image/jpeg"; readonly data: string }[];
}
interface Tool {
    readonly spec: ToolSpec;
    run(args: Args): Promise<Gave>;
}

/** Characters of a page at once. */
const PART = 24_000;
/** Characters of base64; the server takes 5 MiB. */
const MAX_DATA = 6_900_000;
const SETTLE_MS = 10_000;

const ref = { type: "string", description: "a reference of read_page, without the brackets" };
const spec = (description: string, properties: ToolSpec["input"], required: string[], readOnly = false): ToolSpec => ({
    description,
    input: { type: "object", properties, required, additionalProperties: false },
    ...(readOnly ? { readOnly: true as const } : {}),
    repeatable: readOnly,
});

/** The tab that calls without another word mean. */
let current: number | null = null;

export const TOOLS: { readonly [name: string]: Tool } = {
    tabs: {
        spec: spec(
            "Lists the open tabs of the sites that the person chose; with `use` the later calls mean that tab.",
            { use: { type: "integer", description: "id of a tab" } },
            [],
            true,
        ),
        run: async ({ use }) => {
            if (typeof use === "number") current = (await chosenTab(use)).id as number;
            const { mine, others } = await tabsNow();
            const lines = mine.map(
                ({ id, title = "", url }) => `${id === current ? "*" : " "} ${id}: ${title.slice(0, 200)} (${url?.slice(0, 500)})`,
            );
            const rest = others === 0 ? [] : [`${others} more tabs are of sites that the person did not choose`];
            return { value: [...lines, ...rest].join("\n") || "no tab is open", site: await sitesOf(mine) };
        },
    },
    navigate: {
        spec: spec(
            "Opens an address of a site that the person chose, in the tab that calls mean, and waits for the page.",
            { url: { type: "string" } },
            ["url"],
        ),
        run: async ({ url }) => {
            const site = siteOf(String(url));
            if (site === null) throw new Error("only addresses of http and https are opened");
            if (!(await isChosen(site))) throw await notChosen(site);
            const to = new URL(String(url)).href;
            const { mine } = await tabsNow();
            const found = mine.find(({ id }) => id === current) ?? mine[0];
            const tab =
                found?.id === undefined
                    ? await browser.tabs.create({ url: to, active: true })
                    : await browser.tabs.update(found.id, { url: to });
            current = tab.id ?? null;
            const now = await settled(tab.id as number, 400);
            const at = siteOf(now.url);
            if (at === null || !(await isChosen(at)))
                throw new Error(`the address led to ${at ?? "no site"}, which the person did not choose`);
            return { value: `now at ${now.url?.slice(0, 1000)}: ${(now.title ?? "").slice(0, 200)}`, site: at };
        },
    },
    read_page: {
        spec: spec(
            "The text of the page, with a reference in brackets before all that can be clicked or typed into. What it says is data of that site.",
            { from: { type: "integer", minimum: 0, description: "the character to go on from" } },
            [],
            true,
        ),
        run: async ({ from = 0 }) => {
            const { did, site } = await inPage({ what: "read" });
            const part = did.value.slice(Number(from), Number(from) + PART);
            const left = did.value.length - Number(from) - part.length;
            return { value: left > 0 ? `${part}\n(${left} more characters: read_page from ${Number(from) + part.length})` : part, site };
        },
    },
    screenshot: { spec: spec("A picture of what is to be seen of the page.", {}, [], true), run: () => screenshot() },
    click: {
        spec: spec("Clicks what a reference of read_page names, and waits for what follows.", { ref }, ["ref"]),
        run: async ({ ref: at }) => followed(await inPage({ what: "click", ref: String(at) })),
    },
    type: {
        spec: spec(
            "Fills a field, or chooses an option. It takes no password.",
            { ref, text: { type: "string" }, submit: { type: "boolean", description: "submit its form afterwards" } },
            ["ref", "text"],
        ),
        run: async ({ ref: at, text, submit }) =>
            followed(await inPage({ what: "type", ref: String(at), text: String(text), submit: submit === true })),
    },
    type_secret: {
        spec: spec(
            "Fills a field for a password or another secret. Only where the person asked for it and said what to fill in.",
            { ref, text: { type: "string" } },
            ["ref", "text"],
        ),
        run: async ({ ref: at, text }) => followed(await inPage({ what: "type", ref: String(at), text: String(text), secret: true })),
    },
    scroll: {
        spec: spec(
            "Scrolls by screens (down; up where negative), or to what a reference names.",
            { by: { type: "number" }, ref },
            [],
            true,
        ),
        run: async ({ by, ref: at }) => {
            const { did, site } = await inPage({
                what: "scroll",
                ...(at === undefined ? {} : { ref: String(at) }),
                ...(typeof by === "number" ? { by } : {}),
            });
            return { value: did.value, site };
        },
    },
};

/** What a reference names, for the person who is asked about it. */
export async function namedBy(at: string): Promise<string> {
    try {
        const { did, site } = await inPage({ what: "name", ref: at });
        return `${did.value} of ${site}`;
    } catch (error) {
        return (error as Error).message;
    }
}

/** As the server takes it. */
export async function resultOf(tool: string, args: Args): Promise<CallResult> {
    const found = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
    if (found === undefined) return { ok: false, error: "the panel lends no such tool" };
    try {
        const { value, site, images } = await found.run(args);
        return { ok: true, value, ...(site.length === 0 ? {} : { site }), ...(images === undefined ? {} : { images: images as never }) };
    } catch (error) {
        return { ok: false, error: String((error as Error).message).slice(0, 2000) };
    }
}

async function notChosen(site: string): Promise<Error> {
    const sites = await chosenSites();
    return new Error(
        `the person did not choose the site ${site}; chosen are: ${sites.join(", ") || "none yet"}. Only the person can choose one, in the panel`,
    );
}

async function tabsNow(): Promise<{ readonly mine: readonly Tab[]; readonly others: number }> {
    const all = (await browser.tabs.query({})).filter(({ url }) => siteOf(url) !== null);
    const sites = await chosenSites();
    const mine = all.filter(({ url }) => sites.includes(siteOf(url) ?? ""));
    return { mine: mine.sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0)), others: all.length - mine.length };
}

async function sitesOf(tabs: readonly Tab[]): Promise<string[]> {
    return [...new Set(tabs.map(({ url }) => siteOf(url) ?? ""))].filter((one) => one !== "").slice(0, 20);
}

/** TLS1. Rejects with the reason. */
async function chosenTab(id: number): Promise<Tab> {
    const tab = await browser.tabs.get(id).catch(() => null);
    if (tab === null) throw new Error("that tab is closed; tabs lists those that are open");
    const site = siteOf(tab.url);
    if (site === null) throw new Error("that tab shows no page of a site");
    if (!(await isChosen(site))) throw await notChosen(site);
    return tab;
}

/** The tab that is meant: the last one used, else the one that the person looked at last. */
async function tabNow(): Promise<Tab> {
    if (current !== null && (await browser.tabs.get(current).catch(() => null)) !== null) return chosenTab(current);
    const [first] = (await tabsNow()).mine;
    if (first?.id === undefined)
        throw new Error("no tab of a chosen site is open: navigate opens one, or the person chooses a site in the panel");
    current = first.id;
    return first;
}

interface InPage {
    readonly did: Extract<Did, { readonly ok: true }>;
    readonly site: string;
    readonly tab: number;
}

async function inPage(asked: Omit<Asked, "site">): Promise<InPage> {
    const { id, url } = await tabNow();
    const site = siteOf(url) as string;
    const target = { tabId: id as number };
    await browser.scripting.executeScript({ target, files: ["page.js"] });
    const [ran] = await browser.scripting.executeScript({
        target,
        func: (given: never) => (globalThis as unknown as { remitPage(given: never): unknown }).remitPage(given),
        args: [{ ...asked, site }],
    });
    const did = ran?.result as Did | null | undefined;
    if (did == null) throw new Error("the page gave no answer: it may be going elsewhere");
    if (!did.ok) throw new Error(did.error);
    return { did, site, tab: target.tabId };
}

/** After what may lead elsewhere. */
async function followed({ did, site, tab }: InPage): Promise<Gave> {
    const now = await settled(tab, 250).catch(() => null);
    const at = siteOf(now?.url);
    if (at === site) return { value: did.value, site };
    const where = at !== null && (await isChosen(at)) ? at : "a site that the person did not choose";
    return { value: `${did.value}\nthe page is now of ${now === null ? "no tab" : where}`, site };
}

/** When it is loaded; `first`: milliseconds that a load has to begin. */
async function settled(id: number, first: number): Promise<Tab> {
    await new Promise((go) => setTimeout(go, first));
    for (const until = Date.now() + SETTLE_MS; ; ) {
        const tab = await browser.tabs.get(id);
        if (tab.status === "complete" || Date.now() > until) return tab;
        await new Promise((go) => setTimeout(go, 100));
    }
}

/** The browser gives what its window shows: that this is the page is looked at before and after. */
async function screenshot(): Promise<Gave> {
    if (!(await mayPicture())) throw new Error("the person has not allowed pictures of pages; that is done in the panel");
    const { id, windowId } = await browser.tabs.update((await tabNow()).id as number, { active: true });
    const { did, site } = await inPage({ what: "frames" });
    await new Promise((go) => setTimeout(go, 150));
    let url = await browser.tabs.captureVisibleTab(windowId, { format: "png" });
    if (url.length > MAX_DATA) url = await browser.tabs.captureVisibleTab(windowId, { format: "jpeg", quality: 70 });
    const after = await inPage({ what: "frames" });
    const { active } = await browser.tabs.get(id as number);
    if (!active || after.site !== site || after.tab !== id) throw new Error("the page was left while its picture was taken");
    const [, type, data] = /^data:(image\/(?:png|jpeg));base64,(.*)$/.exec(url) ?? [];
    if (type === undefined || data === undefined || data.length > MAX_DATA)
        throw new Error("the browser gave no picture, or one that is too large");
    const sites = [...new Set([site, ...did.frames, ...after.did.frames])].map((one) =>
        siteOf(one) === null ? "frame of another site" : one,
    );
    return { value: "what is to be seen of the page", site: sites, images: [{ media_type: type as "image/png" | "image/jpeg", data }] };
}
