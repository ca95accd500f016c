/**
 * Names to slots, statically.
 *
 * Boundary: one function's own names. What a name means that is no local is decided in `program.ts`.
 *
 * SCO1: `x = v` writes the nearest x that stands textually before in an enclosing block, else makes one in the present block.
 * SCO2: a name made in a block is gone after it, and its slot may be used again.
 */
import type { ExprForm } from "@remit/language";

export class Scope {
    private readonly blocks: {
        readonly names: Map<string, number>;
        readonly meant: Map<string, ExprForm>;
        readonly next: number;
        readonly fence: boolean;
    }[];
    private next = 1;
    /** Slots needed so far, slot 0 included. */
    size = 1;
    /** Another number where other names are visible. */
    version = 0;

    constructor() {
        this.blocks = [{ names: new Map(), meant: new Map(), next: 1, fence: false }];
    }

    /** `fence`: the body of a parallel for, which must not write names of the outside. */
    push(fence = false): void {
        this.version++;
        this.blocks.push({ names: new Map(), meant: new Map(), next: this.next, fence });
    }

    pop(): void {
        this.version++;
        this.next = (this.blocks.pop() as { next: number }).next;
    }

    /** The slot of a visible name, 0 where there is none. */
    find(name: string): number {
        for (let i = this.blocks.length - 1; i >= 0; i--) {
            const slot = (this.blocks[i] as { names: Map<string, number> }).names.get(name);
            if (slot !== undefined) return slot;
        }
        return 0;
    }

    /** True where a visible name was made outside the innermost parallel for. */
    isFenced(name: string): boolean {
        for (let i = this.blocks.length - 1; i >= 0; i--) {
            const block = this.blocks[i] as { names: Map<string, number>; fence: boolean };
            if (block.names.has(name)) return false;
            if (block.fence) return this.find(name) !== 0;
        }
        return false;
    }

    define(name: string): number {
        const names = (this.blocks[this.blocks.length - 1] as { names: Map<string, number> }).names;
        const known = names.get(name);
        if (known !== undefined) return known;
        const slot = this.temporary();
        names.set(name, slot);
        this.version++;
        return slot;
    }

    /** A slot without a name, until the present block ends. */
    temporary(): number {
        const slot = this.next++;
        if (this.next > this.size) this.size = this.next;
        return slot;
    }

    /** A hidden name for a slot of the present block, which holds the value of an expression. */
    alias(name: string, slot: number, of: ExprForm): void {
        const { names, meant } = this.blocks[this.blocks.length - 1] as { names: Map<string, number>; meant: Map<string, ExprForm> };
        names.set(name, slot);
        meant.set(name, of);
    }

    /** What a hidden name stands for; undefined for any other. */
    meaningOf(name: string): ExprForm | undefined {
        for (let i = this.blocks.length - 1; i >= 0; i--) {
            const of = (this.blocks[i] as { meant: Map<string, ExprForm> }).meant.get(name);
            if (of !== undefined) return of;
        }
        return undefined;
    }

    /** Names that a program could write here, outermost first. */
    visible(): string[] {
        const names = new Set<string>();
        for (const block of this.blocks) for (const name of block.names.keys()) if (!name.startsWith("%")) names.add(name);
        return [...names];
    }
}
