/**
 * JSON lines between a shell and what performs for it: a large text crosses once, whichever way it went first, and is referred to afterwards.
 *
 * Boundary: values and lines of text. How a reference stands in JSON is the machine package's (`referred`), as in a continuation and in a ledger.
 */
import type { Json } from "@remit/language";
import { referred, restored } from "@remit/machine";

interface Line {
    readonly json: Json;
    /** Those that have not crossed yet, by name. */
    readonly texts?: readonly (readonly [string, string])[];
}

export class Lines {
    /** Bytes that went out. */
    sent = 0;
    private readonly side: string;
    private readonly names = new Map<string, string>();
    private readonly texts = new Map<string, string>();

    /** `side`: names of one side are none of the other. */
    constructor(side: "shell" | "child") {
        this.side = side;
    }

    write(json: object): string {
        const fresh: [string, string][] = [];
        const line: Line = {
            json: referred(json as Json, "$text", (text) => {
                let name = this.names.get(text);
                if (name === undefined) {
                    name = `${this.side} ${this.names.size}`;
                    this.know(name, text);
                    fresh.push([name, text]);
                }
                return name;
            }),
        };
        const text = `${JSON.stringify(fresh.length === 0 ? line : { ...line, texts: fresh })}\n`;
        this.sent += Buffer.byteLength(text);
        return text;
    }

    read(text: string): Json {
        const { json, texts = [] } = JSON.parse(text) as Line;
        for (const [name, one] of texts) this.know(name, one);
        return restored(json, "$text", (name) => this.texts.get(name as string) as string);
    }

    private know(name: string, text: string): void {
        this.names.set(text, name);
        this.texts.set(name, text);
    }
}
