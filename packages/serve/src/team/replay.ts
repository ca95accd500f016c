/**
 * Lists of frames that come one after the other and are read by one reader.
 *
 * Boundary: a queue; who fills it says when it is over.
 */
import type { Frame } from "../wire/messages.ts";

export class Replay implements AsyncIterable<readonly Frame[]> {
    readonly #lists: (readonly Frame[])[] = [];
    #over = false;
    #wake: () => void = () => undefined;

    put(frames: readonly Frame[]): void {
        this.#lists.push(frames);
        this.#wake();
    }

    end(): void {
        this.#over = true;
        this.#wake();
    }

    async *[Symbol.asyncIterator](): AsyncGenerator<readonly Frame[]> {
        for (;;) {
            const next = this.#lists.shift();
            if (next !== undefined) yield next;
            else if (this.#over) return;
            else
                await new Promise<void>((resolve) => {
                    this.#wake = resolve;
                });
        }
    }
}
