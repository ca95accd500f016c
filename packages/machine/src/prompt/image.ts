/**
 * `use image`: a value as a picture or file part of a prompt.
 *
 * Boundary: the two spellings of a file as data. Whether a model takes the part is its host's affair.
 *
 * IM3: of a list each picture is an item of its own; of an empty list nothing is shown.
 * IM2: a file is counted by an estimate (`fileSize`), which the ledger shows.
 * IM1: only what says its own media type and is base64 becomes a part; anything else is a `value` failure that says what was expected.
 */
import { isObject, type Json } from "@remit/language";
import type { Runtime } from "../builtin/builtin.ts";
import type { Message, Part } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { toJson } from "../value/json.ts";
import { join, rawOf } from "../value/operators.ts";
import { List, type Value } from "../value/value.ts";
import type { Body } from "./render.ts";
import type { ItemInput } from "./setup.ts";

export interface FilePart {
    readonly mediaType: string;
    /** Base64. */
    readonly data: string;
    /** A model that takes none is told that it was left out. */
    readonly optional?: true;
}

/** Types of pictures that models take. */
export const PICTURE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** What a picture counts where a budget is in tokens: what providers take at most for one picture of the size they scale to. */
const PICTURE_TOKENS = 1600;
/** UTF-16 units to a token, where a budget is in characters; and bytes to a token of any other file. */
const UNITS_A_TOKEN = 4;

/**
 * The size of a file in a budget, an estimate that needs neither its pixels nor its model: a picture 1,600 tokens, any other file a token for each
 * four bytes; in characters four times as many.
 */
export function fileSize(file: FilePart, unit: "chars" | "tokens"): number {
    const bytes = Math.floor((file.data.length * 3) / 4);
    const tokens = file.mediaType.startsWith("image/") ? PICTURE_TOKENS : Math.ceil(bytes / UNITS_A_TOKEN);
    return unit === "tokens" ? tokens : tokens * UNITS_A_TOKEN;
}

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+-]*$/;
export const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** IM3 */
export function itemsOfPictures(item: ItemInput, rt: Runtime): ItemInput[] {
    const pictures = item.image === true && item.variant?.empty !== true ? rawOf(item.value) : null;
    if (!(pictures instanceof List)) return [item];
    const { labels } = toJson(item.value, rt);
    const many = pictures.items.length > 1;
    return pictures.items.map((one, at) => ({
        ...item,
        value: join(rt, one, labels),
        label: many && item.label !== null ? `${item.label} ${at + 1}` : item.label,
    }));
}

/** The file of a value, and an empty body that carries its origins. */
export function fileOf(value: Value, rt: Runtime): { file: FilePart; body: Body } {
    const { json, labels } = toJson(value, rt);
    const file =
        typeof json === "string"
            ? fromDataUrl(json)
            : isObject(json)
              ? { mediaType: json.media_type ?? json.mediaType, data: json.data, optional: json.optional }
              : null;
    if (
        file === null ||
        typeof file.mediaType !== "string" ||
        typeof file.data !== "string" ||
        !MEDIA_TYPE.test(file.mediaType) ||
        !BASE64.test(file.data)
    )
        throw new Fail("value", "use image needs a picture or file", {
            hint: 'give what Files.read({ path: "…", as: "image" }) of a file:// tool gives, a data URL ("data:image/png;base64,…"), or {media_type: "image/png", data: "…base64…"}',
            labels,
        });
    rt.charge(2 * file.data.length);
    return {
        file: { mediaType: file.mediaType, data: file.data, ...("optional" in file && file.optional === true ? { optional: true } : {}) },
        body: { kind: "string", parts: [""], own: 0, marks: [], sets: [rt.labels.origins(labels)] },
    };
}

function fromDataUrl(text: string): { mediaType: string; data: string } | null {
    const comma = text.indexOf(";base64,");
    if (!text.startsWith("data:") || comma < 0) return null;
    return { mediaType: text.slice("data:".length, comma), data: text.slice(comma + ";base64,".length) };
}

interface Result {
    readonly id: string;
    readonly name: string;
    readonly result?: Json;
    readonly files?: readonly FilePart[];
}

/** The results of calls as messages; their pictures follow in one message of their own. */
export function resultsOf(calls: readonly Result[]): Message[] {
    const results = calls.map(({ id, name, result = null }): Message => ({ role: "tool", call: id, name, result }));
    const content = calls.flatMap(({ name, files = [] }): Part[] =>
        files.length === 0
            ? []
            : [
                  { type: "text", text: `What ${name} gave, as data: ${files.length === 1 ? "a picture" : `${files.length} pictures`}.` },
                  ...files.map((file): Part => ({ type: "file", ...file })),
              ],
    );
    return content.length === 0 ? results : [...results, { role: "user", content }];
}
