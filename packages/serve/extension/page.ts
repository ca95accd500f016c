/**
 * In a page of a chosen site: its text as a tree with references, and what is done with a reference.
 *
 * Boundary: the extension's own world of the page's top frame. No script of the page sees it, and it listens to no message: it runs when the panel
 * calls it, and answers the panel alone.
 *
 * PGE1: nothing is read or done where the page is not of the site that the panel means: it may have gone elsewhere meanwhile.
 * PGE2: a frame of another site is named and not read; a frame of this site is not read either.
 * PGE3: what stands in a password field is never read; it is filled only by a call that says so.
 * PGE4: a reference is of one document and one element. One whose element is gone is told to be stale.
 * PGE5: what a person was shown of an element when the panel asked holds when it is acted on: an element that became another one meanwhile is left alone.
 */
export interface Asked {
    readonly site: string;
    readonly what: "read" | "click" | "type" | "scroll" | "frames" | "name";
    readonly ref?: string;
    readonly text?: string;
    readonly submit?: boolean;
    readonly secret?: boolean;
    readonly by?: number;
}
export type Did =
    | { readonly ok: true; readonly value: string; readonly frames: readonly string[] }
    | { readonly ok: false; readonly error: string };

const MOST = 400_000;
const BLOCK = new Set(
    "ADDRESS ARTICLE ASIDE BLOCKQUOTE DD DETAILS DIALOG DIV DL DT FIELDSET FIGCAPTION FIGURE FOOTER FORM H1 H2 H3 H4 H5 H6 HEADER HR LI MAIN NAV OL P PRE SECTION TABLE TBODY TD TFOOT TH THEAD TR UL SUMMARY".split(
        " ",
    ),
);
const SKIPPED = new Set("SCRIPT STYLE NOSCRIPT TEMPLATE HEAD SVG CANVAS VIDEO AUDIO OBJECT EMBED".split(" "));
const SECRET = /password|one-time-code|cc-/;

const mark = Array.from(crypto.getRandomValues(new Uint8Array(3)), (one) => (one % 36).toString(36)).join("");
const refs = new Map<string, WeakRef<Element>>();
const names = new WeakMap<Element, string>();
/** What was said of an element when it was named last, until something is done with it. */
const named = new WeakMap<Element, string>();

function refOf(element: Element): string {
    const known = names.get(element);
    if (known !== undefined) return known;
    const made = `${mark}${refs.size + 1}`;
    refs.set(made, new WeakRef(element));
    names.set(element, made);
    return made;
}

const flat = (text: string | null | undefined): string => (text ?? "").replace(/\s+/g, " ").trim();
const isSeen = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
const isSecret = (element: Element): boolean =>
    element instanceof HTMLInputElement && (element.type === "password" || SECRET.test(element.autocomplete));

function labelOf(element: Element): string {
    const { labels } = element as HTMLInputElement;
    const said =
        element.getAttribute("aria-label") ??
        labels?.[0]?.textContent ??
        element.getAttribute("placeholder") ??
        element.getAttribute("name");
    return flat(said ?? element.textContent ?? element.getAttribute("title")).slice(0, 300);
}

/** A line of its own for what can be used; null for what is only read. */
function usable(element: Element): string | null {
    const ref = `[${refOf(element)}]`;
    if (element instanceof HTMLAnchorElement && element.href !== "") {
        const { protocol } = new URL(element.href, location.href);
        const to = /^https?:$/.test(protocol) ? element.href.slice(0, 500) : protocol;
        return `${ref} link "${flat(element.textContent).slice(0, 300) || labelOf(element)}" to ${to}`;
    }
    if (element instanceof HTMLInputElement) {
        if (element.type === "hidden") return "";
        if (element.type === "checkbox" || element.type === "radio")
            return `${ref} ${element.type} "${labelOf(element)}" ${element.checked ? "on" : "off"}`;
        if (["button", "submit", "reset", "image"].includes(element.type)) return `${ref} button "${element.value || labelOf(element)}"`;
        if (isSecret(element)) return `${ref} field "${labelOf(element)}" (secret, ${element.value === "" ? "empty" : "filled"})`;
        return `${ref} field "${labelOf(element)}" = "${element.value.slice(0, 500)}"`;
    }
    if (element instanceof HTMLTextAreaElement) return `${ref} field "${labelOf(element)}" = "${element.value.slice(0, 2000)}"`;
    if (element instanceof HTMLSelectElement) {
        const options = [...element.options].slice(0, 50).map((one) => flat(one.text));
        return `${ref} choice "${labelOf(element)}" = "${flat(element.selectedOptions[0]?.text)}" of ${options.join(" | ")}`;
    }
    const role = element.getAttribute("role");
    if (element instanceof HTMLButtonElement || role === "button" || role === "link" || role === "menuitem" || role === "tab")
        return `${ref} ${role ?? "button"} "${flat(element.textContent).slice(0, 300) || labelOf(element)}"`;
    if (element instanceof HTMLElement && element.isContentEditable && element.parentElement?.isContentEditable !== true)
        return `${ref} field "${labelOf(element).slice(0, 80)}" = "${flat(element.innerText).slice(0, 2000)}"`;
    return null;
}

function treeOf(root: Node): string {
    const lines: string[] = [];
    let text = "";
    let size = 0;
    const end = (prefix = ""): void => {
        const said = flat(text);
        if (said !== "") lines.push(prefix + said);
        size += said.length;
        text = "";
    };
    const walk = (node: Node): void => {
        if (size > MOST) return;
        if (node instanceof Text) {
            text += node.data;
            return;
        }
        if (!(node instanceof Element) || SKIPPED.has(node.tagName.toUpperCase()) || !isSeen(node)) return;
        if (node instanceof HTMLIFrameElement || node instanceof HTMLFrameElement) {
            end();
            lines.push(`(a frame of ${frameOf(node)}, not read)`);
            return;
        }
        if (node instanceof HTMLImageElement) {
            if (flat(node.alt) !== "") text += ` (picture: ${flat(node.alt).slice(0, 300)}) `;
            return;
        }
        const line = usable(node);
        if (line !== null) {
            end();
            if (line !== "") lines.push(line);
            return;
        }
        const isBlock = BLOCK.has(node.tagName);
        if (isBlock) end();
        for (const child of (node.shadowRoot ?? node).childNodes) walk(child);
        const level = /^H([1-6])$/.exec(node.tagName)?.[1];
        if (isBlock) end(level === undefined ? (node.tagName === "LI" ? "- " : "") : `${"#".repeat(Number(level))} `);
        else text += " ";
    };
    walk(root);
    end();
    return lines.join("\n");
}

function frameOf(frame: HTMLIFrameElement | HTMLFrameElement): string {
    const said = frame.src === "" || !URL.canParse(frame.src, location.href) ? location.origin : new URL(frame.src, location.href).origin;
    // A frame may have gone elsewhere since; only one of this site shows where it is.
    return said === location.origin && frame.contentDocument === null ? "another site" : said;
}

/** Sites of frames that are to be seen, this one aside. */
function frames(): string[] {
    const all = [...document.querySelectorAll("iframe, frame")].filter(isSeen).map((one) => frameOf(one as HTMLIFrameElement));
    return [...new Set(all)].filter((one) => one !== location.origin).slice(0, 19);
}

function elementOf(ref: string): Element | string {
    const element = refs.get(ref)?.deref();
    if (element === undefined || !element.isConnected)
        return `the reference '${ref}' is stale: its element is gone, or it is of another page. Read the page again`;
    return isSeen(element) ? element : `what '${ref}' names is not to be seen now`;
}

const shownOf = (element: Element): string => usable(element) ?? flat(element.textContent).slice(0, 200);

function click(element: Element): string {
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const said = shownOf(element);
    (element as HTMLElement).click();
    return `clicked: ${said}`;
}

function write(element: Element, { text = "", submit = false, secret = false }: Asked): string | { readonly error: string } {
    if (isSecret(element) && !secret)
        return {
            error: "this field is for a password or another secret: it is filled with type_secret alone, where the person asked for it",
        };
    if (element instanceof HTMLSelectElement) {
        const option = [...element.options].find((one) => flat(one.text) === flat(text) || one.value === text);
        if (option === undefined) return { error: `there is no choice '${text}'` };
        element.value = option.value;
    } else if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
        element.focus();
        const kind = element instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement;
        Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(element, text);
    } else if (element instanceof HTMLElement && element.isContentEditable) {
        element.focus();
        element.textContent = text;
    } else return { error: "this takes no text" };
    element.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    if (submit) (element as HTMLInputElement).form?.requestSubmit();
    return submit ? "typed, and submitted" : "typed";
}

function act(asked: Asked): Did {
    if (location.origin !== asked.site) return { ok: false, error: `the page is not of ${asked.site} any more` };
    if (asked.what === "frames") return { ok: true, value: "", frames: frames() };
    if (asked.what === "read") {
        const head = `title: ${flat(document.title).slice(0, 300)}\naddress: ${location.href.slice(0, 1000)}\n`;
        return { ok: true, value: `${head}\n${document.body === null ? "" : treeOf(document.body)}`, frames: [] };
    }
    if (asked.what === "scroll" && asked.ref === undefined) {
        scrollBy({ top: (asked.by ?? 1) * innerHeight * 0.9, behavior: "instant" });
        return { ok: true, value: `at ${Math.round(scrollY)} of ${document.documentElement.scrollHeight - innerHeight}`, frames: [] };
    }
    const element = elementOf(asked.ref ?? "");
    if (typeof element === "string") return { ok: false, error: element };
    if (asked.what === "name") {
        const value = shownOf(element);
        named.set(element, value);
        return { ok: true, value, frames: [] };
    }
    if (asked.what === "scroll") {
        element.scrollIntoView({ block: "center", behavior: "instant" });
        return { ok: true, value: "it is to be seen", frames: [] };
    }
    // PGE5.
    const [before, now] = [named.get(element), shownOf(element)];
    named.delete(element);
    if (before !== undefined && before !== now)
        return {
            ok: false,
            error: `what '${asked.ref}' names was ${before} when the person was asked, and is ${now} now. Read the page again`,
        };
    const did = asked.what === "click" ? click(element) : write(element, asked);
    return typeof did === "string" ? { ok: true, value: did, frames: [] } : { ok: false, error: did.error };
}

// Once a document: what was referred to stays.
(globalThis as { remitPage?: typeof act }).remitPage ??= act;
