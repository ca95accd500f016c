/** The published JSON Schema of the program form, against the validator. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/contract/contract.ts";
import { programJsonSchema } from "../../src/form/schema.ts";
import { AUTHOR_CAPS, type Caps, DEFAULT_CAPS } from "../../src/form/measure.ts";
import { findWrong } from "../../src/form/structure.ts";
import { NODES, RECORDS } from "../../src/form/table.ts";
import { validates } from "../contract/evaluate.ts";
import { anyProgram, plain } from "./forms.ts";

const PUBLISHED = new URL("../../schema/program-form-1.json", import.meta.url);
const SCHEMA = programJsonSchema();

/** Caps that most forms keep, and some that only small ones do. */
const CAPS: readonly Caps[] = [
    AUTHOR_CAPS,
    { ...DEFAULT_CAPS, bytes: 900 },
    { ...DEFAULT_CAPS, nodes: 120 },
    { ...DEFAULT_CAPS, depth: 7 },
    { ...DEFAULT_CAPS, string: 12 },
];

/** What a value takes of each cap. */
function sizeOf(value: Json): Caps {
    if (typeof value === "string") return { bytes: value.length + 2, nodes: 1, depth: 0, string: value.length };
    if (value === null || typeof value !== "object") return { bytes: typeof value === "number" ? 1 : 4, nodes: 1, depth: 0, string: 0 };
    const keys = Array.isArray(value) ? [] : Object.keys(value);
    const all = Object.values(value).map(sizeOf);
    const sum = (of: (one: Caps) => number): number => all.reduce((total, one) => total + of(one), 0);
    return {
        bytes: 2 + sum((one) => one.bytes) + keys.reduce((total, key) => total + key.length + 3, 0),
        nodes: 1 + sum((one) => one.nodes),
        depth: 1 + Math.max(0, ...all.map((one) => one.depth)),
        string: Math.max(0, ...keys.map((key) => key.length), ...all.map((one) => one.string)),
    };
}

function structureErrors(form: Json): number {
    const rule = { rule: "record", of: "Program" } as const;
    const size = sizeOf(form);
    let found = 0;
    for (const authored of [true, false])
        for (const caps of CAPS) {
            const { errors, capped } = findWrong(form, rule, { caps, authored });
            // STU3
            expect(capped).toBe((["bytes", "nodes", "depth", "string"] as const).some((cap) => size[cap] > caps[cap]));
            if (capped) expect(errors.found.length).toBe(1);
            else found = errors.found.length;
        }
    return found;
}

/** A form with one thing in it changed: `at` chooses the place, `how` what happens there. */
function changed(form: Json, at: number, how: { readonly kind: string; readonly value: Json; readonly key: string }): Json {
    const copy = plain(form);
    const places: { readonly holder: { [key: string]: Json } | Json[]; readonly key: string | number }[] = [];
    const visit = (value: Json): void => {
        if (value === null || typeof value !== "object") return;
        for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
            places.push({ holder: value, key });
            visit((value as { [key: string]: Json })[key] as Json);
        }
    };
    visit(copy);
    const place = places[at % places.length];
    if (place === undefined) return copy;
    const { holder, key } = place;
    if (how.kind === "drop" && !Array.isArray(holder)) delete holder[key];
    else if (how.kind === "add" && !Array.isArray(holder)) holder[how.key] = how.value;
    else (holder as { [key: string]: Json })[key] = how.value;
    return copy;
}

describe("F1: the schema of the program form", () => {
    test("is what is published", () => {
        expect(readFileSync(PUBLISHED, "utf8")).toBe(`${JSON.stringify(SCHEMA, null, 2)}\n`);
    });

    test("takes random forms, and refuses what the validator refuses, after any one change", () => {
        const how = fc.record({
            kind: fc.constantFrom("drop", "add", "set"),
            key: fc.constantFrom("at", "kind", "value", "extra", "name", "label"),
            value: fc.constantFrom<Json>(
                null,
                0,
                -1,
                1,
                1.5,
                "",
                "x",
                "not a name",
                "constructor",
                "none",
                "break",
                true,
                [],
                {},
                { kind: "break" },
                { kind: "literal", value: 1 },
                [1, 2, 3, 4],
            ),
        });
        fc.assert(
            fc.property(anyProgram, fc.nat(), how, (program, at, change) => {
                const form = plain(program) as unknown as Json;
                expect(validates(form, SCHEMA)).toBe(true);
                const after = changed(form, at, change);
                expect(validates(after, SCHEMA)).toBe(structureErrors(after) === 0);
            }),
            { numRuns: 300 },
        );
    });

    test("has every record and every kind of node, closed", () => {
        const definitions = SCHEMA.$defs as { [name: string]: { additionalProperties?: Json } };
        for (const name of Object.keys(RECORDS)) expect(definitions[name]?.additionalProperties).toBe(false);
        for (const [table, kinds] of Object.entries(NODES))
            for (const kind of Object.keys(kinds)) expect(definitions[`${table}.${kind}`]?.additionalProperties).toBe(false);
    });
});
