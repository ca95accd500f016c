/**
 * The version of a file's compiled code, which a continuation with frames in it names.
 *
 * Boundary: what of the compiled form a saved frame depends on: which instruction `pc` is, which slot holds what, and what paths the effects have;
 * and the table of time zones. What the closures of an instruction do follows from the form, which the program's hash stands for, and from the
 * machine, which `CONTINUATION.engine` stands for.
 *
 * VE4: two builds that give a file the same version can go on with each other's frames in it.
 */
import { BUILTIN_TABLE } from "../builtin/table.ts";
import { RELEASE } from "../builtin/zone-data.ts";
import type { FrameForm } from "./instructions.ts";
import { type Compiled, Fn } from "./program.ts";

/** Parts of an instruction that the program form holds as they are. */
const OF_THE_FORM: ReadonlySet<string> = new Set([
    "site",
    "contract",
    "shapes",
    "form",
    "func",
    "with",
    "value",
    "import",
    "agent",
    "summary",
]);

const BUILTINS = BUILTIN_TABLE.map(({ on, name, min, max, lambda, mutates, property }) => [on, name, min, max, lambda, mutates, property]);

/**
 * Of the functions of a file as they run plainly or, `strict`, with labels in their control flow. A function that reaches no effect has no
 * frame while a run waits, unless functions are defined anew.
 */
export function versionOf(compiled: Compiled, file: number, strict: boolean): string {
    const { base, versions } = compiled;
    if (base !== null && file < base.files.length) return versionOf(base, file, strict);
    const key = `${file} ${strict}`;
    let version = versions.get(key);
    if (version === undefined) {
        const fns = compiled.functions.filter((fn) => fn.file === file && (fn.effectful || compiled.changes));
        const listings = fns.map((fn) => [fn.id, listing(fn.framesFor(strict))]);
        version = hash(JSON.stringify([BUILTINS, RELEASE, plain(listings)]));
        versions.set(key, version);
    }
    return version;
}

function listing({ slots, bodies }: FrameForm): unknown {
    return [
        slots,
        bodies.map(({ flow, code, handlers, regions, names }) => [
            flow,
            code.map(({ op, step, slot, to, detail }) => [op, step, slot, to, detail]),
            handlers,
            regions,
            names,
        ]),
    ];
}

/** Copied: a function that JSON asks about every part takes several times as long. */
function plain(value: unknown): unknown {
    if (typeof value === "function") return "code";
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Fn) return value.id;
    if (Array.isArray(value)) return value.map(plain);
    // `__proto__` is a key like any other.
    const copy: { [key: string]: unknown } = Object.create(null);
    for (const key of Object.keys(value)) if (!OF_THE_FORM.has(key)) copy[key] = plain((value as { [key: string]: unknown })[key]);
    return copy;
}

/** In the sandbox of a workflow each look at a global takes longer than the multiplication. */
const { imul } = Math;

/** 64 bits in hex. Only builds of Remit make listings, and none wants two of them to collide: no cryptographic hash is needed. */
function hash(text: string): string {
    let a = 0xdeadbeef;
    let b = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        a = imul(a ^ unit, 2654435761);
        b = imul(b ^ unit, 1597334677);
    }
    a = imul(a ^ (a >>> 16), 2246822507) ^ imul(b ^ (b >>> 13), 3266489909);
    b = imul(b ^ (b >>> 16), 2246822507) ^ imul(a ^ (a >>> 13), 3266489909);
    return [b, a].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
