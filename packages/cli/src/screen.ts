/**
 * The last lines of a terminal, drawn over and over.
 *
 * Boundary: lines in, control codes out; what they say is others'. The cursor rests behind the last line.
 *
 * SCR1: after `clear` the terminal is as if nothing had been drawn, also where it was made narrower or wider in between. (A line that no longer fits
 *     is broken by the terminal and takes two; terminals that cut it instead lose a line above, which none in use does.)
 * SCR2: a line is never broken when it is drawn, and a frame is written at once, so that whatever ends the process leaves a whole one.
 */

import widthOf from "fast-string-width";

export interface Screen {
    draw(lines: readonly string[]): void;
    clear(): void;
    /** Lines that stay, above everything that is drawn later. */
    keep(lines: readonly string[]): void;
}

const [UNBROKEN, BROKEN] = ["\u001b[?7l", "\u001b[?7h"];

export function screen(stream: NodeJS.WriteStream): Screen {
    /** Columns of the lines that stand there. */
    let drawn: readonly number[] = [];
    const back = (): string => {
        const columns = stream.columns || 80;
        const rows = drawn.reduce((sum, one) => sum + Math.max(1, Math.ceil(one / columns)), 0);
        return `\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}`;
    };
    const clear = (): void => {
        if (drawn.length > 1) stream.write(`${back()}\u001b[J`);
        else if (drawn.length === 1) stream.write(`${back()}\u001b[2K`);
        drawn = [];
    };
    return {
        clear,
        draw(lines) {
            const frame = `${UNBROKEN}${lines.join(`\u001b[K\n`)}${BROKEN}`;
            if (drawn.length > 1) stream.write(`${back()}\u001b[J${frame}`);
            else {
                clear();
                stream.write(frame);
            }
            drawn = lines.map((line) => Math.min(widthOf(line), stream.columns || 80));
        },
        keep(lines) {
            if (lines.length === 0) return;
            clear();
            stream.write(`${UNBROKEN}${lines.join("\n")}${BROKEN}\n`);
        },
    };
}
