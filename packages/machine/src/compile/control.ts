/**
 * Blocks and tests as closures.
 *
 * CON1: a block counts one step for each of its statements, before it.
 */
import { truthy } from "../value/operators.ts";
import type { Code, Slots, Step } from "./code.ts";

/** Statements in a row; null for none. */
export function blockStep(steps: readonly Step[]): Step | null {
    const [a, b, c] = steps as [Step, Step, Step];
    switch (steps.length) {
        case 0:
            return null;
        case 1:
            return (f) => {
                if (--f[0].left < 0) f[0].over();
                return a(f);
            };
        case 2:
            return (f) => {
                const m = f[0];
                if (--m.left < 0) m.over();
                const done = a(f);
                if (done !== undefined) return done;
                if (--m.left < 0) m.over();
                return b(f);
            };
        case 3:
            return (f) => {
                const m = f[0];
                if (--m.left < 0) m.over();
                let done = a(f);
                if (done !== undefined) return done;
                if (--m.left < 0) m.over();
                done = b(f);
                if (done !== undefined) return done;
                if (--m.left < 0) m.over();
                return c(f);
            };
        default:
            return (f) => {
                const m = f[0];
                for (let i = 0; i < steps.length; i++) {
                    if (--m.left < 0) m.over();
                    const done = (steps[i] as Step)(f);
                    if (done !== undefined) return done;
                }
                return undefined;
            };
    }
}

export function testOf(code: Code): (f: Slots) => boolean {
    return (f) => {
        const c = code(f);
        return c === true || (c !== false && truthy(c));
    };
}
