/**
 * Amounts as people write them on a command line: `20k`, `2.5`, `30s`, `2 min`, `$0.50`.
 */
import { UsageError } from "./io.ts";

const UNITS: Record<string, number> = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds of `500ms`, `30s`, `2 min`, `1h`; a bare number counts seconds. */
export function milliseconds(text: string, option: string): number {
    const found = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
    const unit = found?.[2] ? UNITS[found[2].toLowerCase()] : 1000;
    if (!found || unit === undefined) throw new UsageError(`${option} takes a duration such as 500ms, 30s or 2min, not '${text}'`);
    return Number(found[1]) * unit;
}

/** Milliseconds of `12h`, `30d`, `8w`. A bare number is refused: what it removes must not hang on what it counts. */
export function age(text: string, option: string): number {
    if (!/[a-z]/i.test(text)) throw new UsageError(`${option} takes an age such as 12h, 30d or 8w, not '${text}'`);
    return milliseconds(text, option);
}

/** `500`, `20k`, `1.5M`: a whole number. */
export function whole(text: string, option: string): number {
    const found = /^\s*(\d+(?:\.\d+)?)\s*([kKmM]?)\s*$/.exec(text);
    const factor = found ? { "": 1, k: 1000, m: 1_000_000 }[(found[2] ?? "").toLowerCase() as "" | "k" | "m"] : 0;
    const value = found ? Number(found[1]) * factor : Number.NaN;
    if (!Number.isInteger(value)) throw new UsageError(`${option} takes a whole number such as 500 or 20k, not '${text}'`);
    return value;
}

/** Of `--port`. */
export function portOf(said: string): number {
    const port = whole(said, "--port");
    if (port > 65_535) throw new UsageError(`--port ${said}: there is no such port`, "1 to 65535");
    return port;
}

/** Refuses 0, which would mean nothing at all. */
export function atLeastOne(value: number, option: string): number {
    if (value < 1) throw new UsageError(`${option} takes a number above 0`);
    return value;
}

/** US dollars: `0.5`, `$0.50`, `0.5usd`. */
export function dollars(text: string, option: string): number {
    const found = /^\s*\$?\s*(\d+(?:\.\d+)?)\s*(?:usd)?\s*$/i.exec(text);
    if (!found) throw new UsageError(`${option} takes an amount in US dollars such as 0.50, not '${text}'`);
    return Number(found[1]);
}
