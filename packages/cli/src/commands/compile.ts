/** `remit compile`: the program form. */
import { writeFileSync } from "node:fs";
import { load } from "@remit/host";
import type { Json } from "@remit/language";
import { EXIT, printJson, say } from "../io.ts";

export default async function compile(args: string[], options: Record<string, unknown>): Promise<number> {
    const program = await load(args[0] as string, { cache: false });
    const form = options["positions"] ? (program.form as unknown as Json) : withoutPlaces(program.form as unknown as Json);
    if (options["output"] === undefined) printJson(form, options["json"] === true);
    else {
        writeFileSync(String(options["output"]), `${JSON.stringify(form, null, options["json"] ? undefined : 2)}\n`);
        say(`${String(options["output"])}: ${program.form.format}, hash ${program.hash}`);
    }
    return EXIT.ok;
}

/** Positions are optional in a program form, and most of its bytes. */
function withoutPlaces(json: Json): Json {
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) return json.map(withoutPlaces);
    return Object.fromEntries(
        Object.entries(json).flatMap(([key, value]) => (key === "at" && isPlace(value) ? [] : [[key, withoutPlaces(value)] as const])),
    );
}

function isPlace(value: Json): boolean {
    return Array.isArray(value) && value.length === 4 && value.every((one) => typeof one === "number");
}
