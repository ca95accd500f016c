/**
 * A JSON value as a tree, each part of which can be asked where it came from.
 *
 * Boundary: shows; what is asked is the caller's (`onWhy`).
 */
import { type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import { at } from "./api.ts";
import { count, Empty, line, Loading, Long, Origins, Place, short, Trouble } from "./parts.ts";
import { useData } from "./place.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Of a list or an object at once. */
const MOST = 100;
const LINE = 160;

interface Shown {
    readonly value: unknown;
    /** JSON Pointer of the value. */
    readonly pointer?: string;
    readonly name?: string;
    readonly depth?: number;
    /** The pointer of the part that was chosen. */
    readonly chosen?: string | null;
    readonly onWhy?: ((pointer: string) => void) | undefined;
}

export function Value(props: Shown): ComponentChildren {
    return h("div", { class: "value" }, h(Part, props));
}

function Part({ value, pointer = "", name, depth = 0, chosen, onWhy }: Shown): ComponentChildren {
    const json = value as Json;
    const [open, set] = useState(depth < 2);
    const [most, setMost] = useState(MOST);
    const label = name === undefined ? null : h("span", { class: "key" }, `${short(line(name), 80)}: `);
    const isChosen = chosen === pointer;
    const ask = (children: ComponentChildren, kind: string): ComponentChildren =>
        onWhy === undefined
            ? h("span", { class: kind }, children)
            : h(
                  "button",
                  {
                      type: "button",
                      class: `whence ${kind}`,
                      title: "Where did this come from?",
                      "aria-pressed": isChosen,
                      onClick: () => onWhy(pointer),
                  },
                  children,
              );
    if (json === null || typeof json !== "object") {
        const isText = typeof json === "string";
        if (isText && (json.length > LINE || json.includes("\n")))
            return h("div", { class: "part" }, label, onWhy === undefined ? null : ask("whence?", "size"), h(Long, { text: json }));
        return h("div", { class: "part" }, label, ask(isText ? `"${line(json)}"` : String(json), isText ? "text" : "number"));
    }
    const picture = pictureIn(json);
    if (picture !== null) return h("div", { class: "part" }, label, h("img", { src: picture, alt: "A picture that is data here" }));
    const entries: [string, Json][] = Array.isArray(json) ? json.map((one, i) => [String(i), one]) : Object.entries(json);
    const size = Array.isArray(json) ? `[ ${count(entries.length)} ]` : `{ ${count(entries.length)} }`;
    const head = h(
        "div",
        { class: "head" },
        entries.length === 0
            ? null
            : h(
                  "button",
                  {
                      type: "button",
                      class: "fold",
                      "aria-expanded": open,
                      "aria-label": `${name ?? "value"}, ${size}`,
                      onClick: () => set(!open),
                  },
                  open ? "▾" : "▸",
              ),
        label,
        ask(entries.length === 0 ? (Array.isArray(json) ? "[]" : "{}") : size, "size"),
    );
    if (!open || entries.length === 0) return h("div", { class: "part" }, head);
    const parts = entries.slice(0, most).map(([key, one]) => {
        const inner = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        return h(Part, {
            key,
            value: one,
            pointer: inner,
            name: key,
            depth: depth + 1,
            ...(chosen === undefined ? {} : { chosen }),
            onWhy,
        });
    });
    const more = entries.length - most;
    return h(
        "div",
        { class: "part" },
        head,
        h(
            "div",
            { class: "inner" },
            parts,
            more > 0 ? h("button", { type: "button", class: "plain", onClick: () => setMost(most + 500) }, `${count(more)} more`) : null,
        ),
    );
}

/** The address of a picture among values, as tools and programs have them; null for anything else. */
function pictureIn(json: Json): string | null {
    if (json === null || typeof json !== "object" || Array.isArray(json)) return null;
    const { mimeType, media_type, data } = json as { readonly [key: string]: Json };
    const type = String(mimeType ?? media_type);
    const is =
        /^image\/(?:png|jpeg|webp|gif)$/.test(type) && typeof data === "string" && data !== "" && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
    return is ? `data:${type};base64,${data}` : null;
}

interface WhyView {
    readonly use: string;
    readonly pointer: string;
    readonly chain: readonly {
        readonly what: string;
        readonly path: string;
        readonly site: { file: string; line: number; column: number } | null;
        readonly origins: readonly string[];
    }[];
    readonly hands: readonly {
        readonly tool: string;
        readonly method: string;
        readonly args: readonly unknown[];
        readonly ok: boolean | null;
        readonly seq: number;
    }[];
    readonly origins: readonly string[];
}

/** The chain from a part of a run back to where its data entered. `where`: as `remit why` takes it. */
export function Why({
    run,
    where,
    onClose,
}: {
    readonly run: string;
    readonly where: string;
    readonly onClose: () => void;
}): ComponentChildren {
    const { data, refused } = useData<WhyView>(`${at("runs", run, "why")}?at=${encodeURIComponent(where)}`);
    return h(
        "section",
        { class: "why card", "aria-label": "Where it came from", "aria-live": "polite" },
        h(
            "header",
            null,
            h("h3", null, "Where it came from"),
            h("button", { type: "button", class: "plain", onClick: onClose, "aria-label": "Close" }, "✕"),
        ),
        h("p", { class: "soft" }, h("code", null, where === "" ? "the whole value" : line(where))),
        h(Trouble, { refused }),
        data === null ? (refused === null ? h(Loading, null) : null) : h(Chain, { data }),
    );
}

function Chain({ data }: { readonly data: WhyView }): ComponentChildren {
    if (data.chain.length === 0) return h(Empty, null, "From the program's own text.");
    return h(
        "div",
        null,
        h("p", null, "It carries ", h(Origins, { origins: data.origins })),
        h(
            "ol",
            { class: "chain" },
            data.chain.map((step, i) =>
                h(
                    "li",
                    { key: i },
                    h("strong", null, line(step.what)),
                    " ",
                    h(Place, { site: step.site }),
                    h("div", { class: "soft" }, h("code", null, line(step.path))),
                    step.origins.length === 0 ? null : h(Origins, { origins: step.origins }),
                ),
            ),
        ),
        data.hands.length === 0
            ? null
            : h(
                  "div",
                  null,
                  h("p", null, "What its agents did with their own hands meanwhile, any of which may have led to it:"),
                  h(
                      "ul",
                      null,
                      data.hands.map((one) =>
                          h(
                              "li",
                              { key: one.seq },
                              h("code", null, line(`${one.tool}.${one.method}`)),
                              " ",
                              h("span", { class: "soft" }, short(line(JSON.stringify(one.args)), 200)),
                          ),
                      ),
                  ),
              ),
    );
}
